// What the kit asks a Vulkan device.
#pragma once

#include <string>

namespace lanewise::kit {

struct DeviceArguments {
  std::string device = "auto";
  bool small = false;  ///< for tests of the kit
};

/// Each prints rows and returns an exit code (rows.hpp).
int facts(const DeviceArguments& a);
/// Translation and the driver's compiler, for each kernel of the benchmarks.
int compile_times(const DeviceArguments& a);
/// Bandwidth of translated copies, of GLSL's and of the device's own.
int copy_bandwidth(const DeviceArguments& a);
/// A buffer of more than 4 GiB: stores and loads on both sides of the border, and a fault behind
/// its end.
int large_buffer(const DeviceArguments& a);

}  // namespace lanewise::kit
