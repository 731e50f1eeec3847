// What each physical device can do, and choosing one.
#pragma once

#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include "runtime/guest/engine.hpp"
#include "runtime/spirv/translate.hpp"
#include "runtime/vulkan/device/instance.hpp"

namespace lanewise::vulkan {

/// Features that the engine switches on when the device has them.
struct FeatureSet {
  bool int64 = false, int16 = false, int8 = false, float16 = false, float64 = false;
  bool bda = false, storage8 = false, storage16 = false;
  bool buffer_int64_atomics = false, shared_int64_atomics = false;
  bool memory_model = false, memory_model_device_scope = false;
  bool subgroup_sizes = false;  ///< a pipeline can ask for one; only where there are several
  bool full_subgroups = false;  ///< and for whole ones
  bool statistics = false;      ///< of compiled pipelines; switched on for those who ask
  bool operator==(const FeatureSet&) const = default;
};

struct DeviceFacts {
  EngineInfo info;
  int index = -1;  ///< among the devices that can compute; -1: another program's
  FeatureSet features;
  spirv::Target target;  ///< native_* still false: the probe fills them in
  vk::PhysicalDeviceType type = vk::PhysicalDeviceType::eOther;
  uint32_t api_version = 0;
  uint32_t queue_family = 0;
  std::array<uint32_t, 3> max_groups{};
  uint64_t max_storage_range = 0;
  std::string arena_limit;  ///< what EngineInfo::max_arena is of the device
  /// It has no memory: a driver's compiler for hardware that is not there (RADV's null device).
  bool compile_only = false;
  /// Memory of the host can be imported at multiples of so many bytes; 0 = it cannot.
  uint64_t host_import_alignment = 0;
  bool has_statistics = false;       ///< VK_KHR_pipeline_executable_properties
  uint32_t subgroup_operations = 0;  ///< VkSubgroupFeatureFlags
  /// Changes with the device, the driver and the driver's version.
  uint64_t fingerprint = 0;
  std::vector<const char*> extensions;  ///< to enable; static strings
};

struct FoundDevice {
  vk::raii::PhysicalDevice handle;
  DeviceFacts facts;
};

/// A logical device of somebody else's, who destroys it.
struct Borrowed {
  VkDevice device = VK_NULL_HANDLE;
  VkQueue queue = VK_NULL_HANDLE;
  std::function<void()> lock, unlock;  ///< around each submission; may be empty
  vk::BufferUsageFlags arena_usage;    ///< that the arena's buffer is to have as well
  uint64_t reserve_bytes = 0;          ///< capacity of the arena from the start
};

/// A device that was chosen, with the instance it lives in.
struct ChosenDevice {
  std::shared_ptr<Instance> instance;
  FoundDevice device;
  std::shared_ptr<const Borrowed> borrowed = {};  ///< null = to be created
};

/// Devices with a compute queue and Vulkan 1.1, in the driver's order.
std::vector<FoundDevice> find_devices(const Instance& instance);
/// What one can do, were all switched on, or only what `created` has on; its queue family is to be
/// filled in.
DeviceFacts facts_of(const vk::raii::PhysicalDevice& device, uint32_t instance_version,
                     const VkDeviceCreateInfo* created = nullptr);

/// Index of the device that the selector means; throws Error(device) naming what there is.
size_t choose_device(const std::vector<DeviceFacts>& devices, std::string_view selector);
ChosenDevice find_device(std::string_view selector, bool validation);

}  // namespace lanewise::vulkan
