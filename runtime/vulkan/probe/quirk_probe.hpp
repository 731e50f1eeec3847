// The quirks that small shaders show (runtime/spirv/quirks.hpp): by a wrong result, or by the time
// that the driver's compiler takes.
#pragma once

#include "runtime/vulkan/pipeline/pipeline_cache.hpp"

namespace lanewise::vulkan {

/// 0 or 1 each, as they are kept on disk.
struct QuirksFound {
  uint32_t loses_lanes = 0;  ///< at memory barriers in divergent loops
  uint32_t folds_zero = 0;
  uint32_t large_arrays_slow = 0;
  uint32_t folds_nothing = 0;
  uint32_t runs_both_sides = 0;
};

QuirksFound probe_quirks(Device& device, Pipelines& pipelines);
/// What the shaders are, for the key under which results are kept.
uint64_t hash_quirk_shaders(uint64_t hash);

}  // namespace lanewise::vulkan
