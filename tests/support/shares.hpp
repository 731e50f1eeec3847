// Kernels that drivers take long to compile: each runs on the reference engine and on one device,
// the next one on the next device. LANEWISE_TEST_EVERY_DEVICE=1 runs each on all.
#pragma once

#include <cstdlib>
#include <string_view>

namespace lanewise::test {

inline bool every_device() {
  const char* every = std::getenv("LANEWISE_TEST_EVERY_DEVICE");
  return every != nullptr && *every != '\0';
}

/// Does program `n` run on the device of this test program (LANEWISE_TEST_DEVICE)? With more parts
/// than the three devices, some run on the reference engine alone.
inline bool runs_here(size_t n, size_t parts = 3) {
  const auto variable = [](const char* name) -> std::string_view {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  const std::string_view device = variable("LANEWISE_TEST_DEVICE");
  if (device.empty() || device == "reference" || every_device()) return true;
  const bool newer = variable("VK_DRIVER_FILES").find("mesa-backports") != std::string_view::npos;
  return n % parts == (device == "SwiftShader" ? 2 : newer ? 1 : 0);
}

}  // namespace lanewise::test
