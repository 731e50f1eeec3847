#include "runtime/isa/sass/operand_text.hpp"

#include <fmt/format.h>

#include <charconv>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace lanewise::sass {
namespace {

using Kind = OperandSpec::Kind;
constexpr Field kBase{8, 8};   // register of an address operand
constexpr Field kBank{36, 5};  // bank of an indexed constant

void set_flag(Cursor& in, Field field, uint64_t& word, const char* what) {
  if (!field.present()) in.fail(std::string(what) + " is not possible on this operand");
  field.set(word, 1);
}

unsigned read_register(Cursor& in) {
  in.skip_blanks();
  const size_t start = in.at();
  const std::string_view name = in.word();
  if (name == "RZ") return kRZ;
  if (name.size() >= 2 && name.size() <= 4 && name[0] == 'R') {
    unsigned n = 0;
    bool digits = true;
    for (char c : name.substr(1)) {
      digits = digits && c >= '0' && c <= '9';
      n = n * 10 + static_cast<unsigned>(c - '0');
    }
    if (digits && n < kRZ) return n;
  }
  Cursor::fail_at(start, "expected a register R0..R254 or RZ" + in.found(start));
}

unsigned read_predicate(Cursor& in) {
  in.skip_blanks();
  const size_t start = in.at();
  const std::string_view name = in.word();
  if (name == "PT") return kPT;
  if (name.size() == 2 && name[0] == 'P' && name[1] >= '0' && name[1] <= '6')
    return static_cast<unsigned>(name[1] - '0');
  Cursor::fail_at(start, "expected a predicate P0..P6 or PT" + in.found(start));
}

/// Numbers have their modifiers behind them, because a minus sign is part of the number.
Field suffix_of_number(const OperandSpec& spec, std::string_view suffix) {
  if (spec.kind != Kind::imm && spec.kind != Kind::fimm) return {};
  return suffix == "INV"   ? spec.inv
         : suffix == "NEG" ? spec.neg
         : suffix == "ABS" ? spec.abs
                           : Field{};
}

/// Index of a part's name; the row of names belongs to the operand's type.
uint64_t part_key(const OperandSpec& spec, uint64_t word) {
  return spec.part_key.get(word) << spec.part.len;
}
std::string_view part_name(const OperandSpec& spec, uint64_t word) {
  return spec.part_names[part_key(spec, word) | spec.part.get(word)];
}
bool select_part(const OperandSpec& spec, std::string_view name, uint64_t& word) {
  if (!spec.part.present() || name.empty()) return false;
  for (uint64_t n = 0; n < uint64_t{1} << spec.part.len; ++n)
    if (spec.part_names[part_key(spec, word) | n] == name) {
      spec.part.set(word, n);
      return true;
    }
  return false;
}

/// Nothing was written: the part that has no name.
void choose_whole(const OperandSpec& spec, uint64_t& word) {
  for (uint64_t n = 0; n < uint64_t{1} << spec.part.len; ++n) {
    if (part_name(spec, word).empty()) return;
    spec.part.set(word, n);
  }
}

/// True where one of them chose a part.
bool read_suffixes(Cursor& in, const OperandSpec& spec, Instruction& i) {
  bool chosen = false;
  if (spec.kind == Kind::fimm) in.skip_blanks();  // +INF .NEG
  while (in.peek() == '.') {
    const size_t start = in.at();
    in.seek(start + 1);
    if (spec.high.len == 2 && in.rest().starts_with("???3")) {
      spec.high.set(i.word, 3);
      in.seek(start + 5);
      continue;
    }
    const std::string_view suffix = in.word();
    if (suffix == "reuse" && spec.reuse >= 0)
      i.control.set(17 + static_cast<unsigned>(spec.reuse), 1, 1);
    else if (select_part(spec, suffix, i.word))
      chosen = true;
    else if (suffix == "H1" && spec.high.present())
      spec.high.set(i.word, spec.high.len == 2 ? 2 : 1);
    else if (suffix == "H0" && spec.high.len == 2)
      spec.high.set(i.word, 1);
    else if (suffix == "CC" && spec.cc.present())
      spec.cc.set(i.word, 1);
    else if (const Field flag = suffix_of_number(spec, suffix); flag.present())
      flag.set(i.word, 1);
    else if (suffix != "H0" || !spec.high.present())
      Cursor::fail_at(start, "'." + std::string(suffix) + "' is not possible on this operand");
  }
  return chosen;
}

void read_prefixes(Cursor& in, const OperandSpec& spec, uint64_t& word) {
  const bool number = spec.kind == Kind::imm || spec.kind == Kind::fimm;
  const bool has_own_sign = number || spec.kind == Kind::target;
  if ((!has_own_sign || spec.prefixed) && in.take('-'))
    set_flag(in, spec.neg, word, "a minus sign");
  if (in.take('~')) set_flag(in, spec.inv, word, "'~'");
  if (!number && in.take('|')) set_flag(in, spec.abs, word, "an absolute value");
}

void read_constant(Cursor& in, const OperandSpec& spec, uint64_t& word) {
  if (!in.take_word("c")) in.fail("expected a constant c[bank][offset]" + in.found());
  in.expect('[', "after 'c'");
  const size_t bank_at = in.at();
  const uint64_t bank = in.number("a constant bank");
  in.expect(']', "after the constant bank");
  in.expect('[', "before the constant's offset");
  const size_t offset_at = in.at();
  const bool negative = in.take('-');
  const uint64_t offset = in.number("an offset");
  in.expect(']', "after the offset");
  if (bank > 31) Cursor::fail_value(bank_at, "constant banks go from 0 to 0x1f");
  const bool bytes = spec.field.len == 21;
  if (offset > (negative ? 0x8000 : 0xffff) || (!bytes && offset % 4 != 0))
    Cursor::fail_value(offset_at,
                       bytes ? "constant offsets go from -0x8000 to 0xffff"
                             : "constant offsets are multiples of 4 from -0x8000 to 0xfffc");
  const uint64_t place = (negative ? 0x10000 - offset : offset) & 0xffff;
  spec.field.set(word, bytes ? bank << 16 | place : bank << 14 | place / 4);
}

/// Sign, then magnitude: also `+ -0x4` and `- 4`.
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

/// The top bits that the word has of a number; half precision stands at the bottom instead.
void put_float(const OperandSpec& spec, uint64_t& word, size_t at, uint64_t bits,
               FloatFormat format) {
  if (!spec.sign.present()) return spec.field.set(word, bits);
  if (format == FloatFormat::half) {
    spec.sign.set(word, 0);
    return spec.field.set(word, bits);
  }
  const unsigned width = format == FloatFormat::wide ? 64 : 32, lost = width - 20;
  if ((bits & ((uint64_t{1} << lost) - 1)) != 0)
    Cursor::fail_value(at,
                       fmt::format("only floats whose low {} bits are 0 fit into this form", lost));
  spec.field.set(word, bits >> lost);
  spec.sign.set(word, bits >> (width - 1));
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

struct Place {
  unsigned base = kRZ;
  int64_t offset = 0;
  size_t at = 0;  ///< of the offset
};
Place read_place(Cursor& in) {
  in.skip_blanks();
  Place p;
  p.at = in.at();
  const bool has_base = in.peek() == 'R';
  if (has_base) p.base = read_register(in);
  in.skip_blanks();
  if (!has_base || in.peek() == '+' || in.peek() == '-') {
    p.at = in.at();
    p.offset = read_signed(in, false, "an address");
  }
  return p;
}

void check_offset(const OperandSpec& spec, size_t at, int64_t offset, bool absolute) {
  const unsigned len = spec.field.len + spec.shift;
  const int64_t step = int64_t{1} << spec.shift;
  const int64_t low = absolute ? 0 : -(int64_t{1} << (len - 1));
  const int64_t high = (int64_t{1} << (absolute ? len : len - 1)) - step;
  if (offset < low || offset > high)
    Cursor::fail_value(at, fmt::format("offset {} does not fit: expected {} to {}{}", offset, low,
                                       high, absolute ? " in an absolute address" : ""));
  if (offset % step != 0)
    Cursor::fail_value(at, fmt::format("offset {} has no encoding: its low {} bits are not in the "
                                       "word, expected a multiple of {}",
                                       offset, spec.shift, step));
}

void read_address(Cursor& in, const OperandSpec& spec, Instruction& i) {
  in.expect('[', "before an address");
  const auto [base, offset, at] = read_place(in);
  in.expect(']', "after the address");
  check_offset(spec, at, offset, base == kRZ);
  kBase.set(i.word, base);
  spec.field.set(i.word, static_cast<uint64_t>(offset) >> spec.shift);
}

/// c[bank][Ra + imm]; the offset is signed even without a register.
void read_indexed_constant(Cursor& in, const OperandSpec& spec, Instruction& i) {
  if (!in.take_word("c")) in.fail("expected a constant c[bank][Ra+offset]" + in.found());
  in.expect('[', "after 'c'");
  const size_t bank_at = in.at();
  const uint64_t bank = in.number("a constant bank");
  if (bank > 31) Cursor::fail_value(bank_at, "constant banks go from 0 to 0x1f");
  in.expect(']', "after the constant bank");
  in.expect('[', "before the constant's offset");
  const Place place = read_place(in);
  in.expect(']', "after the offset");
  check_offset(spec, place.at, place.offset, false);
  kBase.set(i.word, place.base);
  kBank.set(i.word, bank);
  spec.field.set(i.word, static_cast<uint64_t>(place.offset));
}

void read_target(Cursor& in, const OperandSpec& spec, Instruction& i) {
  in.skip_blanks();
  if (in.peek() == '`') {
    in.take('`');
    in.expect('(', "before a label");
    i.label = std::string(in.until(")"));
    in.expect(')', "after the label");
  } else if (const bool negative = in.take('-');
             negative || (in.peek() >= '0' && in.peek() <= '9')) {
    // Kept absolute until the instruction's own address is known.
    i.label = fmt::format("{}{:#x}", negative ? "-" : "", in.number("an address"));
  } else {
    if (in.rest().starts_with("c[")) in.fail("expected a label or an address" + in.found());
    i.label = std::string(in.until(" \t;,}"));
    if (i.label.empty()) in.fail("expected a label or an address" + in.found());
  }
  spec.field.set(i.word, 0);
}

void read_flag_test(Cursor& in, const OperandSpec& spec, uint64_t& word) {
  in.skip_blanks();
  const size_t at = in.at();
  const std::string name(in.until(" \t;,}"));
  const std::vector<std::string_view>& names = flag_tests();
  const auto found = std::ranges::find(names, name.starts_with("CC.") ? name.substr(3) : "");
  if (found == names.end())
    Cursor::fail_at(at, "expected a test of the flags such as CC.EQ, found '" + name + "'");
  spec.field.set(word, static_cast<uint64_t>(found - names.begin()));
}

std::string write_special(uint64_t code) {
  for (const SpecialRegister& s : special_registers())
    if (s.code == code) return std::string(s.name);
  return fmt::format("SR{}", code);
}

void read_special(Cursor& in, const OperandSpec& spec, uint64_t& word) {
  in.skip_blanks();
  const size_t at = in.at();
  const std::string name(in.until(" \t;,}"));
  for (const SpecialRegister& s : special_registers())
    if (s.name == name) return spec.field.set(word, s.code);
  unsigned number = 256;
  if (name.size() > 2 && name.size() < 6 && name.starts_with("SR"))
    std::from_chars(name.data() + 2, name.data() + name.size(), number);
  if (number < 256 && name == write_special(number)) return spec.field.set(word, number);
  Cursor::fail_at(at, "expected a special register such as SR_TID.X, found '" + name + "'");
}

unsigned read_scoreboard_number(Cursor& in, unsigned last = 5) {
  const size_t at = in.at();
  const uint64_t n = in.number("a scoreboard");
  if (n > last) Cursor::fail_at(at, "scoreboards go from 0 to 5");
  return static_cast<unsigned>(n);
}

void read_scoreboards(Cursor& in, const OperandSpec& spec, uint64_t& word) {
  in.expect('{', "before the list of scoreboards");
  uint64_t mask = 0;
  if (!in.take('}')) {
    do mask |= uint64_t{1} << read_scoreboard_number(in);
    while (in.take(','));
    in.expect('}', "after the list of scoreboards");
  }
  spec.field.set(word, mask);
}

std::string register_name(unsigned number) {
  return number == kRZ ? "RZ" : fmt::format("R{}", number);
}

std::string hex(int64_t value) {
  return value < 0 ? fmt::format("-{:#x}", -value) : fmt::format("{:#x}", value);
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
  if (value == 0) return negative ? "-0.0" : "0";
  return write_digits(value);
}

std::string write_float(const OperandSpec& spec, uint64_t word) {
  const uint64_t value = spec.field.get(word), sign = spec.sign.get(word);
  const FloatFormat format = format_of(spec, word);
  if (format == FloatFormat::half)
    return write_float(half_value(value & 0xffff), (value & 0x8000) != 0, false);
  if (format == FloatFormat::wide) {
    const uint64_t bits = value << 44 | sign << 63;
    return write_float(std::bit_cast<double>(bits), sign != 0, (bits >> 51 & 1) == 0);
  }
  const auto bits = static_cast<uint32_t>(spec.sign.present() ? value << 12 | sign << 31 : value);
  return write_float(static_cast<double>(std::bit_cast<float>(bits)), bits >> 31 != 0, false);
}

std::string write_number(const OperandSpec& spec, uint64_t word) {
  if (spec.kind == Kind::fimm) return write_float(spec, word);
  uint64_t value = spec.field.get(word);
  unsigned len = spec.field.len;
  if (spec.sign.present()) value |= spec.sign.get(word) << len++;
  if (spec.pattern || (!spec.is_signed && !spec.sign.present())) return fmt::format("{:#x}", value);
  return hex(static_cast<int64_t>(value << (64 - len)) >> (64 - len));
}

std::string write_place(const OperandSpec& spec, uint64_t word, bool is_signed) {
  const uint64_t base = kBase.get(word), raw = spec.field.get(word);
  const unsigned unused = 64U - spec.field.len;
  const int64_t offset = (static_cast<int64_t>(raw << unused) >> unused) * (1 << spec.shift);
  if (base != kRZ)
    return offset == 0 ? fmt::format("[R{}]", base) : fmt::format("[R{}+{}]", base, hex(offset));
  if (raw == 0 && !is_signed) return "[RZ]";
  return is_signed ? fmt::format("[{}]", hex(offset)) : fmt::format("[{:#x}]", raw << spec.shift);
}

/// The register behind the one in the field, two further for 64-bit values.
unsigned next_register(const OperandSpec& spec, const Instruction& i) {
  const auto first = static_cast<unsigned>(spec.field.get(i.word));
  if (first == kRZ) return kRZ;
  return std::min(first + (i.mod(ModId::wide) != 0 ? 2 : 1), kRZ);
}

std::string write_target(const OperandSpec& spec, const Instruction& i) {
  if (!i.label.empty() && !is_address(i.label)) return "`(" + i.label + ")";
  const unsigned shift = 64U - spec.field.len;
  const int64_t rel = static_cast<int64_t>(spec.field.get(i.word) << shift) >> shift;
  return hex(static_cast<int64_t>(i.pc) + 8 + rel);
}

std::string write_scoreboards(uint64_t mask) {
  std::string out = "{";
  for (unsigned n = 6; n-- > 0;)
    if ((mask >> n & 1) != 0) out += fmt::format("{}{}", out.size() > 1 ? "," : "", n);
  return out + "}";
}

constexpr std::string_view kSigns[] = {"PP", "NP", "PN", "ZP"};

std::string write_signs(uint64_t codes, unsigned len) {
  std::string out;
  for (unsigned at = len; at >= 2; at -= 2) out += kSigns[codes >> (at - 2) & 3];
  return out;
}

void read_signs(Cursor& in, const OperandSpec& spec, uint64_t& word) {
  in.skip_blanks();
  const size_t at = in.at();
  const std::string_view text = in.word();
  uint64_t codes = 0;
  bool good = text.size() == spec.field.len;
  for (size_t n = 0; good && n < text.size(); n += 2) {
    const auto* found = std::ranges::find(kSigns, text.substr(n, 2));
    good = found != std::end(kSigns);
    codes = codes << 2 | static_cast<uint64_t>(found - std::begin(kSigns));
  }
  if (!good) Cursor::fail_at(at, "expected signs such as PNPNPPPP");
  spec.field.set(word, codes);
}

std::string write_plain(const OperandSpec& spec, const Instruction& i) {
  const uint64_t value = spec.field.get(i.word);
  switch (spec.kind) {
    case Kind::reg:
      return register_name(static_cast<unsigned>(value));
    case Kind::pred: {
      const uint64_t p = spec.inverted ? 7 - value : value;
      return p == kPT ? "PT" : fmt::format("P{}", p);
    }
    case Kind::cbank: {
      const uint64_t place = spec.field.len == 21 ? value : value << 2;
      return fmt::format("c[{:#x}]{}[{}]", place >> 16, spec.spaced ? " " : "",
                         hex(static_cast<int16_t>(place)));
    }
    case Kind::imm:
    case Kind::fimm:
      return write_number(spec, i.word);
    case Kind::address:
      return write_place(spec, i.word, false);
    case Kind::cindex:
      return fmt::format("c[{:#x}]{}", kBank.get(i.word), write_place(spec, i.word, true));
    case Kind::next:
      return register_name(next_register(spec, i));
    case Kind::zero:
      return "RZ";
    case Kind::target:
      return write_target(spec, i);
    case Kind::sreg:
      return write_special(value);
    case Kind::sb:
      return value < 6 ? fmt::format("SB{}", value) : fmt::format("???{}", value);
    case Kind::sbmask:
      return write_scoreboards(value);
    case Kind::flags:
      return "CC";
    case Kind::bits:
      return value == 0 ? "PR" : "CC";
    case Kind::indirect:
      return fmt::format("{} {}", register_name(static_cast<unsigned>(kBase.get(i.word))),
                         write_number(spec, i.word));
    case Kind::signs:
      return write_signs(value, spec.field.len);
    case Kind::cctest:
      return "CC." + std::string(flag_tests()[value]);
  }
  return {};
}

void read_expected(Cursor& in, unsigned number, const char* why) {
  in.skip_blanks();
  const size_t at = in.at();
  const unsigned found = read_register(in);
  if (found != number)
    Cursor::fail_at(at, fmt::format("expected {}, {}, found {}", register_name(number), why,
                                    register_name(found)));
}

void read_plain(Cursor& in, const OperandSpec& spec, Instruction& i) {
  switch (spec.kind) {
    case Kind::reg:
      return spec.field.set(i.word, read_register(in));
    case Kind::pred: {
      if (in.take('!')) set_flag(in, spec.neg, i.word, "'!'");
      const unsigned p = read_predicate(in);
      return spec.field.set(i.word, spec.inverted ? 7 - p : p);
    }
    case Kind::cbank:
      return read_constant(in, spec, i.word);
    case Kind::imm:
      return read_integer(in, spec, i.word);
    case Kind::fimm:
      return read_float(in, spec, i.word);
    case Kind::address:
      return read_address(in, spec, i);
    case Kind::cindex:
      return read_indexed_constant(in, spec, i);
    case Kind::next:
      return read_expected(in, next_register(spec, i), "the register behind the value to compare");
    case Kind::zero:
      return read_expected(in, kRZ, "this form has no register here");
    case Kind::target:
      return read_target(in, spec, i);
    case Kind::sreg:
      return read_special(in, spec, i.word);
    case Kind::sb: {
      in.skip_blanks();
      if (in.rest().starts_with("???")) {
        in.seek(in.at() + 3);
        return spec.field.set(i.word, read_scoreboard_number(in, 7));
      }
      if (in.peek() != 'S' || in.peek(1) != 'B')
        in.fail("expected a scoreboard SB0..SB5" + in.found());
      in.seek(in.at() + 2);
      return spec.field.set(i.word, read_scoreboard_number(in, 7));
    }
    case Kind::sbmask:
      return read_scoreboards(in, spec, i.word);
    case Kind::cctest:
      return read_flag_test(in, spec, i.word);
    case Kind::bits:
      if (in.take_word("CC")) return spec.field.set(i.word, 1);
      if (!in.take_word("PR")) in.fail("expected PR or CC" + in.found());
      return spec.field.set(i.word, 0);
    case Kind::indirect:
      kBase.set(i.word, read_register(in));
      return read_integer(in, spec, i.word);
    case Kind::signs:
      return read_signs(in, spec, i.word);
    case Kind::flags:
      if (!in.take_word("CC")) in.fail("expected CC" + in.found());
      return;
  }
}

bool flagged(Field field, uint64_t word) {
  return field.present() && field.get(word) != 0;
}

}  // namespace

void read_operand(Cursor& in, const OperandSpec& spec, Instruction& i) {
  read_prefixes(in, spec, i.word);
  read_plain(in, spec, i);
  if (spec.part.present()) {
    if (!read_suffixes(in, spec, i)) choose_whole(spec, i.word);
  }
  const bool number = spec.kind == Kind::imm || spec.kind == Kind::fimm;
  if (!number && flagged(spec.abs, i.word)) in.expect('|', "after the absolute value");
  if (spec.kind == Kind::reg || spec.kind == Kind::cbank || number) read_suffixes(in, spec, i);
}

std::string write_operand(const OperandSpec& spec, const Instruction& i) {
  std::string out;
  const bool number = spec.kind == Kind::imm || spec.kind == Kind::fimm;
  const bool neg = flagged(spec.neg, i.word), abs = flagged(spec.abs, i.word);
  const bool inv = flagged(spec.inv, i.word), behind = number && !spec.prefixed;
  if (neg && !behind) out += spec.kind == Kind::pred ? "!" : "-";
  if (inv && !number) out += "~";
  if (abs && !number) out += "|";
  out += write_plain(spec, i);
  if (behind) out += fmt::format("{}{}{}", neg ? ".NEG" : "", abs ? ".ABS" : "", inv ? ".INV" : "");
  if (spec.part.present() && !part_name(spec, i.word).empty())
    out.append(1, '.').append(part_name(spec, i.word));
  if (abs && !number) out += "|";
  if (spec.high.len == 2) {
    static constexpr const char* kHalves[] = {"", ".H0", ".H1", ".???3"};
    out += kHalves[spec.high.get(i.word)];
  } else if (flagged(spec.high, i.word)) {
    out += ".H1";
  }
  if (flagged(spec.cc, i.word)) out += ".CC";
  if (spec.reuse >= 0 && i.control.reuse(static_cast<unsigned>(spec.reuse))) out += ".reuse";
  return out;
}

}  // namespace lanewise::sass
