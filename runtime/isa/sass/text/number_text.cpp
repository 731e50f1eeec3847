// Integers and floating-point numbers of operands between text and word.
#include "runtime/isa/sass/text/number_text.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>

namespace lanewise::sass {
namespace {

using Kind = OperandSpec::Kind;

enum class FloatFormat : uint8_t { half, single, wide };
FloatFormat format_of(const OperandSpec& spec, uint64_t word) {
  if (spec.wide) return FloatFormat::wide;
  const uint64_t code = spec.format.present() ? spec.format.get(word) : 2;
  return code == 1 ? FloatFormat::half : code == 3 ? FloatFormat::wide : FloatFormat::single;
}

double half_value(uint64_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1 : 1;
  const int exponent = static_cast<int>(bits >> 10 & 31), fraction = static_cast<int>(bits & 0x3ff);
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

/// The number as 64 bits with the format's own at the bottom. Half precision: the one that has the
/// value, if any.
std::optional<uint64_t> float_bits(const std::string& text, FloatFormat format) {
  const std::string plain = text == "+INF" ? "inf" : text == "-INF" ? "-inf" : text;
  char* end = nullptr;
  const double value = std::strtod(plain.c_str(), &end);
  if (end == nullptr || *end != '\0' || plain.empty()) return std::nullopt;
  if (format == FloatFormat::wide) return std::bit_cast<uint64_t>(value);
  if (format == FloatFormat::single)
    return std::bit_cast<uint32_t>(std::strtof(plain.c_str(), nullptr));
  for (uint64_t bits = 0; bits <= 0xffff; ++bits)
    if (half_value(bits) == value && std::signbit(half_value(bits)) == std::signbit(value))
      return bits;
  return std::nullopt;
}

/// A NaN that the disassembler names without its payload.
std::optional<uint64_t> named_nan(const std::string& text, FloatFormat format) {
  static constexpr uint64_t kQuiet[] = {0x7e00, 0x7fc00000, 0x7ff8000000000000};
  static constexpr uint64_t kSign[] = {0x8000, 0x80000000, uint64_t{1} << 63};
  if (text.size() != 5 || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const auto n = static_cast<size_t>(format);
  const uint64_t sign = text[0] == '-' ? kSign[n] : 0;
  if (text.ends_with("QNAN")) return sign | kQuiet[n];
  if (text.ends_with("SNAN") && format == FloatFormat::wide) return sign | 0x7ff0100000000000;
  return std::nullopt;
}

/// Half precision in fewer bits than it has: the top ones, with its sign apart.
bool upper_half_bits(const OperandSpec& spec) {
  return spec.sign.present() && spec.field.len < 16;
}

/// The top bits that the word has of a number; other half precision stands at the bottom instead.
void put_float(const OperandSpec& spec, uint64_t& word, size_t at, uint64_t bits,
               FloatFormat format) {
  if (!spec.sign.present()) return spec.field.set(word, bits);
  if (format == FloatFormat::half && !upper_half_bits(spec)) {
    spec.sign.set(word, 0);
    return spec.field.set(word, bits);
  }
  const unsigned width = format == FloatFormat::wide ? 64 : format == FloatFormat::half ? 16 : 32;
  const unsigned lost = width - 1 - spec.field.len;
  if ((bits & ((uint64_t{1} << lost) - 1)) != 0)
    Cursor::fail_value(at,
                       fmt::format("only floats whose low {} bits are 0 fit into this form", lost));
  spec.field.set(word, bits >> lost);
  spec.sign.set(word, bits >> (width - 1));
}

/// nvdisasm: 20 significant digits, and an exponent from ten digits before the point on.
std::string write_digits(double value) {
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, std::fabs(value) >= 1e9 ? "%.20e" : "%.20g", value);
  return buffer;
}

std::string write_float(double value, bool negative, bool signalling) {
  if (std::isnan(value))
    return fmt::format("{}{}NAN ", negative ? '-' : '+', signalling ? 'S' : 'Q');
  if (std::isinf(value)) return value < 0 ? "-INF " : "+INF ";
  if (value == 0) return negative ? "-0.0 " : "0";
  return write_digits(value);
}

std::string write_float(const OperandSpec& spec, uint64_t word) {
  const uint64_t value = spec.field.get(word), sign = spec.sign.get(word);
  const FloatFormat format = format_of(spec, word);
  if (format == FloatFormat::half) {
    const uint64_t bits =
        upper_half_bits(spec) ? value << (15 - spec.field.len) | sign << 15 : value & 0xffff;
    return write_float(half_value(bits), (bits & 0x8000) != 0, false);
  }
  if (format == FloatFormat::wide) {
    const uint64_t bits = value << 44 | sign << 63;
    return write_float(std::bit_cast<double>(bits), sign != 0, (bits >> 51 & 1) == 0);
  }
  const auto bits = static_cast<uint32_t>(spec.sign.present() ? value << 12 | sign << 31 : value);
  return write_float(static_cast<double>(std::bit_cast<float>(bits)), bits >> 31 != 0, false);
}

}  // namespace

int64_t read_signed(Cursor& in, bool negative, const char* what) {
  while (true) {
    if (in.take('-'))
      negative = !negative;
    else if (!in.take('+'))
      break;
  }
  const size_t at = in.at();
  const uint64_t magnitude = in.number(what);
  if (magnitude > 0xffffffff) Cursor::fail_at(at, "number does not fit in 32 bits");
  return negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

void read_integer(Cursor& in, const OperandSpec& spec, uint64_t& word) {
  in.skip_blanks();
  const size_t at = in.at();
  int64_t value = read_signed(in, false, "a number");
  const unsigned len = spec.field.len + spec.sign.len;
  const bool is_signed = spec.is_signed || spec.sign.present();
  const int64_t low = is_signed || len == 32 ? -(int64_t{1} << (len - 1)) : 0;
  const int64_t high = (int64_t{1} << (is_signed ? len - 1 : len)) - 1;
  if (spec.pattern && value > high && value < 2 * high + 2) value -= 2 * high + 2;
  // A 32-bit pattern whose sign extension is the field's value may be written unsigned.
  if (is_signed && value > high && value > 0x7fffffff) value -= int64_t{1} << 32;
  if (value < low || value > high)
    Cursor::fail_value(at, fmt::format("{} does not fit: expected {} to {}", value, low, high));
  spec.field.set(word, static_cast<uint64_t>(value));
  if (spec.sign.present()) spec.sign.set(word, value < 0 ? 1 : 0);
}

void read_float(Cursor& in, const OperandSpec& spec, uint64_t& word) {
  in.skip_blanks();
  const size_t at = in.at();
  const FloatFormat format = format_of(spec, word);
  std::string text(in.until(", \t;}"));
  // Modifiers stand behind the number.
  for (const char* suffix : {".NEG", ".ABS", ".reuse", ".H1"})
    text.erase(std::min(text.find(suffix), text.size()));
  in.seek(at + text.size());
  if (text.starts_with("0x") || text.starts_with("0X")) {
    in.seek(at);
    const uint64_t raw = in.number("a float's bits");
    const unsigned width = format == FloatFormat::wide ? 64 : format == FloatFormat::half ? 16 : 32;
    if (width < 64 && raw >> width != 0)
      Cursor::fail_at(at, fmt::format("a float has {} bits", width));
    return put_float(spec, word, at, raw, format);
  }
  std::optional<uint64_t> bits = named_nan(text, format);
  if (!bits) bits = float_bits(text, format);
  if (!bits) Cursor::fail_at(at, "expected a floating-point number, found '" + text + "'");
  put_float(spec, word, at, *bits, format);
}

std::string hex(int64_t value) {
  return value < 0 ? fmt::format("-{:#x}", -value) : fmt::format("{:#x}", value);
}

std::string write_number(const OperandSpec& spec, uint64_t word) {
  if (spec.kind == Kind::fimm) return write_float(spec, word);
  uint64_t value = spec.field.get(word);
  unsigned len = spec.field.len;
  if (spec.sign.present()) value |= spec.sign.get(word) << len++;
  if (spec.pattern || (!spec.is_signed && !spec.sign.present())) return fmt::format("{:#x}", value);
  return hex(static_cast<int64_t>(value << (64 - len)) >> (64 - len));
}

}  // namespace lanewise::sass
