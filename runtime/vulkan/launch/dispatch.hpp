// Running one launch: the buffers beside the arena, and the grid in parts.
#pragma once

#include <array>
#include <optional>

#include "runtime/vulkan/launch/slot.hpp"
#include "runtime/vulkan/pipeline/compile_timeout.hpp"

namespace lanewise::vulkan {

/// A box of work-groups that one dispatch covers.
struct Chunk {
  std::array<uint32_t, 3> base{}, count{};
  uint64_t groups() const { return uint64_t{count[0]} * count[1] * count[2]; }
  bool operator==(const Chunk&) const = default;
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

/// Groups of a launch's first dispatch: many, where the kernel is known to be quick. Later ones
/// grow or shrink toward the wanted time, so that deadlines are noticed and no driver's watchdog
/// sees a long submission.
uint64_t first_chunk_groups(const Kernel& kernel);
/// How often a running kernel is looked after.
inline constexpr auto kPoll = std::chrono::milliseconds(50);
inline double milliseconds(Clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

/// Part of a submission: groups of one launch.
struct Dispatch {
  const LaunchSlot* slot = nullptr;
  const LaunchRequest* request = nullptr;
  const Kernel* kernel = nullptr;
  Chunk chunk;
};

/// A launch that may share a submission with others.
struct Batched {
  const LaunchRequest* request = nullptr;
  const Kernel* kernel = nullptr;
  std::vector<guest::PointerBounds> bounds;
};

class Dispatcher {
 public:
  Dispatcher(Device& device, Arena& arena, ImportedMemory& imported, Pipelines& pipelines);

  /// Runs every group. Throws Error(budget) when the time is over and the kernel was stopped,
  /// NeverEnded when it was not.
  void run(const LaunchRequest& request, const Kernel& kernel,
           std::span<const guest::PointerBounds> bounds, Clock::time_point deadline,
           LaunchResult& result);
  /// How many of them, from the first on, one submission can take: short ones, each with its grid
  /// whole.
  size_t that_fit_together(std::span<const Batched> launches);
  /// Runs so many in one submission, one after another; results in the same order. What is wrong
  /// with one of them ends no other.
  std::vector<LaunchResult> run_together(std::span<const Batched> launches);
  /// How long a kernel that was asked to  may take to end, in place of grace_after().
  void set_stop_timeout(std::chrono::milliseconds timeout) { stop_timeout_ = timeout; }

 private:
  /// What launches that run alone use.
  LaunchSlot& first() { return slots_.front(); }
  /// In order, each after the one before. Commands are recorded anew only where they differ from
  /// those of the submission before.
  void submit(std::span<const Dispatch> dispatches);
  void prepare(LaunchSlot& slot, const LaunchRequest& request, const Kernel& kernel,
               std::span<const guest::PointerBounds> bounds);
  uint64_t prepare_backing(LaunchSlot& slot, const LaunchRequest& request, const Kernel& kernel);
  void reserve_backing(uint64_t bytes, const LaunchRequest& request);
  void clear_backing(const vk::raii::CommandBuffer& commands, const Dispatch& dispatch) const;
  void decode(const LaunchSlot& slot, const LaunchRequest& request, const Kernel& kernel,
              std::span<const guest::PointerBounds> bounds, LaunchResult& result) const;
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
  /// Asks running kernels to end and waits for that; false when they do not.
  bool stop(double timeout_seconds);

  Device& device_;
  Arena& arena_;
  ImportedMemory& imported_;
  Pipelines& pipelines_;
  std::vector<LaunchSlot> slots_;
  Buffer backing_, events_;
  /// Everything that decides what the commands of a dispatch are.
  struct Recorded {
    uint64_t pipeline, set, bound, backing_slots;
    Dim3 grid;
    PushWords push;
    Chunk chunk;
    bool operator==(const Recorded&) const = default;
  };
  std::vector<Recorded> recorded_, wanted_;                ///< last, and now
  uint64_t recorded_at_ = 0;                               ///< of Device::recordings()
  std::optional<std::chrono::milliseconds> stop_timeout_;  ///< none: as the time limit allows
};

}  // namespace lanewise::vulkan
