// May the lanes of a wave be kept together?
#pragma once

#include <optional>
#include <string>

#include "runtime/ir/ir.hpp"

namespace lanewise::spirv {

/// The instruction that wave mode would carry out with another result than docs/execution.md asks
/// for, and why; nothing when there is none. `lanes`: threads of the group.
struct Obstacle {
  const ir::Inst* inst = nullptr;
  std::string why;
};
std::optional<Obstacle> obstacle_to_waves(const ir::Program& program, uint32_t lanes);

/// A barrier of all threads that a control barrier expresses, given that all lanes reach it
/// together.
bool is_plain_barrier(const ir::Inst& inst, uint32_t lanes);

}  // namespace lanewise::spirv
