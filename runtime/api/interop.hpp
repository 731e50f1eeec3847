// Devices and buffers of a Vulkan program; the structures are those of lanewise/vulkan.h.
#pragma once

#include "lanewise/vulkan.h"
#include "runtime/api/api.hpp"

namespace lanewise::host::interop {

/// A device of the program, which must outlive everything made from it.
Device import_device(const lw_vulkan_device_info& info);
/// A part of a buffer of the program, for kernels to work on in place.
Buffer import_buffer(const Device& device, const lw_vulkan_buffer_info& info,
                     const std::string& name = "imported buffer");
/// Where a buffer lies, until its last handle is gone.
lw_vulkan_region export_buffer(const Buffer& buffer);
lw_vulkan_handles export_device(const Device& device);

}  // namespace lanewise::host::interop
