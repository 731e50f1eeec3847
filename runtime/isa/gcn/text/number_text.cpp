#include "runtime/isa/gcn/text/number_text.hpp"

#include <fmt/format.h>

#include <bit>
#include <cstdlib>

namespace lanewise::gcn {
namespace {

constexpr float kInlineFloats[] = {0.5F, -0.5F, 1.0F, -1.0F, 2.0F, -2.0F, 4.0F, -4.0F, 0.15915494F};

unsigned radix_at(const Cursor& in) {
  const char next = in.peek(1);
  if (in.peek() != '0') return 10;
  if (next == 'b' || next == 'B') return 2;
  return next >= '0' && next <= '9' ? 8 : 10;
}

}  // namespace

Operand immediate(uint32_t value) {
  Operand o;
  o.immediate = true;
  o.value = value;
  return o;
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

Number float_or_integer(Cursor& in) {
  const size_t at = in.at();
  const bool negative = in.take('-');
  const char first = in.peek();
  if (first < '0' || first > '9')
    Cursor::fail_at(at, "expected a register or a number" + in.found(at));
  const bool prefixed = first == '0' && (in.peek(1) == 'x' || in.peek(1) == 'X' ||
                                         in.peek(1) == 'b' || in.peek(1) == 'B');
  const size_t digits = in.at();
  const std::string text(in.until(" \t,|)"));
  const bool is_float = !prefixed && text.find_first_of(".eE") != std::string::npos;
  if (is_float) {
    char* end = nullptr;
    const float value = std::strtof(text.c_str(), &end);
    if (*end != '\0') Cursor::fail_at(at, "expected a number, found '" + text + "'");
    return {std::bit_cast<uint32_t>(negative ? -value : value), true, negative};
  }
  in.seek(digits);
  const uint64_t magnitude = read_integer(in, "a register or a number");
  if (magnitude > 0xffffffff || (negative && magnitude > 0x80000000))
    Cursor::fail_value(at, "number does not fit in 32 bits");
  return {static_cast<uint32_t>(negative ? 0 - magnitude : magnitude), false, negative};
}

std::optional<unsigned> inline_code(const Number& n, bool wide, Gen gen) {
  const auto integer = static_cast<int32_t>(n.bits);
  if (!n.is_float && integer >= 0 && integer <= 64) return kZero + n.bits;
  if (!n.is_float && integer < 0 && integer >= -16 && (n.negative || !wide))
    return 192U + (0 - n.bits);
  if (n.is_float && n.bits == 0) return kZero;
  if (wide && !n.is_float) return std::nullopt;
  for (unsigned k = 0; k < (gen == Gen::gfx8 ? 9 : 8); ++k)
    if (n.bits == std::bit_cast<uint32_t>(kInlineFloats[k])) return 240 + k;
  return std::nullopt;
}

std::optional<uint32_t> inline_constant(unsigned code) {
  if (code >= 240 && code <= kInverseTwoPi)
    return std::bit_cast<uint32_t>(kInlineFloats[code - 240]);
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

std::string inline_float_text(unsigned code, bool wide) {
  if (code == kInverseTwoPi) return wide ? "0.15915494309189532" : "0.15915494";
  if (code < 240 || code > kInverseTwoPi) return {};
  return fmt::format("{:.1f}", kInlineFloats[code - 240]);
}

}  // namespace lanewise::gcn
