#include "runtime/diff/inputs.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <span>

#include "runtime/support/npy.hpp"

namespace lanewise::diff {
namespace {

struct FloatFormat {
  unsigned bytes, fraction_bits, exponent_bits;
  uint64_t exponent_mask() const { return (uint64_t{1} << exponent_bits) - 1; }
  uint64_t bias() const { return exponent_mask() >> 1; }
  uint64_t fraction_mask() const { return (uint64_t{1} << fraction_bits) - 1; }
};

FloatFormat format_of(const std::string& type) {
  if (type == "f16") return {2, 10, 5};
  if (type == "f64") return {8, 52, 11};
  return {4, 23, 8};
}

uint64_t float_with(const FloatFormat& f, int low, int high, std::mt19937_64& random) {
  const uint64_t bits = random();
  const auto exponent = static_cast<uint64_t>(static_cast<int64_t>(f.bias()) + low) +
                        random() % static_cast<uint64_t>(high - low + 1);
  const uint64_t sign = bits >> 63;
  return sign << (8 * f.bytes - 1) | exponent << f.fraction_bits | (bits & f.fraction_mask());
}

uint64_t special_float(const FloatFormat& f, std::mt19937_64& random) {
  const uint64_t sign = (random() & 1) << (8 * f.bytes - 1), infinity = f.exponent_mask()
                                                                        << f.fraction_bits;
  const uint64_t choices[] = {0,
                              infinity,
                              infinity | uint64_t{1} << (f.fraction_bits - 1),  // a quiet NaN
                              infinity - 1,                                     // the largest
                              1,                                                // the smallest
                              f.fraction_mask(),               // the largest subnormal number
                              uint64_t{1} << f.fraction_bits,  // the smallest normal one
                              f.bias() << f.fraction_bits};    // one
  return sign | choices[random() % std::size(choices)];
}

uint64_t random_float(const FloatFormat& f, Fill how, std::mt19937_64& random) {
  if (how == Fill::full) {
    const int reach = f.bytes == 2 ? 10 : 20;
    return float_with(f, -reach, reach, random);
  }
  if (how == Fill::special && random() % 4 == 0) return special_float(f, random);
  return float_with(f, -6, 1, random);
}

uint64_t random_integer(unsigned bytes, Fill how, std::mt19937_64& random) {
  if (how == Fill::full) return random();
  if (how == Fill::special && random() % 4 == 0) {
    const uint64_t top = uint64_t{1} << (8 * bytes - 1);
    const uint64_t choices[] = {0, 1, ~uint64_t{0}, top, top - 1, top + 1, 31, 32};
    return choices[random() % std::size(choices)];
  }
  return random() % 16;
}

template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double half_value(uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

}  // namespace

const char* name(Fill fill) {
  static constexpr const char* kNames[] = {"small numbers", "all bits", "special values"};
  return kNames[static_cast<size_t>(fill)];
}

bool is_float(const std::string& type) {
  return type.starts_with('f');
}

double float_value(const std::string& type, const std::byte* at) {
  if (type == "f16") return half_value(load<uint16_t>(at));
  return type == "f64" ? load<double>(at) : static_cast<double>(load<float>(at));
}

void fill(Input& input, Fill how, std::mt19937_64& random) {
  const unsigned size = npy::element_size(input.type);
  const bool floating = is_float(input.type);
  const FloatFormat format = format_of(input.type);
  for (size_t at = 0; at + size <= input.bytes.size(); at += size) {
    const uint64_t bits =
        floating ? random_float(format, how, random) : random_integer(size, how, random);
    std::memcpy(input.bytes.data() + at, &bits, size);
  }
}

std::string value_text(const std::string& type, const std::byte* at) {
  const unsigned size = npy::element_size(type);
  uint64_t bits = 0;
  std::memcpy(&bits, at, size);
  const std::string hex = fmt::format("{:#0{}x}", bits, 2 + 2 * size);
  if (!is_float(type)) return fmt::format("{} ({})", hex, bits);
  return type == "f64" ? fmt::format("{} ({:.17g})", hex, float_value(type, at))
                       : fmt::format("{} ({:.9g})", hex, float_value(type, at));
}

std::string element_text(const Input& input, const std::vector<std::byte>& bytes, uint64_t index) {
  return value_text(input.type, bytes.data() + index * npy::element_size(input.type));
}

}  // namespace lanewise::diff
