// Looks for races of a launch: each word of memory remembers who wrote it last and who has read it
// since, and an access that is not ordered behind what it conflicts with is a finding.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "runtime/guest/engine.hpp"
#include "runtime/reference/lanes/wave.hpp"
#include "runtime/reference/race/clocks.hpp"

namespace lanewise::reference::race {

/// Lanes of a wave go from one instruction to the next together, and do not run each by itself.
bool in_lockstep(const LaunchRequest& request);

/// Of the lane's access.
Fault fault_at(const std::array<uint32_t, 3>& group, uint32_t lane, uint32_t site, uint64_t address,
               uint64_t size);

/// What is known of a word, or of one byte where accesses divide it.
struct Cell {
  Mark writer;
  std::array<Mark, 2> readers;  ///< of different waves where there are such
  uint32_t before = 0;          ///< what the last store found
  uint32_t split = 0;           ///< not 0: its bytes are in Shadow::split[split - 1]
};

/// Cells of the words that somebody has touched, a page at a time.
class Shadow {
 public:
  /// `own`: of a group; what another one left there is nothing.
  Shadow(uint64_t most_pages, bool own) : own(own), most_(most_pages) {}
  /// `word`: address / 4.
  Cell& at(uint64_t word) {
    const uint64_t n = word / kWords;
    const Recent& recent = recent_[n % recent_.size()];
    return (*(recent.number == n ? recent.page : find(n)))[word % kWords];
  }
  std::array<Cell, 4>& bytes_of(Cell& cell);
  /// What is known of each byte or word, in the order of their places in the host's memory.
  template <typename Each>
  void each(const Each& each) const;
  const bool own;

 private:
  static constexpr uint64_t kWords = 512;
  using Page = std::array<Cell, kWords>;
  struct Recent {
    uint64_t number = ~uint64_t{0};
    Page* page = nullptr;
  };
  Page* find(uint64_t number);
  void forget();

  uint64_t most_;
  std::array<Recent, 64> recent_{};
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
  std::vector<std::array<Cell, 4>> split_;
};

/// One access of a lane to bytes of one word.
struct Touched {
  Mark mark;
  uint64_t address = 0;  ///< as the guest has it
  uint32_t before = 0, after = 0;
  uint8_t first = 0, bytes = 4;  ///< of the word
  uint32_t size = 0;             ///< of the whole access
};

/// One plain word of each lane of a wave, and where it lies in the host's memory.
struct WaveWords {
  uint32_t wave = 0, first = 0;  ///< its number; its first lane's
  uint64_t lanes = 0;
  uint32_t size = 0;          ///< bytes of a lane's whole access
  std::byte* data[kMaxWave];  ///< [lane of the wave]
  uint64_t address[kMaxWave];
  uint32_t stored[kMaxWave];
};

class Watch {
 public:
  explicit Watch(const LaunchRequest& request);
  /// A group starts; its number.
  uint32_t add_group(const std::array<uint32_t, 3>& index);
  void touch(Shadow& shadow, uint64_t word, const Clocks& clocks, const Touched& touched);
  /// Of loads; or of stores, which it makes, too.
  void load(Shadow& shadow, const Clocks& clocks, const WaveWords& words, Mark mark) {
    touch_wave<false>(shadow, clocks, words, mark);
  }
  void store(Shadow& shadow, const Clocks& clocks, const WaveWords& words, Mark mark) {
    touch_wave<true>(shadow, clocks, words, mark);
  }
  /// Pairs of accesses, the first before the second, that may be ordered by what nobody has seen.
  void excuse(std::function<bool(const Mark&, const Mark&)> pairs) { excused_ = std::move(pairs); }
  /// Two sites and kinds of accesses: one finding.
  using Key = std::tuple<uint32_t, uint32_t, RaceAccess, RaceAccess>;
  /// Its number.
  size_t add(const Key& key, Fault fault, const Race& race);
  /// Appends the races, those that were found first in front.
  void collect(LaunchResult& result) const;
  /// Global memory that was touched; `address_of`: of a byte of the host's memory.
  std::vector<TouchedRange> touched(
      const std::function<uint64_t(const std::byte*)>& address_of) const;

  const bool looks;  ///< at words: races are asked for, not the order of copies alone
  Shadow global;
  Objects objects;            ///< places in global memory
  uint32_t forgotten = 0;     ///< groups whose accesses are looked at no more
  const bool lockstep;        ///< lanes of a wave run in step
  const bool shuffle_orders;  ///< operations with a member mask order as bar.warp.sync does
  /// Accesses to shared memory do not say whether they are volatile: swaps there acquire and
  /// release, and what volatile accesses are made for is no race.
  const bool unmarked;
  const bool always_orders;  ///< strong accesses acquire and release, as their fences are not seen

 private:
  template <bool kWrite>
  void touch_wave(Shadow& shadow, const Clocks& clocks, const WaveWords& words, Mark mark);
  bool in_one_wave(const Mark& a, const Mark& b) const {
    return a.group == b.group && a.lane >> wave_shift_ == b.lane >> wave_shift_;
  }
  void look(Cell& cell, uint64_t word, bool own, const Clocks& clocks, const Touched& t);
  /// True: they are two stores of the same value, which nothing orders.
  bool compare(const Mark& first, uint32_t first_before, uint64_t word, bool own,
               const Clocks& clocks, const Touched& t);
  /// Lanes of a wave store one value by one instruction: the first of them often is the one that
  /// publishes it, and has done so before another's turn comes.
  bool stays(const Mark& writer, const Mark& me, uint32_t before, uint32_t after) const {
    return before == after && !same_values_ && writer.site == me.site && in_one_wave(writer, me) &&
           !me.is(Mark::kAtomic);
  }
  bool may_be_volatile(const Mark& a, const Mark& b) const;
  void note_guess(const Mark& a, const Mark& b, uint64_t word, size_t race);
  void forgive(Cell& cell, uint64_t word, const Mark& swap);
  RaceRemedy remedy(const Mark& a, const Mark& b) const;

  const uint32_t wave_shift_;  ///< of a lane's number to its wave's
  const bool same_values_;     ///< report stores of what is there already
  std::vector<std::array<uint32_t, 3>> groups_;
  std::map<Key, size_t> known_;
  /// Plain loads, by place, group and lane: which races, how often. A compare-and-swap of the lane
  /// takes them back: it does not rely on what was loaded.
  std::map<std::tuple<uint64_t, uint32_t, uint32_t>, std::vector<size_t>> guesses_;
  std::function<bool(const Mark&, const Mark&)> excused_;  ///< none: every order was seen
  std::vector<Fault> found_;
  std::vector<std::shared_ptr<Race>> races_;
};

}  // namespace lanewise::reference::race
