// Devices and buffers of a Vulkan program.
#include "runtime/api/interop.hpp"

#include "runtime/capi/objects.hpp"
#include "runtime/capi/structs.hpp"
#include "runtime/vulkan/device/interop.hpp"

namespace lanewise::capi {
namespace {

struct NeedsObject final : Object {
  using Handle = lw_vulkan_needs;
  static constexpr HandleKind kKind = HandleKind::needs;
  explicit NeedsObject(vulkan::Needs n) : Object(kKind), needs(std::move(n)) {}
  const vulkan::Needs needs;
};

}  // namespace
}  // namespace lanewise::capi

using namespace lanewise;
using namespace lanewise::capi;

lw_status lw_vulkan_needs_create(VkInstance instance, VkPhysicalDevice physical_device,
                                 uint32_t api_version, lw_vulkan_needs** out) {
  return guarded([&] {
    clear_out(out);
    give<NeedsObject>(out, vulkan::needs_of(instance, physical_device, api_version));
  });
}

const VkPhysicalDeviceFeatures2* lw_vulkan_needs_features(lw_vulkan_needs* needs) {
  return quiet<const VkPhysicalDeviceFeatures2*>(
      nullptr, [&] { return find<NeedsObject>(needs)->needs.features; });
}

const char* lw_vulkan_needs_feature_name(lw_vulkan_needs* needs, size_t index) {
  return quiet<const char*>(nullptr, [&] {
    const auto object = find<NeedsObject>(needs);
    return index < object->needs.names.size() ? object->needs.names[index] : nullptr;
  });
}

const char* const* lw_vulkan_needs_extensions(lw_vulkan_needs* needs, uint32_t* count) {
  if (count != nullptr) *count = 0;
  return quiet<const char* const*>(nullptr, [&] {
    const auto object = find<NeedsObject>(needs);
    *required(count, "count") = static_cast<uint32_t>(object->needs.extensions.size());
    return object->needs.extensions.data();
  });
}

void lw_vulkan_needs_release(lw_vulkan_needs* needs) {
  release<NeedsObject>(needs);
}

lw_status lw_vulkan_device_import(const lw_vulkan_device_info* info, lw_device** out) {
  return guarded([&] {
    clear_out(out);
    auto device = interop::import_device(read_struct(info, "lw_vulkan_device_info"));
    log(LW_LOG_INFO, "imported " + device.info().name);
    give<DeviceObject>(out, std::move(device));
  });
}

lw_status lw_vulkan_device_export(lw_device* device, lw_vulkan_handles* out) {
  return guarded([&] {
    const auto object = find<DeviceObject>(device);
    write_struct(out, interop::export_device(object->device), "lw_vulkan_handles");
  });
}

lw_status lw_vulkan_buffer_import(lw_device* device, const lw_vulkan_buffer_info* info,
                                  const char* name, lw_buffer** out) {
  return guarded([&] {
    clear_out(out);
    const lw_vulkan_buffer_info what = read_struct(info, "lw_vulkan_buffer_info");
    if (what.flags > LW_VULKAN_READ_ONLY || what.reserved != 0)
      fail(ErrorDetail::invalid_value, "flags are 0 or LW_VULKAN_READ_ONLY, and reserved is 0");
    give<BufferObject>(out, interop::import_buffer(find<DeviceObject>(device)->device, what,
                                                   name != nullptr ? name : "imported buffer"));
  });
}

lw_status lw_vulkan_buffer_export(lw_buffer* buffer, lw_vulkan_region* out) {
  return guarded([&] {
    checked_size(out, "lw_vulkan_region");
    write_struct(out, interop::export_buffer(find<BufferObject>(buffer)->buffer),
                 "lw_vulkan_region");
  });
}
