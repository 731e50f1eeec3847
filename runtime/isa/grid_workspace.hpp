// Programs whose groups wait for each other, and the variable that they do it by.
#pragma once

#include <algorithm>
#include <string>

#include "runtime/ir/ir.hpp"
#include "runtime/layout/grid_workspace.hpp"

namespace lanewise::isa {

inline bool has_symbol(const ir::Program& kernel, std::string_view name) {
  return std::ranges::find(kernel.symbols, name, &ir::Symbol::name) != kernel.symbols.end();
}

/// Adds the variable to modules with a kernel that asks for it.
inline void add_grid_workspace(ir::Module& module) {
  const auto asks = [](const ir::Program& p) { return has_symbol(p, guest::kGridWorkspace); };
  if (!std::ranges::any_of(module.kernels, asks)) return;
  ir::Global g;
  g.name = guest::kGridWorkspace;
  g.align = 16;
  g.size = guest::kGridWorkspaceBytes;
  module.globals.push_back(std::move(g));
}

}  // namespace lanewise::isa
