// Running one launch: the buffers beside the arena, and the grid in pieces.
#pragma once

#include <array>
#include <optional>

#include "runtime/vulkan/launch/fault_decode.hpp"
#include "runtime/vulkan/memory/arena.hpp"
#include "runtime/vulkan/memory/windows.hpp"
#include "runtime/vulkan/pipeline/kernel_cache.hpp"
#include "runtime/vulkan/pipeline/patience.hpp"

namespace lanewise::vulkan {

/// A box of work-groups that one dispatch covers.
struct Chunk {
  std::array<uint32_t, 3> base{}, count{};
  uint64_t groups() const { return uint64_t{count[0]} * count[1] * count[2]; }
};

/// Cuts a grid into boxes, in order, x fastest.
class ChunkPlan {
 public:
  ChunkPlan(Dim3 grid, const std::array<uint32_t, 3>& device_limit);
  bool done() const { return at_[2] >= grid_[2]; }
  /// The next box of at most `most` (at least 1) groups.
  Chunk next(uint64_t most);

 private:
  std::array<uint32_t, 3> grid_, limit_, at_{};
};

class Dispatcher {
 public:
  Dispatcher(Device& device, Arena& arena, Windows& windows, Pipelines& pipelines);

  /// Runs every group. Throws Error(budget) when the time is over and the kernel was stopped,
  /// NeverEnded when it was not.
  void run(const LaunchRequest& request, const Kernel& kernel,
           std::span<const guest::PointerBounds> bounds, Clock::time_point deadline,
           LaunchResult& result);
  /// How long a kernel that was told to stop may take to end, in place of grace_after().
  void set_stop_patience(std::chrono::milliseconds patience) { patience_ = patience; }

 private:
  void prepare(const LaunchRequest& request, const Kernel& kernel,
               std::span<const guest::PointerBounds> bounds);
  void write_launch_block(const LaunchRequest& request, const Kernel& kernel,
                          std::span<const guest::PointerBounds> bounds);
  /// The device address of guest address kArenaBase, were all of memory the allocation's.
  uint64_t base_of(uint64_t allocation) const;
  void write_allocations(const LaunchRequest& request);
  void write_windows(uint32_t first);
  uint64_t prepare_backing(const LaunchRequest& request, const Kernel& kernel);
  void clear_backing(const vk::raii::CommandBuffer& commands, const Dim3& grid,
                     const Kernel& kernel, const Chunk& chunk) const;
  // trace.cpp: launches whose memory events are collected
  struct Slices;
  void run_traced(const LaunchRequest& request, const Kernel& kernel, Clock::time_point deadline,
                  uint64_t most, ChunkPlan plan);
  void flush_events(const LaunchRequest& request, const Slices& slices, const Chunk& chunk);
  void run_untraced(const LaunchRequest& request, const Kernel& kernel, Clock::time_point deadline,
                    uint64_t most, ChunkPlan plan);
  double show_to_driver(const LaunchRequest& request, const Kernel& kernel,
                        Clock::time_point deadline);
  void run_chunk(const LaunchRequest& request, const Kernel& kernel, const Chunk& chunk,
                 Clock::time_point deadline);
  /// Tells running kernels to end and waits for that; false when they do not.
  bool stop(double timeout_seconds);
  void ensure(Buffer& buffer, uint64_t bytes);
  volatile uint32_t& fault_word(uint32_t i) const { return faults_.words()[i]; }
  std::vector<uint32_t> fault_snapshot() const;

  Device& device_;
  Arena& arena_;
  Windows& windows_;
  Pipelines& pipelines_;
  PushWords push_{};
  Buffer launch_, faults_, backing_, allocations_, events_;
  uint64_t backing_slots_ = 1;
  std::optional<std::chrono::milliseconds> patience_;  ///< none: as the time limit allows
};

}  // namespace lanewise::vulkan
