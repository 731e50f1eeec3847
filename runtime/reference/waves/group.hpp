// One work-group in execution: its waves, barriers and memory.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/reference/deadline.hpp"
#include "runtime/reference/decode.hpp"
#include "runtime/reference/lanes/handlers.hpp"
#include "runtime/reference/lanes/wave.hpp"
#include "runtime/reference/memory/memory.hpp"
#include "runtime/reference/memory/written.hpp"
#include "runtime/reference/reference.hpp"

namespace lanewise::trace {
struct WaveRecord;
}

namespace lanewise::reference {

namespace views {
struct Sort;
struct Thread;
class Memory;
}  // namespace views
namespace race {
class Clocks;
class Copies;
class Shadow;
struct Touched;
class Watch;
}  // namespace race
class Undefined;
struct UndefinedBits;
struct UndefinedOrigin;

struct Barrier {
  uint32_t arrived = 0;
  uint32_t gone = 0;               ///< of these, how many have been let out
  uint32_t wanted = 0;             ///< 0 = all lanes that have not ended
  uint32_t least = ~0U, most = 0;  ///< counts that lanes named, 0 taken as the whole group
  uint32_t voters = 0;
  uint32_t count = 0, all = 1, any = 0;  ///< of the predicates
};
inline constexpr uint32_t kBarriers = 16;
/// Back edges after which looping lanes give way, where they may wait for other groups.
inline constexpr uint64_t kResidentSlice = 128;

struct Lockstep;
class Orders;
class SyncWatch;
class Profile;

/// How the groups of a launch run.
struct Setting {
  const StepHook& hook;
  const TouchHook& touch;
  const Deadline& deadline;
  bool in_turn = true;  ///< lanes run one after another, each until it stops; else a wave at a time
  bool ahead = false;   ///< but together up to where others may see which comes first
  bool shared = false;  ///< other groups run at the same time
  bool resident = false;           ///< groups take turns, and may wait for each other
  Profile* profile = nullptr;      ///< takes what instructions cost
  SyncWatch* sync = nullptr;       ///< looks at barriers and member masks
  race::Watch* races = nullptr;    ///< looks for races
  Orders* orders = nullptr;        ///< says which lane goes on, from access to access
  views::Memory* views = nullptr;  ///< each lane sees stores at a time of its own
};

class Group {
 public:
  Group(const LaunchRequest& request, const DecodedProgram& program, const MemoryView& memory,
        const Setting& setting);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Runs the group to its end; false when the launch must be abandoned.
  bool run(const std::array<uint32_t, 3>& index);
  /// The same in turns: each lane runs until it waits, ends or gives way.
  void start(const std::array<uint32_t, 3>& index);
  bool take_turn();
  bool has_ended() const { return live_ == 0; }
  /// Turns in a row in which lanes went round loops, and none got anywhere else.
  uint32_t idle_turns() const { return idle_turns_; }
  /// Turns since a lane ended: loops that wait may have barriers and cross-lane operations.
  uint32_t turns_in_place() const { return turns_in_place_; }
  /// Other groups are there, which it may wait for: it gives way more often.
  void wait_for_others() { setting_.resident = true; }
  /// Nobody will come: its lanes do not give way any more, and use up their steps.
  void stop_waiting() { idle_ = request_.step_budget; }
  /// The same where the schedule chooses: one lane, or wave, makes its next access that others can
  /// see and runs up to the one behind it. The group began in that place; false: the launch must be
  /// abandoned.
  bool step(size_t slot);
  /// Lanes, or waves, that can make a step: bits.
  std::span<const uint64_t> runnable();
  /// From now on other groups run at the same time.
  void share() {
    setting_.shared = true;
    for (Wave& wave : waves_) wave.shared = true;
  }
  /// Appends the first fault of each lane that has one, the lowest lanes first; at most `capacity`
  /// of them. Returns how many there were.
  uint64_t collect(std::vector<Fault>& faults, size_t capacity);

 private:
  friend struct Control;
  friend class WaveWalk;
  friend bool find_range(Wave& wave, const Code* code);
  friend const Code* access_lanes(Wave& wave, const Code* code);

  /// Lanes of the running wave that stand together and wait for their turn.
  struct Apart {
    uint32_t rank, position;
    uint64_t lanes;
  };
  struct Aligned {
    void operator()(std::byte* p) const { ::operator delete[](p, std::align_val_t{64}); }
  };

  // group.cpp: the life of a group
  bool run_ready_lanes();
  void end(Wave& wave, uint64_t lanes);
  /// Fills in who and where.
  void record(Lane lane, Fault fault);
  /// The group's number in the grid.
  uint64_t number() const {
    const Dim3& grid = request_.grid;
    return (uint64_t{index_[2]} * grid.y + index_[1]) * grid.x + index_[0];
  }
  Lane lane_at(uint32_t linear) { return {waves_[linear / wave_lanes_], linear % wave_lanes_}; }

  // turns.cpp: a wave until each of its lanes waits, ends, or gives way
  void start_slice();
  uint64_t slice_length() const;
  void run_wave(Wave& wave);
  void run_ahead(Wave& wave);
  void run_lane(Wave& wave, uint32_t lane);
  void run_from(Wave& wave, uint32_t position, uint64_t lanes);
  void run_on(Wave& wave, const Code* code);
  const Code* take_next(Wave& wave);
  void set_apart(Wave& wave, uint32_t position, uint64_t lanes);
  void set_all_apart(Wave& wave, uint64_t lanes);
  static void note_steps(Wave& wave, uint64_t lanes);
  void set_headroom(Wave& wave);
  static void stop_at(Wave& wave, uint32_t position, uint64_t lanes);
  bool count_steps(Wave& wave, const Code& code);  ///< false: the budget was used up
  /// `here`: the lane's position; kNone where that is not known.
  bool count_step(Lane lane, uint32_t site, uint32_t here = ir::kNone);
  bool slice_goes_on();
  void use_up_slice(uint32_t lanes);

  // scheduled.cpp: steps of a schedule
  void advance_lane(Wave& wave, uint32_t lane);
  void advance_wave(Wave& wave);
  const Code* resume(Wave& wave, const Code* code);
  const Code* make_access(Wave& wave, const Code* code);
  bool settle(Wave& wave);
  void note_stores(Lane lane, const Code& code, const Located& at);

  // weak.cpp: accesses to memory of which each lane, or wave, has a view of its own
  struct Delayed {
    const Code* load = nullptr;   ///< null: no load of the lane is late
    const Code* limit = nullptr;  ///< where it must have been made
    std::byte* data = nullptr;
    std::vector<const Code*> copies;  ///< moves of its value, which are made with it
  };
  struct Views;
  views::Thread& viewer(Lane lane);
  void start_views();
  views::Sort sort_of(const Code& code, const std::byte* data) const;
  void access_views(Lane lane, const Code& code);
  void load_element(Lane lane, const Code& code, uint32_t element, std::byte* data);
  void store_element(Lane lane, const Code& code, uint32_t element, std::byte* data);
  void exchange_views(Lane lane, const Code& code, std::byte* data);
  bool delay_load(Lane lane, const Code& code);
  void make_late(Lane lane);
  bool overlaps_late(Lane lane, const Code& code) const;
  void meet_views(const Wave& wave, uint64_t lanes);
  void advance_late(Wave& wave, uint32_t lane);

  // barrier.cpp
  Barrier& named_barrier(uint32_t id, uint32_t count);
  void arrive(Lane lane, const Code& code);
  bool arrive_together(Wave& wave, uint64_t lanes, const Code& code);
  uint32_t opens(const Barrier& barrier) const;
  void open(uint32_t id, uint32_t lanes);
  bool open_barriers();
  void fail_waiting_lanes();

  // syncs.cpp: what is wrong with barriers and member masks
  struct Arrival {
    uint32_t lane, position;
  };
  void note_arrival(uint32_t id, Lane lane, const Code& code, uint32_t count);
  void judge_opening(uint32_t id, const Barrier& barrier, uint32_t lanes);
  void judge_members(Wave& wave, uint64_t participants);
  void judge_mbarrier(Lane lane, const Code& code, uint64_t state, uint64_t change);
  void add_sync(FaultKind kind, Lane lane, uint32_t site, Sync sync);
  static std::string names_of(std::vector<uint32_t> lanes);
  std::shared_ptr<const Sync> deadlock_at(uint32_t id) const;
  // stuck.cpp
  std::shared_ptr<const Sync> stuck_at_mbarrier(const Wave& running, uint32_t here);

  // costs.cpp
  void count_access(Wave& wave, const Code& code, uint64_t lanes);
  void count_arithmetic(const Code& code, uint64_t lanes);
  void count_branch(const Code& code, uint64_t active, uint64_t taken);

  // interpret.cpp: one lane
  void compute(Lane lane, const Code& code);
  uint64_t special_register(Lane lane, const Code& code) const;
  uint64_t read_clock(uint32_t lane) const;

  // access.cpp
  void access_memory(Lane lane, const Code& code);
  Access access_of(Lane lane, const Code& code) const;
  /// The active lanes' accesses all lie in one range that the group's lanes share; if need be
  /// another is looked for. Calls visit(lane, address) from the lowest lane on, maybe twice.
  template <typename Visit>
  static bool in_one_range(Wave& wave, const Code& code, Visit visit) {
    const auto all_fit = [&] {
      const Range r = wave.ranges[code.access];
      const Slot operand = code.src[0];
      if (r.data == nullptr || r.step != 0) return false;
      bool fit = true;
      for_each_lane(wave.mask, [&](uint32_t i) {
        const uint64_t address = code.address(wave.get(operand, i));
        fit = fit && r.holds(code, address);
        visit(i, address);
      });
      return fit;
    };
    return all_fit() || (find_range(wave, &code) && all_fit());
  }
  Located locate_access(Lane lane, const Code& code);
  /// Every byte of every access is looked at: whether it was written, or by who asked for it.
  bool looks_at_bytes() const { return !written_.empty() || setting_.touch; }

  // undefined.cpp: values that nobody has written, up to where something depends on them
  struct Bytes;
  friend const Code* access_followed(Wave& wave, const Code* code);
  bool all_written(Wave& wave, const Code& code);
  void follow(Lane lane, const Code& code);
  void follow_registers(Lane lane, const Code& code, bool unsure);
  void follow_access(Lane lane, const Code& code);
  void follow_wave_op(Wave& wave, uint64_t participants, uint64_t members);
  void follow_load(Lane lane, const Code& code, const Located& at, const Bytes& bytes);
  void follow_store(Lane lane, const Code& code, const Located& at, const Bytes& bytes);
  void follow_atomic(Lane lane, const Code& code, const Located& at, const Bytes& bytes);
  void look_at_bytes(Lane lane, const Code& code, const Located& at);
  void report_reads(Lane lane, const Code& code, const Located& at, const Bytes& bytes);
  void use(Lane lane, const Code& code, Slot slot, UndefinedUse how);
  void use(Lane lane, const Code& code, const UndefinedBits& value, UndefinedUse how);
  void move_bytes(Lane lane, const Code& code, std::byte* data);
  void exchange_elements(Lane lane, const Code& code, std::byte* data);
  uint64_t exchange(Lane lane, const Code& code, uint32_t element, std::byte* at);

  // races.cpp: what the check of races looks at
  friend const Code* access_watched(Wave& wave, const Code* code);
  bool watch_wave(Wave& wave, const Code& code);
  void watch_access(Lane lane, const Code& code);
  bool is_private(const std::byte* data) const;
  race::Touched touched(Lane lane, const Code& code) const;
  race::Shadow& shadow_of(const std::byte* data);
  void watch_words(const Code& code, const Located& at, const std::byte* before, race::Touched t);
  uint32_t watch_order(Lane lane, const Code& code, const std::byte* data, bool changed);
  void watch_fence(Wave& wave, const Code& code);
  void watch_meeting(Wave& wave, uint64_t lanes, const Code& code);
  void watch_barrier(uint32_t id, std::span<const uint32_t> lanes);
  void start_watch();

  // copies.cpp: what the check of asynchronous copies looks at
  friend const Code* note_copies(Wave& wave, const Code* code);
  void note_copy(Lane lane, const Code& code);
  void check_copies(uint32_t lane, const Code& code, const std::byte* data, uint64_t address);
  void end_phase(const std::byte* barrier, uint64_t before, uint64_t after);

  // events.cpp: what the cache tracker will be given
  void note_event(Lane lane, const Code& code);
  void flush_events();

  // exact.cpp: cache-exact mode, where waves go from access to access in step
  struct WaveAccess;
  bool step_waves();
  bool step_wave(Wave& wave);
  void run_access(WaveAccess& access);
  void bring_values(WaveAccess& access, trace::WaveRecord& record);
  static uint64_t event_address(Lane lane, const Code& code);
  static bool cached(const Code& code, uint64_t address);

  // wave.cpp
  struct Gathered;
  bool run_complete_wave_ops();
  bool run_complete_wave_ops(Wave& wave);
  bool run_partial_wave_ops();
  uint64_t lanes_at(Wave& wave, Lane first) const;
  int compare_places(Lane a, Lane b) const;
  bool is_complete(Wave& wave, Lane first, uint64_t here) const;
  bool none_below(Wave& wave, uint64_t lanes, Lane first) const;
  static uint64_t member_mask(Lane lane) { return member_mask(lane, lane.code()); }
  static uint64_t member_mask(Lane lane, const Code& code);
  static bool at_rendezvous(Lane lane) { return lane.code().rendezvous; }
  bool meet(Lane a, Lane b) const;
  bool meets_at_once(Wave& wave, const Code& code) const;
  void run_wave_op(Wave& wave, uint64_t participants);
  void finish_wave_op(Lane lane, const Code& code, const Gathered& gathered) const;
  static void shuffle(Lane lane, const Code& code, const Gathered& gathered);
  /// The lane that a shuffle reads, and whether that is in range.
  static uint32_t shuffle_source(Lane lane, const Code& code, bool& in_range);
  bool shuffle_all(Wave& wave, const Code& code);

  const LaunchRequest& request_;
  const DecodedProgram& program_;
  MemoryView memory_;
  Setting setting_;
  uint32_t wave_lanes_, lane_count_;
  std::vector<Wave> waves_;
  std::unique_ptr<std::byte[], Aligned> registers_;
  std::vector<Range> ranges_;
  std::vector<std::byte> shared_, local_;
  std::vector<Fault> faults_;
  std::vector<Written> written_;          ///< of both, where uninitialised reads are looked for
  std::unique_ptr<Undefined> undefined_;  ///< null: reads themselves are reported
  /// Sites of stores that copied what nobody had written, by the place in the host's memory.
  std::unordered_map<const std::byte*, uint32_t> copied_by_;
  std::vector<std::vector<uint32_t>> event_words_;  ///< by lane, when the launch is traced
  uint64_t event_count_ = 0;                        ///< words of all lanes
  std::vector<uint64_t> policies_;                  ///< by lane, in exact mode
  std::vector<uint64_t> clocks_;                    ///< by lane: instructions run
  mutable std::vector<uint32_t> clock_reads_;       ///< by lane
  std::vector<uint64_t> runnable_;                  ///< of runnable()
  std::array<Barrier, kBarriers> barriers_;
  std::array<std::vector<Arrival>, kBarriers> arrivals_;  ///< those of Barrier, for the check
  std::array<uint32_t, 3> index_{};
  std::array<Apart, kMaxWave> apart_{};  ///< the lowest rank is the last
  uint32_t apart_count_ = 0;
  uint32_t live_ = 0;
  mutable uint64_t slice_ = 0;  ///< back edges left until the running lanes give way
  uint64_t idle_ = 0;  ///< back edges of time slices used up since a lane of the group got anywhere
  uint32_t idle_turns_ = 0, turns_in_place_ = 0;
  bool abandoned_ = false;
  std::unique_ptr<Lockstep> lockstep_;         ///< null: no wave follows the tree
  std::unique_ptr<race::Clocks> race_clocks_;  ///< of the check of races
  std::unique_ptr<race::Shadow> race_shared_;
  std::shared_ptr<Views> views_;               ///< where each lane has a view of memory
  bool exact_ = false;                         ///< loads return what the modelled caches hold
  std::unique_ptr<race::Copies> race_copies_;  ///< of the check of asynchronous copies
};

}  // namespace lanewise::reference
