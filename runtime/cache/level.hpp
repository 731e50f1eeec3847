// One set-associative cache: tags, recency, and per line the byte masks and history.
//
// Tags and recency stamps of 16 ways lie together in 128 bytes, so a lookup is one vector compare
// and a victim one vector minimum. A stamp holds the line's priority class above its time, so the
// lowest class loses first and, inside a class, the oldest line (for LRU).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/cache/mask.hpp"
#include "runtime/cache/preset.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

struct alignas(64) Line {
  uint64_t address = ~uint64_t{0};  ///< of the line's first byte; all ones when empty
  Mask valid, dirty;                ///< bytes of the aligned 128-byte block
  uint32_t fill = kNoContext;       ///< contexts: who filled it, who wrote it last
  uint32_t write = kNoContext;
  uint8_t flags = 0;
  bool empty() const { return address == ~uint64_t{0}; }
};

/// What is known of a line that memory has overtaken.
struct History {
  Mask stale;
  uint32_t version[4] = {0, 0, 0, 0};  ///< of each 32-byte sector, when it became stale
};

class Level {
 public:
  Level(const Geometry& geometry, uint32_t dirty_limit_percent, uint32_t persisting_percent);

  const Geometry& geometry() const { return geometry_; }
  uint64_t line_address(uint64_t address) const { return address & ~(line_bytes_ - 1); }

  /// Index of the line that holds this (line-aligned) address, or kNoLine.
  uint32_t find(uint64_t address) const {
    const uint32_t tag = tag_of(address);
    const uint32_t set = set_of(address);
    for (uint32_t b = 0; b < blocks_per_set_; ++b) {
      const uint32_t block = set * blocks_per_set_ + b;
      for (uint32_t hits = match(ways_[block].tag, tag) & way_mask(b); hits != 0;
           hits &= hits - 1) {
        const uint32_t index = block * 16 + static_cast<uint32_t>(std::countr_zero(hits));
        if (lines_[index].address == address) return index;
      }
    }
    return kNoLine;
  }
  /// The way that a new line of this address would take. For an infinite cache the table grows
  /// first, which moves lines: indices got before are void.
  uint32_t victim(uint64_t address);
  /// Makes the line at `index` hold `address`, with nothing valid.
  Line& place(uint32_t index, uint64_t address, Priority priority, bool least_recent = false);
  void touch(uint32_t index) {
    if (replacement_ == Replacement::lru || replacement_ == Replacement::mru)
      set_time(index, tick());
    else
      touch_other(index);
  }
  void set_priority(uint32_t index, Priority p);
  Priority priority(uint32_t index) const {
    return static_cast<Priority>(stamp(index) >> kTimeBits);
  }
  void remove(uint32_t index);
  /// Before place() takes over a line that is in use: only the counts are put right.
  void vacate(uint32_t index) {
    if (priority(index) == Priority::last) --persisting_;
    if (lines_[index].dirty.any()) --dirty_;
  }

  Line& line(uint32_t index) { return lines_[index]; }
  const Line& line(uint32_t index) const { return lines_[index]; }
  History& history(uint32_t index) { return histories_[index]; }
  /// Bytes that the line holds; only with values.
  uint8_t* bytes(uint32_t index, uint64_t block) {
    return data_.data() + uint64_t{index} * data_stride_ + (block & (data_stride_ - 1));
  }
  void keep_values();

  uint32_t slots() const { return static_cast<uint32_t>(lines_.size()); }
  uint32_t persisting_lines() const { return persisting_; }
  uint32_t persisting_limit() const { return persisting_limit_; }
  void count_dirty(int change) { dirty_ += static_cast<uint32_t>(change); }
  uint32_t set_of(uint64_t address) const {
    const uint64_t n = address >> line_shift_;
    if (hash_ == IndexHash::linear && set_mask_ != 0) return static_cast<uint32_t>(n) & set_mask_;
    return hashed_set(n);
  }
  uint32_t total_sets() const { return total_sets_; }
  size_t memory_bytes() const;

  /// By its tag only: rarely true for a line that is not there.
  bool may_hold(uint64_t address) const { return way_of(address) != kNoLine; }
  void prefetch(uint64_t address) const {
    const uint32_t block = set_of(address) * blocks_per_set_;
    __builtin_prefetch(&ways_[block].tag, 1);
    __builtin_prefetch(&ways_[block].stamp, 1);
  }
  /// The state of the line, or of the one it will replace.
  void prefetch_line(uint64_t address) const {
    uint32_t index = way_of(address);
    if (index == kNoLine) index = oldest(set_of(address));
    __builtin_prefetch(&lines_[index], 1);
  }

  uint32_t owner = 0;  ///< SM or CU

 private:
  struct alignas(64) Ways {
    uint32_t tag[16];
    uint32_t stamp[16];
  };
  static constexpr unsigned kTimeBits = 29;
  static constexpr uint32_t kTimeMask = (1u << kTimeBits) - 1;

  static uint32_t match(const uint32_t (&tags)[16], uint32_t tag);
  uint32_t tag_of(uint64_t address) const {
    const uint64_t n = address >> line_shift_;
    return static_cast<uint32_t>(n ^ (n >> 32) * 0x9e3779b1u);
  }
  uint32_t way_mask(uint32_t block) const {
    return block + 1 == blocks_per_set_ ? last_block_mask_ : 0xffff;
  }
  uint32_t stamp(uint32_t index) const { return ways_[index >> 4].stamp[index & 15]; }
  uint32_t& stamp(uint32_t index) { return ways_[index >> 4].stamp[index & 15]; }
  void set_time(uint32_t index, uint32_t time) {
    uint32_t& s = stamp(index);
    s = (s & ~kTimeMask) | time;
  }
  uint32_t tick() {
    if (clock_ == kTimeMask) compress_times();
    return ++clock_;
  }
  uint32_t way_of(uint64_t address) const {
    const uint32_t tag = tag_of(address);
    const uint32_t first = set_of(address) * blocks_per_set_;
    for (uint32_t b = 0; b < blocks_per_set_; ++b)
      if (const uint32_t hits = match(ways_[first + b].tag, tag) & way_mask(b); hits != 0)
        return (first + b) * 16 + static_cast<uint32_t>(std::countr_zero(hits));
    return kNoLine;
  }
  uint32_t hashed_set(uint64_t n) const;
  uint32_t oldest(uint32_t set) const;
  uint32_t choose(uint32_t set);
  uint32_t choose_by_policy(uint32_t set, uint32_t lowest);
  uint32_t choose_clean(uint32_t set, Priority p) const;
  uint32_t tree_victim(uint32_t set) const;
  void touch_tree(uint32_t index);
  void touch_other(uint32_t index);
  void compress_times();
  void resize(uint32_t sets);
  void grow();

  Geometry geometry_;
  uint64_t line_bytes_ = 0;
  unsigned line_shift_ = 0;
  IndexHash hash_ = IndexHash::linear;
  Replacement replacement_ = Replacement::lru;
  uint32_t total_sets_ = 0, set_mask_ = 0;
  uint32_t blocks_per_set_ = 1, last_block_mask_ = 0xffff;
  uint32_t clock_ = 0;
  uint32_t dirty_ = 0, dirty_limit_ = 0;
  uint32_t persisting_ = 0, persisting_limit_ = 0;
  uint64_t random_ = 0x2545f4914f6cdd1dULL;
  std::vector<Ways> ways_;
  std::vector<Line> lines_;
  std::vector<History> histories_;
  std::vector<uint64_t> trees_;        ///< tree PLRU: one word a set
  std::vector<uint16_t> slice_table_;  ///< IPOLY: remainder of each byte of a line number
  std::vector<uint8_t> data_;
  uint64_t data_stride_ = 0;
};

inline uint32_t Level::match(const uint32_t (&tags)[16], uint32_t tag) {
#if defined(__SSE2__)
  const __m128i want = _mm_set1_epi32(static_cast<int>(tag));
  const auto* at = reinterpret_cast<const __m128i*>(tags);
  const __m128i a = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(at), want),
                                    _mm_cmpeq_epi32(_mm_load_si128(at + 1), want));
  const __m128i b = _mm_packs_epi32(_mm_cmpeq_epi32(_mm_load_si128(at + 2), want),
                                    _mm_cmpeq_epi32(_mm_load_si128(at + 3), want));
  return static_cast<uint32_t>(_mm_movemask_epi8(_mm_packs_epi16(a, b)));
#else
  uint32_t hits = 0;
  for (unsigned i = 0; i < 16; ++i) hits |= static_cast<uint32_t>(tags[i] == tag) << i;
  return hits;
#endif
}

}  // namespace lanewise::cache
