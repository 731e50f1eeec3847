// One work-group in execution: its lanes, their registers, barriers and waves.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/reference/deadline.hpp"
#include "runtime/reference/decode.hpp"
#include "runtime/reference/memory/memory.hpp"
#include "runtime/reference/memory/written.hpp"
#include "runtime/reference/reference.hpp"

namespace lanewise::trace {
struct WaveRecord;
}

namespace lanewise::reference {

enum class LaneState : uint8_t { ready, at_wave, at_barrier, at_access, ended };

struct Lane {
  uint64_t* r = nullptr;  ///< registers, then constants
  uint32_t position = 0;  ///< index into DecodedProgram::codes
  LaneState state = LaneState::ready;
  bool faulted = false;
  uint32_t linear = 0, in_wave = 0;
  uint32_t barrier = 0;  ///< id, when at_barrier
  uint32_t ticket = 0;   ///< how many had arrived there before
  uint64_t steps = 0;    ///< back edges taken
  uint64_t clock = 0;    ///< instructions run
  Fault fault;
};

struct Barrier {
  uint32_t arrived = 0;
  uint32_t gone = 0;               ///< of these, how many have been let out
  uint32_t wanted = 0;             ///< 0 = all lanes that have not ended
  uint32_t least = ~0U, most = 0;  ///< counts that lanes named, 0 taken as the whole group
  uint32_t voters = 0;
  uint32_t count = 0, all = 1, any = 0;  ///< of the predicates
};
inline constexpr uint32_t kBarriers = 16;
inline constexpr uint32_t kMaxWave = 64;

class Lockstep;

class Group {
 public:
  Group(const LaunchRequest& request, const DecodedProgram& program, const MemoryView& memory,
        const StepHook& hook, const TouchHook& touch, const Deadline& deadline);
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  /// Runs the group to its end; false when the launch must be abandoned.
  bool run(const std::array<uint32_t, 3>& index);
  /// Appends the first fault of each lane that has one; at most `capacity` of them. Returns how
  /// many there were.
  uint64_t collect(std::vector<Fault>& faults, size_t capacity) const;

 private:
  // group.cpp: the life of a group
  void start(const std::array<uint32_t, 3>& index);
  bool run_ready_lanes();
  bool run_ready_waves();
  void end(Lane& lane);
  /// Fills in who and where.
  void record(Lane& lane, Fault fault);
  void record(Lane& lane, FaultKind kind, uint32_t site) {
    record(lane, {.kind = kind, .site = site});
  }

  // barrier.cpp
  void arrive(Lane& lane, const Code& code);
  uint32_t opens(const Barrier& barrier) const;
  void open(uint32_t id, uint32_t lanes);
  bool open_barriers();
  void fail_waiting_lanes();

  // interpret.cpp: one lane until it waits, ends, or gives way
  void start_slice();
  void run_lane(Lane& lane);
  bool step(Lane& lane, const Code& code);
  bool step_in_wave(Lane& lane);
  bool count_step(Lane& lane, uint32_t site);  ///< false: the budget was used up
  bool slice_goes_on();
  bool transfer(Lane& lane, const Code& code);  ///< true while the lane may go on
  bool jump(Lane& lane, const Code& code, uint32_t target);
  void compute(Lane& lane, const Code& code);
  void narrow(const Code& code, uint64_t* r) const;
  void convert(const Code& code, uint64_t* r) const;
  void convert_format(const Lane& lane, const Code& code) const;
  void buffer_address_of(const Lane& lane, const Code& code) const;
  void access_memory(Lane& lane, const Code& code);
  Located locate_access(Lane& lane, const Code& code);
  void check_written(Lane& lane, const Code& code, const Located& at);
  void move_bytes(Lane& lane, const Code& code, std::byte* data);
  static void store_elements(const Code& code, const uint64_t* r, std::byte* data);
  static void exchange_elements(const Code& code, uint64_t* r, std::byte* data);
  uint64_t special_register(const Lane& lane, ir::SReg reg) const;

  // events.cpp: what the cache tracker will be given
  void note_event(const Lane& lane, const Code& code);
  void flush_events();

  // exact.cpp: cache-exact mode, where waves go from access to access in step
  struct WaveAccess;
  bool step_waves();
  bool step_wave(uint32_t wave);
  void run_access(WaveAccess& access);
  void bring_values(WaveAccess& access, trace::WaveRecord& record);
  uint64_t event_address(const Lane& lane, const Code& code) const;
  bool cached(const Code& code, uint64_t address) const;

  // wave.cpp
  friend class WaveWalk;
  struct Gathered;
  bool run_complete_wave_ops();
  bool run_partial_wave_ops();
  uint64_t lanes_at(uint32_t wave, const Lane& first) const;
  int compare_places(const Lane& a, const Lane& b) const;
  bool is_complete(uint32_t wave, const Lane& first, uint64_t here, uint64_t live) const;
  bool none_below(uint32_t wave, uint64_t lanes, const Lane& first) const;
  uint64_t member_mask(const Lane& lane) const;
  bool at_rendezvous(const Lane& lane) const;
  bool meet(const Lane& a, const Lane& b) const;
  uint64_t waiting_mask(uint32_t wave) const;
  uint64_t live_mask(uint32_t wave) const;
  Lane& lane_of(uint32_t wave, uint32_t in_wave) { return lanes_[wave * wave_lanes_ + in_wave]; }
  const Lane& lane_of(uint32_t wave, uint32_t in_wave) const {
    return lanes_[wave * wave_lanes_ + in_wave];
  }
  void run_wave_op(uint32_t wave, uint64_t participants);
  void finish_wave_op(Lane& lane, const Code& code, const Gathered& gathered);
  void shuffle(Lane& lane, const Code& code, const Gathered& gathered);

  const LaunchRequest& request_;
  const DecodedProgram& program_;
  MemoryView memory_;
  const StepHook& hook_;
  const TouchHook& touch_;
  const Deadline& deadline_;
  uint32_t wave_lanes_, waves_;
  uint32_t local_bytes_;
  std::vector<Lane> lanes_;
  std::vector<uint64_t> registers_;
  std::vector<std::byte> shared_, local_;
  std::vector<Written> written_;  ///< of both, where uninitialised reads are looked for
  std::vector<std::vector<uint32_t>> event_words_;  ///< by lane, when the launch is traced
  uint64_t event_count_ = 0;                        ///< words of all lanes
  std::vector<uint64_t> policies_;                  ///< by lane, in exact mode
  std::array<Barrier, kBarriers> barriers_;
  std::array<uint32_t, 3> index_{};
  uint32_t live_ = 0;
  uint64_t slice_ = 0;  ///< back edges left until the running lane gives way
  uint64_t idle_ = 0;  ///< back edges of time slices used up since a lane of the group got anywhere
  bool abandoned_ = false;
  std::unique_ptr<Lockstep> lockstep_;  ///< null: lanes run one after another, each until it stops
  bool exact_ = false;                  ///< loads return what the modelled caches hold
};

}  // namespace lanewise::reference
