#include "runtime/vulkan/device/instance.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "lanewise/error_detail.hpp"
#include "runtime/support/error.hpp"
#include "runtime/vulkan/vulkan_engine.hpp"

namespace lanewise::vulkan {
namespace {

constexpr const char* kLayer = "VK_LAYER_KHRONOS_validation";
constexpr const char* kNoDevice =
    "no Vulkan device found ({}); install a Vulkan driver (Debian: mesa-vulkan-drivers) or use "
    "--device reference";

std::atomic<unsigned> message_count{0};

VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                          VkDebugUtilsMessageTypeFlagsEXT,
                                          const VkDebugUtilsMessengerCallbackDataEXT* data, void*) {
  ++message_count;
  std::fprintf(stderr, "lanewise: validation: %s\n", data->pMessage);
  return VK_FALSE;
}

bool has_layer(const vk::raii::Context& context) {
  for (const auto& layer : context.enumerateInstanceLayerProperties()) {
    if (std::strcmp(layer.layerName, kLayer) == 0) return true;
  }
  return false;
}

bool has_extension(const vk::raii::Context& context, const char* wanted) {
  for (const auto& extension : context.enumerateInstanceExtensionProperties()) {
    if (std::strcmp(extension.extensionName, wanted) == 0) return true;
  }
  return false;
}

vk::raii::Context load() {
  try {
    return vk::raii::Context();
  } catch (const std::exception&) {
    throw DetailedError(ErrorKind::device, ErrorDetail::no_device,
                        fmt::format(kNoDevice, "the Vulkan loader is not installed"));
  }
}

vk::DebugUtilsMessengerCreateInfoEXT messenger_info() {
  vk::DebugUtilsMessengerCreateInfoEXT info;
  info.messageSeverity = vk::DebugUtilsMessageSeverityFlagBitsEXT::eWarning |
                         vk::DebugUtilsMessageSeverityFlagBitsEXT::eError;
  info.messageType = vk::DebugUtilsMessageTypeFlagBitsEXT::eGeneral |
                     vk::DebugUtilsMessageTypeFlagBitsEXT::eValidation;
  info.pfnUserCallback = on_message;
  return info;
}

/// The layer's own messages are wanted, not the loader's about unrelated drivers.
bool is_off(const char* value) {
  return value == nullptr || *value == 0 || *value == '0';
}

}  // namespace

bool validation_from_environment() {
  return !is_off(std::getenv("LANEWISE_VALIDATION"));
}

unsigned validation_messages() {
  return message_count;
}

Instance::Instance(bool validation) : context_(load()) {
  const uint32_t loader = context_.enumerateInstanceVersion();
  if (loader < VK_API_VERSION_1_1) {
    throw DetailedError(ErrorKind::device, ErrorDetail::no_device,
                        fmt::format(kNoDevice, "the Vulkan loader is older than 1.1"));
  }
  api_version_ = std::min<uint32_t>(loader, VK_API_VERSION_1_3);
  vk::ApplicationInfo app("lanewise", 1, "lanewise", 1, api_version_);
  vk::InstanceCreateInfo info;
  info.pApplicationInfo = &app;
  std::vector<const char*> layers, extensions;
  if (validation) {
    if (!has_layer(context_)) {
      throw Error(ErrorKind::device,
                  "the validation layer was asked for but is not installed "
                  "(Debian: vulkan-validationlayers)");
    }
    layers.push_back(kLayer);
    extensions.push_back(VK_EXT_DEBUG_UTILS_EXTENSION_NAME);
  }
  if (has_extension(context_, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
    extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    info.flags |= vk::InstanceCreateFlagBits::eEnumeratePortabilityKHR;
  }
  info.setPEnabledLayerNames(layers).setPEnabledExtensionNames(extensions);
  try {
    instance_ = vk::raii::Instance(context_, info);
  } catch (const vk::SystemError& error) {
    throw DetailedError(ErrorKind::device, ErrorDetail::no_device,
                        fmt::format(kNoDevice, error.what()));
  }
  if (validation) messenger_ = vk::raii::DebugUtilsMessengerEXT(instance_, messenger_info());
}

Instance::Instance(VkInstance handle, uint32_t api_version)
    : context_(load()),
      api_version_(std::min<uint32_t>(api_version, VK_API_VERSION_1_3)),
      instance_(context_, handle) {
  auto* calls = const_cast<vk::raii::InstanceDispatcher*>(instance_.getDispatcher());
  calls->vkDestroyInstance = [](VkInstance, const VkAllocationCallbacks*) {};
}

std::shared_ptr<Instance> Instance::get(bool validation) {
  static std::mutex mutex;
  static std::weak_ptr<Instance> living[2];
  const std::lock_guard lock(mutex);
  auto found = living[validation].lock();
  if (!found) {
    found = std::make_shared<Instance>(validation);
    living[validation] = found;
  }
  return found;
}

}  // namespace lanewise::vulkan
