// How a kernel's lanes lie over invocations, and why: docs/execution.md.
#pragma once

#include <string>

#include "runtime/ir/ir.hpp"
#include "runtime/spirv/lane/emitter.hpp"
#include "runtime/spirv/translate.hpp"

namespace lanewise::spirv {

struct WaveChoice {
  WaveMode mode = WaveMode::lane;  ///< not automatic
  std::string reason;              ///< in a sentence's words
};

/// `lanes`: the shape of lane mode. Throws Error(guest) where the mode that was asked for cannot be
/// had.
WaveChoice choose_wave_mode(const ir::Program& program, const Options& options,
                            const Target& target, const Shape& lanes);

Shape lane_shape(const ir::Program& program, const Options& options, const Target& target);
Shape serial_shape(const ir::Program& program, const Shape& lanes, const Target& target);
Shape packed_shape(const ir::Program& program, const Shape& lanes, const Target& target);

/// Barriers that lanes may reach apart, or that name more than all lanes.
bool needs_phases(const ir::Program& program, const Shape& shape);
/// Words of shared memory for cross-lane operations of the group (shaders/lib/wave_group.glsl).
uint32_t group_words(const ir::Program& program, const Shape& shape);

}  // namespace lanewise::spirv
