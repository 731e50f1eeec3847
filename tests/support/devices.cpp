#include "tests/support/devices.hpp"

#include <cstdio>
#include <stdexcept>

#include "runtime/reference/reference.hpp"
#include "runtime/vulkan/vulkan_engine.hpp"
#include "tests/support/drivers.hpp"

namespace lanewise::test {
namespace {

std::vector<TestEngine> open_all() {
  std::vector<TestEngine> engines;
  engines.push_back({"reference", reference::make_engine()});
  vulkan::Options options;
  options.validation = true;
  for (const SoftwareDriver& driver : software_drivers()) {
    if (driver.json.empty() && missing_devices_allowed()) {
      std::fprintf(stderr, "tests: %s is not installed, left out\n", driver.label.c_str());
      continue;
    }
    if (driver.json.empty()) {
      throw std::runtime_error(driver.label +
                               " is not installed, and tests must run on it too (Debian: "
                               "mesa-vulkan-drivers, chromium); LANEWISE_ALLOW_MISSING_DEVICES=1 "
                               "runs without");
    }
    engines.push_back({driver.label, vulkan::make_engine(driver.part, options)});
  }
  return engines;
}

}  // namespace

const std::vector<TestEngine>& test_engines() {
  static const std::vector<TestEngine> engines = open_all();
  return engines;
}

unsigned validation_messages() {
  return vulkan::validation_messages();
}

}  // namespace lanewise::test
