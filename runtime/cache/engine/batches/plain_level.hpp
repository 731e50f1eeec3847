// One level of cache as a batch of plain accesses sees it (engine_plain.cpp): LRU, 128-byte lines
// of four 32-byte sectors, no flags, no classes, no values. What is anybody's guess but for hit or
// miss (load or store, clean or dirty victim) takes the same steps without a branch, since a host
// that guesses wrong loses more time than the steps that could have been left out.
#pragma once

#include <bit>

#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/sets/vector.hpp"

namespace lanewise::cache {

inline Sectors four_times(uint32_t value) {
  return Sectors{value, value, value, value};
}

/// a where `mask` is all ones, b where it is 0; a compiler makes no branch of it.
inline uint32_t choose(uint32_t mask, uint32_t a, uint32_t b) {
  return (a & mask) | (b & ~mask);
}

/// Level::tag_of() for 128-byte lines.
inline uint32_t tag_of_block(uint64_t block) {
  return static_cast<uint32_t>(block / kBlockBytes);
}

/// Accesses, and the ends of two lists that they make longer: what the level below has to do (lines
/// that go down, lines or sectors to fetch), and which of that are lines that go down.
struct PlainWork {
  const PlainAccess* accesses;
  size_t count;
  PlainAccess*& below;
  const PlainAccess**& writes;
};

/// kLowest: only memory is below. kWhole: each miss fetches the whole line, the number of a set is
/// some bits of the line's, and the level below has 16 ways.
template <class Ways, bool kLowest, bool kWhole>
class PlainLevel;

// How a set is looked through. Each kind has its take(), a function of its own and for one kind of
// processor: there the compiler can keep in registers what the loop counts.

/// Any number of ways.
template <bool kWideVectors>
struct AnyNumber {
  static constexpr bool kWide = kWideVectors;
  static constexpr bool kMaybeMany = true;  ///< Level::many_ways()
  static uint32_t stride(const Level::Tables& t) { return t.stride; }
  static uint32_t find(const Level& level, const Level::Tables&, uint64_t line, uint32_t first) {
    const uint32_t index = level.find<kWide>(line, first);
    return index == kNoLine ? kNoLine : index - first;
  }
  static bool absent(uint32_t found) { return found == kNoLine; }
  static uint32_t way(uint32_t found) { return found; }
  static uint32_t oldest(const Level& level, const Level::Tables&, uint32_t first) {
    return level.oldest<kWide>(first) - first;
  }
};

/// On any processor.
struct AnyWays : AnyNumber<false> {
  template <bool kLowest, bool kWhole>
  [[gnu::flatten, gnu::noinline]] static size_t take(PlainLevel<AnyWays, kLowest, kWhole>& level,
                                                     const PlainWork& work) {
    return level.take_inline(work);
  }
};

#if defined(LANEWISE_WIDE)
struct AnyWaysWide : AnyNumber<true> {
  template <bool kLowest, bool kWhole>
  [[gnu::flatten, gnu::noinline]] LANEWISE_WIDE static size_t take(
      PlainLevel<AnyWaysWide, kLowest, kWhole>& level, const PlainWork& work) {
    return level.take_inline(work);
  }
};

/// Four or 16 ways, whose tags, and whose stamps, are one register.
template <uint32_t kWays>
struct WideWays {
  static constexpr bool kWide = true, kMaybeMany = false;
  static constexpr uint32_t stride(const Level::Tables&) { return kWays; }
  /// What find() found: a bit a way.
  static uint32_t find(const Level&, const Level::Tables& t, uint64_t line, uint32_t first) {
    return equal_ways_wide(t.tags + first, kWays, tag_of_block(line));
  }
  static bool absent(uint32_t found) { return found == 0; }
  static uint32_t way(uint32_t found) { return static_cast<uint32_t>(std::countr_zero(found)); }
  static uint32_t oldest(const Level&, const Level::Tables& t, uint32_t first) {
    return way(kWays == 4 ? oldest4_wide(t.stamps + first) : oldest16_wide(t.stamps + first));
  }
  /// Of 16 ways.
  static Stamped next_oldest(const Level::Tables& t, uint32_t first, uint32_t but) {
    return next_oldest16_wide(t.stamps + first, but);
  }
  template <bool kLowest, bool kWhole>
  [[gnu::flatten, gnu::noinline]] LANEWISE_WIDE static size_t take(
      PlainLevel<WideWays, kLowest, kWhole>& level, const PlainWork& work) {
    return level.take_inline(work);
  }
};

/// 16 ways, with AVX-512.
struct WidestWays : WideWays<16> {
  static uint32_t find(const Level&, const Level::Tables& t, uint64_t line, uint32_t first) {
    return equal16_widest(t.tags + first, tag_of_block(line));
  }
  static uint32_t oldest(const Level&, const Level::Tables& t, uint32_t first) {
    return way(oldest16_widest(t.stamps + first));
  }
  static Stamped next_oldest(const Level::Tables& t, uint32_t first, uint32_t but) {
    return next_oldest16_widest(t.stamps + first, but);
  }
  template <bool kLowest, bool kWhole>
  [[gnu::flatten, gnu::noinline]] LANEWISE_WIDEST static size_t take(
      PlainLevel<WidestWays, kLowest, kWhole>& level, const PlainWork& work) {
    return level.take_inline(work);
  }
};
#endif

/// By a bit a sector, all bytes of the sectors whose bits are 0, or of the line they are in.
struct WholeTable {
  explicit WholeTable(bool lines) {
    for (unsigned i = 0; i < 16; ++i)
      for (unsigned s = 0; s < 4; ++s) of[i][s] = (lines ? i != 15 : (i >> s & 1) == 0) ? ~0u : 0;
  }
  Sectors of[16] = {};
};
inline const WholeTable kWholeSectors{false}, kWholeLines{true};

/// What stays as it is while a level takes accesses.
struct PlainTables {
  PlainTables(Level& level, Level& below, const Knobs& knobs)
      : level_(&level),
        tables_(level.tables()),
        sets_(level.set_mask()),
        lines_below_(below.tables()),
        sets_below_(below.set_mask()),
        no_fetch_on_write_(four_times(knobs.fetch_on_write ? 0 : ~0u)),
        want_(knobs.fill == Granule::line ? kWholeLines.of : kWholeSectors.of) {}

  Level* level_;
  Level::Tables tables_;
  Level::SetMask sets_;
  Level::Tables lines_below_;  ///< if nothing is below, this level's
  Level::SetMask sets_below_;
  Sectors no_fetch_on_write_;
  const Sectors* want_;  ///< what is fetched, by a bit a sector that is not missing
};

/// Of one batch.
struct PlainCounts {
  uint32_t misses_ = 0, partial_ = 0, empty_ = 0, write_backs_ = 0, written_back_ = 0;
  uint32_t stores_ = 0, lost_stores_ = 0;  ///< that hit, that missed
  Sectors loaded_{}, lost_loaded_{};       ///< sectors that loads ask for; see used_of()
  Sectors missing_{}, fetched_{};
  Sectors asked_{}, lost_asked_{};  ///< by loads and stores that hit, that missed
};

template <class Ways, bool kLowest, bool kWhole>
class PlainLevel : PlainTables, PlainCounts {
 public:
  PlainLevel(Level& level, Level& below, const Knobs& knobs) : PlainTables(level, below, knobs) {}

  /// Takes accesses in their order, up to one that asks for more than plain steps, and returns how
  /// many that were.
  size_t take(const PlainWork& work) { return Ways::template take<kLowest, kWhole>(*this, work); }
  size_t take_inline(const PlainWork& work) {
    // All in a local object, of which parts may be in registers.
    PlainLevel me(static_cast<const PlainTables&>(*this), static_cast<const PlainCounts&>(*this));
    me.time_ = level_->take_times(static_cast<uint32_t>(work.count)) | kNormalTime;
    me.block_ = ~uint64_t{0};
    me.below_ = work.below;
    me.writes_ = work.writes;
    const PlainAccess* a = work.accesses;
    for (const auto* const end = a + work.count; a != end && me.step(*a); ++a) ++me.time_;
    work.below = me.below_;
    work.writes = me.writes_;
    static_cast<PlainCounts&>(*this) = me;
    return static_cast<size_t>(a - work.accesses);
  }

  /// Adds to the counters what `accesses` plain accesses came to, but for what the list of the
  /// level below needs: fills and write-backs. Returns the sectors that loads, and that stores,
  /// found and did not find.
  struct Found {
    uint64_t hits, misses, write_hits, write_misses;
  };
  Found finish(uint64_t accesses, LevelCounters& n) {
    const uint64_t lost = used_of(lost_loaded_, misses_);
    const uint64_t loaded = used_of(loaded_, accesses - misses_) + lost;
    const uint64_t missed = used_of(missing_, partial_) + lost;
    const uint32_t stores = stores_ + lost_stores_;
    const uint64_t stored = used_of(asked_, accesses - misses_) - (loaded - lost);
    const uint64_t lost_stored = used_of(lost_asked_, misses_) - lost;
    n.reads += accesses - stores;
    n.writes += stores;
    n.read_misses += misses_ - lost_stores_ + partial_;
    n.write_misses += lost_stores_;
    n.sector_hits += loaded - missed;
    n.sector_misses += missed;
    n.write_sector_hits += stored;
    n.write_sector_misses += lost_stored;
    if (kLowest) n.fills += used_of(fetched_, misses_ + partial_);
    n.evictions += misses_ - empty_;
    n.write_backs += write_backs_;
    n.write_back_bytes += written_back_;
    n.by_class[0] += loaded + (kLowest ? stored + lost_stored : 0);
    return {loaded - missed, missed, stored, lost_stored};
  }

  static uint32_t bytes(const Mask& m) {
#if defined(LANEWISE_WIDE)
    if constexpr (Ways::kWide) return bytes_wide(m);
#endif
    return m.count();
  }

 private:
  static constexpr uint32_t kNormalTime = static_cast<uint32_t>(Priority::normal)
                                          << Level::kTimeBits;
  // Of Line::state(): a line that asks for more than plain steps when it is used, and when it
  // leaves.
  static constexpr uint32_t kUsedFlags = (kStale | kPrefetched) << 8 | kOwnClass;
  static constexpr uint32_t kLeavingFlags = 0xff00 | kOwnClass;

  bool step(const PlainAccess& a) {
    // Another part of the line that was just used needs no lookup.
    if constexpr (!kLowest)
      if (a.block == block_) return hit(a, index_);
    const uint32_t tag = tag_of_block(a.block);
    const uint32_t first = (kWhole || sets_.known ? tag & sets_.mask : level_->set_of(a.block)) *
                           Ways::stride(tables_);
    const uint32_t found = Ways::find(*level_, tables_, a.block, first);
    if (!Ways::absent(found)) [[likely]]
      return hit(a, index_ = first + Ways::way(found));
    return miss(a, tag, index_ = oldest(first));
  }

  uint32_t oldest(uint32_t first) const {
    if constexpr (kLowest && kWhole) {
      const NextVictim next = tables_.next_victims[first / Ways::stride(tables_)];
      const uint32_t index = next.offset / sizeof(Line);
      if (tables_.stamps[index] == next.stamp) [[likely]]
        return index;
    }
    return first + Ways::oldest(*level_, tables_, first);
  }
  /// The line at `index` becomes the newest of its set.
  void prefetch_victim(uint32_t index) {
    const uint32_t stride = Ways::stride(tables_), way = index % stride;
    const Stamped next = Ways::next_oldest(tables_, index - way, way);
    tables_.next_victims[index / stride] = {
        next.stamp, (index - way + Ways::way(next.ways)) * static_cast<uint32_t>(sizeof(Line))};
  }

  bool hit(const PlainAccess& a, uint32_t index) {
    Line& x = tables_.lines[index];
    if (x.address != a.block) [[unlikely]]
      return false;
    block_ = a.block;
    const Sectors mask = sectors_of(a.mask), writes = four_times(a.write);
    const Sectors unused = Sectors(mask == 0);
    const uint32_t used = kWhole ? kLacking : signs(unused) ^ kLacking;
    if ((x.state() & (kUsedFlags | used)) != 0) [[unlikely]]
      if (!complete(x, a, index)) return false;
    stores_ -= a.write;
    loaded_ += unused | writes;
    asked_ += unused;
    put(x.dirty, sectors_of(x.dirty) | (mask & writes));
    x.write = choose(a.write, a.context, x.write);
    tables_.stamps[index] = time_;
    if constexpr (Ways::kMaybeMany)
      if (level_->many_ways()) level_->touch_among_many(index);
    return true;
  }

  /// Fetches what a load lacks, and says of a store which bytes are valid now.
  bool complete(Line& x, const PlainAccess& a, uint32_t index) {
    if ((x.state() & kUsedFlags & ~uint32_t{kOwnClass}) != 0 ||
        level_->priority(index) != Priority::normal)
      return false;
    const Sectors mask = sectors_of(a.mask), writes = four_times(a.write);
    const Sectors written = mask & writes;
    Sectors read = mask & ~writes;
    if constexpr (kLowest) read = Sectors(read != 0);  // below L1, sectors are asked for as a whole
    if (!covers(sectors_of(x.valid), read)) {
      const Sectors missing = read & ~sectors_of(x.valid);
      const Sectors fetched = want_[signs(Sectors(missing == 0))] & ~sectors_of(x.valid);
      ++partial_;
      missing_ += Sectors(missing == 0);
      if constexpr (kLowest) fetched_ += Sectors(fetched == 0);
      put(x.valid, sectors_of(x.valid) | fetched);
      x.fill = a.context;
      fetch(a, tag_of_block(a.block), fetched);
    }
    put(x.valid, sectors_of(x.valid) | written);
    x.set_state(static_cast<uint32_t>(x.flags) << 8 | lacking(sectors_of(x.valid)));
    return true;
  }

  bool miss(const PlainAccess& a, uint32_t tag, uint32_t index) {
    Line& x = tables_.lines[index];
    const Sectors held_dirty = sectors_of(x.dirty);
    if (!leaves_plainly(x)) [[unlikely]]
      return false;

    block_ = a.block;
    const Sectors mask = sectors_of(a.mask), writes = four_times(a.write);
    const Sectors unused = Sectors(mask == 0);
    const unsigned no_cause = kWhole ? 0 : signs(unused | (writes & no_fetch_on_write_));
    const Sectors fetched = kWhole ? ~Sectors{} : want_[no_cause];
    ++misses_;
    lost_stores_ -= a.write;
    lost_loaded_ += unused | writes;
    if (x.empty()) [[unlikely]] {
      ++empty_;
      __asm__ volatile("");  // a branch, not steps that each miss has to take
    }
    const bool dirty = some(held_dirty);
    lost_asked_ += unused;
    if constexpr (kLowest) {
      fetched_ += Sectors(fetched == 0);
      write_backs_ += static_cast<uint32_t>(dirty);
      written_back_ += bytes(x.dirty);
    } else {
      below_->block = x.address;
      put(below_->mask, held_dirty);
      below_->context = x.write;
      below_->write = ~0u;
      *writes_ = below_;
      writes_ += static_cast<size_t>(dirty);
      below_ += static_cast<size_t>(dirty);
    }
    if (no_cause != 15) fetch(a, tag, fetched);

    if constexpr (Ways::kMaybeMany)
      if (level_->many_ways()) level_->take_place_among_many(index, a.block);
    x.address = a.block;
    const Sectors written = mask & writes, valid = kWhole ? fetched : fetched | written;
    put(x.valid, valid);
    put(x.dirty, written);
    x.fill = a.context;
    x.write = a.context | ~a.write;
    x.set_state(kWhole ? 0 : lacking(valid));
    if constexpr (kLowest && kWhole) prefetch_victim(index);
    tables_.stamps[index] = time_;
    if (!Ways::kMaybeMany || !level_->many_ways()) tables_.tags[index] = tag;
    return true;
  }

  /// Not if it has something to report: flags, a class of its own, or (in L2) sectors that are
  /// dirty in part and otherwise not valid.
  bool leaves_plainly(const Line& x) const {
    const uint32_t state = x.state();
    if (kWhole && (state & (kLeavingFlags | kLacking)) == 0) [[likely]]
      return true;
    if ((state & kLeavingFlags) != 0) return false;
    return !kLowest || covers(sectors_of(x.valid), Sectors(sectors_of(x.dirty) != 0));
  }

  void fetch(const PlainAccess& a, [[maybe_unused]] uint32_t tag, Sectors sectors) {
    if constexpr (!kLowest) {
      below_->block = a.block;
      put(below_->mask, sectors);
      below_->context = a.context;
      below_->write = 0;
      ++below_;
      if constexpr (kWhole) {
        // If it misses there too, the line that leaves is one that the host has not seen for long.
        const NextVictim& next = lines_below_.next_victims[tag & sets_below_.mask];
        __builtin_prefetch(reinterpret_cast<const char*>(lines_below_.lines) + next.offset, 1);
      }
    }
  }

  /// Line::notes of a line of the normal class.
  static uint32_t lacking(Sectors valid) {
    return signs(Sectors(valid == ~Sectors{})) ^ kLacking;
  }
  static bool some(Sectors s) {
#if defined(LANEWISE_WIDE)
    if constexpr (Ways::kWide) return some_wide(std::bit_cast<__m128i>(s));
#endif
    return not_zero(s) != 0;
  }
  static bool covers(Sectors all, Sectors some) {
#if defined(LANEWISE_WIDE)
    if constexpr (Ways::kWide)
      return covers_wide(std::bit_cast<__m128i>(all), std::bit_cast<__m128i>(some));
#endif
    return not_zero(some & ~all) == 0;
  }
  /// `unused`: minus the number of times that each sector was not used.
  static uint64_t used_of(Sectors unused, uint64_t times) {
    return 4 * times - (-unused[0] - unused[1] - unused[2] - unused[3]);
  }

  PlainLevel(const PlainTables& tables, const PlainCounts& counts)
      : PlainTables(tables), PlainCounts(counts) {}

  // While it takes accesses.
  uint64_t block_ = 0;  ///< of the latest, whose line is index_
  uint32_t index_ = 0;
  uint32_t time_ = 0;
  PlainAccess* below_ = nullptr;
  const PlainAccess** writes_ = nullptr;
};

}  // namespace lanewise::cache
