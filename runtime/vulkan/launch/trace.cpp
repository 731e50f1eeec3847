// Traced launches: the grid in slices whose memory events fit the event buffer. A slice that does
// not fit is undone and run again with more capacity for each lane, so nothing is lost.
#include <algorithm>
#include <cstring>

#include "runtime/events/collector.hpp"
#include "runtime/guest/extent.hpp"
#include "runtime/guest/unwritten.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/layout/host_shader.h"
#include "runtime/vulkan/launch/dispatch.hpp"

namespace lanewise::vulkan {
namespace {

constexpr uint32_t kTraceHeader = 64;  // words, shaders/INTERFACE.md
constexpr uint32_t kFirstWord = host_shader::LAUNCH_TRACE_FIRST,
                   kCapacityWord = host_shader::LAUNCH_TRACE_CAPACITY,
                   kStrideWord = host_shader::LAUNCH_TRACE_STRIDE;
constexpr uint64_t kFirstGuess = 64;   // words of a lane whose kernel has loops
constexpr uint64_t kFirstGroups = 64;  // of a kernel whose appetite is not known yet

}  // namespace

struct Dispatcher::Slices {
  uint64_t words = 0;   ///< of all slices
  uint64_t stride = 0;  ///< of a row: the lanes of a group, rounded up
  uint64_t lanes = 0;
  uint64_t capacity = 0;  ///< rows
  bool sure = false;      ///< no lane can want more
  uint64_t groups() const { return words / (stride * capacity); }
  uint64_t largest() const { return words / stride; }
};

namespace {

/// Memory and faults before a slice, to undo it.
class Snapshot {
 public:
  Snapshot(Arena& arena, ImportedMemory& imported, Buffer& faults, bool with_map)
      : arena_(arena), imported_(imported), faults_(faults) {
    if (with_map) map_.resize(guest::written_map_bytes(arena.size()));
  }
  void take() {
    elsewhere_.clear();
    for (const auto& [address, range] : imported_.all())
      imported_.read(address, elsewhere_.emplace_back(range.size));
    memory_.resize(arena_.size());
    arena_.read(guest::kArenaBase, memory_);
    if (!map_.empty()) arena_.read_map(0, map_);
    fault_words_.assign(faults_.map, faults_.map + faults_.size);
  }
  void restore() {
    auto kept = elsewhere_.begin();
    for (const auto& [address, range] : imported_.all()) imported_.write(address, *kept++);
    arena_.write(guest::kArenaBase, memory_);
    if (!map_.empty()) arena_.write_map(map_);
    std::memcpy(faults_.map, fault_words_.data(), fault_words_.size());
  }

 private:
  Arena& arena_;
  ImportedMemory& imported_;
  Buffer& faults_;
  std::vector<std::vector<std::byte>> elsewhere_;  ///< of each range
  std::vector<std::byte> memory_, fault_words_;
  std::vector<std::byte> map_;  ///< of written bytes, empty when the launch asks for none
};

}  // namespace

void Dispatcher::flush_events(const LaunchRequest& request, const Slices& slices,
                              const Chunk& chunk) {
  std::vector<events::LaneWords> lanes(slices.lanes);
  const uint32_t* at = events_.words() + kTraceHeader;
  const Dim3& grid = request.grid;
  const uint64_t first =
      (uint64_t{chunk.base[2]} * grid.y + chunk.base[1]) * grid.x + chunk.base[0];
  for (uint64_t g = 0; g < chunk.groups(); ++g, at += slices.stride * slices.capacity) {
    for (uint64_t i = 0; i < slices.lanes; ++i)
      lanes[i] = {at + i, static_cast<uint32_t>(slices.stride),
                  static_cast<uint32_t>(slices.capacity)};
    request.events->group(first + g, lanes);
  }
}

void Dispatcher::run_traced(const LaunchRequest& request, const Kernel& kernel,
                            Clock::time_point deadline, uint64_t most, ChunkPlan plan) {
  const events::Plan& points = request.events->plan();
  Slices s;
  const uint64_t bytes =
      std::min({events_.size, request.events->buffer_bytes(), device_.facts().max_storage_range});
  s.words = bytes / sizeof(uint32_t) - std::min<uint64_t>(bytes / sizeof(uint32_t), kTraceHeader);
  s.lanes = request.block.total();
  s.stride = (s.lanes + 31) / 32 * 32;
  s.sure = !points.loops;
  const uint64_t extent = guest::extent(request, arena_.size());
  const uint64_t once =
      std::max<uint64_t>(events::most_words(points, extent, request.program->local_bytes), 1);
  s.capacity = s.sure ? once : std::min(std::max(2 * once, kFirstGuess), s.largest());
  if (s.capacity == 0 || s.capacity > s.largest())
    throw events::buffer_too_small(*request.program, bytes);

  request.events->begin(request, extent);
  Snapshot before(arena_, imported_, first().faults, checks_written(request));
  uint64_t wanted = s.sure ? UINT64_MAX : kFirstGroups;
  uint32_t* launch = first().launch.words();
  while (!plan.done()) {
    const ChunkPlan again = plan;
    const Chunk chunk = plan.next(std::min({wanted, most, s.groups()}));
    launch[kFirstWord] =
        (chunk.base[2] * request.grid.y + chunk.base[1]) * request.grid.x + chunk.base[0];
    launch[kCapacityWord] = static_cast<uint32_t>(s.capacity);
    launch[kStrideWord] = static_cast<uint32_t>(s.stride);
    events_.words()[0] = 0;
    if (!s.sure) before.take();
    run_chunk(request, kernel, chunk, deadline);
    if (const uint64_t needed = events_.words()[0]; needed > s.capacity) {
      if (needed > s.largest()) throw events::buffer_too_small(*request.program, bytes);
      s.capacity = std::min(needed + needed / 4, s.largest());
      before.restore();
      plan = again;
      continue;
    }
    flush_events(request, s, chunk);
    wanted = std::max(wanted, 2 * std::min(wanted, UINT64_MAX / 2));
    if (first().must_end()) break;
  }
  request.events->end();
}

}  // namespace lanewise::vulkan
