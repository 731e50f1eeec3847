// What of the ISA can run, read off the table.
#include <fmt/format.h>

#include <set>

#include "runtime/isa/sass/semantics.hpp"

namespace lanewise::sass {
namespace {

/// Modifier values that decode and print but that the lowering refuses.
bool refused(const Form& f, const Mod& m, const Code& c) {
  const bool integer_sat = m.id == ModId::sat && f.lower == lower_iadd;
  const bool extended = m.id == ModId::x && f.lower != lower_iadd;
  return integer_sat || (extended && c.value != 0) || (m.id == ModId::scale && c.value != 0) ||
         (m.id == ModId::ftz && c.value == 2) || (m.id == ModId::acc && c.value == 3) ||
         (m.id == ModId::scope && c.value == 3) || (m.id == ModId::invalidate && c.value > 1);
}

Coverage describe(const Form& f, const std::string& name, bool ok) {
  if (f.lower == nullptr || !ok) return {name, FormState::unsupported, "decodes, cannot run yet"};
  return {name, FormState::exact, ""};
}

void expand(const Form& f, size_t mod, const std::string& name, bool ok,
            std::set<std::string>& seen, std::vector<Coverage>& out) {
  if (mod == f.mods.size()) {
    if (seen.insert(name).second) out.push_back(describe(f, name, ok));
    return;
  }
  for (const Code& c : f.mods[mod].codes) {
    if (c.alias) continue;
    const bool allowed = ok && (c.text.empty() || !refused(f, f.mods[mod], c));
    expand(f, mod + 1, c.text.empty() ? name : name + "." + std::string(c.text), allowed, seen,
           out);
  }
}

}  // namespace

std::vector<Coverage> coverage() {
  std::vector<Coverage> out;
  std::set<std::string> seen, mnemonics;
  for (const Form& f : forms()) {
    mnemonics.insert(f.mnemonic.substr(0, f.mnemonic.find('.')));
    expand(f, 0, f.mnemonic, true, seen, out);
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
