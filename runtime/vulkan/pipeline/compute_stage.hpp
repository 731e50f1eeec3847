// The shader stage of a compute pipeline.
#pragma once

#include "runtime/vulkan/device/devices.hpp"

namespace lanewise::vulkan {

/// Whole subgroups of one size, where the device would otherwise be free to choose. Refers to
/// itself.
struct ComputeStage {
  vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo size;
  vk::PipelineShaderStageCreateInfo info;

  /// `subgroup_size`: what the module counts on; 0 = nothing.
  ComputeStage(vk::ShaderModule module, const DeviceFacts& facts, uint32_t subgroup_size)
      : size(subgroup_size), info({}, vk::ShaderStageFlagBits::eCompute, module, "main") {
    if (subgroup_size == 0 || !facts.features.subgroup_sizes) return;
    info.pNext = &size;
    if (facts.features.full_subgroups)
      info.flags = vk::PipelineShaderStageCreateFlagBits::eRequireFullSubgroups;
  }
  ComputeStage(const ComputeStage&) = delete;
  ComputeStage& operator=(const ComputeStage&) = delete;
};

}  // namespace lanewise::vulkan
