#include "runtime/vulkan/device/features.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace lanewise::vulkan {
namespace {

using Flag = bool FeatureSet::*;

struct Named {
  Flag flag;
  const char* name;
};
constexpr std::array kNamed = {
    Named{&FeatureSet::int64, "shaderInt64"},
    Named{&FeatureSet::int16, "shaderInt16"},
    Named{&FeatureSet::float64, "shaderFloat64"},
    Named{&FeatureSet::storage16, "storageBuffer16BitAccess"},
    Named{&FeatureSet::storage8, "storageBuffer8BitAccess"},
    Named{&FeatureSet::int8, "shaderInt8"},
    Named{&FeatureSet::float16, "shaderFloat16"},
    Named{&FeatureSet::bda, "bufferDeviceAddress"},
    Named{&FeatureSet::buffer_int64_atomics, "shaderBufferInt64Atomics"},
    Named{&FeatureSet::shared_int64_atomics, "shaderSharedInt64Atomics"},
    Named{&FeatureSet::memory_model, "vulkanMemoryModel"},
    Named{&FeatureSet::memory_model_device_scope, "vulkanMemoryModelDeviceScope"},
    Named{&FeatureSet::subgroup_sizes, "subgroupSizeControl"},
    Named{&FeatureSet::full_subgroups, "computeFullSubgroups"},
};

class Reader {
 public:
  FeatureSet found;

  void base(const VkPhysicalDeviceFeatures& b) {
    set(&FeatureSet::int64, b.shaderInt64);
    set(&FeatureSet::int16, b.shaderInt16);
    set(&FeatureSet::float64, b.shaderFloat64);
  }
  void next(const VkBaseInStructure& node) {
    switch (node.sType) {
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2:
        base(as<VkPhysicalDeviceFeatures2>(node).features);
        break;
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES:
        set(&FeatureSet::storage16,
            as<VkPhysicalDeviceVulkan11Features>(node).storageBuffer16BitAccess);
        break;
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES:
        set(&FeatureSet::storage16,
            as<VkPhysicalDevice16BitStorageFeatures>(node).storageBuffer16BitAccess);
        break;
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES: {
        const auto& all = as<VkPhysicalDeviceVulkan12Features>(node);
        set(&FeatureSet::storage8, all.storageBuffer8BitAccess);
        small(all);
        set(&FeatureSet::bda, all.bufferDeviceAddress);
        atomics(all);
        model(all);
        break;
      }
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_8BIT_STORAGE_FEATURES:
        set(&FeatureSet::storage8,
            as<VkPhysicalDevice8BitStorageFeatures>(node).storageBuffer8BitAccess);
        break;
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_FLOAT16_INT8_FEATURES:
        small(as<VkPhysicalDeviceShaderFloat16Int8Features>(node));
        break;
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_BUFFER_DEVICE_ADDRESS_FEATURES:
        set(&FeatureSet::bda,
            as<VkPhysicalDeviceBufferDeviceAddressFeatures>(node).bufferDeviceAddress);
        break;
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_INT64_FEATURES:
        atomics(as<VkPhysicalDeviceShaderAtomicInt64Features>(node));
        break;
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES:
        model(as<VkPhysicalDeviceVulkanMemoryModelFeatures>(node));
        break;
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES:
        sizes(as<VkPhysicalDeviceVulkan13Features>(node));
        break;
      case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES:
        sizes(as<VkPhysicalDeviceSubgroupSizeControlFeatures>(node));
        break;
      default:
        break;  // the program's business
    }
  }

 private:
  template <typename T>
  static const T& as(const VkBaseInStructure& node) {
    return reinterpret_cast<const T&>(node);
  }
  void set(Flag flag, VkBool32 on) { found.*flag = found.*flag || on != VK_FALSE; }
  template <typename T>
  void small(const T& s) {
    set(&FeatureSet::int8, s.shaderInt8);
    set(&FeatureSet::float16, s.shaderFloat16);
  }
  template <typename T>
  void atomics(const T& s) {
    set(&FeatureSet::buffer_int64_atomics, s.shaderBufferInt64Atomics);
    set(&FeatureSet::shared_int64_atomics, s.shaderSharedInt64Atomics);
  }
  template <typename T>
  void model(const T& s) {
    set(&FeatureSet::memory_model, s.vulkanMemoryModel);
    set(&FeatureSet::memory_model_device_scope, s.vulkanMemoryModelDeviceScope);
  }
  template <typename T>
  void sizes(const T& s) {
    set(&FeatureSet::subgroup_sizes, s.subgroupSizeControl);
    set(&FeatureSet::full_subgroups, s.computeFullSubgroups);
  }
};

}  // namespace

EnabledFeatures::EnabledFeatures(const FeatureSet& f) {
  base.features.shaderInt64 = f.int64;
  base.features.shaderInt16 = f.int16;
  base.features.shaderFloat64 = f.float64;
  void** tail = &base.pNext;
  const auto link = [&tail](auto& node, bool used) {
    if (!used) return;
    *tail = &node;
    tail = &node.pNext;
  };
  storage16.storageBuffer16BitAccess = f.storage16;
  link(storage16, f.storage16);
  storage8.storageBuffer8BitAccess = f.storage8;
  link(storage8, f.storage8);
  small.shaderInt8 = f.int8;
  small.shaderFloat16 = f.float16;
  link(small, f.int8 || f.float16);
  address.bufferDeviceAddress = f.bda;
  link(address, f.bda);
  atomics.shaderBufferInt64Atomics = f.buffer_int64_atomics;
  atomics.shaderSharedInt64Atomics = f.shared_int64_atomics;
  link(atomics, f.buffer_int64_atomics || f.shared_int64_atomics);
  model.vulkanMemoryModel = f.memory_model;
  model.vulkanMemoryModelDeviceScope = f.memory_model_device_scope;
  link(model, f.memory_model);
  sizes.subgroupSizeControl = f.subgroup_sizes;
  sizes.computeFullSubgroups = f.full_subgroups;
  link(sizes, f.subgroup_sizes);
  statistics.pipelineExecutableInfo = f.statistics;
  link(statistics, f.statistics);
}

std::vector<const char*> feature_names(const FeatureSet& f) {
  std::vector<const char*> names;
  for (const Named& n : kNamed)
    if (f.*n.flag) names.push_back(n.name);
  return names;
}

FeatureSet features_in(const void* chain) {
  Reader reader;
  for (auto* node = static_cast<const VkBaseInStructure*>(chain); node != nullptr;
       node = node->pNext)
    reader.next(*node);
  return reader.found;
}

FeatureSet enabled_in(const VkDeviceCreateInfo& created) {
  Reader reader;
  reader.found = features_in(created.pNext);
  if (created.pEnabledFeatures != nullptr) reader.base(*created.pEnabledFeatures);
  return reader.found;
}

bool extension_in(const VkDeviceCreateInfo& created, const char* name) {
  for (uint32_t i = 0; i < created.enabledExtensionCount; ++i)
    if (std::strcmp(created.ppEnabledExtensionNames[i], name) == 0) return true;
  return false;
}

FeatureSet both(const FeatureSet& a, const FeatureSet& b) {
  FeatureSet f;
  for (const Named& n : kNamed) f.*n.flag = a.*n.flag && b.*n.flag;
  return f;
}

}  // namespace lanewise::vulkan
