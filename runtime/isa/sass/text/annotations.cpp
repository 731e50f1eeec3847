#include "runtime/isa/sass/text/annotations.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/isa/sass/text/operand_parts.hpp"
#include "runtime/isa/sass/text/operand_text.hpp"

namespace lanewise::sass {
namespace {

unsigned known_scoreboard(uint64_t n, size_t at) {
  if (n > 5) Cursor::fail_at(at, "scoreboards go from 0 to 5");
  return static_cast<unsigned>(n);
}

unsigned scoreboard(Cursor& in) {
  const size_t at = in.at();
  return known_scoreboard(in.number("a scoreboard"), at);
}

/// The documents write a mask of six bits: &req_6 waits for scoreboards 1 and 2.
uint32_t wait_mask(Cursor& in, uint64_t mask, size_t at) {
  if (mask > 0x3f) Cursor::fail_at(at, "a mask of scoreboards has 6 bits" + in.found(at));
  return static_cast<uint32_t>(mask);
}

/// A list, the number of one scoreboard, or, where there is no such scoreboard, a mask.
void read_wait_list(Cursor& in, Control& control) {
  uint32_t mask = 0;
  if (in.take('{')) {
    do mask |= 1U << scoreboard(in);
    while (in.take(','));
    in.expect('}', "after the scoreboards");
  } else {
    in.skip_blanks();
    const size_t at = in.at();
    const uint64_t n = in.number("a scoreboard");
    mask = n <= 5 ? 1U << n : wait_mask(in, n, at);
  }
  control.set(11, 6, mask);
}

void read_schedule(Cursor& in, Control& control) {
  const size_t start = in.at();
  const std::string name(in.word());
  const bool wait = name.rfind("WAIT", 0) == 0, yield = name.rfind("YIELD", 0) == 0;
  if (name == "DUAL") return control.set(0, 5, 0x10);
  unsigned cycles = 0;
  const std::string digits = wait ? name.substr(4) : yield ? name.substr(5) : "";
  for (char c : digits)
    cycles =
        c >= '0' && c <= '9' && cycles < 100 ? cycles * 10 + static_cast<unsigned>(c - '0') : 100;
  if (digits.empty() || cycles > 15 || cycles == 0)
    Cursor::fail_at(start, "expected ?WAIT1..?WAIT15, ?YIELD1..?YIELD15 or ?DUAL");
  control.set(0, 5, cycles | (wait ? 0x10U : 0U));
}

void read_control_number(Cursor& in, Control& control) {
  in.skip_blanks();
  const size_t at = in.at();
  const uint64_t bits = in.number("a control field");
  if (bits > 0x1fffff) Cursor::fail_at(at, "a control field has 21 bits");
  control.bits = static_cast<uint32_t>(bits);
}

/// Names with the number in them, as the documents write: &rd0, &wr1, &req_6.
bool read_numbered(Cursor& in, std::string_view name, Control& control, size_t start) {
  const bool mask = name.starts_with("req_");
  if (!mask && !name.starts_with("rd") && !name.starts_with("wr")) return false;
  const std::string_view digits = name.substr(mask ? 4 : 2);
  unsigned n = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), n);
  if (digits.empty() || problem != std::errc() || end != digits.data() + digits.size())
    return false;
  if (mask)
    control.set(11, 6, wait_mask(in, n, start));
  else
    control.set(name[0] == 'r' ? 8 : 5, 3, known_scoreboard(n, start));
  return true;
}

/// What stands behind the name and '='.
void read_value(Cursor& in, std::string_view name, Control& control,
                std::optional<WholeWord>& whole, size_t start) {
  if (name != "req" && name != "rd" && name != "wr" && name != "ctl" && name != "word")
    Cursor::fail_at(start, "expected &req, &rd, &wr, &ctl or &word" + in.found(start));
  in.expect('=', "after the annotation's name");
  if (name == "word")
    whole = WholeWord{in.number("a word"), start};
  else if (name == "ctl")
    read_control_number(in, control);
  else if (name == "req")
    read_wait_list(in, control);
  else
    control.set(name == "rd" ? 8 : 5, 3, scoreboard(in));
}

void read_annotation(Cursor& in, Control& control, std::optional<WholeWord>& whole) {
  const bool braced = in.take('{');
  if (in.take('?')) {
    read_schedule(in, control);
  } else {
    in.expect('&', "before an annotation");
    const size_t start = in.at();
    const std::string_view name = in.word();
    if (!read_numbered(in, name, control, start)) read_value(in, name, control, whole, start);
  }
  if (braced) in.expect('}', "after the annotation");
}

/// Bits 17 to 20 that the text shows: flags of the operand cache, or a phase.
uint32_t shown_reuse(const Form& f) {
  uint32_t bits = f.phased ? 3 : 0;
  for (const OperandSpec& o : f.operands)
    if (o.reuse >= 0) bits |= 1U << static_cast<unsigned>(o.reuse);
  return bits;
}

/// Fields that the named annotations cannot say: the whole control field is written as a number.
bool needs_number(const Instruction& i) {
  const Control& c = i.control;
  return c.read_sb() == 6 || c.write_sb() == 6 || (c.bits >> 17 & ~shown_reuse(*i.form)) != 0;
}

/// An earlier code of the modifier has the same text, and no operand's name distinguishes them.
bool has_twin(const Form& f, const Mod& m, uint64_t value) {
  for (const OperandSpec& o : f.operands)
    if (o.names != nullptr && (o.field.mask() & m.mask()) != 0) return false;
  const auto own =
      std::ranges::find_if(m.codes, [&](const Code& c) { return c.value == value && !c.alias; });
  if (own == m.codes.end()) return false;
  const auto first = std::ranges::find(m.codes, own->text, &Code::text);
  return first != own && first->value != value;
}

/// Compare and swap with RZ for its second value, or for both, has more words than texts; so have
/// NaNs, whose payload text does not show, numbers of half precision, and parts and
/// modifiers with one name.
bool has_twins(const Instruction& i) {
  for (const Mod& m : i.form->mods)
    if (has_twin(*i.form, m, m.get(i.word))) return true;
  for (const OperandSpec& o : i.form->operands) {
    for (uint64_t n = 0; o.part.present() && n < o.part.get(i.word); ++n)
      if (o.part_names[part_key(o, i.word) | n] == part_name(o, i.word)) return true;
    if (o.kind == OperandSpec::Kind::zero) return o.field.get(i.word) >= kRZ - 2;
    if (o.kind != OperandSpec::Kind::fimm) continue;
    if (o.format.present() && o.format.get(i.word) == 1) return true;
    const std::string text = write_operand(o, i);
    if (text.find("NAN") != std::string::npos) return true;
  }
  return false;
}

}  // namespace

bool at_annotation(Cursor& in) {
  in.skip_blanks();
  const char c = in.peek() == '{' ? in.peek(1) : in.peek();
  return c == '&' || c == '?';
}

void read_annotations(Cursor& in, Instruction& i, std::optional<WholeWord>& whole) {
  while (at_annotation(in)) {
    const bool had_word = whole.has_value();
    read_annotation(in, i.control, whole);
    i.has_control = i.has_control || had_word == whole.has_value();
  }
  if (!in.done()) in.fail("unexpected text after the operands" + in.found());
}

std::string write_annotations(const Instruction& i) {
  const Control& c = i.control;
  std::string out;
  const bool hidden = (i.word & i.form->ignored) != 0 || i.form->decode_only || has_twins(i);
  if (hidden && !i.form->unknown) out += fmt::format(" &word={:#x}", i.word);
  if (needs_number(i)) return out + fmt::format(" &ctl={:#x}", c.bits);
  if (c.wait_mask() != 0) {
    out += " &req={";
    for (unsigned n = 0, count = 0; n < 6; ++n)
      if ((c.wait_mask() >> n & 1) != 0) out += fmt::format("{}{}", count++ != 0 ? "," : "", n);
    out += "}";
  }
  if (c.read_sb() != 7) out += fmt::format(" &rd={}", c.read_sb());
  if (c.write_sb() != 7) out += fmt::format(" &wr={}", c.write_sb());
  const unsigned sched = c.sched();
  if (c.dual())
    out += " ?DUAL";
  else if (sched != 0)
    out += fmt::format(" ?{}{}", (sched & 0x10) != 0 ? "WAIT" : "YIELD", sched & 0xf);
  return out;
}

}  // namespace lanewise::sass
