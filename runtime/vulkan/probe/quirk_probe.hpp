// The quirks that small shaders show (runtime/spirv/quirks.hpp): by a wrong result, or by the time
// that the driver's compiler takes.
#pragma once

#include "runtime/vulkan/pipeline/pipeline_cache.hpp"

namespace lanewise::vulkan {

/// Bit i is set when the device shows the quirk of spirv::kQuirks[i]; kept on disk.
using QuirkBits = uint32_t;

QuirkBits probe_quirks(Device& device, Pipelines& pipelines);
void apply(QuirkBits found, spirv::Quirks& quirks);
/// What the shaders are, for the key under which results are kept.
uint64_t hash_quirk_shaders(uint64_t hash);

}  // namespace lanewise::vulkan
