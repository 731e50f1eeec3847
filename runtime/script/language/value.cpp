#include "runtime/script/language/value.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace lanewise::script {
namespace {

uint64_t mask_of(unsigned bits) {
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

/// Nearest half, ties to even.
uint64_t half_bits(double v) {
  const uint64_t sign = std::signbit(v) ? 0x8000 : 0;
  const double a = std::fabs(v);
  if (std::isnan(v)) return sign | 0x7e00;
  if (a >= 65520.0) return sign | 0x7c00;
  if (a < std::ldexp(1.0, -14))
    return sign | static_cast<uint64_t>(std::nearbyint(std::ldexp(a, 24)));
  int exponent = 0;
  const double mantissa = std::frexp(a, &exponent);  // [0.5, 1)
  const auto eleven = static_cast<uint64_t>(std::nearbyint(std::ldexp(mantissa, 11)));
  // The hidden bit of `eleven` counts one exponent step; a carry to 2^11 counts the next.
  return sign | ((static_cast<uint64_t>(exponent + 13) << 10) + eleven);
}

double half_value(uint64_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const int exponent = static_cast<int>(bits >> 10 & 0x1f);
  const auto fraction = static_cast<double>(bits & 0x3ff);
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * HUGE_VAL;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

bool fits(uint64_t v, unsigned bits) {
  if (bits >= 64) return true;
  const uint64_t high = v >> bits;
  const bool top = (v >> (bits - 1) & 1) != 0;
  return high == 0 || (top && high == mask_of(64) >> bits);
}

}  // namespace

uint64_t float_bits(double v, unsigned size) {
  if (size == 16) return half_bits(v);
  if (size == 32) return std::bit_cast<uint32_t>(static_cast<float>(v));
  return std::bit_cast<uint64_t>(v);
}

double float_value(uint64_t bits, unsigned size) {
  if (size == 16) return half_value(bits);
  if (size == 32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return std::bit_cast<double>(bits);
}

bool is_nan_bits(uint64_t bits, unsigned size) {
  return std::isnan(float_value(bits, size));
}

Value Value::encoded(uint64_t bits, unsigned size) {
  return {true, bits & mask_of(size), float_value(bits & mask_of(size), size), size};
}
Value Value::rounded(double v, unsigned size) {
  return encoded(float_bits(v, size), size);
}

std::optional<ir::Type> type_named(std::string_view n) {
  using ir::Type;
  if (n.size() < 2 || n.size() > 3) return std::nullopt;
  const std::string_view size = n.substr(1);
  const bool u = n[0] == 'u' || n[0] == 'b', s = n[0] == 's' || n[0] == 'i', f = n[0] == 'f';
  if (size == "8" && (u || s)) return u ? Type::u8 : Type::s8;
  if (size == "16" && (u || s || f)) return u ? Type::u16 : s ? Type::s16 : Type::f16;
  if (size == "32" && (u || s || f)) return u ? Type::u32 : s ? Type::s32 : Type::f32;
  if (size == "64" && (u || s || f)) return u ? Type::u64 : s ? Type::s64 : Type::f64;
  return std::nullopt;
}

std::string_view type_name(ir::Type type) {
  return ir::name(type);
}

Takes takes(ir::Type type) {
  return ir::is_float(type) ? Takes::number : Takes::integer;
}

uint64_t encode(const Value& v, unsigned bits, Takes how, Loc loc) {
  if (!v.is_real) {
    if (how == Takes::number)
      return float_bits(static_cast<double>(static_cast<int64_t>(v.bits)), bits);
    if (fits(v.bits, bits)) return v.bits & mask_of(bits);
    fail(loc, fmt::format("the value {} (0x{:x}) does not fit {} bits; u{}(...) keeps the low ones",
                          static_cast<int64_t>(v.bits), v.bits, bits, bits));
  }
  if (how == Takes::integer)
    fail(loc, fmt::format("expected an integer, the value is the number {}", v.real));
  if (bits != 16 && bits != 32 && bits != 64)
    fail(loc, fmt::format("the number {} has no representation of {} bits", v.real, bits));
  if (v.real_bits == 0) return float_bits(v.real, bits);
  if (v.real_bits == bits) return v.bits;
  fail(loc, fmt::format("an f{} value cannot stand where {} bits are expected; f{}(...) rounds it, "
                        "bits(...) gives its bits",
                        v.real_bits, bits, bits));
}

Value decode(uint64_t raw, ir::Type type) {
  const unsigned bits = bits_of(type);
  raw &= mask_of(bits);
  if (ir::is_float(type)) return Value::encoded(raw, bits);
  if (ir::is_signed(type) && bits < 64 && (raw >> (bits - 1) & 1) != 0) raw |= ~mask_of(bits);
  return Value::integer(raw);
}

Value read_element(std::span<const std::byte> bytes, uint64_t offset, ir::Type type) {
  uint64_t raw = 0;
  std::memcpy(&raw, bytes.data() + offset, ir::size_of(type));
  return decode(raw, type);
}

std::string show(uint64_t raw, unsigned bits, std::optional<ir::Type> as) {
  raw &= mask_of(bits);
  if (bits == 1) return raw != 0 ? "true" : "false";
  const std::string hex = fmt::format("0x{:0{}x}", raw, (bits + 3) / 4);
  if (as && ir::is_float(*as) && bits_of(*as) == bits)
    return fmt::format("{} ({:g})", hex, float_value(raw, bits));
  const uint64_t sign = uint64_t{1} << (bits - 1);
  if (as && !ir::is_signed(*as)) return fmt::format("{} ({})", hex, raw);
  const auto value = static_cast<int64_t>((raw ^ sign) - sign);
  return fmt::format("{} ({})", hex, value);
}

}  // namespace lanewise::script
