// One instruction between text and word: guard, mnemonic, modifiers, operands, annotations.
#include <fmt/format.h>

#include "runtime/isa/sass/operand_text.hpp"

namespace lanewise::sass {
namespace {

constexpr uint64_t kGuardAlways = uint64_t{kPT} << kGuard.pos;

void read_guard(Cursor& in, uint64_t& word) {
  kGuard.set(word, kPT);
  if (!in.take('@')) return;
  if (in.take('!')) kGuardNegate.set(word, 1);
  in.skip_blanks();
  const size_t start = in.at();
  const std::string_view name = in.word();
  const bool numbered = name.size() == 2 && name[0] == 'P' && name[1] >= '0' && name[1] <= '6';
  if (name != "PT" && !numbered)
    Cursor::fail_at(start, "expected a guard predicate P0..P6 or PT" + in.found(start));
  kGuard.set(word, numbered ? static_cast<uint64_t>(name[1] - '0') : kPT);
}

/// The longest spelling of a modifier not yet given that stands at the front of `text`.
struct Match {
  const Mod* mod = nullptr;
  const Code* code = nullptr;
};
Match match_modifier(const Form& form, const std::vector<const Mod*>& taken,
                     std::string_view text) {
  Match best;
  for (const Mod& m : form.mods) {
    bool used = false;
    for (const Mod* t : taken) used = used || t == &m || (form.ordered && &m < t);
    if (used) continue;
    for (const Code& c : m.codes) {
      const bool fits = !c.text.empty() && text.substr(0, c.text.size()) == c.text &&
                        (text.size() == c.text.size() || !Cursor::is_word(text[c.text.size()]));
      if (fits && (best.code == nullptr || c.text.size() > best.code->text.size())) best = {&m, &c};
    }
  }
  return best;
}

/// A modifier that is not written takes the value that prints nothing; if every value prints
/// something it must be written.
void set_default(Cursor& in, const Mod& m, uint64_t& word) {
  std::string choices;
  for (const Code& c : m.codes) {
    if (c.text.empty() && !c.alias) return m.set(word, c.value);
    choices += (choices.empty() ? "." : " .") + std::string(c.text);
  }
  in.fail("missing modifier: expected one of " + choices);
}

void read_modifiers(Cursor& in, const Form& form, uint64_t& word) {
  std::vector<const Mod*> taken;
  while (in.peek() == '.') {
    const size_t start = in.at();
    const Match found = match_modifier(form, taken, in.rest().substr(1));
    if (found.mod == nullptr) {
      in.seek(start + 1);
      Cursor::fail_at(start, fmt::format("'.{}' is not a modifier of {} in this place", in.word(),
                                         form.mnemonic));
    }
    found.mod->set(word, found.code->value);
    taken.push_back(found.mod);
    in.seek(start + 1 + found.code->text.size());
  }
  for (const Mod& m : form.mods) {
    bool given = false;
    for (const Mod* t : taken) given = given || t == &m;
    if (!given) set_default(in, m, word);
  }
}

unsigned scoreboard(Cursor& in) {
  const size_t at = in.at();
  const uint64_t n = in.number("a scoreboard");
  if (n > 5) Cursor::fail_at(at, "scoreboards go from 0 to 5");
  return static_cast<unsigned>(n);
}

void read_wait_list(Cursor& in, Control& control) {
  uint32_t mask = 0;
  if (in.take('{')) {
    do mask |= 1U << scoreboard(in);
    while (in.take(','));
    in.expect('}', "after the scoreboards");
  } else {
    mask = 1U << scoreboard(in);
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

struct Word {
  uint64_t bits = 0;
  size_t at = 0;
};

void read_annotation(Cursor& in, Control& control, std::optional<Word>& whole) {
  const bool braced = in.take('{');
  if (in.take('?')) {
    read_schedule(in, control);
  } else {
    in.expect('&', "before an annotation");
    const size_t start = in.at();
    const std::string_view name = in.word();
    // The documents write &rd0 and &wr1.
    if (name.size() == 3 && (name.starts_with("rd") || name.starts_with("wr")) && name[2] >= '0' &&
        name[2] <= '5') {
      control.set(name[0] == 'r' ? 8 : 5, 3, static_cast<uint32_t>(name[2] - '0'));
      if (braced) in.expect('}', "after the annotation");
      return;
    }
    if (name != "req" && name != "rd" && name != "wr" && name != "ctl" && name != "word")
      Cursor::fail_at(start, "expected &req, &rd, &wr, &ctl or &word" + in.found(start));
    in.expect('=', "after the annotation's name");
    if (name == "word")
      whole = Word{in.number("a word"), start};
    else if (name == "ctl")
      read_control_number(in, control);
    else if (name == "req")
      read_wait_list(in, control);
    else
      control.set(name == "rd" ? 8 : 5, 3, scoreboard(in));
  }
  if (braced) in.expect('}', "after the annotation");
}

bool at_annotation(Cursor& in) {
  in.skip_blanks();
  const char c = in.peek() == '{' ? in.peek(1) : in.peek();
  return c == '&' || c == '?';
}

/// A word has one row. Text that spells out a default may have been read by another one.
void check_combination(Cursor& in, Instruction& i, unsigned arch) {
  const Form* back = decode_form(i.word, arch);
  if (back != nullptr && back->mnemonic == i.form->mnemonic) i.form = back;
  if (back == i.form) return;
  in.fail(back == nullptr ? "this combination of operands and modifiers has no encoding"
                          : "this combination is encoded as " + back->mnemonic);
}

/// Bits that the text does not show come with the word, which must say what the text says. Where a
/// branch goes stays with the label.
void take_word(Instruction& i, const Word& whole, unsigned arch) {
  Instruction other = i;
  other.form = decode_form(whole.bits, arch);
  other.word = whole.bits;
  bool same = other.form != nullptr;
  if (same && i.operand(Role::target) != nullptr) {
    const uint64_t hidden = i.form->ignored | i.operand(Role::target)->field.mask();
    same = other.form == i.form && ((other.word ^ i.word) & ~hidden) == 0;
  } else if (same) {
    same = print(other) == print(i);
  }
  if (!same)
    Cursor::fail_at(whole.at, fmt::format("the word {:#x} is another instruction", whole.bits));
  i = std::move(other);
}

bool begins_with(Cursor& in, OperandSpec::Kind kind) {
  using Kind = OperandSpec::Kind;
  if (kind == Kind::cctest) return in.rest().starts_with("CC.");
  if (kind == Kind::imm) return in.peek() >= '0' && in.peek() <= '9';
  return in.peek() == (kind == Kind::pred ? 'P' : '{');
}

/// An operand that has a usual value and is not written then.
bool left_out(Cursor& in, const OperandSpec& spec, bool first, uint64_t& word) {
  if (!spec.optional) return false;
  in.skip_blanks();
  const bool begins = begins_with(in, spec.kind);
  if (first ? begins && !at_annotation(in) : in.peek() == ',') return false;
  spec.field.set(word, spec.left_out());
  return true;
}

/// nvdisasm's remarks behind branches: (*"BRANCH_TARGETS .L_1"*).
void skip_remark(Cursor& in) {
  in.skip_blanks();
  if (in.peek() != '(' || in.peek(1) != '*') return;
  const size_t end = in.rest().find("*)");
  if (end == std::string_view::npos) in.fail("'(*' is never closed, expected '*)'");
  in.seek(in.at() + end + 2);
}

void read_annotations(Cursor& in, Instruction& i, std::optional<Word>& whole) {
  while (at_annotation(in)) {
    const bool had_word = whole.has_value();
    read_annotation(in, i.control, whole);
    i.has_control = i.has_control || had_word == whole.has_value();
  }
  if (!in.done()) in.fail("unexpected text after the operands" + in.found());
}

Instruction read_with(const Form& form, Cursor in, uint64_t guard, unsigned arch) {
  Instruction i;
  i.form = &form;
  if (!form.has_guard && guard != kGuardAlways) in.fail(form.mnemonic + " takes no guard");
  i.word = form.match | (form.has_guard ? guard : 0);
  in.seek(in.at() + form.mnemonic.size());
  read_modifiers(in, form, i.word);
  bool first = true;
  for (const OperandSpec& spec : form.operands) {
    if (left_out(in, spec, first, i.word)) continue;
    if (!first) in.expect(',', "before the next operand");
    read_operand(in, spec, i);
    first = false;
  }
  skip_remark(in);
  std::optional<Word> whole;
  read_annotations(in, i, whole);
  check_combination(in, i, arch);
  if (whole) take_word(i, *whole, arch);
  if (const std::string complaint = control_complaint(form, i.word, i.control); !complaint.empty())
    in.fail(complaint);
  return i;
}

bool starts_with_mnemonic(const Form& form, std::string_view text) {
  const std::string& m = form.mnemonic;
  return text.substr(0, m.size()) == m &&
         (text.size() == m.size() || !Cursor::is_word(text[m.size()]));
}

[[noreturn]] void unknown_mnemonic(Cursor& in, unsigned arch) {
  const size_t start = in.at();
  const std::string name(in.word());
  for (const Form& f : forms())
    if (f.mnemonic == name && arch < f.min_arch)
      Cursor::fail_at(start, fmt::format("{} needs sm_{}", name, f.min_arch));
  for (std::string_view known : known_mnemonics())
    if (known == name)
      Cursor::fail_at(start, fmt::format("'{}' is not supported yet in this form", name));
  Cursor::fail_at(start, fmt::format("unknown instruction '{}'", name));
}

/// Which rule of the document leaves a CCTL or CCTLL without an encoding; empty when none does.
std::string cache_control_rule(std::string_view text) {
  const std::string_view name = text.substr(0, text.find_first_of(" \t["));
  const std::string_view mnemonic = name.substr(0, name.find('.'));
  if (mnemonic != "CCTL" && mnemonic != "CCTLL") return {};
  const std::string modifiers = std::string(name.substr(mnemonic.size())) + ".";
  const auto has = [&](const char* m) { return modifiers.find(m) != std::string::npos; };
  const bool write_all = has(".WBALL."), crs = has(".CRS.");
  if ((write_all || crs) && !(mnemonic == "CCTLL" && write_all && crs))
    return ".CRS and .WBALL are only valid in CCTLL.CRS.WBALL";
  if (has(".QRY1.")) return ".QRY1 is not implemented: it is an illegal encoding";
  const bool typed = has(".C.") || has(".I.") || has(".U.") || has(".D.");
  if (mnemonic == "CCTLL" && typed) return "CCTLL has no cache type: its lines are local";
  if (name == mnemonic)
    return std::string(mnemonic) +
           std::string(" needs an operation: .PF1, .PF2, .WB, .IV, .IVALL or .RS");
  if (mnemonic == "CCTLL" && has(".E.")) return "CCTLL has no .E: its addresses are local";
  if ((has(".IVALL.") || write_all) && text.find('[') != std::string_view::npos)
    return ".IVALL and .WBALL take no address";
  return {};
}

/// Any word at all: what the disassembler writes where it knows no instruction.
Instruction read_word(Cursor in, unsigned arch) {
  const uint64_t word = in.number("an instruction word");
  Instruction i = undecoded(word, {});
  std::optional<Word> whole;
  read_annotations(in, i, whole);
  if (std::optional<Instruction> known = decode(word, i.control, arch)) {
    known->has_control = i.has_control;
    return *known;
  }
  return i;
}

Instruction read_instruction(std::string_view text, unsigned arch) {
  Cursor in(text);
  if (in.take_word(".word")) return read_word(in, arch);
  uint64_t guard = 0;
  read_guard(in, guard);
  in.skip_blanks();
  SyntaxError furthest{0, "", false};
  for (const Form& f : forms()) {
    if (!f.fits(arch) || f.decode_only || !starts_with_mnemonic(f, in.rest())) continue;
    try {
      return read_with(f, in, guard, arch);
    } catch (const SyntaxError& e) {
      const bool better = e.value != furthest.value ? e.value : e.at > furthest.at;
      if (furthest.message.empty() || better) furthest = e;
    }
  }
  if (furthest.message.empty()) unknown_mnemonic(in, arch);
  const std::string rule = cache_control_rule(in.rest());
  if (!rule.empty()) Cursor::fail_at(furthest.at, rule);
  throw furthest;
}

/// Operand-cache flags that the operands' text shows.
uint32_t shown_reuse(const Form& f) {
  uint32_t bits = 0;
  for (const OperandSpec& o : f.operands)
    if (o.reuse >= 0) bits |= 1U << static_cast<unsigned>(o.reuse);
  return bits;
}

/// Fields that the named annotations cannot say: the whole control field is written as a number.
bool needs_number(const Instruction& i) {
  const Control& c = i.control;
  return c.read_sb() == 6 || c.write_sb() == 6 || (c.bits >> 17 & ~shown_reuse(*i.form)) != 0;
}

/// Compare and swap with RZ for its second value, or for both, has more words than texts; so have
/// NaNs, whose payload text does not show, and numbers of half precision.
bool has_twins(const Instruction& i) {
  for (const OperandSpec& o : i.form->operands) {
    if (o.kind == OperandSpec::Kind::zero) return o.field.get(i.word) >= kRZ - 2;
    if (o.kind != OperandSpec::Kind::fimm) continue;
    if (o.format.present() && o.format.get(i.word) == 1) return true;
    const std::string text = write_operand(o, i);
    if (text.find("NAN") != std::string::npos) return true;
  }
  return false;
}

std::string annotations(const Instruction& i) {
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

}  // namespace

Parsed parse_instruction(std::string_view text, unsigned arch) {
  Parsed result;
  try {
    result.instruction = read_instruction(text, arch);
    result.instruction->text = std::string(text);
  } catch (const SyntaxError& e) {
    result.error = {1, static_cast<uint32_t>(e.at + 1), e.message, false};
  }
  return result;
}

std::string print(const Instruction& i, Style style) {
  if (i.form->unknown)
    return fmt::format(".word {:#x}", i.word) + (style == Style::annotated ? annotations(i) : "");
  std::string out;
  if (i.form->has_guard && (i.guard() != kPT || i.guard_negated())) {
    out += i.guard_negated() ? "@!" : "@";
    out += i.guard() == kPT ? "PT " : fmt::format("P{} ", i.guard());
  }
  out += i.form->mnemonic;
  for (const Mod& m : i.form->mods) {
    for (const Code& c : m.codes)
      if (!c.alias && !c.text.empty() && c.value == m.get(i.word))
        out.append(1, '.').append(c.text);
  }
  bool first = true;
  for (const OperandSpec& spec : i.form->operands) {
    if (spec.optional && spec.field.get(i.word) == spec.left_out()) continue;
    out += !first ? ", " : i.form->tight ? "" : " ";
    out += write_operand(spec, i);
    first = false;
  }
  while (out.back() == ' ') out.pop_back();  // an infinity prints with a blank behind it
  if (style == Style::annotated) out += annotations(i);
  return out;
}

}  // namespace lanewise::sass
