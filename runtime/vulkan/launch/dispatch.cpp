#include "runtime/vulkan/launch/dispatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/events/collector.hpp"
#include "runtime/guest/ended.hpp"
#include "runtime/guest/extent.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::vulkan {

namespace {

constexpr uint64_t kBackingBytes = uint64_t{64} << 20;
constexpr uint64_t kFirstChunkInvocations = uint64_t{1} << 18;
constexpr double kShortChunkMs = 50, kLongChunkMs = 400;
}  // namespace

uint64_t first_chunk_groups(const Kernel& kernel) {
  const uint64_t unknown = std::max<uint64_t>(kFirstChunkInvocations / kernel.module.local_size, 1);
  if (!(kernel.ms_per_group > 0)) return unknown;
  const double known = std::min(kShortChunkMs / kernel.ms_per_group, 1e9);
  return std::max(unknown, static_cast<uint64_t>(known));
}

ChunkPlan::ChunkPlan(Dim3 grid, const std::array<uint32_t, 3>& device_limit)
    : grid_{grid.x, grid.y, grid.z}, limit_(device_limit) {
  if (grid.total() == 0) at_[2] = grid_[2];
}

Chunk ChunkPlan::next(uint64_t most) {
  most = std::max<uint64_t>(most, 1);
  const auto clip = [](uint64_t a, uint64_t b, uint64_t c) {
    return static_cast<uint32_t>(std::min({a, b, c}));
  };
  Chunk chunk{at_, {1, 1, 1}};
  chunk.count[0] = clip(grid_[0] - at_[0], limit_[0], most);
  if (chunk.count[0] == grid_[0]) {  // whole rows: several of them
    chunk.count[1] = clip(grid_[1] - at_[1], limit_[1], most / chunk.count[0]);
    if (chunk.count[1] == grid_[1]) {
      chunk.count[2] =
          clip(grid_[2] - at_[2], limit_[2], most / (uint64_t{chunk.count[0]} * chunk.count[1]));
    }
  }
  if ((at_[0] += chunk.count[0]) < grid_[0]) return chunk;
  at_[0] = 0;
  if ((at_[1] += chunk.count[1]) < grid_[1]) return chunk;
  at_[1] = 0;
  at_[2] += chunk.count[2];
  return chunk;
}

Dispatcher::Dispatcher(Device& device, Arena& arena, ImportedMemory& imported, Pipelines& pipelines)
    : device_(device), arena_(arena), imported_(imported), pipelines_(pipelines) {
  slots_.emplace_back(device_, pipelines_);
}

/// Shared and local memory that lies in device memory: one slot for each group of a chunk. Returns
/// the most groups that a chunk may have.
uint64_t Dispatcher::prepare_backing(LaunchSlot& slot, const LaunchRequest& request,
                                     const Kernel& kernel) {
  slot.backing_slots = 1;
  slot.record_at = 16;
  uint64_t most = UINT64_MAX;
  if (kernel.module.backing_bytes != 0) {
    const uint64_t each = align16(kernel.module.backing_bytes);
    const uint64_t most_bytes = std::min(kBackingBytes, device_.facts().max_storage_range);
    if (each > most_bytes) {
      throw Error(
          ErrorKind::device,
          fmt::format("kernel '{}' needs {} bytes of shared and local memory per group, the device "
                      "can give {}",
                      request.program->name, each, most_bytes));
    }
    most = slot.backing_slots = std::min(most_bytes / each, request.grid.total());
    slot.record_at = each * slot.backing_slots;
  }
  reserve_backing(slot.record_at + request.record.size(), request);
  return most;
}

/// The host fills a record and reads it, so the buffer is one that it sees then.
void Dispatcher::reserve_backing(uint64_t bytes, const LaunchRequest& request) {
  const bool seen = !request.record.empty();
  if (seen && bytes > device_.facts().max_storage_range) {
    throw Error(ErrorKind::device,
                fmt::format("kernel '{}' needs {} bytes beside the guest's memory, a buffer of the "
                            "device holds {}",
                            request.program->name, bytes, device_.facts().max_storage_range));
  }
  if (backing_.size >= bytes && (!seen || backing_.map != nullptr)) return;
  const uint64_t size = std::max(bytes, backing_.size);
  backing_ = Buffer();
  backing_ =
      device_.make_buffer(size, seen ? Place::host : Place::device, device_.facts().features.bda);
}

/// The slots of the chunk's groups, which are neighbours in linear order.
void Dispatcher::clear_backing(const vk::raii::CommandBuffer& commands,
                               const Dispatch& dispatch) const {
  const auto& [slot, request, kernel, chunk] = dispatch;
  const Dim3& grid = request->grid;
  const uint64_t each = align16(kernel->module.backing_bytes);
  const uint64_t linear =
      (uint64_t{chunk.base[2]} * grid.y + chunk.base[1]) * grid.x + chunk.base[0];
  const uint64_t first = linear % slot->backing_slots;
  const uint64_t before_end = std::min(chunk.groups(), slot->backing_slots - first);
  commands.fillBuffer(*backing_.handle, first * each, before_end * each, 0);
  if (const uint64_t rest = chunk.groups() - before_end; rest != 0)
    commands.fillBuffer(*backing_.handle, 0, rest * each, 0);
  full_barrier(commands);
}

void Dispatcher::submit(std::span<const Dispatch> dispatches) {
  wanted_.clear();
  for (const auto& [slot, request, kernel, chunk] : dispatches)
    wanted_.push_back({kernel->pipeline.number, slot->set, pipelines_.bound(slot->set),
                       slot->backing_slots, request->grid, slot->push, chunk});
  if (wanted_ == recorded_ && device_.recordings() == recorded_at_) return device_.submit_again();
  recorded_.clear();
  const auto record = [&](const vk::raii::CommandBuffer& commands) {
    for (const Dispatch& d : dispatches) {
      if (&d != dispatches.data()) full_barrier(commands);
      if (d.kernel->module.clears_backing) clear_backing(commands, d);
      pipelines_.record(commands, d.kernel->pipeline, d.slot->set, d.slot->push, d.chunk.base,
                        d.chunk.count);
    }
  };
  device_.submit(record, Good::again);
  std::swap(recorded_, wanted_);
  recorded_at_ = device_.recordings();
}

void Dispatcher::prepare(LaunchSlot& slot, const LaunchRequest& request, const Kernel& kernel,
                         std::span<const guest::PointerBounds> bounds) {
  slot.write(device_, {arena_, imported_}, request, kernel, bounds);
  slot.write_backing(backing_);
  if (!request.record.empty())
    std::memcpy(backing_.map + slot.record_at, request.record.data(), request.record.size());
  ensure(device_, events_, request.events != nullptr ? request.events->buffer_bytes() : 16,
         Place::host);
  const uint64_t range = device_.facts().max_storage_range;
  const auto whole = [range](const Buffer& b) {
    return Pipelines::Binding{&b, std::min(b.size, range)};
  };
  pipelines_.bind(slot.set, {whole(arena_.buffer()), whole(slot.launch), whole(slot.faults),
                             whole(backing_), whole(slot.allocations), whole(events_)});
}

bool Dispatcher::stop(double timeout_seconds) {
  first().fault_word(kFaultAbortWord) = 1;
  const Clock::duration timeout = stop_timeout_ ? *stop_timeout_ : grace_after(timeout_seconds);
  return device_.wait(Clock::now() + timeout) == Wait::done;
}

void Dispatcher::run_chunk(const LaunchRequest& request, const Kernel& kernel, const Chunk& chunk,
                           Clock::time_point deadline) {
  if (guest::is_cancelled(request)) throw guest::cancelled();
  const Dispatch dispatch{&first(), &request, &kernel, chunk};
  submit(std::span(&dispatch, 1));
  for (;;) {
    const auto now = Clock::now();
    if (device_.wait(std::min(deadline, now + kPoll)) == Wait::done) return;
    const bool cancelled = guest::is_cancelled(request);
    if (cancelled || Clock::now() >= deadline) {
      if (!stop(request.timeout_seconds))
        throw NeverEnded{
            cancelled ? "a cancelled kernel did not end"
                      : fmt::format("a kernel did not end within {} s", request.timeout_seconds)};
      throw cancelled ? guest::cancelled() : guest::timed_out(request.timeout_seconds);
    }
    // One lane that used up its steps ends the launch (docs/execution.md); the others are notified.
    first().end_if_asked();
  }
}

/// Some drivers (llvmpipe) compile at a kernel's first dispatch. An empty one makes them do it
/// here, where a time limit distinguishes it from a kernel that does not end: that one can be asked
/// to . The milliseconds that it took.
double Dispatcher::show_to_driver(const LaunchRequest& request, const Kernel& kernel,
                                  Clock::time_point deadline) {
  if (kernel.dispatched) return 0;
  const auto start = Clock::now();
  const bool seen = ends_by(deadline, [this, &kernel] {
    device_.run([&](const vk::raii::CommandBuffer& commands) {
      pipelines_.record(commands, kernel.pipeline, first().set, first().push, {0, 0, 0}, {0, 0, 0});
    });
  });
  if (!seen) {
    throw NeverEnded{
        fmt::format("the driver was still compiling kernel '{}' when its {} s were over",
                    request.program->name, request.timeout_seconds)};
  }
  kernel.dispatched = true;
  return milliseconds(Clock::now() - start);
}

void Dispatcher::run(const LaunchRequest& request, const Kernel& kernel,
                     std::span<const guest::PointerBounds> bounds, Clock::time_point deadline,
                     LaunchResult& result) {
  const auto start = Clock::now();
  const uint64_t most = prepare_backing(first(), request, kernel);
  prepare(first(), request, kernel, bounds);
  const double shown = show_to_driver(request, kernel, deadline);
  result.times.pipeline_ms += shown;
  const ChunkPlan plan(request.grid, device_.facts().max_groups);
  try {
    if (request.events != nullptr) {
      run_traced(request, kernel, deadline, most, plan);
    } else {
      run_untraced(request, kernel, deadline, most, plan);
    }
  } catch (const DetailedError& why) {  // it was stopped, and what it had found is there
    if (why.detail() != ErrorDetail::timeout && why.detail() != ErrorDetail::cancelled) throw;
    decode(first(), request, kernel, bounds, result);
    throw guest::Ended(why, std::move(result));
  }
  if (!request.record.empty())
    std::memcpy(request.record.data(), backing_.map + first().record_at, request.record.size());
  decode(first(), request, kernel, bounds, result);
  const double took = milliseconds(Clock::now() - start) - shown;
  result.times.dispatch_ms += took;
  kernel.ms_per_group = took / static_cast<double>(std::max<uint64_t>(request.grid.total(), 1));
}

void Dispatcher::decode(const LaunchSlot& slot, const LaunchRequest& request, const Kernel& kernel,
                        std::span<const guest::PointerBounds> bounds, LaunchResult& result) const {
  if (slot.fault_word(kFaultCountWord) == 0) return;
  MemoryMap memory = memory_map(request, arena_.size());
  memory.pointers = kernel.pointers.through;
  memory.bounds = bounds;
  decode_faults(slot.fault_snapshot(), kernel.module.fault_points, memory, result);
}

void Dispatcher::run_untraced(const LaunchRequest& request, const Kernel& kernel,
                              Clock::time_point deadline, uint64_t most, ChunkPlan plan) {
  uint64_t wanted = first_chunk_groups(kernel);
  while (!plan.done()) {
    const auto begin = Clock::now();
    const Chunk chunk = plan.next(std::min(wanted, most));
    run_chunk(request, kernel, chunk, deadline);
    const double took = milliseconds(Clock::now() - begin);
    if (took < kShortChunkMs && chunk.groups() >= wanted / 2) wanted *= 2;
    if (took > kLongChunkMs && wanted > 1) wanted /= 2;
    if (first().must_end()) break;
  }
}

}  // namespace lanewise::vulkan
