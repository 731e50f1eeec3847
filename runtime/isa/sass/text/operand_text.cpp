// Operands from text to word.
#include "runtime/isa/sass/text/operand_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/isa/sass/text/number_text.hpp"
#include "runtime/isa/sass/text/operand_parts.hpp"

namespace lanewise::sass {
namespace {

using Kind = OperandSpec::Kind;

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
  if (!spec.field.present() && offset == 0) return;
  const unsigned len = std::max<unsigned>(spec.field.len, 1) + spec.shift;
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

void read_special(Cursor& in, const OperandSpec& spec, uint64_t& word) {
  in.skip_blanks();
  const size_t at = in.at();
  const std::string name(in.until(" \t;,}"));
  const auto& names = special_registers();
  if (const auto* known = std::ranges::find(names, name); known != names.end() && !name.empty())
    return spec.field.set(word, static_cast<uint64_t>(known - names.begin()));
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

/// A name may share its bits with modifiers, which were read before: they keep what they say.
void read_name(Cursor& in, const OperandSpec& spec, Instruction& i) {
  in.skip_blanks();
  const size_t at = in.at();
  const std::string_view name = in.word();
  const auto reported = [&](const Mod& m, uint64_t word) -> std::string_view {
    for (const Code& c : m.codes)
      if (c.value == m.get(word) && !c.alias) return c.text;
    return "???";
  };
  const auto keeps = [&](uint64_t word) {
    for (const Mod& m : i.form->mods)
      if ((m.mask() & spec.field.mask()) != 0 && reported(m, word) != reported(m, i.word))
        return false;
    return true;
  };
  for (uint64_t value = 0; value < uint64_t{1} << spec.field.len; ++value) {
    uint64_t word = i.word;
    spec.field.set(word, value);
    if (name.empty() || spec.names[value] != name || !keeps(word)) continue;
    i.word = word;
    return;
  }
  Cursor::fail_at(at, fmt::format("'{}' cannot stand here", name));
}

/// a[imm], or a[RZ] for zero.
void read_attribute(Cursor& in, const OperandSpec& spec, uint64_t& word) {
  if (!in.take_word("a")) in.fail("expected an attribute a[]" + in.found());
  in.expect('[', "after 'a'");
  in.skip_blanks();
  const size_t at = in.at();
  const uint64_t place = in.take_word("RZ") ? 0 : in.number("an attribute's place");
  if (place >> spec.field.len != 0)
    Cursor::fail_value(at, fmt::format("places go from 0 to {:#x}", (1U << spec.field.len) - 1));
  in.expect(']', "after the attribute's place");
  spec.field.set(word, place);
}

/// A register where 255 is not RZ but nothing.
unsigned read_number_of_pair(Cursor& in) {
  in.skip_blanks();
  const size_t at = in.at();
  if (in.rest().starts_with(kNoRegister)) {
    in.seek(at + kNoRegister.size());
    return kRZ;
  }
  const unsigned n = read_register(in);
  if (n == kRZ) Cursor::fail_at(at, "expected a register R0..R254, found 'RZ'");
  return n;
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
      return spec.field.set(i.word, spec.never_zero ? read_number_of_pair(in) : read_register(in));
    case Kind::pred: {
      if (in.take('!')) set_flag(in, spec.neg, i.word, "'!'");
      const unsigned p = read_predicate(in);
      return spec.field.set(i.word, spec.inverted ? 7 - p : p);
    }
    case Kind::cbank:
      return read_constant(in, spec, i.word);
    case Kind::imm:
      in.skip_blanks();
      if (spec.field.len == 32 && in.rest().starts_with("32@")) {
        i.label = std::string(in.until(")"));
        return in.expect(')', "after the variable");
      }
      return read_integer(in, spec, i.word);
    case Kind::fimm:
      return read_float(in, spec, i.word);
    case Kind::address:
      return read_address(in, spec, i);
    case Kind::cindex:
      return read_indexed_constant(in, spec, i);
    case Kind::next:
      if (const unsigned next = next_register(spec, i); next != kRZ)
        return read_expected(in, next, "the register behind the value to compare");
      else if (read_number_of_pair(in) != kRZ)
        in.fail(fmt::format("expected {}: no register stands behind", kNoRegister));
      return;
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
    case Kind::named:
      return read_name(in, spec, i);
    case Kind::attribute:
      return read_attribute(in, spec, i.word);
    case Kind::attribute_at:
      if (!in.take_word("a")) in.fail("expected an attribute a[Ra+imm]" + in.found());
      return read_address(in, spec, i);
    case Kind::signs:
      return read_signs(in, spec, i.word);
    case Kind::flags:
      if (!in.take_word("CC")) in.fail("expected CC" + in.found());
      return;
  }
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

}  // namespace lanewise::sass
