// Running the probe's own shaders.
#pragma once

#include <span>
#include <vector>

#include "runtime/vulkan/pipeline/pipeline_cache.hpp"

namespace lanewise::vulkan {

/// The module with the float execution modes that translated kernels ask for on this target.
std::vector<uint32_t> with_float_modes(std::span<const uint32_t> words,
                                       const spirv::Target& target);

/// One dispatch with an input and an output buffer.
void run_probe_shader(Device& device, Pipelines& pipelines, std::span<const uint32_t> words,
                      const Buffer& in, const Buffer& out, uint32_t groups,
                      const spirv::Target& modes);

}  // namespace lanewise::vulkan
