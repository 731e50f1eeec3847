#include "runtime/cli/array_values.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "runtime/support/random_bits.hpp"

namespace lanewise::cli {
namespace {

constexpr uint64_t kMostInLine = 16;

double from_half(uint16_t bits) {
  const int exponent = bits >> 10 & 31, fraction = bits & 1023;
  const double size = exponent == 31  ? (fraction == 0 ? HUGE_VAL : std::nan(""))
                      : exponent == 0 ? std::ldexp(fraction, -24)
                                      : std::ldexp(fraction + 1024, exponent - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

uint64_t number_bits(double value, unsigned size) {
  uint64_t bits = 0;
  if (size == 2) return to_half(value);
  const auto single = static_cast<float>(value);
  size == 4 ? std::memcpy(&bits, &single, 4) : std::memcpy(&bits, &value, 8);
  return bits;
}

template <typename F>
void fill(npy::Array& a, const F& element) {
  const unsigned size = npy::element_size(a.type);
  for (uint64_t n = 0; n < a.bytes.size() / size; ++n) {
    const uint64_t bits = element(n, size);
    std::memcpy(a.bytes.data() + n * size, &bits, size);
  }
}

template <typename T>
T read(const npy::Array& a, uint64_t at) {
  T value;
  std::memcpy(&value, a.bytes.data() + at, sizeof value);
  return value;
}

std::string element_text(const npy::Array& a, uint64_t n, unsigned size) {
  const uint64_t at = n * size;
  if (a.type == "f16")
    return fmt::format("{}", static_cast<float>(from_half(read<uint16_t>(a, at))));
  if (a.type == "f32") return fmt::format("{}", read<float>(a, at));
  if (a.type == "f64") return fmt::format("{}", read<double>(a, at));
  uint64_t bits = 0;
  std::memcpy(&bits, a.bytes.data() + at, size);
  if (a.type[0] == 'u') return std::to_string(bits);
  const unsigned unused = 64 - 8 * size;
  return std::to_string(static_cast<int64_t>(bits << unused) >> unused);
}

}  // namespace

uint16_t to_half(double x) {
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double a = std::fabs(x);
  if (std::isnan(x)) return 0x7fff;
  if (a >= 65520.0) return sign | 0x7c00;
  if (a < std::ldexp(1.0, -14)) {
    return sign | static_cast<uint16_t>(std::nearbyint(std::ldexp(a, 24)));
  }
  int exponent = 0;
  const double mantissa = std::frexp(a, &exponent);  // in [0.5, 1)
  const auto scaled = static_cast<uint32_t>(std::nearbyint(std::ldexp(mantissa, 11)));
  return sign | static_cast<uint16_t>((static_cast<uint32_t>(exponent + 13) << 10) + scaled);
}

void fill_iota(npy::Array& array) {
  const bool real = array.type[0] == 'f';
  fill(array, [&](uint64_t n, unsigned size) {
    return real ? number_bits(static_cast<double>(n), size) : n;
  });
}

void fill_random(npy::Array& array, uint64_t seed) {
  const bool real = array.type[0] == 'f';
  fill(array, [&](uint64_t n, unsigned size) {
    return real ? number_bits(random_number(seed, n), size) : random_bits(seed, n);
  });
}

std::string values_text(const npy::Array& a) {
  const unsigned size = npy::element_size(a.type);
  const uint64_t count = a.bytes.size() / size;
  const uint64_t row = a.shape.empty() ? 1 : std::max<uint64_t>(a.shape.back(), 1);
  const uint64_t in_line = std::min(row, kMostInLine);
  std::string out;
  for (uint64_t n = 0; n < count; ++n) {
    const bool ends = (n % row + 1) % in_line == 0 || (n + 1) % row == 0 || n + 1 == count;
    out += element_text(a, n, size) + (ends ? "\n" : " ");
  }
  return out;
}

}  // namespace lanewise::cli
