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

/// Is this a build folder with LANEWISE_TEST_WHOLE, where nothing is shared or left out?
inline bool whole_tests() {
  return every_device() || std::getenv("LANEWISE_TEST_WHOLE") != nullptr;
}

/// The lavapipe that ./dev test fetches.
inline bool newer_lavapipe() {
  const char* driver = std::getenv("VK_DRIVER_FILES");
  return driver != nullptr &&
         std::string_view(driver).find("mesa-backports") != std::string_view::npos;
}

/// Two lavapipes lower numbers alike: where both are there, each takes every other of these names.
/// SwiftShader and the reference engine take all.
inline bool lavapipes_turn(std::string_view name) {
  const char* devices = std::getenv("LANEWISE_TEST_DEVICES");
  const char* wanted = std::getenv("LANEWISE_TEST_DEVICE");
  if (wanted == nullptr || std::string_view(wanted) != "llvmpipe" || whole_tests()) return true;
  if (devices == nullptr || std::string_view(devices).find("llvmpipe25") == std::string_view::npos)
    return true;
  size_t turn = 0;
  for (const char c : name) turn += static_cast<unsigned char>(c);
  return (turn % 2 == 1) == newer_lavapipe();
}

/// Does program `n` run on the device of this test program (LANEWISE_TEST_DEVICE)? With more parts
/// than the three devices, some run on the reference engine alone.
inline bool runs_here(size_t n, size_t parts = 3) {
  const char* wanted = std::getenv("LANEWISE_TEST_DEVICE");
  const std::string_view device = wanted == nullptr ? "" : wanted;
  if (device.empty() || device == "reference" || every_device()) return true;
  return n % parts == (device == "SwiftShader" ? 2 : newer_lavapipe() ? 1 : 0);
}

}  // namespace lanewise::test
