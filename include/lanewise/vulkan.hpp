// Lanewise inside a Vulkan program; the structures, and what they mean, are those of
// lanewise/vulkan.h. Wrong uses throw Error.
#pragma once

#include "lanewise/lanewise.hpp"
#include "lanewise/vulkan.h"

namespace lanewise::interop {

/// A device of the program, which must outlive everything made from it.
inline Device import_device(lw_vulkan_device_info info) {
  info.struct_size = sizeof info;
  lw_device* handle = nullptr;
  detail::call(lw_vulkan_device_import(&info, &handle));
  return Device::from_c(handle);
}
/// A part of a buffer of the program, for kernels to work on in place.
inline Buffer import_buffer(const Device& device, lw_vulkan_buffer_info info,
                            const std::string& name = "imported buffer") {
  info.struct_size = sizeof info;
  lw_buffer* handle = nullptr;
  detail::call(lw_vulkan_buffer_import(device.c_handle(), &info, name.c_str(), &handle));
  return Buffer::from_c(handle);
}
/// Where a buffer lies, until its last handle is gone.
inline lw_vulkan_region export_buffer(const Buffer& buffer) {
  lw_vulkan_region out{};
  out.struct_size = sizeof out;
  detail::call(lw_vulkan_buffer_export(buffer.c_handle(), &out));
  return out;
}
inline lw_vulkan_handles export_device(const Device& device) {
  lw_vulkan_handles out{};
  out.struct_size = sizeof out;
  detail::call(lw_vulkan_device_export(device.c_handle(), &out));
  return out;
}

}  // namespace lanewise::interop
