// The Vulkan instance, shared by the engines of a process, and the validation layer's messages.
#pragma once

#include <memory>

#include "runtime/vulkan/vk.hpp"

namespace lanewise::vulkan {

class Instance {
 public:
  /// The living instance of this kind, or a new one. Throws Error(device) when there is no Vulkan.
  static std::shared_ptr<Instance> get(bool validation);

  explicit Instance(bool validation);
  /// One of somebody else's, who destroys it.
  Instance(VkInstance handle, uint32_t api_version);
  const vk::raii::Instance& vk() const { return instance_; }
  uint32_t api_version() const { return api_version_; }

 private:
  vk::raii::Context context_;
  uint32_t api_version_ = 0;
  vk::raii::Instance instance_ = nullptr;
  vk::raii::DebugUtilsMessengerEXT messenger_ = nullptr;
};

/// True when LANEWISE_VALIDATION asks for the layer.
bool validation_from_environment();

}  // namespace lanewise::vulkan
