// The pipeline layout of hand-written kernels: push constants alone.
#pragma once

#include "runtime/vulkan/vk.hpp"

namespace lanewise::vulkan {

inline constexpr uint32_t kNativePushBytes = 64;
vk::raii::PipelineLayout native_layout(const vk::raii::Device& device);

}  // namespace lanewise::vulkan
