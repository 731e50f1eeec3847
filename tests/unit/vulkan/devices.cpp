#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/unit/vulkan/support.hpp"

using namespace lanewise;
using namespace lanewise::test;

namespace {

vulkan::DeviceFacts fact(const char* name, vk::PhysicalDeviceType type) {
  vulkan::DeviceFacts facts;
  facts.info.name = name;
  facts.type = type;
  return facts;
}

std::vector<vulkan::DeviceFacts> some_devices() {
  using T = vk::PhysicalDeviceType;
  return {fact("Soft CPU", T::eCpu), fact("Virtual GPU", T::eVirtualGpu),
          fact("Inner GPU", T::eIntegratedGpu), fact("Big GPU", T::eDiscreteGpu)};
}

}  // namespace

TEST_CASE("auto prefers discrete, integrated, virtual, CPU") {
  ::unsetenv("LANEWISE_DEVICE");
  auto devices = some_devices();
  while (!devices.empty()) {
    CHECK(vulkan::choose_device(devices, "auto") == devices.size() - 1);
    devices.pop_back();
  }
}

TEST_CASE("index, name and environment select a device") {
  const auto devices = some_devices();
  CHECK(vulkan::choose_device(devices, "1") == 1);
  CHECK(vulkan::choose_device(devices, "soft") == 0);
  CHECK(vulkan::choose_device(devices, "GPU") == 3);  // several match: the preferred one
  ::setenv("LANEWISE_DEVICE", "inner", 1);
  CHECK(vulkan::choose_device(devices, "auto") == 2);
  CHECK(vulkan::choose_device(devices, "soft") == 0);
  ::unsetenv("LANEWISE_DEVICE");
}

TEST_CASE("devices of one name are distinguished by their drivers") {
  auto devices = some_devices();
  for (auto& device : devices) device.info.name = "soft";
  devices[1].info.driver = "soft Mesa 25.0.7";
  devices[3].info.driver = "soft Mesa 22.3.6";
  CHECK(vulkan::choose_device(devices, "mesa 25") == 1);
  CHECK(vulkan::choose_device(devices, "Mesa 22") == 3);
  CHECK(vulkan::choose_device(devices, "mesa") == 3);
  devices[0].info.name = "Mesa 25";  // the name goes first
  CHECK(vulkan::choose_device(devices, "mesa 25") == 0);
}

TEST_CASE("a selector that matches nothing lists what there is") {
  const auto devices = some_devices();
  for (const char* selector : {"4", "99999999999", "no such name"}) {
    const Error error = error_of([&] { vulkan::choose_device(devices, selector); });
    CHECK(error.kind() == ErrorKind::device);
    CHECK(mentions(error, selector));
    CHECK(mentions(error, "3 = Big GPU"));
  }
  const Error none = error_of([] { vulkan::choose_device({}, "auto"); });
  CHECK(none.kind() == ErrorKind::device);
  CHECK(mentions(none, "--device reference"));
}

TEST_CASE("the software devices are listed with their facts") {
  const auto drivers = installed_drivers();
  const auto infos = vulkan::list_devices();
  REQUIRE(infos.size() == drivers.size());
  for (const auto& driver : drivers) {
    const size_t index = std::stoul(driver.part);
    REQUIRE(index < infos.size());
    const EngineInfo* it = &infos[index];
    CHECK(it->type == "cpu");
    CHECK(it->subgroup_size >= 4);
    CHECK(it->max_invocations >= 128);
    CHECK(it->max_arena >= uint64_t{128} << 20);
    CHECK(!it->driver.empty());
    // The tier follows from what the device can do.
    CHECK(it->tier == (it->int64 && it->float64 ? "T2" : "T0"));
    const auto engine = vulkan::make_engine_with(driver.part, checked_options(), {});
    CHECK(engine->info().name == it->name);
    CHECK(engine->info().driver == it->driver);
  }
  CHECK(vulkan::validation_messages() == 0);
}
