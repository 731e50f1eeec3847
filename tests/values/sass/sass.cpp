#include "tests/values/sass/sass.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <bit>

#include <map>
#include <set>

#include "runtime/isa/sass/sass.hpp"

namespace values::sass {

namespace {

using lanewise::sass::Form;
using lanewise::sass::Instruction;
using lanewise::sass::OperandSpec;

constexpr unsigned kArch = 61;  // has every row that runs
constexpr unsigned kFirstInput = 8, kFirstConstant = 0x150;

/// Group and lane to the lane's records: R28:R29 inputs, R30:R31 outputs.
std::string prologue(unsigned in_bytes, unsigned out_bytes) {
  // lane = group * 64 + lane of the group; record = lane * bytes, both below 2^16 times 2^16
  return fmt::format(
      "S2R R0, SR_CTAID.X ;\nS2R R1, SR_TID.X ;\nISCADD R0, R0, R1, 0x6 ;\n"
      "XMAD R1, R0, {:#x}, RZ ;\nIADD R28.CC, R1, c[0x0][0x140] ;\n"
      "IADD.X R29, RZ, c[0x0][0x144] ;\nXMAD R1, R0, {:#x}, RZ ;\n"
      "IADD R30.CC, R1, c[0x0][0x148] ;\nIADD.X R31, RZ, c[0x0][0x14c] ;\nMOV R0, {} ;\n",
      in_bytes, out_bytes, constant(static_cast<unsigned>(constants().size() - 1)));
}

std::string kernel(std::span<const Slot> slots, unsigned in_bytes, unsigned out_bytes) {
  std::string text = prologue(in_bytes, out_bytes);
  for (const Slot& s : slots) {
    for (unsigned n = 0; n < s.test->inputs; ++n)
      text += fmt::format("LDG.E R{}, [R28+{:#x}] ;\n", kFirstInput + n, s.in + 4 * n);
    text += s.test->text;
    for (unsigned n = 0; n < s.test->outputs; ++n)
      text += fmt::format("STG.E [R30+{:#x}], R{} ;\n", s.out + 4 * n, n);
  }
  return text + "EXIT ;\n";
}

std::string operand_kinds(const Form& f) {
  std::string s = f.mnemonic;
  for (const OperandSpec& o : f.operands)
    s += (&o == &f.operands[0] ? " " : ", ") + std::string(kind_name(o.kind));
  return s;
}
/// The modifiers' first names distinguish rows whose operands do not: I2F.S8 from I2F.U8.
std::string first_names(const Form& f) {
  std::string s;
  for (const auto& m : f.mods)
    if (!m.codes[0].text.empty()) s += fmt::format(" .{}", m.codes[0].text);
  return s;
}

std::map<const Form*, std::string> build_keys() {
  std::map<std::string, std::vector<const Form*>> groups;
  for (const Form& f : lanewise::sass::forms()) groups[operand_kinds(f)].push_back(&f);
  std::map<const Form*, std::string> keys;
  for (const auto& [key, rows] : groups)
    for (const Form* f : rows) keys[f] = rows.size() == 1 ? key : key + first_names(*f);
  std::map<std::string, int> count;
  for (const auto& [form, key] : keys) ++count[key];
  for (auto& [form, key] : keys)
    if (count[key] > 1) key += fmt::format(" {:#x}/{:#x}", form->match, form->mask);
  return keys;
}

const std::string& key_of(const Form& f) {
  static const std::map<const Form*, std::string> keys = build_keys();
  return keys.at(&f);
}

/// One choice of a form: a code of a modifier or a flag of an operand.
struct Choice {
  std::string name;  ///< the same in all rows of a mnemonic
  uint64_t mask, bits;
};
std::vector<Choice> choices(const Form& f) {
  std::vector<Choice> out;
  for (const auto& m : f.mods)
    for (const auto& c : m.codes) {
      if (c.alias || c.text.starts_with("INVALID") || c.text.starts_with("???")) continue;
      uint64_t bits = 0;
      m.set(bits, c.value);
      out.push_back({fmt::format("{} modifier {}: .{}", f.mnemonic, static_cast<int>(m.id), c.text),
                     m.mask(), bits});
    }
  static constexpr std::pair<lanewise::sass::Field OperandSpec::*, const char*> kFlags[] = {
      {&OperandSpec::neg, "negated"},
      {&OperandSpec::abs, "absolute"},
      {&OperandSpec::inv, "inverted"},
      {&OperandSpec::cc, ".CC"},
      {&OperandSpec::high, "half"}};
  for (const OperandSpec& o : f.operands)
    for (const auto& [member, text] : kFlags) {
      const lanewise::sass::Field field = o.*member;
      for (uint64_t value = 1; value < (uint64_t{1} << field.len) && value < 3; ++value) {
        uint64_t bits = 0;
        field.set(bits, value);
        out.push_back(
            {fmt::format("{} operand {}: {} {}", f.mnemonic, static_cast<int>(o.role), text, value),
             field.mask(), bits});
      }
    }
  return out;
}

std::set<std::string>& seen_choices() {
  static std::set<std::string> seen;
  return seen;
}

bool take_around(std::string& text, const std::string& before, const std::string& after) {
  const size_t at = text.find(before + "{b}" + after);
  if (at == std::string::npos) return false;
  text.replace(at, before.size() + 3 + after.size(), "{b}");
  return true;
}
/// Numbers have their modifiers behind them.
std::string filled(std::string text, const std::string& b, bool number) {
  std::string suffix;
  if (number) {
    if (take_around(text, "|", "|")) suffix = ".ABS" + suffix;
    if (take_around(text, "-", "")) suffix = ".NEG" + suffix;
    if (take_around(text, "~", "")) suffix = ".INV" + suffix;
  }
  const size_t at = text.find("{b}");
  return at == std::string::npos ? text : text.replace(at, 3, b + suffix);
}
Line with_b(const Line& line, const std::string& b, bool number) {
  return {line.before, filled(line.instruction, b, number), line.after};
}
/// The tuples with one word the same in all, each different one once.
Tuples with_fixed(const Tuples& tuples, unsigned word, uint32_t value) {
  std::set<Words> seen;
  Tuples out;
  for (Words w : tuples) {
    w[word] = value;
    if (seen.insert(w).second) out.push_back(std::move(w));
  }
  return out;
}

}  // namespace

const InstructionSet& instruction_set() {
  static const InstructionSet set = {
      lanewise::Isa::sass, fmt::format("sm_{}", kArch), 32, kernel, 24, 4096, constants(), 1024};
  return set;
}

const std::vector<uint32_t>& constants() {
  static const std::vector<uint32_t> values = {0x3fc00000, 0x80000001, 0x7f, 0xffffffff};
  return values;
}
std::string constant(unsigned index) {
  return fmt::format("c[0x0][{:#x}]", kFirstConstant + 4 * index);
}

namespace {

/// Of rows that write one instruction for different targets, the most general one.
const Form& most_general(const Form& f) {
  const Form* found = &f;
  for (const Form& g : lanewise::sass::forms()) {
    const bool same = g.mnemonic == f.mnemonic && g.lower == f.lower && (g.mask & ~f.mask) == 0 &&
                      ((g.match ^ f.match) & g.mask) == 0;
    const bool other_targets = g.min_arch != f.min_arch || g.max_arch != f.max_arch;
    const int bits = std::popcount(g.mask), least = std::popcount(found->mask);
    if (same && other_targets && (bits < least || (bits == least && &g < found))) found = &g;
  }
  return *found;
}

}  // namespace

std::vector<TableRow> table_rows() {
  std::vector<TableRow> rows;
  for (const Form& f : lanewise::sass::forms())
    if (&most_general(f) == &f) rows.push_back({key_of(f), f.claim, f.lower != nullptr});
  return rows;
}

std::string row_of(const std::string& instruction) {
  const lanewise::sass::Parsed p = lanewise::sass::parse_instruction(instruction, kArch);
  if (p.instruction) {
    for (const Choice& c : choices(*p.instruction->form))
      if ((p.instruction->word & c.mask) == c.bits) seen_choices().insert(c.name);
    return key_of(most_general(*p.instruction->form));
  }
  FAIL_CHECK(instruction << ": " << p.error.message);
  return instruction;
}

std::vector<std::string> missing_modifiers() {
  std::set<std::string> missing;
  for (const Form& f : lanewise::sass::forms()) {
    const bool has_values =
        f.claim == lanewise::isa::Claim::exact || f.claim == lanewise::isa::Claim::approximate;
    if (!has_values) continue;
    for (const Choice& c : choices(f))
      if (!seen_choices().contains(c.name) && lanewise::sass::refusal(f, c.bits).empty())
        missing.insert(c.name + " stands in no case");
  }
  return {missing.begin(), missing.end()};
}

Case make(const Line& line, unsigned inputs, unsigned outputs, Tuples tuples, Oracle oracle) {
  Case c;
  c.row = row_of(line.instruction);
  c.text = line.before + line.instruction + " ;\n" + line.after;
  c.inputs = inputs;
  c.outputs = outputs;
  c.tuples = std::move(tuples);
  c.oracle = std::move(oracle);
  c.doubles =
      line.instruction.find("64") != std::string::npos && !line.instruction.starts_with("SHF");
  c.on_devices = line.instruction.find("c[0x") == std::string::npos;
  return c;
}

const Immediates& integers() {
  static const Immediates v = {{{"0x0", 0},
                                {"0x21", 0x21},
                                {"-0x2", 0xfffffffe},
                                {"-0x80000", 0xfff80000},
                                {"0x7ffff", 0x7ffff}}};
  return v;
}
const Immediates& floats() {
  static const Immediates v = {{{"1.5", 0x3fc00000}, {"-0.0", 0x80000000}, {"-INF", 0xff800000}}};
  return v;
}

void add_variants(std::vector<Case>& out, const Line& line, unsigned b, unsigned inputs,
                  unsigned outputs, const Tuples& tuples, const Oracle& oracle,
                  const Immediates& immediates) {
  const auto add = [&](const std::string& text, const Tuples& t, bool number = false) {
    out.push_back(make(with_b(line, text, number), inputs, outputs, t, oracle));
    out.back().on_devices = text[0] == 'R';
  };
  add(fmt::format("R{}", kFirstInput + b), tuples);
  for (unsigned n = 0; n < 2; ++n) add(constant(n), with_fixed(tuples, b, constants()[n]));
  for (const auto& [text, bits] : immediates.values) add(text, with_fixed(tuples, b, bits), true);
}

}  // namespace values::sass
