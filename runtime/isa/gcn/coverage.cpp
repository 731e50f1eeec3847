// What of the ISA can run, read off the table.
#include <fmt/format.h>

#include <set>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/isa/gcn/lane_form.hpp"

namespace lanewise::gcn {

namespace {

void add_lane_forms(const Row& r, std::set<std::string>& seen, std::vector<Coverage>& out) {
  const bool writes_mask = r.encoding == Encoding::vopc || (r.implicit & kWritesVcc) != 0;
  if (seen.insert(r.name + ".sdwa").second) out.push_back({r.name + ".sdwa", FormState::exact, ""});
  if (!seen.insert(r.name + ".dpp").second) return;
  if (writes_mask)
    out.push_back({r.name + ".dpp", FormState::unsupported, "assembles, cannot run yet"});
  else
    out.push_back({r.name + ".dpp", FormState::exact, ""});
}

}  // namespace

std::vector<Coverage> coverage(Gen gen) {
  std::vector<Coverage> out;
  std::set<std::string> seen;
  for (const Row& r : rows()) {
    if (r.opcode[static_cast<int>(gen)] < 0) continue;
    if (gen == Gen::gfx8 && takes_lane_form(r)) add_lane_forms(r, seen, out);
    if (!seen.insert(r.name).second) continue;
    // Buffer rows are shared by the generations; only their surroundings differ.
    if (r.meaning.op == ir::Op::frsqrt_approx)
      out.push_back({r.name, FormState::approximate,
                     "inside the bound of PTX rsqrt.approx, 2^-22.9; see docs/numerics.md"});
    else if (r.lower != nullptr)
      out.push_back({r.name, FormState::exact, ""});
    else
      out.push_back({r.name, FormState::unsupported, "assembles, cannot run yet"});
  }
  for (const KnownName& n : known_names())
    if ((n.generations >> static_cast<int>(gen) & 1) != 0 &&
        seen.insert(std::string(n.name)).second)
      out.push_back({std::string(n.name), FormState::unsupported, "not yet in the table"});
  return out;
}

Coverage coverage_of(std::string_view form, Gen gen) {
  std::string name(form.substr(0, form.find_first_of(" [")));
  const bool old_address = form.find("addr64") != std::string_view::npos && gen == Gen::gfx8;
  if (old_address)
    return {std::string(form), FormState::unsupported, "addr64 does not exist on gfx803"};
  for (std::string_view suffix : {"_e32", "_e64"})
    if (name.size() > 4 && name.substr(name.size() - 4) == suffix) name.resize(name.size() - 4);
  for (const Coverage& c : coverage(gen))
    if (c.form == name) return c;
  return {std::string(form), FormState::unsupported,
          fmt::format("no row of the table has this name for {}", gcn::name(gen))};
}

}  // namespace lanewise::gcn
