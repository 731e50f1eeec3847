// What a listing says of itself, and the names of targets.
#include "runtime/isa/gcn/gcn.hpp"

namespace lanewise::gcn {

InitialState bare_state() {
  InitialState s;
  s.kernarg_ptr = 0;
  for (int n = 0; n < 3; ++n) s.workgroup_id[n] = 2 + n;
  s.workitem_ids = 3;
  s.bare = true;
  return s;
}

bool Listing::ok() const {
  for (const Diagnostic& d : diagnostics)
    if (!d.warning) return false;
  return true;
}

std::string_view name(Gen gen) {
  return gen == Gen::gfx6 ? "gfx600" : gen == Gen::gfx7 ? "gfx700" : "gfx803";
}
std::optional<Gen> gen_named(std::string_view target) {
  if (target.substr(0, 4) == "gfx6") return Gen::gfx6;
  if (target.substr(0, 4) == "gfx7") return Gen::gfx7;
  if (target.substr(0, 4) == "gfx8") return Gen::gfx8;
  return std::nullopt;
}

}  // namespace lanewise::gcn
