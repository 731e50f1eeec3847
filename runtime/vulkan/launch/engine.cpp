#include "runtime/vulkan/launch/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <future>

#include "lanewise/error_detail.hpp"
#include "runtime/events/collector.hpp"
#include "runtime/guest/ended.hpp"
#include "runtime/guest/extent.hpp"
#include "runtime/guest/pointer_bounds.hpp"
#include "runtime/guest/unwritten.hpp"
#include "runtime/guest/validate.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/support/error.hpp"
#include "runtime/vulkan/pipeline/compile_only.hpp"

namespace lanewise::vulkan {
namespace {

std::atomic<bool> some_never_ended{false};

spirv::Target probed_target(const Device& device, const ProbeResult& result) {
  if (result.loop_values == LoopValues::lost) {
    throw Error(ErrorKind::device,
                fmt::format("the driver of {} ({}) loses values that lanes take out of loops; "
                            "results there would be wrong, so nothing is run on it",
                            device.facts().info.name, device.facts().info.driver));
  }
  spirv::Target target = device.facts().target;
  apply(result, target);
  // The work-around is an atomic operation, which orders all memory on CPUs alone.
  if (target.quirks.fence_by_atomic && device.facts().type != vk::PhysicalDeviceType::eCpu) {
    throw Error(ErrorKind::device,
                fmt::format("the driver of {} ({}) loses lanes at memory barriers in loops; "
                            "results there would be wrong, so nothing is run on it",
                            device.facts().info.name, device.facts().info.driver));
  }
  return target;
}

}  // namespace

/// Destroyed in reverse order; never destroyed when a kernel may still be running.
struct VulkanEngine::Parts {
  DiskCache disk;
  Device device;
  Pipelines pipelines;
  ProbeResult probed;
  Arena arena;
  ImportedMemory imported;
  KernelCache kernels;
  Dispatcher dispatcher;

  Parts(ChosenDevice chosen, const Options& options, Translator translator)
      : disk(options.cache_dir),
        device(std::move(chosen)),
        pipelines(device, disk),
        probed(probe(device, pipelines, disk)),
        arena(device),
        imported(device),
        kernels(pipelines, disk, probed_target(device, probed), std::move(translator)),
        dispatcher(device, arena, imported, pipelines) {
    if (device.borrowed() != nullptr) arena.grow_to(device.borrowed()->reserve_bytes);
  }
};

VulkanEngine::VulkanEngine(ChosenDevice chosen, const Options& options, Translator translator) {
  try {
    parts_ = std::make_unique<Parts>(std::move(chosen), options, std::move(translator));
  } catch (const vk::SystemError& error) {
    throw Error(ErrorKind::device,
                fmt::format("the Vulkan device cannot be opened: {}", error.what()));
  }
  info_ = parts_->device.facts().info;
}

bool still_running() {
  return some_never_ended;
}

VulkanEngine::~VulkanEngine() {
  // What a running kernel, or a compiling driver, uses must outlive it, so it stays until the
  // process ends.
  if (never_ended_) static_cast<void>(parts_.release());
}

void VulkanEngine::set_stop_timeout(std::chrono::milliseconds timeout) {
  parts_->dispatcher.set_stop_timeout(timeout);
}

int VulkanEngine::index() const {
  return parts_->device.facts().index;
}
const spirv::Target& VulkanEngine::target() const {
  return parts_->kernels.target();
}
const std::string& VulkanEngine::arena_limit() const {
  return parts_->device.facts().arena_limit;
}
const ProbeResult& VulkanEngine::probed() const {
  return parts_->probed;
}

void VulkanEngine::refuse_when_lost() const {
  if (!lost_.empty()) throw DetailedError(ErrorKind::device, ErrorDetail::device_lost, lost_);
}

template <typename Work>
void VulkanEngine::guarded(const char* what, Work work) {
  try {
    work();
  } catch (const vk::DeviceLostError&) {
    lost_ =
        fmt::format("the device {} was lost during {}; open it again to go on", info_.name, what);
    throw DetailedError(ErrorKind::device, ErrorDetail::device_lost, lost_);
  } catch (const NeverEnded& work) {
    never_ended_ = some_never_ended = true;
    lost_ = fmt::format(
        "{}: {}; that could not be stopped, so nothing more can run there in this process",
        info_.name, work.what);
    throw Error(ErrorKind::budget, lost_);
  } catch (const vk::SystemError& error) {
    throw Error(ErrorKind::device,
                fmt::format("the driver of {} failed in {}: {}", info_.name, what, error.what()));
  }
}

void VulkanEngine::reserve(uint64_t bytes) {
  refuse_when_lost();
  guarded("a memory allocation", [&] { parts_->arena.reserve(bytes); });
}

void VulkanEngine::write(uint64_t address, std::span<const std::byte> data) {
  refuse_when_lost();
  guarded("a copy to the device", [&] {
    if (address >= guest::kImportedBase) return parts_->imported.write(address, data);
    parts_->arena.write(address, data);
  });
}

void VulkanEngine::read(uint64_t address, std::span<std::byte> data) {
  if (!parts_->arena.readable_without_device()) refuse_when_lost();
  guarded("a copy from the device", [&] {
    if (address >= guest::kImportedBase) return parts_->imported.read(address, data);
    parts_->arena.read(address, data);
  });
}

bool VulkanEngine::map_host(uint64_t address, std::span<std::byte> memory) {
  refuse_when_lost();
  bool mapped = false;
  if (target().tier() > 0)
    guarded("an import of host memory",
            [&] { mapped = parts_->imported.add_host(address, memory); });
  return mapped;
}

void VulkanEngine::unmap(uint64_t address) {
  // What a kernel that could not be stopped may still reach stays.
  if (!never_ended_) parts_->imported.remove(address);
}

Device& VulkanEngine::device() {
  return parts_->device;
}
Arena& VulkanEngine::arena() {
  return parts_->arena;
}
ImportedMemory& VulkanEngine::imported() {
  return parts_->imported;
}

namespace {

/// What a device cannot do for a launch that validate() takes.
void refuse_unsupported(const LaunchRequest& request) {
  if (request.events != nullptr && request.events->exact() != nullptr)
    throw Error(ErrorKind::guest,
                "cache-exact mode runs on the reference engine only: a Vulkan device's loads "
                "cannot be served by modelled caches");
  if (!request.host_ranges.empty())
    throw DetailedError(ErrorKind::usage, ErrorDetail::unsupported,
                        "host memory at its own addresses is the reference engine's alone; a "
                        "Vulkan device works on copies");
}

bool is_refused(const LaunchRequest& request) {
  try {
    guest::validate(request);
    refuse_unsupported(request);
  } catch (const Error&) {
    return true;
  }
  return false;
}

}  // namespace

/// Offsets of 32 bits reach all that the kernel touches.
bool VulkanEngine::small_arena(const LaunchRequest& request) const {
  if (request.imported) return false;
  if (!checks_written(request)) return parts_->arena.small();
  const uint64_t arena = parts_->arena.size();
  return guest::written_map_offset(arena) + guest::written_map_bytes(arena) <= guest::kSmallArena;
}

void VulkanEngine::bring_map(const LaunchRequest& request) {
  std::vector<std::byte> map(guest::written_map_bytes(parts_->arena.size()), std::byte{0xff});
  if (request.unwritten != nullptr) request.unwritten->fill(map);
  parts_->arena.write_map(map);
}

bool VulkanEngine::take_map(const LaunchRequest& request) {
  if (request.unwritten == nullptr) return false;
  request.unwritten->update(
      [this](uint64_t offset, std::span<std::byte> part) { parts_->arena.read_map(offset, part); });
  return true;
}

namespace {

/// What a kernel wrote unseen, or one that was ended early: all counts as written then.
struct WritesUnknown {
  guest::Unwritten* unwritten;
  bool known = false;
  ~WritesUnknown() {
    if (!known && unwritten != nullptr) unwritten->clear();
  }
};

}  // namespace

LaunchResult VulkanEngine::launch(const LaunchRequest& asked) {
  refuse_when_lost();
  guest::validate(asked);
  if (asked.imported && asked.memcheck == Memcheck::arena) {
    // Between the arena and imported memory lies nothing: only the allocations decide.
    LaunchRequest stricter = asked;
    stricter.memcheck = Memcheck::alloc;
    return launch(stricter);
  }
  refuse_unsupported(asked);
  if (asked.events == nullptr) return launch_recorded(asked);
  LaunchRequest traced = asked;
  traced.traced_extent = guest::extent(asked, parts_->arena.size());
  if (traced.untraced != nullptr)
    if (const auto paths = traced.events->paths_of(traced, traced.traced_extent))
      return launch_derived(traced, *paths);
  return launch_recorded(traced);
}

/// What the kernel's pointers may reach; nothing when every access has to be looked up.
std::optional<std::vector<guest::PointerBounds>> VulkanEngine::bounds_of(
    const Kernel& kernel, const LaunchRequest& request) const {
  if (request.memcheck == Memcheck::alloc)
    return guest::pointer_bounds(kernel.pointers, request.params, request.allocations);
  const uint64_t arena = parts_->arena.size();
  return guest::arena_bounds(kernel.pointers, request.params, guest::extent(request, arena),
                             guest::writable_extent(request, arena));
}

/// If it is traced its lanes write their events down.
LaunchResult VulkanEngine::launch_recorded(const LaunchRequest& request) {
  LaunchResult result;
  guarded("a launch", [&] {
    const auto deadline = deadline_after(request.timeout_seconds);
    const auto get = [&](const LaunchRequest& how) {
      return &parts_->kernels.get(how, small_arena(how), result.times, deadline);
    };
    const Kernel* kernel = get(request);
    auto bounds = bounds_of(*kernel, request);
    if (!bounds) {
      LaunchRequest looked_up = request;
      looked_up.pointers = false;
      kernel = get(looked_up);
      bounds.emplace();
    }
    result.wave_mode = kernel->module.wave_mode;
    result.wave_reason = kernel->module.wave_reason;
    const bool checked = checks_written(request);
    WritesUnknown writes{request.unwritten};
    if (checked) bring_map(request);
    parts_->dispatcher.run(request, *kernel, *bounds, deadline, result);
    if (checked) writes.known = take_map(request);
  });
  return result;
}

/// Reporting the events of fewer groups takes no longer than to start a thread.
constexpr uint64_t kGroupsWorthAThread = 64;

/// The kernel runs as if nobody traced it: what its lanes do to memory is known, and reported
/// meanwhile.
LaunchResult VulkanEngine::launch_derived(const LaunchRequest& request,
                                          const events::Paths& paths) {
  LaunchRequest untraced = request;
  untraced.program = request.untraced;
  untraced.program_id = request.untraced_id;
  untraced.events = nullptr;
  const auto deadline = deadline_after(request.timeout_seconds);
  request.events->begin(request, request.traced_extent);
  std::atomic<bool> stop = false;
  const auto when =
      request.grid.total() < kGroupsWorthAThread ? std::launch::deferred : std::launch::async;
  auto reporting = std::async(when, [&] { request.events->groups(request, paths, stop); });
  LaunchResult result;
  try {
    result = launch(untraced);
  } catch (...) {
    stop = true;
    throw;  // the future waits for its thread
  }
  const auto start = Clock::now();
  while (reporting.wait_for(kPoll) == std::future_status::timeout)
    if (Clock::now() >= deadline) stop = true;
  reporting.get();
  if (guest::is_cancelled(request)) throw guest::cancelled();
  if (stop) throw guest::timed_out(request.timeout_seconds);
  request.events->end();
  result.times.dispatch_ms += milliseconds(Clock::now() - start);
  return result;
}

/// Those in front that are ready and need no second look; what comes behind them runs alone.
std::vector<Batched> VulkanEngine::batched(std::span<const LaunchRequest> requests) const {
  std::vector<Batched> out;
  for (const LaunchRequest& r : requests) {
    if (r.imported || !r.record.empty() || checks_written(r) || is_refused(r)) break;
    Batched c{&r, parts_->kernels.find_ready(r, parts_->arena.small()), {}};
    if (c.kernel == nullptr) break;
    auto bounds = bounds_of(*c.kernel, r);
    if (!bounds) break;
    c.bounds = std::move(*bounds);
    out.push_back(std::move(c));
  }
  out.resize(parts_->dispatcher.that_fit_together(out));
  return out;
}

std::vector<LaunchOutcome> VulkanEngine::launch_in_turn(std::span<const LaunchRequest> requests) {
  std::vector<LaunchOutcome> out;
  while (out.size() < requests.size()) {
    const auto rest = requests.subspan(out.size());
    size_t done = 0;
    try {
      refuse_when_lost();
      guarded("launches", [&] {
        const std::vector<Batched> together = batched(rest);
        if (together.size() < 2) return;
        done = together.size();
        for (const Batched& c : together)
          if (c.request->unwritten != nullptr) c.request->unwritten->clear();
        for (LaunchResult& r : parts_->dispatcher.run_together(together))
          out.push_back({std::move(r), nullptr});
      });
    } catch (...) {
      out.insert(out.end(), std::max<size_t>(done, 1), LaunchOutcome{{}, std::current_exception()});
      continue;
    }
    if (done == 0) out.push_back(launch_caught(rest.front()));
  }
  return out;
}

std::unique_ptr<VulkanEngine> make_engine_with(std::string_view selector, const Options& options,
                                               Translator translator) {
  ChosenDevice chosen = find_device(selector, options.validation || validation_from_environment());
  if (chosen.device.facts.compile_only) refuse_to_run(chosen.device.facts.info);
  return std::make_unique<VulkanEngine>(std::move(chosen), options, std::move(translator));
}

Translated VulkanEngine::translate(const LaunchRequest& request) {
  guest::validate(request);
  spirv::Module module = parts_->kernels.translate_only(request, small_arena(request));
  return {std::move(module.words), std::move(module.wave_mode), std::move(module.wave_reason)};
}

}  // namespace lanewise::vulkan
