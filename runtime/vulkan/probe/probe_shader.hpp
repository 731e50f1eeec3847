// Running the probe's own shaders.
#pragma once

#include <span>
#include <vector>

#include "runtime/vulkan/pipeline/pipeline_cache.hpp"

namespace lanewise::vulkan {

/// One dispatch with an input and an output buffer.
void run_probe_shader(Device& device, Pipelines& pipelines, std::span<const uint32_t> words,
                      const Buffer& in, const Buffer& out, uint32_t groups,
                      const spirv::Target& modes);

}  // namespace lanewise::vulkan
