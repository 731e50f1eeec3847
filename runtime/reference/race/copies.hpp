// Asynchronous copies of a group that not everybody may rely on yet (--check async): the bytes that
// each has to read or to write, and who has waited for it. An access that is not ordered behind a
// wait is a finding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "runtime/reference/race/clocks.hpp"
#include "runtime/reference/race/watch.hpp"

namespace lanewise::reference::race {

/// The launch asks for the check, and there are copies.
bool watches_copies(const LaunchRequest& request);

/// Where bytes lie in the host's memory.
inline uint64_t place_of(const std::byte* data) {
  return reinterpret_cast<uintptr_t>(data);
}

/// Bytes that a lane reads or writes, by itself or by a copy that it starts.
struct Span {
  uint64_t place = 0;    ///< place_of() the first
  uint64_t address = 0;  ///< as the guest has it
  uint64_t bytes = 0;
  bool shared = false;  ///< memory of the group
};

class Copies {
 public:
  Copies(Watch& watch, const Clocks& clocks, uint32_t lanes)
      : watch_(watch), clocks_(clocks), lanes_(lanes) {}
  void start(const std::array<uint32_t, 3>& group);

  /// A copy that the lane starts; held against those before it.
  void add(uint32_t lane, uint32_t site, ir::AsyncKind kind, const Span& span, ir::AsyncNote does);
  void commit(uint32_t lane, ir::AsyncKind kind);
  void wait(uint32_t lane, ir::AsyncKind kind, uint64_t younger, bool reads_only);
  /// What the lane has started completes the current phase of the mbarrier.
  void track(uint32_t lane, ir::AsyncKind kind, uint64_t barrier);
  void end_phase(uint64_t barrier) { ++barriers_[barrier].phase; }
  /// The lane has seen that the phase before the current one has ended.
  void pass(uint32_t lane, uint64_t barrier);
  /// All lanes that have not ended have met.
  void meet_all();

  void access(uint32_t lane, uint32_t site, const Span& span, RaceAccess access);

 private:
  struct Copy {
    Span span;
    uint64_t number = 0;  ///< from 1 on; 0: there is none here
    uint32_t lane = 0, site = 0;
    uint32_t group = 0;  ///< of the lane's groups of that kind
    ir::AsyncKind kind = ir::AsyncKind::lane;
    bool writes = false, reduces = false;
    uint64_t look = 0;                                  ///< the last look-up that came across it
    Mark waited;                                        ///< by its lane
    std::vector<std::pair<uint64_t, uint64_t>> phases;  ///< mbarriers that complete behind it
  };
  /// A copy that may be gone.
  struct Ref {
    uint32_t slot = 0;
    uint64_t number = 0;
  };
  /// Who has seen the end of a phase first, and of which lane that is known.
  struct Passed {
    std::vector<Mark> marks;
    std::vector<bool> by;
  };
  struct Barrier {
    uint64_t phase = 0;
    std::vector<Passed> passed;  ///< [phase]
    std::vector<Ref> reads;      ///< copies whose sources it frees
  };
  struct OfLane {
    uint32_t open = 0;
    /// Those that no wait for groups was for, or that no mbarrier has got; some may be gone.
    std::vector<Ref> copies;
  };
  /// Copies by their bytes: those of shared memory, and the others.
  struct Places {
    struct Entry {
      uint64_t place, end;
      uint32_t slot;
    };
    static constexpr unsigned kShift = 5;  ///< bytes that are looked up together
    std::unordered_map<uint64_t, std::vector<Entry>> near;
    uint64_t low = 0, high = 0;  ///< all bytes lie between
  };

  Copy* find(const Ref& ref) {
    Copy& copy = copies_[ref.slot];
    return copy.number == ref.number ? &copy : nullptr;
  }
  /// Those that share bytes with the span.
  template <typename Visit>
  void each_under(const Span& span, const Visit& visit);
  uint32_t new_slot();
  void remove(uint32_t slot);
  bool is_done(const Copy& copy, uint32_t lane) const;
  bool is_done_for_all(const Copy& copy) const;
  void report(const Copy& copy, uint32_t lane, uint32_t site, const Span& span, RaceAccess access);
  OfLane& of(uint32_t lane, ir::AsyncKind kind) {
    return of_lanes_[size_t{lane} * 3 + static_cast<size_t>(kind)];
  }

  Watch& watch_;
  const Clocks& clocks_;
  uint32_t lanes_;
  std::array<uint32_t, 3> group_{};
  std::vector<Copy> copies_;
  std::vector<uint32_t> free_;  ///< their slots without a copy
  std::array<Places, 2> places_;
  std::unordered_map<uint64_t, Barrier> barriers_;
  std::vector<OfLane> of_lanes_;
  uint64_t count_ = 0, look_ = 0;
};

}  // namespace lanewise::reference::race
