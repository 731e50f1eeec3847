// Which lane runs next: the order that belongs to a seed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace lanewise::reference {

class StoreLog;

/// A small generator of its own, so that a seed means one order on every host.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next();
  uint64_t below(uint64_t bound) { return bound < 2 ? 0 : next() % bound; }
  /// True once in 2^shift times.
  bool once_in(uint32_t shift) { return (next() >> 20 & ((uint64_t{1} << shift) - 1)) == 0; }

 private:
  uint64_t state_;
};

/// Threads are lanes, or waves where these run in step. They run from one access that others can
/// see to the next. The first seeds are adversarial orders, the others are drawn: priorities that
/// are lowered at random accesses, and walks that choose anew at each access or at some.
class Orders {
 public:
  /// With `weak` each thread sees stores at a time of its own, but in the order of the seed 0.
  Orders(uint64_t seed, uint64_t groups, bool weak);

  /// The n-th group to begin.
  uint64_t group_at(uint64_t n);
  /// A group with these threads begins in that place of those that run at the same time.
  void begin(size_t slot, uint64_t group, std::span<const uint64_t> threads);
  void end(size_t slot);
  /// Which group makes the next step. One of them is alive.
  size_t pick_group();
  /// Which of its threads, a bit of the masks.
  uint32_t pick(size_t slot, std::span<const uint64_t> runnable);
  /// The thread waits or has ended: another one is chosen.
  void stopped(size_t slot) { slots_[slot].current = kNobody; }

  /// In which order the lanes of a wave that runs in step make one access.
  void arrange(std::span<uint32_t> lanes);
  Random& random() { return random_; }

  const bool weak;
  StoreLog* log = nullptr;  ///< takes the stores to words that are looked at

 private:
  static constexpr uint32_t kNobody = ~0U;
  enum class Walk : uint8_t { priority, turns, random };
  enum class Base : uint8_t { forward, backward, shuffled };
  struct Slot {
    bool live = false;
    uint64_t rank = 0;  ///< the lowest runs first
    uint32_t current = kNobody, streak = 0;
    std::vector<uint64_t> ranks;  ///< of threads
  };

  uint64_t rank_of(Base base, uint64_t number) const;
  void draw_style(uint64_t seed);
  void lower(size_t slot, bool whole_group);
  uint32_t random_of(std::span<const uint64_t> runnable);
  uint32_t next_of(std::span<const uint64_t> runnable, uint32_t current) const;
  static uint32_t first_of(const Slot& slot, std::span<const uint64_t> runnable);

  Random random_;
  uint64_t seed_, groups_;
  Walk walk_ = Walk::priority;
  Base base_ = Base::forward;
  uint32_t rarity_ = 64;  ///< a thread is interrupted at one of 2^rarity accesses; 64 = at none
  /// Adversarial orders: one thread, or one group, runs only when no other can.
  enum class Behind : uint8_t { nobody, first_thread, last_thread, any_thread, first_group };
  Behind behind_ = Behind::nobody;
  uint64_t lowered_;  ///< ranks given to who was interrupted
  std::vector<Slot> slots_;
  size_t group_ = 0;      ///< the slot of the last step
  bool settled_ = false;  ///< it has the lowest rank
  std::vector<uint64_t> block_;
  uint64_t block_first_ = ~uint64_t{0};
};

}  // namespace lanewise::reference
