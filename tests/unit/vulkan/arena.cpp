#include <doctest/doctest.h>

#include "runtime/vulkan/memory/arena.hpp"
#include "tests/unit/vulkan/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using guest::kArenaBase;

namespace {

vulkan::Device open(const std::string& part) {
  auto instance = vulkan::Instance::get(true);
  auto found = vulkan::find_devices(*instance);
  std::vector<vulkan::DeviceFacts> facts;
  for (const auto& device : found) facts.push_back(device.facts);
  const size_t index = vulkan::choose_device(facts, part);
  return vulkan::Device({std::move(instance), std::move(found[index])});
}

std::vector<std::byte> pattern(size_t size, unsigned seed) {
  std::vector<std::byte> data(size);
  for (size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>((i * 31 + seed) >> 2);
  return data;
}

std::vector<std::byte> read(vulkan::Arena& arena, uint64_t offset, size_t size) {
  std::vector<std::byte> data(size, std::byte{0xcc});
  arena.read(kArenaBase + offset, data);
  return data;
}

}  // namespace

TEST_CASE("the arena keeps its contents while it grows, and new bytes are zero") {
  for (const auto& driver : installed_drivers()) {
    for (const bool staged : {false, true}) {
      CAPTURE(driver.label);
      CAPTURE(staged);
      vulkan::Device device = open(driver.part);
      vulkan::Arena arena(device, staged);
      CHECK(arena.readable_without_device() == !staged);
      CHECK(arena.size() == 0);
      arena.reserve(1001);
      CHECK(read(arena, 0, 1001) == std::vector<std::byte>(1001));
      const auto first = pattern(1001, 1);
      arena.write(kArenaBase, first);
      arena.reserve(500);  // never shrinks
      CHECK(arena.size() == 1001);
      arena.reserve(70001);
      CHECK(read(arena, 0, 1001) == first);
      CHECK(read(arena, 1001, 69000) == std::vector<std::byte>(69000));
      const auto second = pattern(33333, 2);
      arena.write(kArenaBase + 30001, second);
      arena.reserve(40 << 20);
      CHECK(read(arena, 0, 1001) == first);
      CHECK(read(arena, 30001, second.size()) == second);
      CHECK(read(arena, 70001, 1000) == std::vector<std::byte>(1000));
      // More than one chunk of staging memory.
      const auto large = pattern(20 << 20, 3);
      arena.write(kArenaBase + 4097, large);
      CHECK(read(arena, 4097, large.size()) == large);
      CHECK((arena.device_address() != 0) == device.facts().features.bda);
    }
  }
  CHECK(vulkan::validation_messages() == 0);
}

TEST_CASE("host access outside the arena is refused") {
  for (const auto& driver : installed_drivers()) {
    vulkan::Device device = open(driver.part);
    vulkan::Arena arena(device);
    arena.reserve(100);
    std::vector<std::byte> data(10);
    for (const uint64_t address :
         {kArenaBase - 1, kArenaBase + 91, kArenaBase + 101, uint64_t{0}, ~uint64_t{0}}) {
      CHECK_THROWS_AS(arena.read(address, data), Error);
      CHECK_THROWS_AS(arena.write(address, data), Error);
    }
    CHECK_NOTHROW(arena.read(kArenaBase + 90, data));
  }
}

TEST_CASE("an arena beyond the device's limit is refused with both sizes") {
  for (const auto& driver : installed_drivers()) {
    vulkan::Device device = open(driver.part);
    vulkan::Arena arena(device);
    arena.reserve(64);
    arena.write(kArenaBase, pattern(64, 9));
    const uint64_t limit = device.facts().info.max_arena;
    const Error error = error_of([&] { arena.reserve(limit + 1); });
    CHECK(error.kind() == ErrorKind::device);
    CHECK(mentions(error, std::to_string(limit)));
    CHECK(mentions(error, std::to_string(limit + 1)));
    CHECK(read(arena, 0, 64) == pattern(64, 9));
  }
}
