#include "runtime/isa/gcn/text/operands/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdlib>

#include "runtime/isa/gcn/text/expression.hpp"

namespace lanewise::gcn {

using ir::Type;

namespace {

constexpr float kInlineFloats[] = {0.5F, -0.5F, 1.0F, -1.0F, 2.0F, -2.0F, 4.0F, -4.0F, 0.15915494F};

/// Operands have 16 bits and more.
unsigned operand_width(Type type) {
  return std::max(8 * ir::size_of(type), 16U);
}

unsigned radix_at(const Cursor& in) {
  const char next = in.peek(1);
  if (in.peek() != '0') return 10;
  if (next == 'b' || next == 'B') return 2;
  return next >= '0' && next <= '9' ? 8 : 10;
}

/// Length of the floating-point number here, a minus included; 0: there is none.
size_t float_length(const Cursor& in) {
  size_t n = in.peek() == '-' ? 1 : 0;
  const bool hex = in.peek(n) == '0' && (in.peek(n + 1) == 'x' || in.peek(n + 1) == 'X');
  if (hex) n += 2;
  const auto digits = [&] {
    const size_t first = n;
    for (char c = in.peek(n);
         hex ? std::isxdigit(static_cast<unsigned char>(c)) != 0 : c >= '0' && c <= '9';
         c = in.peek(n))
      ++n;
    return n - first;
  };
  const size_t whole = digits();
  const bool point = in.peek(n) == '.';
  if (point) ++n;
  const size_t fraction = point ? digits() : 0;
  if (whole + fraction == 0) return 0;
  const char mark = in.peek(n);
  const bool power = hex ? mark == 'p' || mark == 'P' : mark == 'e' || mark == 'E';
  if (!power) return point && !hex ? n : 0;
  const size_t sign = in.peek(n + 1) == '-' || in.peek(n + 1) == '+' ? 1 : 0;
  if (in.peek(n + 1 + sign) < '0' || in.peek(n + 1 + sign) > '9') return 0;
  n += 1 + sign;
  while (in.peek(n) >= '0' && in.peek(n) <= '9') ++n;
  return n;
}

/// The nearest float with so many bits of exponent and fraction, ties to even. Bits may be lost,
/// but not all of them: none is nearest to a number beyond the largest, nor to one that is not
/// exact below the least normal one.
std::optional<uint64_t> narrowed(uint64_t bits, unsigned exponent_bits, unsigned fraction_bits) {
  constexpr unsigned kFraction = 52;
  constexpr int kBias = 1023;
  const uint64_t sign = bits >> 63 << (exponent_bits + fraction_bits);
  const uint64_t infinity = ((uint64_t{1} << exponent_bits) - 1) << fraction_bits;
  const uint64_t magnitude = bits & ~(uint64_t{1} << 63);
  const auto exponent = static_cast<int>(magnitude >> kFraction);
  if (magnitude == 0) return sign;
  if (exponent == 2 * kBias + 1) return sign | infinity;
  const int field = exponent - kBias + (1 << (exponent_bits - 1)) - 1;
  const int below = field < 1 ? 1 - field : 0;
  const unsigned shift = kFraction - fraction_bits + static_cast<unsigned>(below);
  if (shift > 63 || exponent == 0) return std::nullopt;
  const uint64_t implicit = uint64_t{1} << kFraction;
  const uint64_t significand = implicit | (magnitude & (implicit - 1));
  const uint64_t half = uint64_t{1} << (shift - 1), rest = significand & (2 * half - 1);
  uint64_t kept = significand >> shift;
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // The significand's first bit adds one to the exponent's field.
  const uint64_t result =
      (static_cast<uint64_t>(below != 0 ? 0 : field - 1) << fraction_bits) + kept;
  const bool subnormal = result < uint64_t{1} << fraction_bits;
  if (result >= infinity || (subnormal && rest != 0)) return std::nullopt;
  return sign | result;
}

/// As a number of so many bits, with a sign or without.
bool fits(uint64_t bits, unsigned width) {
  const auto number = static_cast<int64_t>(bits);
  const int64_t half = int64_t{1} << (width - 1);
  return bits >> width == 0 || (number < 0 && number >= -half);
}

std::optional<unsigned> inline_code(uint64_t bits, Type type, Gen gen) {
  const unsigned width = operand_width(type);
  const auto number = width == 64   ? static_cast<int64_t>(bits)
                      : width == 32 ? static_cast<int32_t>(bits)
                                    : static_cast<int16_t>(bits);
  if (number >= 0 && number <= 64) return kZero + static_cast<unsigned>(number);
  if (number < 0 && number >= -16) return 192U + static_cast<unsigned>(-number);
  for (unsigned code = kFirstInlineFloat; code <= (gen == Gen::gfx8 ? kInverseTwoPi : 247U); ++code)
    if (width == 64   ? bits == inline_double(code)
        : width == 32 ? static_cast<uint32_t>(bits) == inline_constant(code)
                      : type == Type::f16 && (bits & 0xffff) == inline_half(code))
      return code;
  return std::nullopt;
}

}  // namespace

Operand immediate(uint32_t value) {
  Operand o;
  o.immediate = true;
  o.value = value;
  return o;
}

Operand lowest_bits(int64_t number, unsigned width) {
  const auto bits = static_cast<uint64_t>(number);
  Operand o = immediate(static_cast<uint32_t>(bits & ((uint64_t{1} << width) - 1)));
  o.cut = !fits(bits, width);
  return o;
}

int64_t read_bits(Cursor& in, const char* what) {
  in.skip_blanks();
  return at_float(in) ? static_cast<int64_t>(read_float(in).bits) : read_constant(in, what);
}

uint64_t read_integer(Cursor& in, const char* what) {
  in.skip_blanks();
  const unsigned radix = radix_at(in);
  if (radix == 10) return in.number(what);
  const size_t start = in.at();
  in.seek(start + (radix == 2 ? 2 : 1));
  const std::string digits(in.word());
  uint64_t value = 0;
  for (const char d : digits) {
    if (d < '0' || d >= static_cast<char>('0' + radix))
      Cursor::fail_at(start,
                      fmt::format("expected {}; '{}' is no digit of base {}", what, d, radix));
    if (value >> 60 != 0) Cursor::fail_at(start, "number too large");
    value = value * radix + static_cast<uint64_t>(d - '0');
  }
  if (digits.empty()) Cursor::fail_at(start, std::string("expected ") + what);
  return value;
}

bool at_float(Cursor in) {
  return float_length(in) != 0;
}

Number read_float(Cursor& in) {
  const size_t at = in.at();
  const std::string text(in.rest().substr(0, float_length(in)));
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  in.seek(at + text.size());
  if (end != text.c_str() + text.size() || Cursor::is_word(in.peek()) || in.peek() == '.')
    Cursor::fail_at(at, "expected a number" + in.found(at));
  return {std::bit_cast<uint64_t>(value), true};
}

std::optional<uint64_t> bits_in(const Number& n, Type type, std::string& problem) {
  const unsigned width = operand_width(type);
  if (width == 64) return n.bits;
  if (n.is_float) {
    const auto bits = width == 16 ? narrowed(n.bits, 5, 10) : narrowed(n.bits, 8, 23);
    if (!bits)
      problem = fmt::format("the number is too large or too small for a float of {} bits", width);
    return bits;
  }
  if (!fits(n.bits, width)) {
    problem = fmt::format("number does not fit in {} bits", width);
    return std::nullopt;
  }
  return n.bits & ((uint64_t{1} << width) - 1);
}

std::optional<Constant> constant_of(const Number& n, Type type, Gen gen, std::string& problem) {
  const auto bits = bits_in(n, type, problem);
  if (!bits) return std::nullopt;
  if (const auto code = inline_code(*bits, type, gen)) return Constant{.code = *code};
  const auto lower = static_cast<uint32_t>(*bits);
  if (ir::size_of(type) < 8 || (!n.is_float && fits(*bits, 32))) return Constant{.literal = lower};
  if (!n.is_float || type != Type::f64) {
    problem = n.is_float ? "a floating-point literal is not possible in a 64-bit integer operand"
                         : "a literal of a 64-bit operand has 32 bits, the number does not fit";
    return std::nullopt;
  }
  const auto upper = static_cast<uint32_t>(*bits >> 32);
  // Without an upper half it is 0, which has a code.
  return Constant{upper == 0 ? kZero : kLiteral, upper, lower == 0};
}

Number with_modifiers(Number n, bool neg, bool abs, Type type) {
  const uint64_t sign = uint64_t{1} << (n.is_float ? 63 : operand_width(type) - 1);
  if (abs) n.bits &= ~sign;
  if (neg) n.bits ^= sign;
  if (!n.is_float) n.bits &= (sign << 1) - 1;
  return n;
}

std::string constant_text(unsigned code, Type type) {
  if (code >= kFirstInlineFloat && code <= kInverseTwoPi) {
    // Integers of 16 bits are written as such.
    if (type == Type::u16) return fmt::format("{:#x}", *inline_half(code));
    if (code == kInverseTwoPi) return ir::size_of(type) == 8 ? "0.15915494309189532" : "0.15915494";
    return fmt::format("{:.1f}", kInlineFloats[code - kFirstInlineFloat]);
  }
  const auto value = inline_constant(code);
  return value ? std::to_string(static_cast<int32_t>(*value)) : std::string();
}

/// A literal whose value has a shorter code is written, as the disassemblers do, like that code.
std::string literal_text(uint32_t literal, Type type, Gen gen) {
  const uint64_t bits = ir::size_of(type) == 2 ? literal & 0xffff : literal;
  const auto code = inline_code(bits, type, gen);
  return code ? constant_text(*code, type) : fmt::format("{:#x}", bits);
}

std::optional<uint32_t> inline_constant(unsigned code) {
  if (code >= kFirstInlineFloat && code <= kInverseTwoPi)
    return std::bit_cast<uint32_t>(kInlineFloats[code - kFirstInlineFloat]);
  if (code >= kZero && code <= 192) return code - kZero;
  if (code > 192 && code <= 208) return 0 - (code - 192);
  return std::nullopt;
}

std::optional<uint64_t> inline_double(unsigned code) {
  if (code == kInverseTwoPi) return 0x3fc45f306dc9c882;
  if (code < kFirstInlineFloat || code > kInverseTwoPi) return std::nullopt;
  return std::bit_cast<uint64_t>(static_cast<double>(kInlineFloats[code - kFirstInlineFloat]));
}

std::optional<uint32_t> inline_half(unsigned code) {
  static constexpr uint16_t kHalves[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                         0xc000, 0x4400, 0xc400, 0x3118};
  if (code < kFirstInlineFloat || code > kInverseTwoPi) return std::nullopt;
  return kHalves[code - kFirstInlineFloat];
}

}  // namespace lanewise::gcn
