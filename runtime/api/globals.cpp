#include "runtime/api/globals.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/guest/layout.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::detail {
namespace {

/// Resolved address of a relocation's symbol: a module variable or a function.
uint64_t address_of(const ir::Module& m, const std::vector<PlacedGlobal>& placed,
                    const std::string& name) {
  const auto global = std::ranges::find(placed, name, &PlacedGlobal::name);
  if (global != placed.end()) return global->address;
  const auto it = std::ranges::find(m.functions, name);
  if (it == m.functions.end()) {
    throw Error(ErrorKind::guest, "'" + name + "' is used but defined nowhere in the module");
  }
  return guest::function_address(static_cast<uint32_t>(it - m.functions.begin()));
}

/// Accesses that surely lie in a variable of the kernel need no check.
void keep_places(ir::Program& kernel, const ir::Module& m,
                 const std::vector<PlacedGlobal>& placed) {
  for (const ir::Symbol& s : kernel.symbols) {
    const auto at = std::ranges::find(placed, s.name, &PlacedGlobal::name);
    if (at == placed.end()) continue;
    const ir::Global& g = m.globals[static_cast<size_t>(at - placed.begin())];
    kernel.variables.push_back({at->address, at->size, g.space == ir::Space::constant});
  }
}

}  // namespace

std::vector<PlacedGlobal> place_globals(
    ir::Module& module, const std::function<uint64_t(const ir::Global&)>& allocate) {
  std::vector<PlacedGlobal> placed;
  for (const ir::Global& g : module.globals) placed.push_back({g.name, allocate(g), g.size, {}});
  for (size_t i = 0; i < placed.size(); ++i) {
    const ir::Global& g = module.globals[i];
    std::vector<std::byte>& bytes = placed[i].bytes;
    bytes = g.init;
    for (const ir::Global::Reloc& r : g.relocs) {
      const uint64_t value = address_of(module, placed, r.symbol) + static_cast<uint64_t>(r.addend);
      if (bytes.size() < r.offset + r.size) bytes.resize(r.offset + r.size);
      std::memcpy(bytes.data() + r.offset, &value, r.size);
    }
  }
  for (ir::Program& kernel : module.kernels) {
    ir::bind_symbols(kernel,
                     [&](const ir::Symbol& s) { return address_of(module, placed, s.name); });
    keep_places(kernel, module, placed);
  }
  return placed;
}

}  // namespace lanewise::detail
