#include "runtime/vulkan/launch/dispatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "runtime/events/collector.hpp"
#include "runtime/guest/ended.hpp"
#include "runtime/guest/extent.hpp"
#include "runtime/guest/host_shader.h"
#include "runtime/guest/layout.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::vulkan {

using namespace host_shader;

namespace {

constexpr uint64_t kBackingBytes = uint64_t{64} << 20;
/// The first piece of a grid; later ones grow or shrink toward the wanted time, so that deadlines
/// are noticed and no driver's watchdog sees a long submission.
constexpr uint64_t kFirstChunkInvocations = uint64_t{1} << 18;
constexpr double kShortChunkMs = 50, kLongChunkMs = 400;
constexpr auto kPoll = std::chrono::milliseconds(50);
constexpr uint64_t kSharedAlign = 16;

uint64_t align16(uint64_t n) {
  return (n + kSharedAlign - 1) / kSharedAlign * kSharedAlign;
}

void put64(uint32_t* words, uint64_t value) {
  words[0] = static_cast<uint32_t>(value);
  words[1] = static_cast<uint32_t>(value >> 32);
}

double milliseconds(Clock::duration d) {
  return std::chrono::duration<double, std::milli>(d).count();
}

}  // namespace

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

Dispatcher::Dispatcher(Device& device, Arena& arena, Windows& windows, Pipelines& pipelines)
    : device_(device), arena_(arena), windows_(windows), pipelines_(pipelines) {
  faults_ = device_.make_buffer(kFaultWords * sizeof(uint32_t), Place::host);
}

void Dispatcher::ensure(Buffer& buffer, uint64_t bytes) {
  bytes = std::max<uint64_t>((bytes + 3) / 4 * 4, 16);
  if (buffer.size >= bytes) return;
  buffer = Buffer();
  buffer = device_.make_buffer(bytes, Place::host);
}

void Dispatcher::write_launch_block(const LaunchRequest& request, const Kernel& kernel,
                                    std::span<const guest::PointerBounds> bounds) {
  ensure(launch_, LAUNCH_PARAMS * sizeof(uint32_t) + std::max<size_t>(request.params.size(), 16));
  std::memset(launch_.map, 0, launch_.size);
  uint32_t* w = launch_.words();
  put64(w + LAUNCH_ARENA_ADDRESS, arena_.device_address());
  const uint64_t extent = guest::extent(request, arena_.size());
  put64(w + LAUNCH_ARENA_SIZE, extent);
  const uint32_t sizes[] = {request.grid.x,  request.grid.y,  request.grid.z,
                            request.block.x, request.block.y, request.block.z};
  std::copy(std::begin(sizes), std::end(sizes), w + LAUNCH_GRID);
  static_assert(LAUNCH_BLOCK == LAUNCH_GRID + 3);
  put64(w + LAUNCH_STEP_BUDGET, request.step_budget);
  w[LAUNCH_DYNAMIC_SHARED] = request.dynamic_shared;
  put64(w + LAUNCH_PARAM_ADDRESS, request.param_address);
  w[LAUNCH_SLOTS] = static_cast<uint32_t>(backing_slots_);
  w[LAUNCH_SLOT_BYTES] = static_cast<uint32_t>(align16(kernel.module.backing_bytes));
  w[LAUNCH_STATIC_SHARED] = static_cast<uint32_t>(align16(request.program->shared_bytes));
  w[LAUNCH_PARAM_BYTES] = static_cast<uint32_t>(request.params.size());
  for (size_t i = 0; i < bounds.size(); ++i) {
    uint32_t* entry = w + LAUNCH_POINTERS + POINTER_WORDS * i;
    const guest::PointerBounds& b = bounds[i];
    put64(entry + POINTER_START, b.start == 0 ? 0 : b.start - guest::kArenaBase);
    put64(entry + POINTER_READABLE, b.readable);
    put64(entry + POINTER_WRITABLE, b.writable);
    if (request.windows) put64(w + LAUNCH_POINTER_BASES + 2 * i, base_of(b.start));
  }
  if (!request.params.empty()) {
    std::memcpy(w + LAUNCH_PARAMS, request.params.data(), request.params.size());
  }
  push_.fill(0);
  put64(push_.data() + guest::kPushArenaAddress, arena_.device_address());
  put64(push_.data() + guest::kPushArenaSize, extent);
  std::memcpy(push_.data() + guest::kPushParams, request.params.data(),
              std::min<size_t>(request.params.size(), guest::kPushedParamBytes));
}

uint64_t Dispatcher::base_of(uint64_t allocation) const {
  const auto window = windows_.find(allocation, 1);
  if (window == windows_.all().end()) return arena_.device_address();
  return window->second.device_address - (window->first - guest::kArenaBase);
}

void Dispatcher::write_allocations(const LaunchRequest& request) {
  const bool used = request.memcheck == Memcheck::alloc;
  const size_t count = used ? request.allocations.size() : 0;
  const size_t windows = request.windows ? windows_.all().size() : 0;
  const size_t first_window = FIRST_ENTRY + ENTRY_WORDS * count;
  ensure(allocations_, (first_window + WINDOW_WORDS * windows) * sizeof(uint32_t));
  uint32_t* w = allocations_.words();
  std::memset(w, 0, FIRST_ENTRY * sizeof(uint32_t));
  w[ALLOCATION_COUNT] = static_cast<uint32_t>(count);
  for (size_t i = 0; i < count; ++i) {
    const Allocation& a = request.allocations[i];
    uint32_t* entry = w + FIRST_ENTRY + ENTRY_WORDS * i;
    put64(entry, a.address);
    put64(entry + 2, a.address + a.size);
    if (a.read_only) entry[3] |= READ_ONLY_BIT;
  }
  if (windows != 0) write_windows(static_cast<uint32_t>(first_window));
}

void Dispatcher::write_windows(uint32_t first) {
  uint32_t* w = allocations_.words();
  w[WINDOW_COUNT] = static_cast<uint32_t>(windows_.all().size());
  w[FIRST_WINDOW] = first;
  uint32_t* entry = w + first;
  for (const auto& [address, window] : windows_.all()) {
    put64(entry + WINDOW_START, address - guest::kArenaBase);
    put64(entry + WINDOW_SIZE, window.size);
    put64(entry + WINDOW_ADDRESS, window.device_address);
    entry += WINDOW_WORDS;
  }
}

/// Shared and local memory that lies in device memory: one slot for each group of a chunk. Returns
/// the most groups that a chunk may have.
uint64_t Dispatcher::prepare_backing(const LaunchRequest& request, const Kernel& kernel) {
  backing_slots_ = 1;
  if (kernel.module.backing_bytes == 0) {
    if (backing_.size == 0) backing_ = device_.make_buffer(16, Place::device);
    return UINT64_MAX;
  }
  const uint64_t slot = std::max<uint64_t>(align16(kernel.module.backing_bytes), kSharedAlign);
  const uint64_t room = std::min(kBackingBytes, device_.facts().max_storage_range);
  if (slot > room) {
    throw Error(
        ErrorKind::device,
        fmt::format("kernel '{}' needs {} bytes of shared and local memory per group, the device "
                    "can give {}",
                    request.program->name, slot, room));
  }
  backing_slots_ = std::min(room / slot, request.grid.total());
  const uint64_t bytes = slot * backing_slots_;
  if (backing_.size < bytes) {
    backing_ = Buffer();
    backing_ = device_.make_buffer(bytes, Place::device);
  }
  return backing_slots_;
}

/// The slots of the chunk's groups, which are neighbours in linear order.
void Dispatcher::clear_backing(const vk::raii::CommandBuffer& commands, const Dim3& grid,
                               const Kernel& kernel, const Chunk& chunk) const {
  const uint64_t slot = align16(kernel.module.backing_bytes);
  const uint64_t linear =
      (uint64_t{chunk.base[2]} * grid.y + chunk.base[1]) * grid.x + chunk.base[0];
  const uint64_t first = linear % backing_slots_;
  const uint64_t before_end = std::min(chunk.groups(), backing_slots_ - first);
  commands.fillBuffer(*backing_.handle, first * slot, before_end * slot, 0);
  if (const uint64_t rest = chunk.groups() - before_end; rest != 0)
    commands.fillBuffer(*backing_.handle, 0, rest * slot, 0);
  full_barrier(commands);
}

void Dispatcher::prepare(const LaunchRequest& request, const Kernel& kernel,
                         std::span<const guest::PointerBounds> bounds) {
  write_launch_block(request, kernel, bounds);
  write_allocations(request);
  ensure(events_, request.events != nullptr ? request.events->buffer_bytes() : 16);
  std::memset(faults_.map, 0, faults_.size);
  const uint64_t range = device_.facts().max_storage_range;
  const auto whole = [range](const Buffer& b) {
    return Pipelines::Binding{&b, std::min(b.size, range)};
  };
  pipelines_.bind({whole(arena_.buffer()), whole(launch_), whole(faults_), whole(backing_),
                   whole(allocations_), whole(events_)});
}

std::vector<uint32_t> Dispatcher::fault_snapshot() const {
  std::vector<uint32_t> words(kFaultWords);
  for (uint32_t i = 0; i < kFaultWords; ++i) words[i] = fault_word(i);
  return words;
}

bool Dispatcher::stop(double timeout_seconds) {
  fault_word(kFaultAbortWord) = 1;
  const Clock::duration patience = patience_ ? *patience_ : grace_after(timeout_seconds);
  return device_.wait(Clock::now() + patience) == Wait::done;
}

void Dispatcher::run_chunk(const LaunchRequest& request, const Kernel& kernel, const Chunk& chunk,
                           Clock::time_point deadline) {
  if (guest::is_cancelled(request)) throw guest::cancelled();
  device_.submit([&](const vk::raii::CommandBuffer& commands) {
    if (kernel.module.clears_backing) clear_backing(commands, request.grid, kernel, chunk);
    pipelines_.record(commands, kernel.pipeline, push_, chunk.base, chunk.count);
  });
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
    // One lane that used up its steps ends the launch (docs/execution.md); the others are told.
    if (fault_word(kFaultCountWord) != 0 && ends_launch(fault_snapshot())) {
      fault_word(kFaultAbortWord) = 1;
    }
  }
}

/// Some drivers (llvmpipe) compile at a kernel's first dispatch. An empty one makes them do it
/// here, where a time limit tells it from a kernel that does not end: that one can be told to stop.
/// The milliseconds that it took.
double Dispatcher::show_to_driver(const LaunchRequest& request, const Kernel& kernel,
                                  Clock::time_point deadline) {
  if (kernel.dispatched) return 0;
  const auto start = Clock::now();
  const bool seen = ends_by(deadline, [this, &kernel] {
    device_.run([&](const vk::raii::CommandBuffer& commands) {
      pipelines_.record(commands, kernel.pipeline, push_, {0, 0, 0}, {0, 0, 0});
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
  const uint64_t most = prepare_backing(request, kernel);
  prepare(request, kernel, bounds);
  const double shown = show_to_driver(request, kernel, deadline);
  result.times.pipeline_ms += shown;
  const ChunkPlan plan(request.grid, device_.facts().max_groups);
  if (request.events != nullptr) {
    run_traced(request, kernel, deadline, most, plan);
  } else {
    run_untraced(request, kernel, deadline, most, plan);
  }
  MemoryMap memory = memory_map(request, guest::extent(request, arena_.size()));
  memory.pointers = kernel.pointers.through;
  memory.bounds = bounds;
  decode_faults(fault_snapshot(), kernel.module.fault_points, memory, result);
  result.times.dispatch_ms += milliseconds(Clock::now() - start) - shown;
}

void Dispatcher::run_untraced(const LaunchRequest& request, const Kernel& kernel,
                              Clock::time_point deadline, uint64_t most, ChunkPlan plan) {
  uint64_t wanted = std::max<uint64_t>(kFirstChunkInvocations / kernel.module.local_size, 1);
  while (!plan.done()) {
    const auto begin = Clock::now();
    const Chunk chunk = plan.next(std::min(wanted, most));
    run_chunk(request, kernel, chunk, deadline);
    const double took = milliseconds(Clock::now() - begin);
    if (took < kShortChunkMs && chunk.groups() >= wanted / 2) wanted *= 2;
    if (took > kLongChunkMs && wanted > 1) wanted /= 2;
    if (ends_launch(fault_snapshot())) break;
  }
}

}  // namespace lanewise::vulkan
