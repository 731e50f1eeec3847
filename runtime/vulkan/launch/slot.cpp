#include "runtime/vulkan/launch/slot.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/guest/extent.hpp"
#include "runtime/guest/unwritten.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/layout/host_shader.h"
#include "runtime/layout/push_words.hpp"

namespace lanewise::vulkan {

using namespace host_shader;
using guest::put64;

namespace {

/// The device address of guest address kArenaBase, were all of memory the allocation's.
uint64_t base_of(const Reached& memory, uint64_t allocation) {
  const auto range = memory.imported.find(allocation, 1);
  if (range == memory.imported.all().end()) return memory.arena.device_address();
  return range->second.device_address - (range->first - guest::kArenaBase);
}

/// So many bytes follow from where the pointer points. Kernels compare 32 bits (emit_versions.cpp):
/// what ends above those is left to the full check, as is what begins before the allocation, and
/// words of a descriptor with more in them than an address.
uint32_t beyond(const guest::PointerBounds& b, uint64_t size) {
  constexpr uint64_t kEnd = 0xffff'0000;
  const uint64_t inside = b.pointer - b.start;
  if (!b.aligned || inside > size || b.pointer >= kEnd) return 0;
  return static_cast<uint32_t>(std::min(size - inside, kEnd - b.pointer));
}
void write_beyond(std::span<const guest::PointerBounds> bounds, uint32_t* words) {
  for (const guest::PointerBounds& b : bounds) {
    words[BEYOND_READABLE] = beyond(b, b.readable);
    words[BEYOND_WRITABLE] = beyond(b, b.writable);
    words += BEYOND_WORDS;
  }
}

void write_imported(const ImportedMemory& imported, uint32_t* words, uint32_t first) {
  words[IMPORTED_COUNT] = static_cast<uint32_t>(imported.all().size());
  words[FIRST_IMPORTED] = first;
  uint32_t* entry = words + first;
  for (const auto& [address, range] : imported.all()) {
    put64(entry + IMPORTED_START, address - guest::kArenaBase);
    put64(entry + IMPORTED_SIZE, range.size);
    put64(entry + IMPORTED_ADDRESS, range.device_address);
    entry += IMPORTED_WORDS;
  }
}

}  // namespace

void ensure(const Device& device, Buffer& buffer, uint64_t bytes, Place place) {
  bytes = std::max<uint64_t>((bytes + 3) / 4 * 4, 16);
  if (buffer.size >= bytes) return;
  buffer = Buffer();
  buffer = device.make_buffer(bytes, place, device.facts().features.bda);
}

LaunchSlot::LaunchSlot(const Device& device, Pipelines& pipelines)
    : faults(device.make_buffer(kFaultWords * sizeof(uint32_t), Place::host)),
      set(pipelines.add_set()) {
  std::memset(faults.map, 0, faults.size);
}

void LaunchSlot::write(const Device& device, const Reached& memory, const LaunchRequest& request,
                       const Kernel& kernel, std::span<const guest::PointerBounds> bounds) {
  write_launch_block(device, memory, request, kernel, bounds);
  write_allocations(device, memory, request);
  clear_faults();
}

/// Records lie there only where faults were counted.
void LaunchSlot::clear_faults() {
  const bool used = fault_word(kFaultCountWord) != 0;
  std::memset(faults.map, 0, used ? faults.size : kFaultHeaderWords * sizeof(uint32_t));
}

void LaunchSlot::write_launch_block(const Device& device, const Reached& memory,
                                    const LaunchRequest& request, const Kernel& kernel,
                                    std::span<const guest::PointerBounds> bounds) {
  ensure(device, launch,
         LAUNCH_PARAMS * sizeof(uint32_t) + std::max<size_t>(request.params.size(), 16),
         Place::upload);
  std::memset(launch.map, 0, launch.size);
  uint32_t* w = launch.words();
  const uint64_t arena = memory.arena.device_address();
  put64(w + LAUNCH_ARENA_ADDRESS, arena);
  const uint64_t extent = guest::extent(request, memory.arena.size());
  put64(w + LAUNCH_ARENA_SIZE, extent);
  const uint32_t sizes[] = {request.grid.x,  request.grid.y,  request.grid.z,
                            request.block.x, request.block.y, request.block.z};
  std::copy(std::begin(sizes), std::end(sizes), w + LAUNCH_GRID);
  static_assert(LAUNCH_BLOCK == LAUNCH_GRID + 3);
  put64(w + LAUNCH_STEP_BUDGET, request.step_budget);
  w[LAUNCH_DYNAMIC_SHARED] = request.dynamic_shared;
  put64(w + LAUNCH_PARAM_ADDRESS, request.param_address);
  put64(w + LAUNCH_WRITABLE, guest::writable_extent(request, memory.arena.size()));
  w[LAUNCH_RECORD] = static_cast<uint32_t>(record_at / sizeof(uint32_t));
  put64(w + LAUNCH_WRITTEN, guest::kArenaBase + guest::written_map_offset(memory.arena.size()));
  w[LAUNCH_SLOTS] = static_cast<uint32_t>(backing_slots);
  w[LAUNCH_SLOT_BYTES] = static_cast<uint32_t>(align16(kernel.module.backing_bytes));
  w[LAUNCH_STATIC_SHARED] = static_cast<uint32_t>(align16(request.program->shared_bytes));
  w[LAUNCH_PARAM_BYTES] = static_cast<uint32_t>(request.params.size());
  for (size_t i = 0; i < bounds.size(); ++i) {
    uint32_t* entry = w + LAUNCH_POINTERS + POINTER_WORDS * i;
    const guest::PointerBounds& b = bounds[i];
    put64(entry + POINTER_START, b.start == 0 ? 0 : b.start - guest::kArenaBase);
    put64(entry + POINTER_READABLE, b.readable);
    put64(entry + POINTER_WRITABLE, b.writable);
    if (request.imported) put64(w + LAUNCH_POINTER_BASES + 2 * i, base_of(memory, b.start));
  }
  write_beyond(bounds, w + LAUNCH_BEYOND);
  if (!request.params.empty()) {
    std::memcpy(w + LAUNCH_PARAMS, request.params.data(), request.params.size());
  }
  push.fill(0);
  put64(push.data() + guest::kPushArenaAddress, arena);
  put64(push.data() + guest::kPushArenaSize, extent);
  std::memcpy(push.data() + guest::kPushParams, request.params.data(),
              std::min<size_t>(request.params.size(), guest::kPushedParamBytes));
  const uint32_t params = request.program->param_bytes;
  if (guest::pushes_beyond(params, bounds.size()))
    write_beyond(bounds, push.data() + guest::push_beyond(params));
}

void LaunchSlot::write_allocations(const Device& device, const Reached& memory,
                                   const LaunchRequest& request) {
  // Launches mostly find the list of the one before, as do those that look nothing up.
  const bool looked_up = request.memcheck == Memcheck::alloc;
  if (looked_up) wanted_.assign(request.allocations);
  const bool listed = !looked_up || wanted_ == listed_;
  if (!listed) std::swap(listed_, wanted_);
  const size_t imported = request.imported ? memory.imported.all().size() : 0;
  const size_t first_imported = listed_.words();
  const uint64_t before = allocations.size;
  ensure(device, allocations, (first_imported + IMPORTED_WORDS * imported) * sizeof(uint32_t),
         Place::upload);
  put64(launch.words() + LAUNCH_ALLOCATIONS, allocations.address);
  uint32_t* w = allocations.words();
  if (!listed || allocations.size != before) {
    std::vector<uint32_t> words(listed_.words());  // the list is read while it is made
    listed_.write(words.data());
    std::ranges::copy(words, w);
  }
  w[IMPORTED_COUNT] = w[FIRST_IMPORTED] = 0;
  if (imported != 0) write_imported(memory.imported, w, static_cast<uint32_t>(first_imported));
}

void LaunchSlot::write_backing(const Buffer& backing) {
  put64(launch.words() + LAUNCH_BACKING, backing.address);
}

std::vector<uint32_t> LaunchSlot::fault_snapshot() const {
  std::vector<uint32_t> words(kFaultWords);
  for (uint32_t i = 0; i < kFaultWords; ++i) words[i] = fault_word(i);
  return words;
}

bool LaunchSlot::must_end() const {
  return fault_word(kFaultCountWord) != 0 && ends_launch(fault_snapshot());
}

void LaunchSlot::end_if_asked() const {
  if (must_end()) fault_word(kFaultAbortWord) = 1;
}

}  // namespace lanewise::vulkan
