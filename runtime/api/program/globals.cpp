#include "runtime/api/program/globals.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/ir/passes/passes.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::host::detail {
namespace {

/// Resolved address of a relocation's symbol: a module variable or a function. Kernels lie behind
/// the functions: no call reaches one there, and kernels that launch kernels are refused.
uint64_t address_of(const ir::Module& m, const std::vector<PlacedGlobal>& placed,
                    const std::string& name) {
  const auto global = std::ranges::find(placed, name, &PlacedGlobal::name);
  if (global != placed.end()) return global->address;
  const auto it = std::ranges::find(m.functions, name);
  auto index = static_cast<uint32_t>(it - m.functions.begin());
  if (it == m.functions.end()) {
    const auto kernel = std::ranges::find(m.kernels, name, &ir::Program::name);
    if (kernel == m.kernels.end())
      throw Error(ErrorKind::guest, "'" + name + "' is used but defined nowhere in the module");
    index += static_cast<uint32_t>(kernel - m.kernels.begin());
  }
  return guest::function_address(index);
}

/// Where the kernel's variables will lie; nothing when it names an address outside one of them,
/// which could lie in another.
std::vector<ir::Variable> variables_of(const ir::Program& kernel, const ir::Module& m,
                                       const std::vector<PlacedGlobal>& placed) {
  std::vector<ir::Variable> all;
  std::vector<uint64_t> sizes(kernel.symbols.size(), 0);
  for (size_t n = 0; n < sizes.size(); ++n) {
    const auto at = std::ranges::find(placed, kernel.symbols[n].name, &PlacedGlobal::name);
    if (at == placed.end() || at->size == 0) continue;
    const ir::Global& g = m.globals[static_cast<size_t>(at - placed.begin())];
    all.push_back({at->address, at->size, g.space == ir::Space::constant});
    sizes[n] = at->size;
  }
  for (const ir::Block& block : kernel.blocks)
    for (const ir::Inst& inst : block.insts)
      for (const ir::Operand& o : inst.src)
        if (o.kind == ir::Operand::Kind::symbol && o.imm > sizes.at(o.index)) return {};
  return all;
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
    kernel.variables = variables_of(kernel, module, placed);
    ir::bind_symbols(kernel,
                     [&](const ir::Symbol& s) { return address_of(module, placed, s.name); });
  }
  return placed;
}

}  // namespace lanewise::host::detail
