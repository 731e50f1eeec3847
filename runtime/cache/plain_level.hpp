// One level of cache as a batch of plain accesses sees it (engine_plain.cpp): LRU, 128-byte lines
// of four 32-byte sectors, no flags, no classes, no values. Hit or miss, load or store, clean or
// dirty victim: all take the same steps, since a host that guesses wrong which of them comes next
// loses more time than the steps that could have been left out.
#pragma once

#include <bit>

#include "runtime/cache/engine.hpp"
#include "runtime/cache/vector.hpp"

namespace lanewise::cache {

inline Sectors four_times(uint32_t value) {
  return Sectors{value, value, value, value};
}

/// All ones where a number below 2^31 is not 0 (or is 0), else 0.
inline uint32_t if_some(uint32_t n) {
  return static_cast<uint32_t>(static_cast<int32_t>(-n) >> 31);
}
/// a where `mask` is all ones, b where it is 0; a compiler makes no branch of it.
inline uint32_t choose(uint32_t mask, uint32_t a, uint32_t b) {
  return (a & mask) | (b & ~mask);
}

/// Level::tag_of() for 128-byte lines.
inline uint32_t tag_of_block(uint64_t block) {
  return static_cast<uint32_t>(block / kBlockBytes);
}

/// Any number of ways; for any processor (kWide false) or for one with AVX2.
template <bool kWideVectors>
struct AnyWays {
  static constexpr bool kWide = kWideVectors;
  static uint32_t stride(const Level::Tables& t) { return t.stride; }
  static uint32_t find(const Level& level, const Level::Tables&, uint64_t line, uint32_t first) {
    const uint32_t index = level.find<kWide>(line);
    return index == kNoLine ? kNoLine : index - first;
  }
  static bool absent(uint32_t found) { return found == kNoLine; }
  static uint32_t way(uint32_t found) { return found; }
  static uint32_t oldest(const Level& level, const Level::Tables&, uint32_t first) {
    return level.oldest<kWide>(first) - first;
  }
};

#if defined(LANEWISE_WIDE)
/// Four or 16 ways, whose tags, and whose stamps, are one register.
template <uint32_t kWays>
struct WideWays {
  static constexpr bool kWide = true;
  static constexpr uint32_t stride(const Level::Tables&) { return kWays; }
  /// What find() found: a bit a way.
  static uint32_t find(const Level&, const Level::Tables& t, uint64_t line, uint32_t first) {
    const uint32_t tag = tag_of_block(line);
    return equal_ways_wide(t.tags + first, kWays, tag);
  }
  static bool absent(uint32_t found) { return found == 0; }
  static uint32_t way(uint32_t found) { return static_cast<uint32_t>(std::countr_zero(found)); }
  static uint32_t oldest(const Level&, const Level::Tables& t, uint32_t first) {
    return way(kWays == 4 ? oldest4_wide(t.stamps + first) : oldest16_wide(t.stamps + first));
  }
};
#endif

/// By a bit a sector: all bytes of those sectors, or of the line they are in.
struct WholeTable {
  explicit constexpr WholeTable(bool lines) {
    for (unsigned i = 0; i < 16; ++i)
      for (unsigned s = 0; s < 4; ++s) of[i][s] = (lines ? i != 0 : (i >> s & 1) != 0) ? ~0u : 0;
  }
  Sectors of[16] = {};
};
inline const WholeTable kWholeSectors{false}, kWholeLines{true};

/// kLowest: only memory is below. Meant to be copied into the function that loops, where the
/// compiler can keep what it counts in registers.
template <class Ways, bool kLowest>
class PlainLevel {
 public:
  PlainLevel(Level& level, const Knobs& knobs)
      : level_(&level),
        tables_(level.tables()),
        fetch_on_write_(four_times(knobs.fetch_on_write ? ~0u : 0)),
        want_(knobs.fill == Granule::line ? kWholeLines.of : kWholeSectors.of) {}

  /// Takes accesses in their order, up to one that asks for more than plain steps, and returns how
  /// many that were; `set` has the first line of each one's set. What the level below has to do is
  /// put at `below`, which then points behind it: lines that go down, lines or sectors to fetch.
  size_t take(const PlainAccess* accesses, const uint32_t* set, size_t count, PlainAccess*& below) {
    PlainLevel me = *this;
    me.time_ = level_->take_times(static_cast<uint32_t>(count));
    PlainAccess* end = below;
    size_t i = 0;
    uint32_t index = 0;
    while (i < count && me.take(accesses[i], set[i], end, index)) {
      ++i;
      // What follows in the same line needs no lookup.
      if constexpr (!kLowest)
        while (i < count && accesses[i].block == accesses[i - 1].block &&
               me.hit(accesses[i], index, end))
          ++i;
    }
    below = end;
    *this = me;
    return i;
  }
  /// Puts the first line of each access's set at `set`.
  void find_sets(const PlainAccess* accesses, size_t count, uint32_t* set) const {
    const Level::SetMask simple = level_->set_mask();
    const uint32_t stride = Ways::stride(tables_);
    if (simple.known)
      for (size_t i = 0; i < count; ++i)
        set[i] = (tag_of_block(accesses[i].block) & simple.mask) * stride;
    else
      for (size_t i = 0; i < count; ++i) set[i] = level_->set_of(accesses[i].block) * stride;
  }

  /// Adds to the counters what `accesses` plain accesses came to, but for what the list of the
  /// level below tells: fills and write-backs. Returns the sectors that loads found and did not
  /// find.
  struct Found {
    uint64_t hits, misses;
  };
  Found finish(uint64_t accesses, LevelCounters& n) {
    const uint64_t lost = used_of(lost_loaded_, misses_);
    const uint64_t loaded = used_of(loaded_, accesses - misses_) + lost;
    const uint64_t missed = used_of(missing_, partial_) + lost;
    const uint32_t store_misses = -lost_stores_[0], stores = store_misses - stores_[0];
    n.reads += accesses - stores;
    n.writes += stores;
    n.read_misses += misses_ - store_misses + partial_;
    n.write_misses += store_misses;
    n.sector_hits += loaded - missed;
    n.sector_misses += missed;
    if (kLowest) n.fills += used_of(fetched_, misses_ + partial_);
    n.evictions += misses_ - empty_;
    n.write_backs += write_backs_;
    n.write_back_bytes += written_back_;
    n.by_class[0] += kLowest ? used_of(asked_, accesses) : loaded;
    return {loaded - missed, missed};
  }

  /// Bit i: sector i has a byte.
  static unsigned used(Sectors s) { return not_zero(s); }
  static bool covers(Sectors all, Sectors some) {
#if defined(LANEWISE_WIDE)
    if constexpr (Ways::kWide)
      return covers_wide(std::bit_cast<__m128i>(all), std::bit_cast<__m128i>(some));
#endif
    return not_zero(some & ~all) == 0;
  }
  static uint32_t bytes(const Mask& m) {
#if defined(LANEWISE_WIDE)
    if constexpr (Ways::kWide) return bytes_wide(m);
#endif
    return m.count();
  }

 private:
  /// Both: `index` is the line from now on.
  bool take(const PlainAccess& access, uint32_t first, PlainAccess*& below, uint32_t& index) {
    const PlainAccess a = access;
    const uint32_t found = Ways::find(*level_, tables_, a.block, first);
    // Where misses are the rule, the victim is chosen before the host knows whether it needs one:
    // by the time that it does, and it may have guessed wrong, the choice is made.
    uint32_t victim = 0;
    if constexpr (kLowest) {
      victim = Ways::oldest(*level_, tables_, first);
      __asm__ volatile("" : : "r"(victim));  // not behind the branch
    }
    if (!Ways::absent(found)) [[likely]]
      return hit(a, index = first + Ways::way(found), below);
    index = first + (kLowest ? victim : Ways::oldest(*level_, tables_, first));
    return miss(a, index, below);
  }

  bool hit(const PlainAccess& a, uint32_t index, PlainAccess*& below) {
    Line& x = tables_.lines[index];
    if (x.address != a.block || (x.flags & (kStale | kPrefetched)) != 0) [[unlikely]]
      return false;
    const Sectors mask = sectors_of(a.mask), writes = four_times(a.write);
    const Sectors written = mask & writes, read = mask & ~writes;
    count(mask, writes);
    if (!covers(sectors_of(x.valid), read)) [[unlikely]] {
      const Sectors missing = read & ~sectors_of(x.valid);
      const Sectors fetched = want_[used(missing)] & ~sectors_of(x.valid);
      ++partial_;
      missing_ += Sectors(missing == 0);
      if constexpr (kLowest) fetched_ += Sectors(fetched == 0);
      put(x.valid, sectors_of(x.valid) | fetched);
      x.fill = a.context;
      fetch(a, fetched, below);
    }
    put(x.valid, sectors_of(x.valid) | written);
    put(x.dirty, sectors_of(x.dirty) | written);
    x.write = choose(a.write, a.context, x.write);
    uint32_t& stamp = tables_.stamps[index];
    stamp = (stamp & ~Level::kTimeMask) | time_++;
    return true;
  }

  bool miss(const PlainAccess& a, uint32_t index, PlainAccess*& below) {
    Line& x = tables_.lines[index];
    const uint32_t stamp = tables_.stamps[index];
    const Sectors held_dirty = sectors_of(x.dirty);
    const unsigned dirty = used(held_dirty);
    // A line leaves with something to tell if it has flags, a class of its own, or (in L2) sectors
    // that are dirty in part and otherwise not valid.
    if (x.flags != 0 || (stamp >> Level::kTimeBits & 1) != 0) [[unlikely]]
      return false;
    if constexpr (kLowest)
      if (!covers(sectors_of(x.valid), Sectors(held_dirty != 0))) [[unlikely]]
        return false;
    if (stamp == 0) [[unlikely]]
      ++empty_;

    const Sectors mask = sectors_of(a.mask), writes = four_times(a.write);
    const Sectors written = mask & writes, read = mask & ~writes;
    const unsigned cause = used(read | (written & fetch_on_write_));
    const Sectors fetched = want_[cause];
    ++misses_;
    lost_stores_ += writes;
    lost_loaded_ += Sectors(read == 0);
    if constexpr (kLowest) asked_ += Sectors(mask == 0);
    if constexpr (kLowest) fetched_ += Sectors(fetched == 0);
    // Whether the line is dirty is anybody's guess, so no branch depends on it.
    if constexpr (kLowest) {
      write_backs_ -= if_some(dirty);
      written_back_ += bytes(x.dirty);
    } else {
      below->block = x.address;
      put(below->mask, held_dirty);
      below->context = x.write;
      below->write = ~0u;
      below -= static_cast<int32_t>(if_some(dirty));
    }
    if (cause != 0) fetch(a, fetched, below);

    x.address = a.block;
    put(x.valid, fetched | written);
    put(x.dirty, written);
    x.fill = a.context;
    x.write = a.context | ~a.write;
    constexpr uint32_t kNormal = static_cast<uint32_t>(Priority::normal) << Level::kTimeBits;
    tables_.tags[index] = tag_of_block(a.block);
    tables_.stamps[index] = kNormal | time_++;
    return true;
  }

  void fetch(const PlainAccess& a, Sectors sectors, PlainAccess*& below) {
    if constexpr (!kLowest) {
      below->block = a.block;
      put(below->mask, sectors);
      below->context = a.context;
      below->write = 0;
      ++below;
    }
  }

  void count(Sectors mask, Sectors writes) {
    stores_ += writes;
    loaded_ += Sectors((mask & ~writes) == 0);
    if constexpr (kLowest) asked_ += Sectors(mask == 0);
  }
  /// `unused`: minus the number of times that each sector was not used.
  static uint64_t used_of(Sectors unused, uint64_t times) {
    return 4 * times - (-unused[0] - unused[1] - unused[2] - unused[3]);
  }

  Level* level_;
  Level::Tables tables_;
  Sectors fetch_on_write_;
  const Sectors* want_;  ///< what is fetched when sectors are missing, by a bit a sector
  uint32_t time_ = 0;
  // Of one batch.
  uint32_t misses_ = 0, partial_ = 0, empty_ = 0, write_backs_ = 0, written_back_ = 0;
  Sectors stores_{}, lost_stores_{};  ///< of hits, of misses: minus how many, four times
  Sectors loaded_{}, lost_loaded_{};  ///< sectors that these load; see used_of()
  Sectors asked_{}, missing_{}, fetched_{};
};

}  // namespace lanewise::cache
