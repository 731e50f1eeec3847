// Does the driver keep the values that lanes take out of loops?
#pragma once

#include "runtime/vulkan/pipeline/kernel_cache.hpp"

namespace lanewise::vulkan {

class Arena;

enum class LoopValues : uint32_t {
  kept,
  kept_when_closed,  ///< only with Quirks::loses_loop_values
  lost,              ///< not even then: nothing may run on such a device
};

/// Translates a program whose lanes leave nested loops at different times and branch on what they
/// loaded there, runs it on 64 lanes in lane and in serial mode, and compares with the host; in
/// lane mode also a program whose loop has a value that never changes. All of it again, with the
/// quirk's work-around, when something is wrong.
LoopValues probe_loop_values(Device& device, Pipelines& pipelines, DiskCache& disk,
                             const spirv::Target& target);

/// On a device that cuts loops: does it mark the lanes that it cut, and no others, where a mark is
/// carried out of loops (Quirks::marks_in_registers)? The same loop runs twice, and only the second
/// time it is cut, for some lanes of the second half.
bool probe_loop_marks(Device& device, Pipelines& pipelines, DiskCache& disk,
                      const spirv::Target& target);

}  // namespace lanewise::vulkan
