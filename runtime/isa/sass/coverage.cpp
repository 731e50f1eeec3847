// What of the ISA can run, read off the table.
#include <fmt/format.h>

#include <set>

#include "runtime/isa/sass/semantics.hpp"

namespace lanewise::sass {
namespace {

/// A word of the form with these modifiers and harmless operands.
Instruction sample(const Form& f, uint64_t modifiers) {
  Instruction i;
  i.form = &f;
  i.word = f.match | modifiers;
  i.pc = pc_of(0);
  if (f.has_guard) kGuard.set(i.word, kPT);
  for (const OperandSpec& o : f.operands) {
    if (o.kind == OperandSpec::Kind::sreg) o.field.set(i.word, 0x21);
    if (o.kind == OperandSpec::Kind::cbank) o.field.set(i.word, 0x140 / 4);
  }
  return i;
}

/// The lowering itself says what it can run.
Coverage describe(const Form& f, const std::string& name, uint64_t modifiers) {
  // Jumps to what the branch stack holds run wherever a push comes first.
  if (f.lower == lower_pop) return {name, FormState::exact, ""};
  static const Instruction exit = *parse_instruction("EXIT").instruction;
  Kernel k;
  k.name = "coverage";
  k.code = {sample(f, modifiers), exit};
  k.code[1].pc = pc_of(1);
  Listing listing;
  listing.kernels.push_back(std::move(k));
  for (const Diagnostic& d : lower(listing).diagnostics)
    if (!d.warning) return {name, FormState::unsupported, "decodes; " + d.message};
  if (f.lower == lower_mufu)
    return {name, FormState::approximate, "the device's own approximation, see docs/numerics.md"};
  return {name, FormState::exact, ""};
}

void expand(const Form& f, size_t mod, const std::string& name, uint64_t modifiers,
            std::set<std::string>& seen, std::vector<Coverage>& out) {
  if (mod == f.mods.size()) {
    if (seen.insert(name).second) out.push_back(describe(f, name, modifiers));
    return;
  }
  for (const Code& c : f.mods[mod].codes) {
    if (c.alias) continue;
    uint64_t word = modifiers;
    f.mods[mod].field.set(word, c.value);
    expand(f, mod + 1, c.text.empty() ? name : name + "." + std::string(c.text), word, seen, out);
  }
}

}  // namespace

std::vector<Coverage> coverage() {
  std::vector<Coverage> out;
  std::set<std::string> seen, mnemonics;
  for (const Form& f : forms()) {
    mnemonics.insert(f.mnemonic.substr(0, f.mnemonic.find('.')));
    expand(f, 0, f.mnemonic, 0, seen, out);
  }
  for (std::string_view name : known_mnemonics())
    if (mnemonics.count(std::string(name)) == 0)
      out.push_back({std::string(name), FormState::unsupported, "not yet in the table"});
  return out;
}

Coverage coverage_of(std::string_view form) {
  static const std::vector<Coverage> all = coverage();
  for (const Coverage& c : all)
    if (c.form == form) return c;
  const std::string base(form.substr(0, form.find('.')));
  return {std::string(form), FormState::unsupported,
          fmt::format("no row of the table has this form of {}", base)};
}

}  // namespace lanewise::sass
