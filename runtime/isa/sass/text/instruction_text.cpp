// One instruction between text and word: guard, mnemonic, modifiers, operands, annotations.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/sass/rules/cache_control.hpp"
#include "runtime/isa/sass/text/annotations.hpp"
#include "runtime/isa/sass/text/operand_text.hpp"

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

/// What stands in a texture's control field beside scoreboards and schedule.
constexpr Field kPhase{17, 2};
constexpr std::string_view kPhases[] = {"", "T", "P", "INVALIDPHASE3"};

bool read_phase(Cursor& in, Instruction& i) {
  const size_t start = in.at();
  in.seek(start + 1);
  const std::string_view name = in.word();
  for (uint32_t n = 1; n < std::size(kPhases); ++n) {
    if (name != kPhases[n]) continue;
    i.control.set(kPhase.pos, kPhase.len, n);
    return true;
  }
  in.seek(start);
  return false;
}

void read_modifiers(Cursor& in, const Form& form, Instruction& i) {
  uint64_t& word = i.word;
  std::vector<const Mod*> taken;
  while (in.peek() == '.') {
    const size_t start = in.at();
    const Match found = match_modifier(form, taken, in.rest().substr(1));
    if (found.mod == nullptr && form.phased && read_phase(in, i)) continue;
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
void take_word(Instruction& i, const WholeWord& whole, unsigned arch) {
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
  if (kind == Kind::reg) return in.peek() == 'R';
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

Instruction read_with(const Form& form, Cursor in, uint64_t guard, unsigned arch) {
  Instruction i;
  i.form = &form;
  if (!form.has_guard && guard != kGuardAlways) in.fail(form.mnemonic + " takes no guard");
  i.word = form.match | (form.has_guard ? guard : 0);
  in.seek(in.at() + form.mnemonic.size());
  read_modifiers(in, form, i);
  bool first = true;
  for (const OperandSpec& spec : form.operands) {
    if (left_out(in, spec, first, i.word)) continue;
    if (!first) in.expect(',', "before the next operand");
    read_operand(in, spec, i);
    first = false;
  }
  skip_remark(in);
  std::optional<WholeWord> whole;
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
  const auto forms = forms_named(name);
  for (const Form* f : forms)
    if (f->mnemonic == name && arch < f->min_arch)
      Cursor::fail_at(start, fmt::format("{} needs sm_{}", name, f->min_arch));
  if (!forms.empty())
    Cursor::fail_at(start, fmt::format("'{}' is not supported yet in this form", name));
  Cursor::fail_at(start, fmt::format("unknown instruction '{}'", name));
}

/// Any word at all: what the disassembler writes where it knows no instruction.
Instruction read_word(Cursor in, unsigned arch) {
  const uint64_t word = in.number("an instruction word");
  Instruction i = undecoded(word, {});
  std::optional<WholeWord> whole;
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
  const std::string_view rest = in.rest();
  const auto word_end = std::ranges::find_if_not(rest, Cursor::is_word);
  for (const Form* form : forms_named({rest.begin(), word_end})) {
    const Form& f = *form;
    if (!f.fits(arch) || f.decode_only || !starts_with_mnemonic(f, rest)) continue;
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
    return fmt::format(".word {:#x}", i.word) +
           (style == Style::annotated ? write_annotations(i) : "");
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
  if (i.form->phased && kPhase.get(i.control.bits) != 0)
    out.append(1, '.').append(kPhases[kPhase.get(i.control.bits)]);
  bool first = true;
  for (const OperandSpec& spec : i.form->operands) {
    const bool negated = spec.neg.present() && spec.neg.get(i.word) != 0;
    if (spec.optional && !negated && spec.field.get(i.word) == spec.left_out()) continue;
    out += !first ? ", " : i.form->tight ? "" : " ";
    out += write_operand(spec, i);
    first = false;
  }
  while (out.back() == ' ') out.pop_back();  // an infinity prints with a blank behind it
  if (style == Style::annotated) out += write_annotations(i);
  return out;
}

}  // namespace lanewise::sass
