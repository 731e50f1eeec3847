#include "tests/support/devices.hpp"

#include "runtime/reference/reference.hpp"
#include "tests/support/selectors.hpp"

namespace lanewise::test {
namespace {

std::vector<TestEngine> open_all() {
  std::vector<TestEngine> engines;
  engines.push_back({"reference", reference::make_engine()});
  vulkan::Options options;
  options.validation = true;
  for (const SoftwareDriver& driver : selectable_drivers())
    engines.push_back({driver.label, vulkan::make_engine(driver.part, options)});
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
