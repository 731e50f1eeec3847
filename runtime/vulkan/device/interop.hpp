// A Vulkan program's own device and buffers: taken up as an engine and its memory, and handed out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lanewise/vulkan.h"
#include "runtime/guest/engine.hpp"

namespace lanewise::vulkan {

/// What a program should switch on for a device.
struct Needs {
  struct Chain;
  std::shared_ptr<const Chain> chain;  ///< of feature structures
  const VkPhysicalDeviceFeatures2* features = nullptr;
  std::vector<const char*> names, extensions;
};
Needs needs_of(VkInstance instance, VkPhysicalDevice physical, uint32_t api_version);

/// Throws Error(usage) for handles that do not belong together, as far as Vulkan knows.
std::unique_ptr<Engine> import_engine(const lw_vulkan_device_info& info);

/// Throws Error(usage) when kernels of this engine cannot reach the buffer. Its device address.
uint64_t address_of(Engine& engine, const lw_vulkan_buffer_info& buffer);
/// Lets guests reach it from the guest address on; until Engine::unmap.
void map_buffer(Engine& engine, uint64_t address, const lw_vulkan_buffer_info& buffer);

/// Where guest memory lies. What is part of the arena keeps it in place until let_go().
lw_vulkan_region locate(Engine& engine, uint64_t address, uint64_t size);
void hold(Engine& engine);
void let_go(Engine& engine);

lw_vulkan_handles handles_of(Engine& engine);

}  // namespace lanewise::vulkan
