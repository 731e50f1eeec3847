// Sets of many ways, in which a scan would take long: a hash table says which line has a tag, a
// list in the order of use which line goes next. Both take the same time however many ways there
// are. What the list says is also in the stamps (level.hpp), which decide wherever lines have
// classes of their own.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "runtime/cache/engine/sets/huge_pages.hpp"

namespace lanewise::cache {

class WideSets {
 public:
  static constexpr uint32_t kNone = ~uint32_t{0};
  /// More ways than these are many.
  static constexpr uint32_t kFewWays = 32;

  /// All empty. Line number = set * stride + way.
  void assign(uint32_t sets, uint32_t stride, uint32_t ways);

  /// The line with this tag for which same(line) is true, or kNone.
  template <class Same>
  uint32_t find(uint32_t tag, Same same) const {
    const uint32_t hash = hash_of(tag);
    for (uint32_t at = home(hash);; at = (at + 1) & mask_) {
      const Slot& s = slots_[at];
      if (s.line == kNone) return kNone;
      if (s.hash == hash && same(s.line)) return s.line;
    }
  }
  /// The lowest empty way of the set, else the line used longest ago; kNone: there are lines with
  /// classes of their own.
  uint32_t victim(uint32_t set) const {
    if (sets_[set].empty != 0) return lowest_empty(set);
    return sets_[set].own_class != 0 ? kNone : links_[lines_ + set].newer;
  }
  /// A line that was empty gets this tag.
  void fill(uint32_t line, uint32_t tag, bool least_recent) {
    const uint32_t set = line / stride_, way = line % stride_;
    empty_[set * words_ + way / 64] &= ~(uint64_t{1} << way % 64);
    --sets_[set].empty;
    put(line, hash_of(tag));
    link_at_end(line, lines_ + set, least_recent);
  }
  /// A line with the one tag gets the other, and is the newest of its set, or the oldest.
  void replace(uint32_t line, uint32_t old_tag, uint32_t tag, bool least_recent) {
    take(line, hash_of(old_tag));
    put(line, hash_of(tag));
    unlink(line);
    link_at_end(line, lines_ + line / stride_, least_recent);
  }
  void touch(uint32_t line) {
    const uint32_t end = lines_ + line / stride_;
    if (links_[line].newer == end) return;
    unlink(line);
    link_at_end(line, end, false);
  }
  /// A line with this tag is empty from now on.
  void remove(uint32_t line, uint32_t tag);
  /// Of the line's set, this many more lines have classes of their own.
  void count_own_class(uint32_t line, int change) {
    sets_[line / stride_].own_class += static_cast<uint32_t>(change);
  }

  // What find() and replace() will look at is fetched ahead.
  /// Returns the line of the set that goes next, or kNone.
  uint32_t look_ahead(uint32_t tag, uint32_t set) const {
    look_at(tag);
    const Links end = links_[lines_ + set];
    __builtin_prefetch(&links_[end.newer], 1);
    __builtin_prefetch(&links_[end.older], 1);
    return end.newer < lines_ ? end.newer : kNone;
  }
  void look_at(uint32_t tag) const { __builtin_prefetch(&slots_[home(hash_of(tag))], 1); }
  uint32_t lines() const { return lines_; }
  uint32_t next_of(uint32_t set) const { return links_[lines_ + set].newer; }
  size_t memory_bytes() const;

 private:
  /// Of the hash table. Equal hashes are equal tags.
  struct Slot {
    uint32_t hash = 0, line = kNone;
  };
  struct Links {
    uint32_t older = kNone, newer = kNone;  ///< of the set
  };
  struct Set {
    uint32_t empty = 0, own_class = 0;  ///< lines
  };
  /// An odd factor: no two tags have the same.
  static uint32_t hash_of(uint32_t tag) { return tag * 0x9e37'79b1U; }
  uint32_t home(uint32_t hash) const { return hash >> hash_shift_; }
  uint32_t lowest_empty(uint32_t set) const {
    const uint64_t* word = &empty_[set * words_];
    while (*word == 0) ++word;
    return set * stride_ +
           static_cast<uint32_t>(64 * (word - &empty_[set * words_]) + std::countr_zero(*word));
  }
  void put(uint32_t line, uint32_t hash) {
    uint32_t at = home(hash);
    while (slots_[at].line != kNone) at = (at + 1) & mask_;
    slots_[at] = {hash, line};
  }
  void take(uint32_t line, uint32_t hash) {
    uint32_t at = home(hash);
    while (slots_[at].line != line) at = (at + 1) & mask_;
    // Those behind it move up, if that brings them no nearer than home.
    for (uint32_t from = (at + 1) & mask_; slots_[from].line != kNone; from = (from + 1) & mask_)
      if (((from - home(slots_[from].hash)) & mask_) >= ((from - at) & mask_)) {
        slots_[at] = slots_[from];
        at = from;
      }
    slots_[at].line = kNone;
  }
  void unlink(uint32_t line) {
    const Links l = links_[line];
    links_[l.older].newer = l.newer;
    links_[l.newer].older = l.older;
  }
  void link_at_end(uint32_t line, uint32_t end, bool least_recent) {
    const uint32_t older = least_recent ? end : links_[end].older, newer = links_[older].newer;
    links_[line] = {older, newer};
    links_[newer].older = line;
    links_[older].newer = line;
  }

  uint32_t lines_ = 0, stride_ = 1, words_ = 0;
  unsigned hash_shift_ = 31;
  uint32_t mask_ = 0;
  std::vector<Slot, HugePages<Slot>> slots_;    ///< a power of two, at most half of them used
  std::vector<Links, HugePages<Links>> links_;  ///< of lines; behind them the ends of each set's
  std::vector<Set> sets_;
  std::vector<uint64_t> empty_;  ///< a bit a way
};

}  // namespace lanewise::cache
