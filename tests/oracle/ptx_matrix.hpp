// What the PTX manual says about fragments of mma, and the published rule for its sums. Shares
// nothing with the runtime on purpose: numbers are doubles here.
//
// Sources of the rule: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor cores"
// (2021); Khattak, Mikaitis, "Accurate models of NVIDIA tensor cores" (2025); Xie et al., "MMA-Sim"
// (2025).
#pragma once

#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace oracle::matrix {

struct Place {
  unsigned row, column;
};

/// Elements of a fragment's 32-bit register (of the 64-bit register, where one element fills it).
constexpr unsigned per_register(const std::string& type) {
  if (type == "f64" || type == "tf32" || type == "f32" || type == "s32") return 1;
  if (type == "f16" || type == "bf16") return 2;
  if (type == "b1") return 32;
  return type == "s4" || type == "u4" ? 8 : 4;
}

/// Element i of the lane's part of A: registers take turns between rows g and g + 8 where there are
/// 16, then the columns move on by a quarter of a register's elements times four lanes.
inline Place a_place(unsigned m, const std::string& type, unsigned lane, unsigned i) {
  const unsigned g = lane / 4, t = lane % 4, p = per_register(type);
  const unsigned reg = i / p, within = i % p;
  if (m == 8) return {g, t * p + within + reg * 4 * p};
  return {reg % 2 == 0 ? g : g + 8, t * p + within + reg / 2 * 4 * p};
}
inline Place b_place(const std::string& type, unsigned lane, unsigned i) {
  const unsigned g = lane / 4, t = lane % 4, p = per_register(type);
  return {t * p + i % p + i / p * 4 * p, g};
}
inline Place c_place(unsigned lane, unsigned i) {
  return {lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + i % 2};
}

// --- sparse A ----------------------------------------------------------------------------------
/// Columns of A of which a row stores half: two of four elements, one of two .tf32, two of four
/// pairs of 4 bits.
inline unsigned chunk_columns(const std::string& type) {
  return type == "tf32" ? 2 : type == "s4" || type == "u4" ? 8 : 4;
}
/// Which of them, for the four bits of metadata of the chunk.
inline std::vector<unsigned> stored_offsets(const std::string& type, unsigned code) {
  if (type == "tf32") return {code == 0b1110 ? 1U : 0U};
  const unsigned first = code & 3, second = code >> 2;
  if (type == "s4" || type == "u4") return {2 * first, 2 * first + 1, 2 * second, 2 * second + 1};
  return {first, second};
}
struct MetadataPlace {
  unsigned lane, bit;
};
/// Where these bits are. Of 16-bit and wider elements one lane of a quad has four chunks of row g
/// in its low half, of row g + 8 in its high half, and a second lane of the quad the next four
/// chunks, where there are eight. Of narrower ones a lane has eight chunks of row g, the next one
/// those of row g + 8, and where there are sixteen, two more have the upper eight. The selector
/// skips lanes.
inline MetadataPlace metadata_place(const std::string& type, unsigned k, unsigned selector,
                                    unsigned row, unsigned chunk) {
  const unsigned chunks = k / chunk_columns(type), high = row / 8;
  const unsigned first = row % 8 * 4 + selector * (chunks / 4);
  if (per_register(type) <= 2) return {first + chunk / 4, 16 * high + 4 * (chunk % 4)};
  return {first + chunk / 8 * 2 + high, 4 * (chunk % 8)};
}

// --- numbers -----------------------------------------------------------------------------------
struct Format {
  int fraction, exponent;
  bool infinities;
};
inline Format format(const std::string& type) {
  if (type == "f16") return {10, 5, true};
  if (type == "bf16") return {7, 8, true};
  if (type == "tf32") return {10, 8, true};
  if (type == "f32") return {23, 8, true};
  if (type == "e5m2") return {2, 5, true};
  return {3, 4, false};
}

inline double value_of(const std::string& type, uint32_t bits) {
  if (type == "tf32") bits >>= 13;
  const Format f = format(type);
  const int top = (1 << f.exponent) - 1, bias = top / 2;
  const int e = static_cast<int>(bits >> f.fraction) & top;
  const int m = static_cast<int>(bits) & ((1 << f.fraction) - 1);
  const double sign = (bits >> (f.fraction + f.exponent) & 1) != 0 ? -1 : 1;
  if (e == top && f.infinities)
    return m != 0 ? std::numeric_limits<double>::quiet_NaN()
                  : sign * std::numeric_limits<double>::infinity();
  if (e == top && m == (1 << f.fraction) - 1) return std::numeric_limits<double>::quiet_NaN();
  if (e == 0) return sign * std::ldexp(m, 1 - bias - f.fraction);
  return sign * std::ldexp(1 + std::ldexp(m, -f.fraction), e - bias);
}

/// The exponent as the unit has it: subnormal numbers keep the least one.
inline int exponent_of(const std::string& type, double x) {
  const Format f = format(type);
  return std::max(std::ilogb(x), 2 - (1 << (f.exponent - 1)));
}

struct Rule {
  int fraction, kept;
  unsigned bytes;  ///< of a factor, that one sum takes
};
inline Rule rule(unsigned sm, const std::string& type) {
  if (sm < 75) return {23, 23, 8};
  if (sm < 89) return {24, 23, 16};
  if (sm == 89) return type[0] == 'e' ? Rule{13, 13, 16} : Rule{24, 23, 16};
  return {25, 23, 32};
}

inline uint32_t f32_toward_zero(double x, int kept) {
  if (std::isnan(x)) return 0x7fffffff;
  if (x == 0) return 0;
  if (std::isinf(x) || std::fabs(x) >= std::ldexp(1.0, 128)) return x < 0 ? 0xff800000 : 0x7f800000;
  const double unit = std::ldexp(1.0, std::max(std::ilogb(x), -126) - kept);
  return std::bit_cast<uint32_t>(static_cast<float>(std::trunc(x / unit) * unit)) |
         (x < 0 ? 0x80000000 : 0);
}
inline uint32_t f16_nearest(double x) {
  if (std::isnan(x)) return 0x7fff;
  const uint32_t sign = std::signbit(x) ? 0x8000 : 0;
  if (x == 0) return 0;
  const double unit = std::ldexp(1.0, std::max(std::isinf(x) ? 15 : std::ilogb(x), -14) - 10);
  const double rounded = std::isinf(x) ? x : std::nearbyint(x / unit) * unit;
  if (std::fabs(rounded) >= 65536) return sign | 0x7c00;
  const double magnitude = std::fabs(rounded);
  if (magnitude < std::ldexp(1.0, -14))
    return sign | static_cast<uint32_t>(std::ldexp(magnitude, 24));
  const int e = std::ilogb(magnitude);
  return sign | (static_cast<uint32_t>(e + 15) << 10) |
         static_cast<uint32_t>(std::ldexp(magnitude, 10 - e) - 1024);
}

/// c + a[0] b[0] + ..., `c` and the result being f32 or f16.
inline uint32_t dot(const Rule& rule, const std::string& sum, uint32_t c, const std::string& atype,
                    const std::string& btype, const std::vector<uint32_t>& a,
                    const std::vector<uint32_t>& b) {
  const unsigned step = rule.bytes * 8 / (atype == "tf32" ? 32 : 32 / per_register(atype));
  for (size_t first = 0; first < a.size(); first += step) {
    const double addend = value_of(sum, c);
    double special = addend;  // NaN and infinities come out right here
    std::vector<std::pair<double, int>> terms;
    if (addend != 0)
      terms.emplace_back(addend, std::isfinite(addend) ? exponent_of(sum, addend) : 0);
    for (size_t i = first; i < std::min(first + step, a.size()); ++i) {
      const double x = value_of(atype, a[i]), y = value_of(btype, b[i]);
      if (!std::isfinite(x * y)) special += x * y;
      if (x * y == 0 || !std::isfinite(x * y)) continue;
      terms.emplace_back(x * y, exponent_of(atype, x) + exponent_of(btype, y));
    }
    double total = special;
    if (std::isfinite(special)) {
      int highest = -100000;
      for (const auto& [value, e] : terms) highest = std::max(highest, e);
      const double unit = std::ldexp(1.0, highest - rule.fraction);
      total = 0;
      for (const auto& [value, e] : terms) total += std::trunc(value / unit);
      total *= unit;
    }
    c = sum == "f32" ? f32_toward_zero(total, rule.kept) : f16_nearest(total);
  }
  return c;
}

/// Integers; `bits` of an element.
inline int64_t integer(const std::string& type, uint32_t bits) {
  if (type == "s8") return static_cast<int8_t>(bits);
  if (type == "s4") return (bits & 8) != 0 ? static_cast<int64_t>(bits) - 16 : bits;
  return bits;
}

}  // namespace oracle::matrix
