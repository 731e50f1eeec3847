// What the host makes of a fault's number and address: the order of docs/execution.md.
#include <doctest/doctest.h>

#include "runtime/layout/addresses.hpp"
#include "runtime/vulkan/launch/fault_decode.hpp"

using namespace lanewise;
using lanewise::guest::kArenaBase;
using vulkan::kind_of;

namespace {

spirv::FaultPoint point(ir::Space space, uint32_t bytes, uint32_t alignment) {
  return {FaultKind::none, 5, space, bytes, alignment};
}

}  // namespace

TEST_CASE("accesses of the arena: null, range, allocation, read only, alignment") {
  const std::vector<Allocation> allocations = {{kArenaBase, 64, "a", false},
                                               {kArenaBase + 256, 64, "b", true}};
  vulkan::MemoryMap memory;
  memory.arena = 4096;
  memory.allocations = allocations;
  auto word = point(ir::Space::global, 4, 4);
  CHECK(kind_of(word, 0, memory) == FaultKind::null);
  CHECK(kind_of(word, 0xffff, memory) == FaultKind::null);
  CHECK(kind_of(word, 0x10000, memory) == FaultKind::out_of_range);
  CHECK(kind_of(word, kArenaBase - 1, memory) == FaultKind::out_of_range);
  CHECK(kind_of(word, kArenaBase + 4093, memory) == FaultKind::out_of_range);
  CHECK(kind_of(word, kArenaBase + 0x1'0000'0000, memory) == FaultKind::out_of_range);
  CHECK(kind_of(word, ~uint64_t{0}, memory) == FaultKind::out_of_range);
  CHECK(kind_of(word, kArenaBase + 100, memory) == FaultKind::misaligned);
  memory.memcheck = Memcheck::alloc;
  CHECK(kind_of(word, kArenaBase + 62, memory) == FaultKind::out_of_range);
  CHECK(kind_of(word, kArenaBase + 61, memory) == FaultKind::out_of_range);
  CHECK(kind_of(word, kArenaBase + 258, memory) == FaultKind::misaligned);
  word.write = true;
  CHECK(kind_of(word, kArenaBase + 258, memory) == FaultKind::write_to_read_only);
  CHECK(kind_of(word, kArenaBase + 100, memory) == FaultKind::out_of_range);
}

TEST_CASE("small spaces and the windows of generic addresses") {
  vulkan::MemoryMap memory;
  memory.arena = 4096;
  memory.shared = 128;
  memory.local = 32;
  memory.params = 16;
  CHECK(kind_of(point(ir::Space::shared, 8, 8), 121, memory) == FaultKind::out_of_range);
  CHECK(kind_of(point(ir::Space::shared, 8, 8), 4, memory) == FaultKind::misaligned);
  CHECK(kind_of(point(ir::Space::local, 4, 4), 32, memory) == FaultKind::out_of_range);
  CHECK(kind_of(point(ir::Space::param, 4, 4), 14, memory) == FaultKind::out_of_range);
  auto store = point(ir::Space::param, 4, 4);
  store.write = true;
  CHECK(kind_of(store, 14, memory) == FaultKind::out_of_range);
  CHECK(kind_of(store, 2, memory) == FaultKind::write_to_read_only);
  auto generic = point(ir::Space::generic, 4, 4);
  CHECK(kind_of(generic, 0x0100'007e, memory) == FaultKind::out_of_range);
  CHECK(kind_of(generic, 0x0100'0002, memory) == FaultKind::misaligned);
  CHECK(kind_of(generic, 0x0200'0002, memory) == FaultKind::misaligned);
  CHECK(kind_of(generic, 0x0300'0000, memory) == FaultKind::out_of_range);
  CHECK(kind_of(generic, 0x1'0100'0000, memory) == FaultKind::out_of_range);
  generic.atomic = true;
  CHECK(kind_of(generic, 0x0200'0004, memory) == FaultKind::out_of_range);
}

TEST_CASE("who waits for a lane without steps is not at fault, in that lane's group only") {
  const std::vector<spirv::FaultPoint> points = {{FaultKind::step_budget, 3},
                                                 {FaultKind::barrier_divergence, 4},
                                                 {FaultKind::illegal_instruction, 5}};
  std::vector<uint32_t> words(vulkan::kFaultHeaderWords);
  const auto record = [&](uint32_t point, uint32_t group, uint32_t lane) {
    words.insert(words.end(), {point, group, 0, 0, lane, 0, 0, 0});
    ++words[vulkan::kFaultCountWord];
  };
  record(2, 0, 1);
  record(2, 1, 0);
  record(1, 0, 2);
  record(3, 0, 3);
  LaunchResult result;
  vulkan::decode_faults(words, points, {}, result);
  CHECK(result.fault_count == 3);
  REQUIRE(result.faults.size() == 3);
  CHECK(result.faults[0].kind == FaultKind::step_budget);
  CHECK(result.faults[1].kind == FaultKind::illegal_instruction);
  CHECK(result.faults[2].kind == FaultKind::barrier_divergence);
  CHECK(result.faults[2].group[0] == 1);
}
