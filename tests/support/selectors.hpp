// Selectors for the software drivers when all of them are loaded at once.
#pragma once

#include <algorithm>
#include <stdexcept>

#include "runtime/vulkan/vulkan_engine.hpp"
#include "tests/support/drivers.hpp"

namespace lanewise::test {

/// The drivers that are installed, `part` of each turned into its index: two versions of lavapipe
/// have the same device name, and the loader lists devices in an order of its own. Throws when one
/// is not installed and must be.
inline std::vector<SoftwareDriver> selectable_drivers() {
  std::vector<SoftwareDriver> drivers;
  for (const SoftwareDriver& driver : software_drivers()) {
    if (!driver.json.empty()) {
      drivers.push_back(driver);
    } else if (!driver.optional && !missing_devices_allowed()) {
      throw std::runtime_error(driver.label +
                               " is not installed, and tests must run on it too (Debian: "
                               "mesa-vulkan-drivers, chromium); LANEWISE_ALLOW_MISSING_DEVICES=1 "
                               "runs without");
    }
  }
  // The longer a part, the more it says: a device belongs to the driver whose longest part fits.
  std::ranges::stable_sort(
      drivers, [](const auto& a, const auto& b) { return a.part.size() > b.part.size(); });
  const std::vector<EngineInfo> infos = vulkan::list_devices();
  std::vector<bool> taken(infos.size());
  for (SoftwareDriver& driver : drivers) {
    size_t i = 0;
    while (i < infos.size() &&
           (taken[i] || (infos[i].name + infos[i].driver).find(driver.part) == std::string::npos))
      ++i;
    if (i == infos.size())
      throw std::runtime_error(driver.label + " is installed, but no device is its own");
    taken[i] = true;
    driver.part = std::to_string(i);
  }
  std::ranges::sort(drivers, {}, &SoftwareDriver::rank);
  return drivers;
}

}  // namespace lanewise::test
