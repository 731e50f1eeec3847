// What the host makes of a fault's number and address: the order of docs/execution.md.
#include <doctest/doctest.h>

#include "runtime/guest/layout.hpp"
#include "runtime/vulkan/fault_decode.hpp"

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
