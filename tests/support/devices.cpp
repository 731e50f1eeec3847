#include "tests/support/devices.hpp"

#include <cstdlib>
#include <string_view>

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

std::vector<TestEngine> engines_named(const std::string& device) {
  if (device == "reference") return {{device, reference::make_engine()}};
  if (!names_software_drivers(device)) return {{device, vulkan::make_engine(device)}};
  std::vector<TestEngine> engines = test_engines();
  if (device != "all")
    std::erase_if(engines, [&](const TestEngine& e) { return e.label != device; });
  return engines;
}

std::vector<TestEngine> engines_in_turn() {
  static size_t turn = 0;
  const auto& all = test_engines();
  const char* every = std::getenv("LANEWISE_TEST_EVERY_DEVICE");
  if (all.size() < 2 || (every != nullptr && std::string_view(every) == "1")) return all;
  return {all[0], all[1 + turn++ % (all.size() - 1)]};
}

unsigned validation_messages() {
  return vulkan::validation_messages();
}

}  // namespace lanewise::test
