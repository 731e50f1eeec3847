// What an expression of a stream script gives: 64 bits of integer, or a floating-point number.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "runtime/ir/types.hpp"
#include "runtime/script/problem.hpp"

namespace lanewise::script {

struct Value {
  bool is_real = false;
  uint64_t bits = 0;  ///< integer, or the encoding of a real of `real_bits`
  double real = 0;
  unsigned real_bits = 0;  ///< 16, 32 or 64; 0 = a literal that takes the size of its use

  static Value integer(uint64_t v) { return {false, v, 0, 0}; }
  static Value literal(double v) { return {true, 0, v, 0}; }
  /// A number of exactly this encoding.
  static Value encoded(uint64_t bits, unsigned size);
  static Value rounded(double v, unsigned size);
  double number() const { return is_real ? real : static_cast<double>(static_cast<int64_t>(bits)); }
  bool truth() const { return is_real ? real != 0 : bits != 0; }
  bool any_nan() const { return is_real && real_bits == 0 && real != real; }
};

/// u8 s8 i8 b8 ... u64, f16 f32 f64.
std::optional<ir::Type> type_named(std::string_view name);
std::string_view type_name(ir::Type type);
constexpr unsigned bits_of(ir::Type type) {
  return 8 * ir::size_of(type);
}

/// What a place takes: any = bits (an integer is its bits), integer, or a number.
enum class Takes : uint8_t { any, integer, number };
Takes takes(ir::Type type);
/// The `bits` low bits that represent the value there; Problem at loc when it does not fit.
uint64_t encode(const Value& value, unsigned bits, Takes takes, Loc loc);
/// Low bits read as a type.
Value decode(uint64_t bits, ir::Type type);
Value read_element(std::span<const std::byte> bytes, uint64_t offset, ir::Type type);

uint64_t float_bits(double v, unsigned size);
double float_value(uint64_t bits, unsigned size);
bool is_nan_bits(uint64_t bits, unsigned size);

/// "0x0000002a (42)"; floats by value, too.
std::string show(uint64_t bits, unsigned size, std::optional<ir::Type> as);

}  // namespace lanewise::script
