// Which accesses happened before which, among the lanes of one group, and what they know of other
// groups. Each act of synchronisation takes a tick of the group; an access carries the last tick of
// its lane. What a whole group or wave has met at is one number; lanes have rows of their own only
// where they met in parts.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::reference::race {

using Epoch = uint32_t;

/// Who made an access, and when. 16 bytes, as there are many.
struct Mark {
  static constexpr uint8_t kWrite = 1, kStrong = 2, kWide = 4, kAtomic = 8, kSwap = 16;
  uint32_t group = 0;  ///< number of the group, from 1 on; 0 = nobody
  Epoch epoch = 0;
  uint32_t site = 0;
  uint16_t lane = 0;
  uint8_t flags = 0;    ///< kWide: the scope of a strong access holds other groups; kSwap: cas
  uint8_t bytes = 0xf;  ///< of a word that a compare-and-swap has changed
  bool is(uint8_t flag) const { return (flags & flag) != 0; }
};

inline bool is_strong(const ir::Mem& mem) {
  return mem.order != ir::Order::weak;
}
/// Its scope holds other groups.
inline bool is_wide(const ir::Mem& mem) {
  return mem.scope != ir::Scope::cta || mem.order == ir::Order::volatile_;
}
/// Mark::flags but for kWrite.
uint8_t flags_of(const ir::Mem& mem, bool atomic);

/// Accesses of a group: those before `base`, and of each lane those up to its number.
struct Snapshot {
  uint32_t group = 0;
  Epoch base = 0;
  std::shared_ptr<const std::vector<Epoch>> lanes;
};
/// Sorted by group.
using Known = std::vector<Snapshot>;
void merge(Known& into, const Known& from);
bool covers(const Known& known, const Mark& mark);

/// What a place has been released with.
struct Object {
  Known all;  ///< for whoever acquires it
  Known own;  ///< for the group `group` alone
  uint32_t group = 0;
  uint32_t last = 0;     ///< the group that released it last
  uint64_t version = 0;  ///< another one in each release
};
using Objects = std::unordered_map<uint64_t, Object>;

class Clocks {
 public:
  /// `forgotten`: groups up to that number come before whatever asks, as too much was to be kept.
  Clocks(uint32_t lanes, uint32_t wave_lanes, uint32_t& forgotten);
  void start(uint32_t group);
  uint32_t group() const { return group_; }

  Epoch now(uint32_t lane) const {
    return std::max({clock_[lane], wave_base_[wave_of(lane)], base_});
  }
  /// What comes before all that the group, or the wave, does from now on has a lower number.
  Epoch base() const { return base_; }
  Epoch wave_base(uint32_t wave) const { return wave_base_[wave]; }
  /// Lanes know of each other what these two do not say.
  bool met_in_parts() const { return in_parts_; }
  bool ordered(const Mark& before, uint32_t lane) const;

  /// All lanes that have not ended have met.
  void meet_all();
  /// Some lanes of a wave have; `all`: all that have not ended.
  void meet_in_wave(uint32_t wave, uint64_t lanes, bool all);
  /// Lockstep: what the wave has done so far comes before what it does next.
  void step(uint32_t wave) { wave_base_[wave] = ++tick_; }
  /// At a barrier of some of the lanes: arrived without waiting; leave it.
  void arrive(uint32_t barrier, uint32_t lane);
  bool has_arrivals(uint32_t barrier) const { return !arrived_[barrier].empty(); }
  void meet_at(uint32_t barrier, std::span<const uint32_t> lanes);

  void fence(uint32_t lane, ir::Order order, ir::Scope scope);
  void acquire(uint32_t lane, const Object& from, bool wide, bool at_once);
  /// `ordered`: the access releases by itself; else a fence before it does. Nothing where none did.
  /// Returns the epoch that the releasing access has: what acquires it comes behind it, too.
  Epoch release(uint32_t lane, Object& to, bool wide, bool ordered, bool keep);
  bool releases(uint32_t lane, bool ordered) const;

  Objects shared;  ///< places in shared memory

 private:
  struct Own {
    std::unique_ptr<std::vector<Epoch>> row;  ///< of lanes of other waves
    Known known;                              ///< of other groups
    Known pending;                            ///< to be acquired by the next fence
    bool empty() const { return !row && known.empty() && pending.empty(); }
  };
  /// What the lane acquired last: whoever spins acquires the same again and again.
  struct Acquired {
    uint64_t version = 0;
    bool wide = false, at_once = false;
    bool operator==(const Acquired&) const = default;
  };
  uint32_t wave_of(uint32_t lane) const { return lane / wave_lanes_; }
  Epoch* near(uint32_t lane) { return near_.data() + size_t{lane} * wave_lanes_; }
  const Epoch* near(uint32_t lane) const { return near_.data() + size_t{lane} * wave_lanes_; }
  Known knowledge(uint32_t lane, Epoch own) const;
  void learn(uint32_t lane, const Known& what);
  void learn_pending(uint32_t lane);
  Epoch fenced(uint32_t lane, bool wide) const;

  uint32_t& forgotten_;
  uint32_t lanes_, wave_lanes_, group_ = 0;
  Epoch tick_ = 0, base_ = 0;
  bool in_parts_ = false;
  std::vector<Epoch> wave_base_, clock_;
  std::vector<Epoch> near_;  ///< [lane][lane of its wave]: known up to there
  std::vector<Own> own_;
  std::vector<Acquired> acquired_;           ///< [lane]
  std::vector<uint32_t> holders_;            ///< lanes whose Own may not be empty
  Known everywhere_;                         ///< of other groups, by all lanes
  std::vector<std::array<Epoch, 2>> fence_;  ///< [lane]: own epoch at its last fence, cta and wider
  std::array<Epoch, 2> group_fence_{};
  std::array<bool, 2> fence_seen_{};
  std::array<Known, 16> arrived_;
};

}  // namespace lanewise::reference::race
