// Devices of a Vulkan program; buffer.cpp has its buffers.
#include <fmt/format.h>

#include "runtime/api/objects/objects.hpp"
#include "runtime/api/objects/structs.hpp"
#include "runtime/vulkan/device/interop.hpp"

namespace lanewise::host {
namespace {

struct Needs final : Handled<lw_vulkan_needs, HandleKind::vulkan_needs> {
  explicit Needs(vulkan::Needs n) : needs(std::move(n)) {}
  const vulkan::Needs needs;
};

}  // namespace
}  // namespace lanewise::host

using namespace lanewise;
using namespace lanewise::host;

lw_status lw_vulkan_needs_create(VkInstance instance, VkPhysicalDevice physical_device,
                                 uint32_t api_version, lw_vulkan_needs** out) {
  return gives(out, [&] {
    return std::make_shared<Needs>(vulkan::needs_of(instance, physical_device, api_version));
  });
}

const VkPhysicalDeviceFeatures2* lw_vulkan_needs_features(lw_vulkan_needs* needs) {
  return quiet<const VkPhysicalDeviceFeatures2*>(
      nullptr, [&] { return find<Needs>(needs)->needs.features; });
}

const char* lw_vulkan_needs_feature_name(lw_vulkan_needs* needs, size_t index) {
  return quiet<const char*>(nullptr, [&] { return find<Needs>(needs)->needs.names.at(index); });
}

const char* const* lw_vulkan_needs_extensions(lw_vulkan_needs* needs, uint32_t* count) {
  if (count != nullptr) *count = 0;
  return quiet<const char* const*>(nullptr, [&] {
    const auto object = find<Needs>(needs);
    *required(count, "count") = static_cast<uint32_t>(object->needs.extensions.size());
    return object->needs.extensions.data();
  });
}

lw_status lw_vulkan_device_import(const lw_vulkan_device_info* info, lw_device** out) {
  return gives(out, [&] {
    auto device =
        std::make_shared<Device>(vulkan::import_engine(read_struct(info, "lw_vulkan_device_info")));
    log(LW_LOG_INFO, fmt::format("imported {}", device->info.name));
    return device;
  });
}

lw_status lw_vulkan_device_export(lw_device* device, lw_vulkan_handles* out) {
  return guarded([&] {
    const auto object = find<Device>(device);
    const auto lock = object->enter();
    write_struct(out, vulkan::handles_of(*object->engine), "lw_vulkan_handles");
  });
}
