// The features that the engine makes use of: as structures for creating a device, by name, and read
// back from what a device was created with.
#pragma once

#include <string>
#include <vector>

#include "runtime/vulkan/device/devices.hpp"

namespace lanewise::vulkan {

/// Every structure that holds a feature we ask about, not linked.
struct FeatureStructures {
  vk::PhysicalDeviceFeatures2 base;
  vk::PhysicalDevice16BitStorageFeatures storage16;
  vk::PhysicalDevice8BitStorageFeatures storage8;
  vk::PhysicalDeviceShaderFloat16Int8Features small;
  vk::PhysicalDeviceBufferDeviceAddressFeatures address;
  vk::PhysicalDeviceShaderAtomicInt64Features atomics;
  vk::PhysicalDeviceVulkanMemoryModelFeatures model;
  vk::PhysicalDeviceSubgroupSizeControlFeatures sizes;
  vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR statistics;
};

/// Those that switch on exactly what FeatureSet says, linked for creation.
struct EnabledFeatures : FeatureStructures {
  explicit EnabledFeatures(const FeatureSet& f);
  EnabledFeatures(const EnabledFeatures&) = delete;
  EnabledFeatures& operator=(const EnabledFeatures&) = delete;
};

/// As Vulkan's structures call them.
std::vector<const char*> feature_names(const FeatureSet& f);

/// Of those that the engine knows, the ones that are set in the structures of a chain.
FeatureSet features_in(const void* chain);
/// The same, of what a device was created with.
FeatureSet enabled_in(const VkDeviceCreateInfo& created);
bool extension_in(const VkDeviceCreateInfo& created, const char* name);
/// What both have.
FeatureSet both(const FeatureSet& a, const FeatureSet& b);

}  // namespace lanewise::vulkan
