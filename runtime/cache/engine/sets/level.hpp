// One set-associative cache: tags, recency, and per line the byte masks and history.
//
// The tags of a set lie together, and so do its recency stamps, so a lookup is a vector compare and
// a victim a vector minimum. A stamp holds the line's priority class above its time, so the lowest
// class loses first and, inside a class, the oldest line (for LRU).
//
// Line number = set * stride + way; the stride is the number of ways rounded up to what the vector
// code takes at once (4, 8, or a multiple of 16). Ways that only the rounding made never match and
// never lose.
//
// Of more than 32 ways a hash table and a list give both instead (wide_sets.hpp), and there are no
// columns of tags.
//
// An infinite cache is such a table, too, a hash table of sets of 16: a line whose set is full goes
// to the next free one, and the table grows before that gets long.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "runtime/cache/engine/sets/huge_pages.hpp"
#include "runtime/cache/engine/sets/index_hash.hpp"
#include "runtime/cache/engine/sets/mask.hpp"
#include "runtime/cache/engine/sets/vector.hpp"
#include "runtime/cache/engine/sets/wide_sets.hpp"
#include "runtime/cache/parts/share.hpp"
#include "runtime/cache/presets/preset.hpp"

namespace lanewise::cache {

/// Order of eviction: an empty way, then first, normal, last.
enum class Priority : uint8_t { empty, first, normal, last };

inline constexpr uint32_t kNoLine = ~uint32_t{0};
inline constexpr uint32_t kNoContext = ~uint32_t{0};

enum LineFlag : uint8_t {
  kReadOnlyFill = 1,  ///< filled through the .nc / .CI path
  kPrefetched = 2,    ///< by a prefetch, and not used since
  kStale = 4,         ///< History::stale has bytes
  kLocal = 8,
  kCallStack = 16,    ///< holds call-return-stack entries
  kWrittenBack = 32,  ///< by an explicit write back, before its latest store
  kVolatile = 64,     ///< GCN: filled by a volatile / system-coherent access
};

// Of Line::notes. A bit that is 0 is sure, one that is 1 is not.
inline constexpr uint8_t kLacking = 15;   ///< bit i: bytes of sector i are not in `valid`
inline constexpr uint8_t kOwnClass = 16;  ///< the priority is not the normal one

struct alignas(64) Line {
  uint64_t address = ~uint64_t{0};  ///< of the line's first byte; all ones when empty
  Mask valid, dirty;                ///< bytes of the aligned 128-byte block
  uint32_t fill = kNoContext;       ///< contexts: who filled it, who wrote it last
  uint32_t write = kNoContext;
  uint8_t notes = kLacking;  ///< for who is in a hurry
  uint8_t flags = 0;
  uint16_t unused = 0;

  /// notes, flags << 8
  uint32_t state() const {
    uint32_t bits;
    std::memcpy(&bits, &notes, sizeof bits);
    return bits;
  }
  void set_state(uint32_t bits) { std::memcpy(&notes, &bits, sizeof bits); }
  bool empty() const { return address == ~uint64_t{0}; }
};

/// The line of a set that the next miss replaces, if its stamp is still this one.
struct NextVictim {
  static constexpr uint32_t kUnknown = ~uint32_t{0};  ///< no stamp
  uint32_t stamp = kUnknown;
  uint32_t offset = 0;  ///< in bytes, of the Line in the table of all lines
};

/// What is known of a line that memory has overtaken.
struct History {
  Mask stale;
  uint32_t version[4] = {0, 0, 0, 0};  ///< of each 32-byte sector, when it became stale
};

class Level {
 public:
  /// With a share, of L2: only its sets are there. It stays where it is while the level lives.
  Level(const Geometry& geometry, uint32_t dirty_limit_percent, uint32_t persisting_percent,
        const Share* share = nullptr);

  const Geometry& geometry() const { return geometry_; }
  uint64_t line_address(uint64_t address) const { return address & ~(line_bytes_ - 1); }

  /// Index of the line that holds this (line-aligned) address, or kNoLine.
  template <bool kWide = false>
  uint32_t find(uint64_t address) const {
    return find<kWide>(address, set_of(address) * stride_);
  }
  /// The same, where the first line of its set is known.
  template <bool kWide>
  uint32_t find(uint64_t address, uint32_t first) const {
    const uint32_t tag = tag_of(address);
    // Tags are 32 bits of a line number, so the address itself decides.
    if (many_ways_)
      return wide_.find(tag, [&](uint32_t i) { return lines_[i].address == address; });
#if defined(LANEWISE_WIDE)
    if constexpr (kWide)
      if (stride_ == 32) return find_in_32(address, tag, first);
#endif
    for (uint32_t at = first;;) {
      for (uint32_t hits = match<kWide>(tags_.at(at), tag); hits != 0; hits &= hits - 1) {
        const uint32_t index = at + static_cast<uint32_t>(std::countr_zero(hits));
        if (lines_[index].address == address) return index;
      }
      if ((at += kStep) < first + stride_) continue;
      return spilled_.empty() ? kNoLine : find_spilled(address, first);
    }
  }
  /// The way that a new line of this address would take. For an infinite cache the table grows
  /// first, which moves lines: indices got before are void.
  template <bool kWide = false>
  uint32_t victim(uint64_t address) {
    return geometry_.infinite ? free_way(address) : choose<kWide>(set_of(address) * stride_);
  }
  /// Makes the line at `index` hold `address`, with nothing valid.
  Line& place(uint32_t index, uint64_t address, Priority priority, bool least_recent = false) {
    take_place(index, tag_of(address), least_recent);
    Line& x = lines_[index];
    used_ += x.empty() ? 1 : 0;
    x = Line{};
    x.address = address;
    if (by_time_ && !least_recent && priority == Priority::normal)
      stamp(index) = static_cast<uint32_t>(Priority::normal) << kTimeBits | tick();
    else
      place_other(index, priority, least_recent);
    return x;
  }
  // Of a cache of few ways that does not grow, where time decides and enough times are reserved:
  // the same of normal lines in fewer steps. What the new line holds is left to the caller.
  void touch_few(uint32_t index) {
    set_time(index, ++clock_);
  }
  Line& renew_few(uint32_t index, uint32_t tag) {
    *tags_.at(index) = tag;
    stamp(index) = static_cast<uint32_t>(Priority::normal) << kTimeBits | ++clock_;
    return lines_[index];
  }
  /// The same where time decides and the line is normal, but for what it holds: the caller says
  /// that.
  Line& renew(uint32_t index, uint64_t address) {
    take_place(index, tag_of(address), false);
    used_ += lines_[index].empty() ? 1 : 0;
    stamp(index) = static_cast<uint32_t>(Priority::normal) << kTimeBits | tick();
    return lines_[index];
  }
  void touch(uint32_t index) {
    if (!by_time_) return touch_other(index);
    set_time(index, tick());
    if (many_ways_) wide_.touch(index);
  }
  void set_priority(uint32_t index, Priority p);
  Priority priority(uint32_t index) const {
    return static_cast<Priority>(stamp(index) >> kTimeBits);
  }
  void remove(uint32_t index);
  /// Before place() takes over a line that is in use and may be one of the last to go.
  void forget_priority(uint32_t index) {
    if (priority(index) == Priority::last) --persisting_;
  }

  Line& line(uint32_t index) {
    return lines_[index];
  }
  const Line& line(uint32_t index) const {
    return lines_[index];
  }
  /// Most runs ask for none.
  History& history(uint32_t index) {
    if (histories_.empty()) histories_.resize(lines_.size());
    return histories_[index];
  }
  /// Bytes that the line holds; only with values.
  uint8_t* bytes(uint32_t index, uint64_t block) {
    return data_.data() + uint64_t{index} * data_stride_ + (block & (data_stride_ - 1));
  }
  void keep_values();

  uint32_t slots() const {
    return static_cast<uint32_t>(lines_.size());
  }
  uint32_t persisting_lines() const {
    return persisting_;
  }
  uint32_t persisting_limit() const {
    return persisting_limit_;
  }
  /// The most lines that were among the last to go at once.
  uint32_t most_persisting() const {
    return most_persisting_;
  }
  void count_dirty(int change) {
    dirty_ += static_cast<uint32_t>(change);
  }
  /// kNoSet: the set is not of this level's share.
  uint32_t set_of(uint64_t address) const {
    return set_of_line(address >> line_shift_);
  }
  uint32_t set_of_line(uint64_t n) const {
    if (set_mask_ != 0) return static_cast<uint32_t>(n) & set_mask_;
    if (linear_) return remainder_of_sets_.of(n);
    if (slices_by_ipoly_ && share_ == nullptr) return set_in_slice(n);
    return hashed_set(n);
  }
  /// If known: set_of() is the line number & mask.
  struct SetMask {
    bool known;
    uint32_t mask;
  };
  SetMask set_mask() const {
    return {is_linear(geometry_), total_sets_ - 1};
  }
  static bool is_linear(const Geometry& g) {
    return g.hash == IndexHash::linear && g.set_hash == IndexHash::linear && !g.infinite &&
           std::has_single_bit(g.slices * g.sets);
  }
  uint32_t total_sets() const {
    return total_sets_;
  }
  /// Line numbers that differ by 2^32 share a tag.
  uint32_t tag_of(uint64_t address) const {
    return static_cast<uint32_t>(address >> line_shift_);
  }
  static uint32_t stride_of(uint32_t ways) {
    return ways <= 4 ? 4 : ways <= 8 ? 8 : (ways + 15) / 16 * 16;
  }

  /// Which lines a set has, and their order, is not in the tables alone.
  bool many_ways() const {
    return many_ways_;
  }
  /// With many ways, what place() and touch() do beside the tables; the former before the line is
  /// another.
  void take_place_among_many(uint32_t index, uint64_t address) {
    take_place(index, tag_of(address), false);
  }
  void touch_among_many(uint32_t index) {
    wide_.touch(index);
  }
  /// With many ways: fetches what a lookup of this line will need, and its replacement, in two
  /// steps.
  void look_far(uint64_t address) const {
    const uint32_t next = wide_.look_ahead(tag_of(address), set_of(address));
    if (next == kNoLine) return;
    __builtin_prefetch(stamps_.at(next), 1);
    // Lines that came one after the other mostly leave so.
    const auto* const at =
        reinterpret_cast<const char*>(lines_.data()) + size_t{next} * sizeof(Line);
    for (size_t i = 0; i < 6; ++i) __builtin_prefetch(at + i * sizeof(Line), 1);
  }
  void look_near(uint64_t address) const {
    const uint32_t next = wide_.next_of(set_of(address));
    if (next + 2 >= wide_.lines()) return;
    for (uint32_t i = next; i < next + 3; ++i) wide_.look_at(tag_of(lines_[i].address));
  }
  static bool few_ways(const Geometry& g) {
    return !g.infinite && stride_of(g.ways) <= WideSets::kFewWays;
  }

  /// For who takes the steps of a lookup himself (plain_level.hpp).
  struct Tables {
    uint32_t *tags, *stamps;  ///< no tags where there are many ways
    Line* lines;
    NextVictim* next_victims;  ///< of each set
    uint32_t stride;
  };
  Tables tables() {
    return {tags_.at(0), stamps_.at(0), lines_.data(), next_victims_.data(), stride_};
  }
  /// Renewing the time of a used line and taking the oldest is all that replacement consists of.
  static bool is_simple(const Geometry& g, uint32_t dirty_limit_percent) {
    return g.replacement == &lru_policy && !g.infinite && dirty_limit_percent == 0;
  }
  /// This many times can be had before stamps are made small again.
  void reserve_times(uint32_t count) {
    if (kTimeMask - clock_ <= count) compress_times();
  }
  /// The first of this many new times.
  uint32_t take_times(uint32_t count) {
    reserve_times(count);
    clock_ += count;
    return clock_ - count + 1;
  }
  static constexpr unsigned kTimeBits = SetView::kNoteBits;  ///< above them stands the Priority
  static constexpr uint32_t kTimeMask = SetView::kMost;
  template <bool kWide = false>
  uint32_t oldest(uint32_t first) const;
  size_t memory_bytes() const;

  uint32_t owner = 0;  ///< SM or CU

 private:
  /// One 32-bit value per line.
  class Column {
   public:
    void assign(size_t lines, uint32_t value) {
      blocks_.assign((lines + 15) / 16, Block{});
      std::fill_n(at(0), 16 * blocks_.size(), value);
    }
    /// Blocks have no padding: all values are one array.
    uint32_t* at(uint32_t index) { return reinterpret_cast<uint32_t*>(blocks_.data()) + index; }
    const uint32_t* at(uint32_t index) const {
      return reinterpret_cast<const uint32_t*>(blocks_.data()) + index;
    }
    size_t memory_bytes() const { return blocks_.capacity() * sizeof(Block); }

   private:
    struct alignas(64) Block {
      uint32_t value[16];
    };
    std::vector<Block, HugePages<Block>> blocks_;
  };
  static constexpr uint32_t kNeverLoses = 0x7fff'ffff;
  static constexpr uint32_t kStep = 16;  ///< ways that one vector compare takes

  /// Bit i: column[i] == value, for the up to kStep ways of a set that stand there.
  template <bool kWide>
  uint32_t match(const uint32_t* column, uint32_t value) const {
    const uint32_t count = std::min(stride_, kStep);
#if defined(LANEWISE_WIDE)
    if constexpr (kWide) return equal_ways_wide(column, count, value);
#endif
    return equal_ways(column, count, value);
  }
  uint32_t stamp(uint32_t index) const {
    return *stamps_.at(index);
  }
  uint32_t& stamp(uint32_t index) {
    return *stamps_.at(index);
  }
  /// Some line of the set is older, or of a lower class, than it was.
  void forget_next_victim(uint32_t index) {
    next_victims_[index / stride_] = NextVictim{};
  }
  void set_time(uint32_t index, uint32_t time) {
    uint32_t& s = stamp(index);
    s = (s & ~kTimeMask) | time;
  }
  uint32_t tick() {
    if (clock_ == kTimeMask) compress_times();
    return ++clock_;
  }
  /// Before all times so far: who gets it is the next to go of its class.
  uint32_t earliest() {
    if (earliest_ == 0) compress_times();
    return --earliest_;
  }
#if defined(LANEWISE_WIDE)
  LANEWISE_WIDE uint32_t find_in_32(uint64_t address, uint32_t tag, uint32_t first) const {
    for (uint32_t hits = equal_32_wide(tags_.at(first), tag); hits != 0; hits &= hits - 1) {
      const uint32_t index = first + static_cast<uint32_t>(std::countr_zero(hits));
      if (lines_[index].address == address) return index;
    }
    return kNoLine;
  }
#endif
  /// The line at `index` leaves; what comes has this tag.
  void take_place(uint32_t index, uint32_t tag, bool least_recent) {
    if (!many_ways_) {
      *tags_.at(index) = tag;
      return;
    }
    if (is_own_class(priority(index))) wide_.count_own_class(index, -1);
    const Line& old = lines_[index];
    if (old.empty())
      wide_.fill(index, tag, least_recent);
    else
      wide_.replace(index, tag_of(old.address), tag, least_recent);
  }
  static bool is_own_class(Priority p) {
    return p == Priority::first || p == Priority::last;
  }
  uint32_t set_in_slice(uint64_t n) const {
    return (ipoly_hash(slice_table_, n) & ((1U << slice_bits_) - 1)) << set_bits_ |
           (static_cast<uint32_t>(n >> slice_bits_) & ((1U << set_bits_) - 1));
  }
  uint32_t hashed_set(uint64_t n) const;
  uint32_t hashed_set_of_all(uint64_t n) const;
  uint32_t hash(IndexHash hash, const std::vector<uint16_t>& table, uint64_t n,
                uint32_t slots) const;
  template <bool kWide = false>
  uint32_t choose(uint32_t first) {
    const uint32_t index = oldest<kWide>(first);
    if (simple_victims_ || priority(index) == Priority::empty) return index;
    return choose_among(index);
  }
  uint32_t choose_among(uint32_t index);
  uint32_t find_spilled(uint64_t address, uint32_t first) const;
  uint32_t free_way(uint64_t address);
  uint32_t next_set(uint32_t first) const {
    return first + stride_ == lines_.size() ? 0 : first + stride_;
  }
  void place_other(uint32_t index, Priority p, bool least_recent);
  uint32_t choose_clean(uint32_t first, Priority p) const;
  SetView view(uint32_t set, Priority lowest = Priority::empty);
  void touch_other(uint32_t index);
  void compress_times();
  void resize(uint32_t sets);
  void grow();

  Geometry geometry_;
  uint64_t line_bytes_ = 0;
  unsigned line_shift_ = 0;
  IndexHash hash_ = IndexHash::linear;
  bool linear_ = true;  ///< the set is the line number modulo all sets
  const Policy* policy_ = &lru_policy;
  const Share* share_ = nullptr;  ///< null: all sets
  uint32_t total_sets_ = 0;       ///< of the whole cache
  uint32_t kept_sets_ = 0;
  uint32_t set_mask_ = 0;  ///< if linear and a power of two
  Remainder remainder_of_sets_;
  /// IPOLY names the slice, and nothing has to be divided: powers of two of slices and of sets.
  bool slices_by_ipoly_ = false;
  unsigned slice_bits_ = 0, set_bits_ = 0;
  uint32_t stride_ = 16;
  bool by_time_ = true;         ///< every use renews a line's time
  bool oldest_loses_ = true;    ///< of the lowest class
  bool simple_victims_ = true;  ///< and no line is spared
  bool many_ways_ = false;
  bool list_orders_ = false;  ///< with many ways, who is the oldest of a class
  static constexpr uint32_t kFirstTime = 1u << 24;
  uint32_t clock_ = kFirstTime, earliest_ = kFirstTime;
  uint32_t used_ = 0;  ///< lines that are not empty, of a table that grows
  uint32_t dirty_ = 0, dirty_limit_ = 0;
  uint32_t persisting_ = 0, persisting_limit_ = 0, most_persisting_ = 0;
  Column tags_, stamps_;
  WideSets wide_;
  std::vector<Line, HugePages<Line>> lines_;
  std::vector<History, HugePages<History>> histories_;
  std::vector<NextVictim> next_victims_;  ///< kept by who asks for them
  /// Of a table that grows: by set, whether lines of it (or that came by it) are in the next one.
  std::vector<uint8_t> spilled_;
  std::vector<uint64_t> words_;        ///< of the policy
  std::vector<uint16_t> slice_table_;  ///< IPOLY: remainder of each byte of a line number
  std::vector<uint16_t> set_table_;    ///< the same for sets inside a slice
  std::vector<uint8_t> data_;
  uint64_t data_stride_ = 0;
};

template <bool kWide>
uint32_t Level::oldest(uint32_t first) const {
  if (list_orders_)
    if (const uint32_t index = wide_.victim(first / stride_); index != kNoLine) return index;
#if defined(LANEWISE_WIDE)
  const uint32_t lowest =
      kWide ? least_wide(stamps_.at(first), stride_) : least(stamps_.at(first), stride_);
#else
  const uint32_t lowest = least(stamps_.at(first), stride_);
#endif
  for (uint32_t at = first;; at += kStep)
    if (const uint32_t ways = match<kWide>(stamps_.at(at), lowest); ways != 0)
      return at + static_cast<uint32_t>(std::countr_zero(ways));
}

}  // namespace lanewise::cache
