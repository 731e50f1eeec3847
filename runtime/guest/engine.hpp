// What every execution engine (a Vulkan device, the CPU reference) offers to the layers above.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lanewise/policies.hpp"
#include "lanewise/types.hpp"
#include "runtime/ir/ir.hpp"

namespace lanewise::events {
class Collector;
struct Paths;
}  // namespace lanewise::events
namespace lanewise::guest {
class Unwritten;
}

namespace lanewise {

/// What barriers and member masks are used against (--check sync); `deadlock` is reported always.
enum class SyncKind : uint8_t {
  divergent_barrier,
  barrier_count,
  exited_lanes,
  mask_without_lane,
  lanes_missing,
  mbarrier,
  deadlock,
};

/// What the report of such a fault names beside its own lane. Lanes are those of the group, in text
/// ("0-15, 31").
struct Sync {
  struct Place {
    std::string lanes;
    uint32_t site = ir::kNone;  ///< where they wait; kNone: they have ended
    bool at_barrier = false;    ///< they wait at a barrier; else at an operation of their wave
  };
  SyncKind kind = SyncKind::deadlock;
  uint32_t barrier = 0, wanted = 0, came = 0;  ///< number and lanes
  std::string lanes;                           ///< whom the finding is about
  std::vector<Place> places;
  std::string what;  ///< of an mbarrier
  uint64_t times = 1;
};

enum class RaceAccess : uint8_t { load, store, atomic, copy_read, copy_write };
/// What would have ordered the two accesses of a race; the last ones an access and a copy.
enum class RaceRemedy : uint8_t {
  barrier,
  wave,
  one_lane,
  atomic,
  release,
  scope,
  copy_group,  ///< a wait of the lane for its group of cp.async
  bulk_group,
  bulk_read,
  phase,        ///< a wait for the phase of the copy's mbarrier
  behind_wait,  ///< there is a wait, and nothing orders the access behind it
};

/// What a fault of the kind data_race has beside its own access: the one that came before it, and
/// how often the two instructions met so.
struct Race {
  RaceAccess access = RaceAccess::load, other_access = RaceAccess::load;
  RaceRemedy remedy = RaceRemedy::barrier;
  bool same_value = false;  ///< every time a store of what was there already
  uint32_t other_site = ir::kNone;
  uint32_t other_group[3] = {0, 0, 0};
  uint32_t other_lane = 0;
  uint64_t before = 0, after = 0;  ///< of the word, at the store of the two that came last
  uint64_t times = 1;
};

/// How a value that nobody has written decides what happens (--check init): by the instruction of
/// the fault.
enum class UndefinedUse : uint8_t { branch, guard, address, store, atomic, operand };
/// What a fault of the kind uninitialised has beside the memory that was not written.
struct UndefinedValue {
  UndefinedUse use = UndefinedUse::branch;
  uint64_t bits = 0;               ///< of the register that depend on it
  bool computed = false;           ///< they are more than a copy of it
  uint32_t load_site = ir::kNone;  ///< where it was loaded, by the same lane or another of its wave
  uint32_t stored_by = ir::kNone;  ///< which store copied it there
};

/// What a fault that a search over schedules found has beside its own access, which is that of the
/// order `schedule`. Of an order_dependent: the first order's store to the same word.
struct OrderDependence {
  std::string schedule, first;  ///< as the policy `schedule` names them
  RaceAccess access = RaceAccess::store, other_access = RaceAccess::store;
  bool has_other = false;  ///< a lane of the first order stored there
  uint32_t other_site = ir::kNone;
  uint32_t other_group[3] = {0, 0, 0};
  uint32_t other_lane = 0;
  uint64_t before = 0, after = 0;  ///< what the first order's store leaves; what this one leaves
  uint64_t bytes = 0;              ///< that differ at the end of the launch
  uint64_t orders = 0;             ///< that were run
};

/// The first thing one lane did wrong. Engines report at most kMaxFaults per launch, the lowest
/// (group, lane) first; `count` in LaunchResult says how many lanes faulted in all.
struct Fault {
  FaultKind kind = FaultKind::none;
  uint32_t site = ir::kNone;  ///< index into Program::sites
  uint32_t group[3] = {0, 0, 0};
  uint32_t lane = 0;  ///< linear thread index in the group
  uint64_t address = 0;
  uint32_t size = 0;               ///< bytes of the access, 0 when it is none
  uint32_t parameter = ir::kNone;  ///< byte offset of the pointer that the access goes through
  std::shared_ptr<const Sync> sync = {};                 ///< of a barrier or a member mask
  std::shared_ptr<const Race> race = {};                 ///< of a data_race
  std::shared_ptr<const OrderDependence> order = {};     ///< of what a search over schedules found
  std::shared_ptr<const UndefinedValue> undefined = {};  ///< of an uninitialised value that is used
};
inline constexpr uint32_t kMaxFaults = 64;

/// A mapped range of the arena, for --memcheck alloc and for fault reports.
struct Allocation {
  uint64_t address = 0;
  uint64_t size = 0;
  std::string name;
  bool read_only = false;
};

/// Memory of the host that a guest reaches outside the arena. The reference engine alone can lend
/// it at the host's own addresses.
struct HostRange {
  uint64_t address = 0;
  uint64_t size = 0;
  bool read_only = false;
  std::byte* data = nullptr;  ///< null = it lies at `address` in the host, too
};

/// How the reference engine runs the lanes of a wave (docs/execution.md); others have their own
/// order.
enum class WaveSchedule : uint8_t {
  automatic,   ///< as LANEWISE_SCHEDULE (the environment) says; else as fast as nobody can see it
  until_stop,  ///< one after another, each until it stops
  lockstep,    ///< together, over the structured tree
};

struct LaunchRequest {
  const ir::Program* program = nullptr;  ///< symbols already bound
  /// Not 0: whatever launch of this process has the same number has an equal program. Engines keep
  /// what they make of it.
  uint64_t program_id = 0;
  Dim3 grid, block;
  uint32_t dynamic_shared = 0;
  std::vector<std::byte> params;  ///< the parameter block, laid out as Program::params says
  uint64_t param_address = 0;     ///< where a copy of it lies in the arena
  /// Bytes of the arena that loads and stores may reach; all that is reserved where that is less.
  /// Between the two ends lie the parameters of a program that asks for their address.
  uint64_t readable = ~uint64_t{0}, writable = ~uint64_t{0};
  /// What the host keeps for the launch: loads and stores of Space::code reach it by offset, and no
  /// access of a guest does. It is brought in before the launch and back behind it.
  std::span<std::byte> record;
  std::span<const Allocation> allocations;  ///< sorted by address
  Memcheck memcheck = Memcheck::arena;
  /// With Memcheck::alloc, accesses through a pointer parameter (ir/passes/memory/pointers.hpp) are
  /// held against the allocation that it points into.
  bool pointers = true;
  WaveMode wave = WaveMode::automatic;
  WaveSchedule schedule = WaveSchedule::automatic;
  bool last_group_first = false;  ///< groups in reverse order; only the reference engine does that
  uint64_t step_budget = uint64_t{1} << 26;   ///< loop back edges one lane may take; all ones = any
  double timeout_seconds = 0;                 ///< 0 = none
  const std::atomic<bool>* cancel = nullptr;  ///< true ends the launch; null = nobody asks
  std::span<const HostRange> host_ranges;     ///< sorted by address
  bool imported = false;                      ///< some allocations are imported memory (layout.hpp)
  PoliciesInForce policies;                   ///< names and values as --policy takes them
  /// Addresses of allocations that hold no results: the runtime's own.
  std::vector<uint64_t> own_allocations;
  /// Where kernels leave what they ask of the host (HIP's hostcall), 0 = nowhere: both sides follow
  /// a protocol there, which checks of the guest know nothing of.
  uint64_t services = 0;
  /// Takes the memory events of traced instructions (Inst::event); null = nothing is traced.
  events::Collector* events = nullptr;
  /// `program` without trace points, and its number, for engines that need not record what can be
  /// derived; null = not at hand.
  const ir::Program* untraced = nullptr;
  uint64_t untraced_id = 0;
  /// Bytes that traced accesses may reach, from the arena's start on (extent()); engines say it to
  /// themselves.
  uint64_t traced_extent = 0;
  /// Global memory that nobody has written yet: a launch with the policy `check` asks and updates
  /// it, after any other it is empty. Null = all memory is written.
  guest::Unwritten* unwritten = nullptr;
};

/// Global memory that a launch touched, as the check of races has seen it: bytes of which the same
/// instructions made the last load and the last store.
struct TouchedRange {
  uint64_t address = 0, bytes = 0;
  uint32_t load_site = ir::kNone, store_site = ir::kNone;  ///< kNone: there was none
  /// Atomics and other strong accesses, whose scope holds other launches.
  bool strong_load = false, strong_store = false;
  bool same_value = false;  ///< the store found its own value in place

  bool continues(const TouchedRange& other) const {
    return other.address + other.bytes == address && other.load_site == load_site &&
           other.store_site == store_site && other.strong_load == strong_load &&
           other.strong_store == strong_store && other.same_value == same_value;
  }
};

struct LaunchTimes {
  double translate_ms = 0, pipeline_ms = 0, dispatch_ms = 0;
};

struct LaunchResult {
  std::vector<Fault> faults;  ///< sorted by group, then lane
  uint64_t fault_count = 0;
  LaunchTimes times;
  std::string wave_mode;              ///< "lane", "packed" or "serial"
  std::string wave_reason;            ///< why
  std::string profile;                ///< JSON, of the check perf
  std::vector<TouchedRange> touched;  ///< of the check race; sorted by address
};

/// The policy `check` is a list of kinds, separated by commas.
inline bool lists_check(const PoliciesInForce& policies, std::string_view kind) {
  const auto check = policies.find("check");
  std::string_view left = check != policies.end() ? check->second : std::string_view();
  while (!left.empty()) {
    const size_t comma = left.find(',');
    if (left.substr(0, comma) == kind) return true;
    left = comma == std::string_view::npos ? std::string_view() : left.substr(comma + 1);
  }
  return false;
}
inline bool checks(const LaunchRequest& request, std::string_view kind) {
  return lists_check(request.policies, kind);
}
/// Reads of what nobody wrote are faults (--check init).
inline bool checks_written(const LaunchRequest& request) {
  return checks(request, "init");
}

/// They are followed to where something depends on them (the policy init.report). The reference
/// engine alone does that.
inline bool follows_unwritten(const LaunchRequest& request) {
  const auto how = request.policies.find("init.report");
  return checks_written(request) && (how == request.policies.end() || how->second == "use");
}

/// Races are faults (--check race).
inline bool checks_races(const LaunchRequest& request) {
  return checks(request, "race");
}

/// Accesses to what asynchronous copies have still to read or write are faults (--check async).
inline bool checks_copies(const LaunchRequest& request) {
  return checks(request, "async");
}

/// A launch among others.
struct LaunchOutcome {
  LaunchResult result;
  std::exception_ptr error;  ///< what launch() would have thrown; null = nothing
};

struct EngineInfo {
  std::string name;    ///< device name, or "reference"
  std::string driver;  ///< driver name and version
  std::string tier;    ///< "T0" "T1" "T2" or "cpu"
  std::string type;    ///< "discrete" "integrated" "virtual" "cpu" "reference"
  uint32_t subgroup_size = 0;
  uint32_t max_invocations = 0;  ///< per work-group
  uint32_t max_shared = 0;
  uint64_t max_arena = 0;
  std::string profile;  ///< of a device that compiles and runs nothing: what is assumed of it
  bool int64 = false, int16 = false, int8 = false, float16 = false, float64 = false;
};

/// What a launch would run on a device.
struct Translated {
  std::vector<uint32_t> words;
  std::string wave_mode, wave_reason;  ///< as in LaunchResult
};

/// Owns the arena's bytes and runs kernels on them. One thread at a time (api/state.hpp sees to
/// it).
class Engine {
 public:
  virtual ~Engine() = default;
  virtual const EngineInfo& info() const = 0;
  /// Makes [kArenaBase, kArenaBase + bytes) usable; contents are kept, new bytes are zero.
  /// Throws Error(device) with both sizes when the device cannot hold that much.
  virtual void reserve(uint64_t bytes) = 0;
  /// Host access to the arena; address and size must lie inside what was reserved.
  virtual void write(uint64_t address, std::span<const std::byte> data) = 0;
  virtual void read(uint64_t address, std::span<std::byte> data) = 0;
  /// Runs the kernel to its end. Guest faults are in the result; host trouble throws Error
  /// (guest: cannot be translated, with the reason; device: driver failure; budget: timeout).
  virtual LaunchResult launch(const LaunchRequest& request) = 0;
  /// Several launches, each after the one before, and what launch() would do for each of them. A
  /// device may take short ones in one submission.
  virtual std::vector<LaunchOutcome> launch_in_turn(std::span<const LaunchRequest> requests) {
    std::vector<LaunchOutcome> out;
    for (const LaunchRequest& r : requests) out.push_back(launch_caught(r));
    return out;
  }
  /// Lets guests reach memory of the host in place, from the address (of kImportedBase and up) on
  /// until unmap(). False: this engine cannot; the memory is to be copied.
  virtual bool map_host(uint64_t /*address*/, std::span<std::byte> /*memory*/) { return false; }
  virtual void unmap(uint64_t /*address*/) {}
  /// What this engine would run for the request; no words when it runs no SPIR-V.
  virtual Translated translate(const LaunchRequest&) { return {}; }

 protected:
  LaunchOutcome launch_caught(const LaunchRequest& request) {
    try {
      return {launch(request), nullptr};
    } catch (...) {
      return {{}, std::current_exception()};
    }
  }
};

}  // namespace lanewise
