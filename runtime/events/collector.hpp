// Between the engines, which say what each lane did, and the sinks of a trace, which take what each
// wave did. One Collector serves any number of launches; memory use does not grow with them.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "runtime/events/lane_stream.hpp"
#include "runtime/events/plan.hpp"
#include "runtime/guest/engine.hpp"
#include "runtime/guest/pointer_bounds.hpp"
#include "runtime/support/error.hpp"
#include "runtime/trace/exact.hpp"

namespace lanewise::events {

class GroupAssembly;
struct Paths;

/// Takes the events of groups as lanes have written them, in place of a sink.
class GroupReader {
 public:
  virtual ~GroupReader() = default;
  virtual void begin(const LaunchRequest& request) = 0;
  virtual void group(uint64_t linear, std::span<const LaneWords> lanes) = 0;
};

inline constexpr uint64_t kDefaultBufferBytes = uint64_t{64} << 20;

/// The events of one group do not fit: Error(budget) that names the option to raise.
Error buffer_too_small(const ir::Program& program, uint64_t buffer_bytes);

class Collector {
 public:
  /// buffer_bytes: what an engine may keep before it hands events over.
  explicit Collector(trace::Sink& sink, uint64_t buffer_bytes = kDefaultBufferBytes)
      : sink_(sink), buffer_bytes_(buffer_bytes) {}
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  /// The file that the guest's lines are lines of, where no .loc names another.
  void set_input(const std::string& file) { input_ = file; }
  /// Numbers the trace points of the program about to be launched.
  void number_points(ir::Program& program) { plan_ = number(program); }
  /// The program's points are these, and go to the reader. Nothing is derived.
  void set_reader(Plan plan, GroupReader* reader) {
    plan_ = std::move(plan);
    reader_ = reader;
    derives_ = false;
  }
  const Plan& plan() const { return plan_; }
  uint64_t buffer_bytes() const { return buffer_bytes_; }

  void begin(const LaunchRequest& request, uint64_t arena_size);
  /// The lanes of one work-group, all of them, in order. Groups come in linear order.
  void group(uint64_t linear, std::span<const LaneWords> lanes);
  /// What every lane of the launch will do, where that depends on no memory (derive/paths.hpp);
  /// null = it has to be recorded.
  std::shared_ptr<const Paths> paths_of(const LaunchRequest& request, uint64_t arena_size) const;
  /// All groups of such a launch, until `stop`.
  void groups(const LaunchRequest& request, const Paths& paths, const std::atomic<bool>& stop);
  /// False: every launch is recorded.
  void set_derives(bool derives) { derives_ = derives; }
  void end();

  /// Launches on the reference engine get their memory from here; null = from the arena.
  void set_exact(trace::ExactMemory* memory) { exact_ = memory; }
  trace::ExactMemory* exact() const { return exact_; }
  /// A record for the point with the lanes of the mask, not yet executed (exact mode).
  trace::WaveRecord& exact_record(uint64_t group, uint16_t wave, uint32_t point, uint64_t policy,
                                  uint64_t mask, std::span<const uint64_t> addresses);
  /// Executes that record and notifies the sink.
  std::vector<uint8_t> execute();

  void host_write(uint64_t address, uint64_t size) {
    host(trace::EventKind::host_write, address, size);
  }
  void host_read(uint64_t address, uint64_t size) {
    host(trace::EventKind::host_read, address, size);
  }
  /// Can the lane have touched these bytes? The checks are those of docs/execution.md.
  bool touches(const Point& p, uint64_t address) const;
  uint64_t records() const { return records_; }
  uint64_t lane_accesses() const { return lane_accesses_; }

 private:
  friend class GroupAssembly;
  friend class PathGroups;
  friend class Emitter;
  void host(trace::EventKind kind, uint64_t address, uint64_t size);
  void announce_buffers(std::span<const Allocation> allocations);
  void announce_kernel(const LaunchRequest& request);
  /// The site of an access at this point, by its policy word where that is known at run time only.
  uint32_t site_of(const Point& p, uint64_t policy);
  /// touches() of all addresses from one to the other.
  bool touches_between(const Point& p, uint64_t first, uint64_t last) const;

  trace::Sink& sink_;
  uint64_t buffer_bytes_;
  std::string input_;
  Plan plan_;
  std::map<uint64_t, std::pair<uint64_t, std::string>> announced_;  ///< address: size, name
  uint32_t kernels_ = 0, sites_ = 0;
  uint64_t records_ = 0, lane_accesses_ = 0;
  // Of the launch that runs:
  uint32_t kernel_ = 0, first_site_ = 0;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> hinted_;  ///< site of the plan, word: site
  uint32_t wave_lanes_ = 32;
  uint64_t arena_size_ = 0, local_bytes_ = 0, param_bytes_ = 0;
  Memcheck memcheck_ = Memcheck::arena;
  std::span<const Allocation> allocations_;
  std::vector<guest::PointerBounds> pointers_;  ///< of Plan::pointers; empty = not looked at
  trace::Event event_;                          ///< reused
  trace::ExactMemory* exact_ = nullptr;
  GroupReader* reader_ = nullptr;
  bool derives_ = true;
  std::shared_ptr<GroupAssembly>
      assembly_;  ///< made for the first group, with capacity for the next
};

}  // namespace lanewise::events
