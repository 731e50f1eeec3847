#include "runtime/isa/sass/lowering/link.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "runtime/isa/sass/lowering/call_stack.hpp"

namespace lanewise::sass {
namespace {

/// Can the function come to call itself, by CAL in its own section or through others?
bool recursive(const Listing& listing, const std::string& name) {
  std::set<std::string> seen;
  std::vector<std::string> work = {name};
  while (!work.empty()) {
    const auto f = std::ranges::find(listing.functions, work.back(), &Kernel::name);
    work.pop_back();
    if (f == listing.functions.end()) continue;
    if (f->name == name && !recursive_functions(*f).empty()) return true;
    for (const Call& c : f->calls) {
      if (c.symbol == name) return true;
      if (seen.insert(c.symbol).second) work.push_back(c.symbol);
    }
  }
  return false;
}

}  // namespace

Kernel linked(const Kernel& kernel, const Listing& listing) {
  Kernel out = kernel;
  std::map<std::string, uint64_t> places;
  for (size_t n = 0; n < out.calls.size(); ++n) {  // grows on the way
    const std::string name = out.calls[n].symbol;
    const auto f = std::ranges::find(listing.functions, name, &Kernel::name);
    if (f == listing.functions.end()) continue;
    const uint64_t end = out.code.empty() ? 0 : (out.code.back().pc / 32 + 1) * 32;
    const auto [place, is_new] = places.try_emplace(name, end);
    out.calls[n].target = place->second + pc_of(0);
    if (!is_new) continue;
    out.labels.push_back({name, out.code.size()});
    for (const Label& l : f->labels) out.labels.push_back({l.name, l.index + out.code.size()});
    for (Instruction i : f->code) {
      i.pc += end;
      out.code.push_back(std::move(i));
    }
    for (Relocation r : f->relocations) {
      r.pc += end;
      out.relocations.push_back(std::move(r));
    }
    for (Call c : f->calls) {
      c.pc += end;
      out.calls.push_back(std::move(c));
    }
    out.registers = std::max(out.registers, f->registers);
    const uint32_t frames = recursive(listing, name) ? kRecursionStack : f->local_bytes.value_or(0);
    if (frames != 0) out.local_bytes = out.local_bytes.value_or(0) + frames;
    out.diagnostics.insert(out.diagnostics.end(), f->diagnostics.begin(), f->diagnostics.end());
  }
  return out;
}

}  // namespace lanewise::sass
