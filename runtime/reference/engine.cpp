#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lanewise/error_detail.hpp"
#include "runtime/events/collector.hpp"
#include "runtime/guest/allocation_at.hpp"
#include "runtime/guest/ended.hpp"
#include "runtime/guest/extent.hpp"
#include "runtime/guest/policy_of.hpp"
#include "runtime/guest/schedule.hpp"
#include "runtime/guest/unwritten.hpp"
#include "runtime/guest/validate.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/reference/memory/pages.hpp"
#include "runtime/reference/perf/profile.hpp"
#include "runtime/reference/race/copies.hpp"
#include "runtime/reference/race/watch.hpp"
#include "runtime/reference/ready.hpp"
#include "runtime/reference/reference.hpp"
#include "runtime/reference/run_groups.hpp"
#include "runtime/reference/schedule/search.hpp"
#include "runtime/reference/schedule/views.hpp"
#include "runtime/reference/sync/watch.hpp"
#include "runtime/reference/waves/group.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::reference {
namespace {

uint64_t host_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGE_SIZE);
  return pages > 0 && size > 0 ? uint64_t(pages) * uint64_t(size) : uint64_t{1} << 32;
}

EngineInfo describe() {
  EngineInfo info;
  info.name = "reference";
  info.driver = "lanewise";
  info.tier = "cpu";
  info.type = "reference";
  info.subgroup_size = 32;
  info.max_invocations = guest::kMaxLanesPerGroup;
  info.max_shared = static_cast<uint32_t>(guest::kWindowSize);
  info.max_arena = host_memory() / 2;
  info.int64 = info.int16 = info.int8 = info.float16 = info.float64 = true;
  return info;
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

guest::Schedule chosen_schedule(const LaunchRequest& request) {
  using Kind = guest::Schedule::Kind;
  if (request.schedule == WaveSchedule::until_stop) return {Kind::until_stop, 0, false};
  if (request.schedule == WaveSchedule::lockstep) return {Kind::lockstep, 0, false};
  const std::string_view policy = guest::policy_of(request, "schedule");
  if (!policy.empty() && policy != "default")
    if (const auto named = guest::schedule_named(policy)) return *named;
  const char* env = std::getenv("LANEWISE_SCHEDULE");
  const std::string name = env != nullptr ? env : "";
  if (const auto named = guest::schedule_named(name)) return *named;
  throw Error(ErrorKind::usage,
              "LANEWISE_SCHEDULE is '" + name +
                  "'; until_stop, lockstep, random:SEED or search:N was expected");
}

/// Accesses are held against who orders them.
bool checks_order(const LaunchRequest& request) {
  return checks_races(request) || race::watches_copies(request);
}

WaveSchedule wave_schedule(const guest::Schedule& schedule) {
  if (schedule.kind == guest::Schedule::Kind::lockstep) return WaveSchedule::lockstep;
  return schedule.kind == guest::Schedule::Kind::standard ? WaveSchedule::automatic
                                                          : WaveSchedule::until_stop;
}

DetailedError too_large(const std::string& what, uint64_t most) {
  return {ErrorKind::device, ErrorDetail::device_memory,
          what + "; the reference engine can hold " + std::to_string(most)};
}

class ReferenceEngine final : public Engine {
 public:
  ReferenceEngine(StepHook hook, TouchHook touch)
      : hook_(std::move(hook)), touch_(std::move(touch)), info_(describe()) {}

  const EngineInfo& info() const override { return info_; }

  void reserve(uint64_t bytes) override {
    if (bytes <= info_.max_arena && arena_.grow(bytes)) return;
    throw too_large("the arena would need " + std::to_string(bytes) + " bytes", info_.max_arena);
  }

  void write(uint64_t address, std::span<const std::byte> data) override {
    if (!data.empty()) std::memcpy(at(address, data.size()), data.data(), data.size());
  }

  bool map_host(uint64_t address, std::span<std::byte> memory) override {
    const HostRange range{address, memory.size(), false, memory.data()};
    mapped_.insert(std::ranges::upper_bound(mapped_, address, {}, &HostRange::address), range);
    return true;
  }
  void unmap(uint64_t address) override {
    std::erase_if(mapped_, [&](const HostRange& r) { return r.address == address; });
  }

  void read(uint64_t address, std::span<std::byte> data) override {
    if (!data.empty()) std::memcpy(data.data(), at(address, data.size()), data.size());
  }

  LaunchResult launch(const LaunchRequest& asked) override {
    guest::validate(asked);
    LaunchRequest request = asked;
    const guest::Schedule schedule = chosen_schedule(asked);
    request.schedule = wave_schedule(schedule);
    refuse_schedule(request, schedule);
    check_wave(*request.program);
    const auto start = std::chrono::steady_clock::now();
    const Deadline deadline(asked.timeout_seconds, asked.cancel);
    const Prepared prepared = prepare(request, schedule.changes_order());
    request.program = &prepared.ready->program;
    LaunchResult result;
    result.wave_mode = "lane";
    result.wave_reason = "the reference engine interprets lane by lane";
    result.times.translate_ms = milliseconds_since(start);
    const auto run_start = std::chrono::steady_clock::now();
    events::Collector* events = request.events;
    trace::ExactMemory* exact = events != nullptr ? events->exact() : nullptr;
    if (exact != nullptr) exact->begin({arena_.get(), arena_.size()});
    if (events != nullptr) events->begin(request, guest::extent(request, arena_.size()));
    if (request.unwritten != nullptr && !checks_written(request)) request.unwritten->clear();
    run_orders(request, prepared, deadline, schedule, result);
    if (events != nullptr) events->end();
    if (exact != nullptr) exact->end();
    result.times.dispatch_ms = milliseconds_since(run_start);
    return result;
  }

 private:
  /// Where bytes of the guest lie; null: nowhere.
  std::byte* find(uint64_t address, uint64_t size) const {
    for (const HostRange& r : mapped_)
      if (guest::inside(address - r.address, size, r.size)) return r.data + (address - r.address);
    const uint64_t offset = address - guest::kArenaBase;
    return guest::inside(offset, size, arena_.size()) ? arena_.get() + offset : nullptr;
  }
  std::byte* at(uint64_t address, uint64_t size) const {
    if (std::byte* found = find(address, size)) return found;
    throw Error(ErrorKind::usage, "host access to guest address " + std::to_string(address) +
                                      " lies outside the reserved arena");
  }

  /// Nobody asks for an order, or looks at what single lanes do.
  bool is_free(const LaunchRequest& request) const {
    return request.schedule == WaveSchedule::automatic && !hook_ && !touch_ &&
           !checks_written(request) && !checks(request, "sync") && !checks(request, "perf") &&
           !checks_order(request) && request.events == nullptr;
  }

  struct Prepared {
    std::shared_ptr<const Ready> ready;
    std::vector<guest::PointerBounds> bounds;  ///< of the program's pointers
  };
  /// Accesses are held against one allocation each where the arguments allow it.
  Prepared prepare(const LaunchRequest& request, bool scheduled) {
    const auto ready = [&](bool pointers) {
      return ready_.get(
          *request.program, request.program_id,
          {pointers, request.schedule == WaveSchedule::lockstep, bool{hook_},
           bool{touch_} || checks_written(request), checks(request, "perf"), checks_order(request),
           scheduled, is_free(request), follows_unwritten(request)});
    };
    if (request.memcheck != Memcheck::alloc || !request.pointers) return {ready(false), {}};
    Prepared checked{ready(true), {}};
    auto bounds =
        guest::pointer_bounds(checked.ready->pointers, request.params, request.allocations);
    if (!bounds) return {ready(false), {}};
    checked.bounds = std::move(*bounds);
    return checked;
  }

  static void refuse_schedule(const LaunchRequest& request, const guest::Schedule& schedule) {
    if (schedule.weak && (request.events != nullptr || checks_order(request)))
      throw Error(ErrorKind::usage,
                  "a schedule with weak memory has no trace, "
                  "no caches and no check of races or "
                  "asynchronous copies beside it");
    const bool exact = request.events != nullptr && request.events->exact() != nullptr;
    if (exact && schedule.kind == guest::Schedule::Kind::lockstep)
      throw Error(ErrorKind::usage, "the cache-exact mode has a schedule of its own: no lockstep");
    if (!schedule.changes_order() || request.events == nullptr) return;
    if (schedule.kind == guest::Schedule::Kind::search)
      throw Error(ErrorKind::usage,
                  "--schedule search runs a launch many "
                  "times: no trace and no caches beside it");
    if (exact)
      throw Error(ErrorKind::usage,
                  "the cache-exact mode has a schedule of "
                  "its own: no --schedule beside it");
  }

  static void check_wave(const ir::Program& program) {
    const uint32_t n = program.wave_lanes;
    if (n >= 1 && n <= kMaxWave && (n & (n - 1)) == 0) return;
    throw Error(ErrorKind::guest, "kernel " + program.name + " has waves of " + std::to_string(n) +
                                      " lanes; a power of two up to 64 was expected");
  }

  /// What a group has of its own is there for every lane from the start.
  static uint64_t group_bytes(const LaunchRequest& request, const DecodedProgram& decoded) {
    const ir::Program& p = *request.program;
    const uint64_t waves = (request.block.total() + p.wave_lanes - 1) / p.wave_lanes;
    return p.local_bytes * request.block.total() + decoded.registers.size() * waves +
           guest::shared_bytes(p, request.dynamic_shared);
  }
  static bool is_resident(const LaunchRequest& request) {
    return guest::policy_of(request, "groups") == "resident";
  }
  void refuse_large_group(const LaunchRequest& request, const DecodedProgram& decoded) const {
    const uint64_t bytes = group_bytes(request, decoded), can = info_.max_arena;
    const uint64_t most = can / std::max<uint64_t>(bytes, 1);
    if (is_resident(request) && request.grid.total() > most)
      throw too_large("a cooperative launch of kernel " + request.program->name + " has " +
                          std::to_string(request.grid.total()) +
                          " groups, which are all there at the same time",
                      most);
    if (bytes > can)
      throw too_large("a group of kernel " + request.program->name + " would need " +
                          std::to_string(bytes) + " bytes for registers, local and shared memory",
                      can);
  }

  /// What the request lends and what was mapped before; the allocations know what of that is read
  /// only.
  std::vector<HostRange> all_host_ranges(const LaunchRequest& request) const {
    std::vector<HostRange> all(request.host_ranges.begin(), request.host_ranges.end());
    for (HostRange r : mapped_) {
      const Allocation* known = guest::allocation_at(request.allocations, r.address, 1);
      r.read_only = known != nullptr && known->read_only;
      all.push_back(r);
    }
    std::ranges::sort(all, {}, &HostRange::address);
    return all;
  }

  static std::byte* data_of(const HostRange& r) {
    // NOLINTNEXTLINE(performance-no-int-to-ptr): the guest's address is the host's
    return r.data != nullptr ? r.data : reinterpret_cast<std::byte*>(r.address);
  }

  /// The guest's address of a byte of the host's memory; 0 for none.
  uint64_t address_of(std::span<const HostRange> ranges, const std::byte* at) const {
    if (holds({arena_.get(), arena_.size()}, at))
      return guest::kArenaBase + static_cast<uint64_t>(at - arena_.get());
    for (const HostRange& r : ranges)
      if (holds({data_of(r), r.size}, at))
        return r.address + static_cast<uint64_t>(at - data_of(r));
    return 0;
  }

  /// Without what the runtime keeps for itself, such as printed text.
  std::vector<TouchedRange> touched_by(const race::Watch& watch, const LaunchRequest& request,
                                       std::span<const HostRange> ranges) const {
    std::vector<TouchedRange> out =
        watch.touched([&](const std::byte* at) { return address_of(ranges, at); });
    for (const uint64_t own : request.own_allocations) {
      const Allocation* a = guest::allocation_at(request.allocations, own, 1);
      if (a == nullptr) continue;
      std::erase_if(out, [&](const TouchedRange& r) { return r.address - a->address < a->size; });
    }
    return out;
  }

  void run_orders(const LaunchRequest& request, const Prepared& prepared, const Deadline& deadline,
                  const guest::Schedule& schedule, LaunchResult& result) const {
    if (!schedule.changes_order()) return run_groups(request, prepared, deadline, nullptr, result);
    if (schedule.kind == guest::Schedule::Kind::random) {
      Orders orders(schedule.number, request.grid.total(), schedule.weak);
      return run_groups(request, prepared, deadline, &orders, result);
    }
    const LaunchResult start = result;
    const std::vector<Area> areas = changed_memory(request);
    result = search_orders(request, schedule, areas, [&](Orders& orders) {
      LaunchResult one = start;
      run_groups(request, prepared, deadline, &orders, one);
      return one;
    });
  }

  std::vector<Area> changed_memory(const LaunchRequest& request) const {
    std::vector<Area> areas{{request.record.data(), request.record.size(), 0, true}};
    // Stores may go anywhere where they are not held against allocations.
    if (request.memcheck != Memcheck::alloc)
      areas.push_back({arena_.get(), std::min({arena_.size(), request.readable, request.writable}),
                       guest::kArenaBase, request.allocations.empty()});
    for (const Allocation& a : request.allocations) {
      const bool own =
          std::ranges::find(request.own_allocations, a.address) != request.own_allocations.end();
      std::byte* data = find(a.address, a.size);
      if (!a.read_only && a.size != 0 && data != nullptr)
        areas.push_back({data, a.size, a.address, !own});
    }
    for (const HostRange& r : request.host_ranges)
      if (!r.read_only) areas.push_back({data_of(r), r.size, r.address, true});
    return areas;
  }

  /// They lie in memory of the host.
  static std::span<std::byte> services_in(const LaunchRequest& request,
                                          std::span<const HostRange> ranges) {
    const Allocation* all = guest::allocation_at(request.allocations, request.services, 1);
    if (request.services == 0 || all == nullptr) return {};
    for (const HostRange& r : ranges)
      if (all->address - r.address < r.size)
        return {data_of(r) + (all->address - r.address), all->size};
    return {};
  }

  void run_groups(const LaunchRequest& request, const Prepared& prepared, const Deadline& deadline,
                  Orders* orders, LaunchResult& result) const {
    const DecodedProgram& decoded = prepared.ready->decoded;
    MemoryView memory;
    memory.arena = {arena_.get(), std::min(arena_.size(), request.readable)};
    memory.writable = request.writable;
    memory.record = request.record;
    memory.params = request.params;
    memory.allocations = request.allocations;
    const std::vector<HostRange> ranges = all_host_ranges(request);
    memory.host_ranges = ranges;
    memory.services = services_in(request, ranges);
    for (const HostRange& r : request.host_ranges)
      memory.ambiguous = memory.ambiguous || (r.address < guest::kArenaBase + arena_.size() &&
                                              r.address + r.size > guest::kSharedWindow);
    memory.memcheck = request.memcheck;
    memory.pointers = prepared.bounds;
    memory.parameters = prepared.ready->pointers.through;
    refuse_large_group(request, decoded);
    const OrderSeen& seen = prepared.ready->order_seen;
    const bool automatic = request.schedule == WaveSchedule::automatic;
    const bool by_lanes = hook_ || touch_ ||
                          (checks_written(request) && !follows_unwritten(request)) ||
                          (request.events != nullptr && request.events->exact() != nullptr);
    const bool free = is_free(request);
    Setting setting{hook_, touch_, deadline, !automatic || by_lanes || seen.lanes,
                    free && seen.lanes};
    std::optional<SyncWatch> sync;
    if (checks(request, "sync")) setting.sync = &sync.emplace();
    std::optional<Profile> profile;
    if (checks(request, "perf")) {
      setting.profile = &profile.emplace(*request.program);
      setting.in_turn = false;  // costs are those of waves
    }
    std::optional<views::Memory> views;
    if (orders != nullptr) {
      setting.orders = orders;
      setting.in_turn = !race::in_lockstep(request);
      if (orders->weak) setting.views = &views.emplace(orders->random());
    }
    setting.resident = is_resident(request);
    std::optional<race::Watch> watch;
    if (checks_order(request)) setting.races = &watch.emplace(request);
    const auto collect = [&](LaunchResult& found) {
      if (sync) sync->collect(found);
      if (watch) watch->collect(found);
    };
    try {
      if (automatic && seen.groups && !by_lanes && orders == nullptr && !setting.resident &&
          request.grid.total() > 1)
        run_patient_groups(request, decoded, memory, setting, group_bytes(request, decoded),
                           result);
      else
        reference::run_groups(
            request, decoded, memory, setting,
            free && !seen.groups ? threads_for(group_bytes(request, decoded)) : Threads{}, result);
    } catch (guest::Ended& ended) {
      collect(ended.result);
      throw;
    }
    collect(result);
    if (watch && watch->looks && guest::policy_of(request, "race.touched") == "report")
      result.touched = touched_by(*watch, request, ranges);
    if (profile) result.profile = profile->json();
  }

  StepHook hook_;
  TouchHook touch_;
  EngineInfo info_;
  ReadyPrograms ready_;
  Pages arena_;
  std::vector<HostRange> mapped_;  ///< by map_host, sorted by address
};

}  // namespace

std::unique_ptr<Engine> make_engine(StepHook hook, TouchHook touch) {
  return std::make_unique<ReferenceEngine>(std::move(hook), std::move(touch));
}

}  // namespace lanewise::reference
