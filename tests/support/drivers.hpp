// Which Vulkan drivers the tests run on: lavapipe, SwiftShader and, where it was fetched, a newer
// lavapipe; whatever else is installed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanewise::test {

struct SoftwareDriver {
  std::string label;      ///< "lavapipe", "swiftshader", "lavapipe25"
  std::string part;       ///< part of the device's or the driver's name, a selector
  std::string json;       ///< the driver's description file, empty when it is not installed
  unsigned rank = 0;      ///< place in the order of the tests
  bool optional = false;  ///< tests go on without it
};

/// Points the Vulkan loader at the installed software drivers (once, before the first instance)
/// and returns all of them, lavapipe first. LANEWISE_TEST_SYSTEM_DRIVERS=1 leaves the loader's own
/// choice.
const std::vector<SoftwareDriver>& software_drivers();

/// True for "all" and the labels above; anything else that a --device option takes is a selector of
/// some device of this machine, for which the loader finds the drivers by itself.
bool names_software_drivers(std::string_view device);

/// True when LANEWISE_ALLOW_MISSING_DEVICES=1 says that a missing driver is no failure.
bool missing_devices_allowed();

/// A new empty directory under the system's temporary directory, removed at process exit.
std::string scratch_directory(const std::string& name);

}  // namespace lanewise::test
