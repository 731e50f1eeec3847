// Plain loads and stores of any instructions and SMs, in their order: the same steps as in
// engine_path.cpp, for what plain accesses can meet, as one function for one kind of processor.
// What is out of the ordinary (flags, classes, lines that are dirty in L1) takes the general path
// from where it is met.
#include <algorithm>

#include "runtime/cache/engine/batches/stream_counts.hpp"
#include "runtime/cache/engine/batches/stream_kind.hpp"
#include "runtime/cache/engine/batches/stream_masks.hpp"
#include "runtime/cache/engine/batches/stream_sets.hpp"
#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/publish.hpp"

namespace lanewise::cache {

template <bool kWide, unsigned kLine, unsigned kSector, bool kCommon>
class Engine::Stream : StreamKind<kLine, kCommon> {
 public:
  Stream(Engine& engine, const StreamFacts& facts)
      : StreamKind<kLine, kCommon>(facts),
        e_(engine),
        l2_(*engine.l2_),
        l2_sets_(*engine.l2_),
        l1s_(engine.l1_.data()) {}
  static StreamFacts facts_of(const Engine& e) {
    return {.shared_ = !e.share_.whole(),
            .sampled_ = !e.unit_counters_.empty(),
            .l1_few_ = Level::few_ways(e.preset_.l1),
            .l1_many_ = !e.preset_.l1.infinite && !Level::few_ways(e.preset_.l1),
            .l2_few_ = Level::few_ways(e.preset_.l2),
            .l2_grows_ = e.preset_.l2.infinite,
            .whole_lines_ = e.preset_.knobs.fill == Granule::line,
            .few_sms_ = e.preset_.sms <= 1};
  }

  void run(std::span<const StreamAccess> accesses, const StreamSite* sites) {
    const size_t count = accesses.size();
    // No access takes as many: what is prefetched names stamps.
    times_ = static_cast<uint32_t>(4 * count);
    l2_.reserve_times(times_);
    for (size_t i = 0; i < std::min(count, kFar); ++i) look_far(accesses[i], sites, ahead_[i]);
    for (size_t i = 0; i < std::min(count, kNear); ++i) look_near(accesses[i], ahead_[i]);
    const size_t last_far = count - std::min(count, kFar),
                 last_near = count - std::min(count, kNear);
    for (size_t i = 0; i < count; ++i) {
      if (i < last_far) look_far(accesses[i + kFar], sites, ahead_[(i + kFar) % kRing]);
      if (i < last_near) look_near(accesses[i + kNear], ahead_[(i + kNear) % kRing]);
      const StreamAccess& a = accesses[i];
      if (a.context != wave_) begin_wave(a, sites[a.site]);
      e_.tick();
      if (e_.notify_observer_) e_.observer_->asked(*site_->plan, access(a));
      if (site_->store)
        store(a, ahead_[i % kRing]);
      else
        load(a, ahead_[i % kRing]);
      if (sampled_) count_for_unit();
    }
    finish();
  }

 private:
  using Kind = StreamKind<kLine, kCommon>;
  using L1Sets = StreamSets<kWide, Kind::kL1Stride>;
  using L2Sets = StreamSets<kWide, Kind::kL2Stride>;
  using Kind::few_sms_;
  using Kind::l1_few_;
  using Kind::l1_many_;
  using Kind::l2_few_;
  using Kind::l2_grows_;
  using Kind::sampled_;
  using Kind::shared_;
  using Kind::whole_lines_;
  using Masks = StreamMasks<kWide, kLine, kSector>;
  using Bytes = typename Masks::Bytes;
  static constexpr bool kOneSector = Masks::kOneSector;
  /// Of an access that is to come.
  struct alignas(32) Ahead {
    uint64_t line = 0;
    Page* page = nullptr;  ///< if it will be asked for
    Prefetched l2;
  };

  // The tables are larger than the host's nearer caches, and which part of them an access needs is
  // known long before: its set, and some accesses later, from the set, its line or the line that
  // is evicted for it.
  static constexpr size_t kFar = 16, kNear = 8, kRing = 32;
  void look_far(const StreamAccess& a, const StreamSite* sites, Ahead& ahead) {
    const StreamSite& site = sites[a.site];
    const uint64_t line = line_of(a);
    ahead.line = line;
    ahead.l2.first = first_in_l2(line, a.block);
    // L1s of few ways are small.
    if (l1_many_ && site.in_l1)
      if (const Level* l1 = l1s_[a.sm].get(); l1 != nullptr) l1->look_far(line);
    if (!here(ahead)) return;
    if (site.store || (site.in_l1 && !few_sms_)) {
      // Comes to be in any case.
      ahead.page = page_of(a.block);
      __builtin_prefetch(&ahead.page->sharers_of(a.block), 1);
      if (site.store) ahead.page->writes.fetch(line);
    }
    if (l2_few_)
      l2_sets_.prefetch(ahead.l2.first);
    else if (!l2_grows_)
      l2_.look_far(line);
  }
  bool here(const Ahead& ahead) const { return !shared_ || ahead.l2.here(); }
  uint32_t first_in_l2(uint64_t line, uint64_t block) const {
    if (l2_grows_) return shared_ && !e_.owns(block) ? Prefetched::kElsewhere : 0;
    const uint32_t set = l2_.set_of_line(line / kLine);
    return shared_ && set == kNoSet ? Prefetched::kElsewhere : set * l2_sets_.stride();
  }
  /// Pages stay where they are until the stream ends.
  Page* page_of(uint64_t block) {
    if (block / kPageBytes != page_number_) {
      page_number_ = block / kPageBytes;
      page_ = &e_.memory_.page(block);
    }
    return page_;
  }
  void look_near(const StreamAccess& a, Ahead& ahead) {
    if (l1_many_)
      if (const Level* l1 = l1s_[a.sm].get(); l1 != nullptr) l1->look_near(ahead.line);
    if (!here(ahead)) return;
    if (l2_few_)
      l2_sets_.prefetch(tag_of(ahead.line), ahead.l2);
    else if (!l2_grows_)
      l2_.look_near(ahead.line);
  }

  /// What a wave's accesses have in common.
  void begin_wave(const StreamAccess& a, const StreamSite& site) {
    wave_ = a.context;
    site_ = &site;
    e_.site_ = site.counters;
    e_.now_ = a.context + 1;
    l1_ = l1s_[a.sm].get();
    if (l1_ == nullptr && site.in_l1) l1_ = &e_.new_l1(a.sm);
    if (l1_few_ && l1_ != nullptr) l1_->reserve_times(times_);
  }

  /// The request's line. All its bytes are of one.
  static uint64_t line_of(const StreamAccess& a) {
    return kLine >= kBlockBytes || a.mask.lo != 0 ? a.block : a.block + 64;
  }
  static Access access(const StreamAccess& a) {
    return {a.block, a.mask, a.context, a.sm, nullptr};
  }
  static uint32_t tag_of(uint64_t line) { return static_cast<uint32_t>(line / kLine); }
  static void fill(Line& x, uint64_t line, Bytes valid, Bytes dirty, uint32_t filled_by,
                   uint32_t written_by) {
    x.address = line;
    Masks::put(x.valid, line, valid);
    Masks::put(x.dirty, line, dirty);
    x.fill = filled_by;
    x.write = written_by;
    x.set_state(kLacking);
  }
  static void used(Line& x) { x.flags &= static_cast<uint8_t>(~kPrefetched); }

  static void add(Mask& m, uint64_t line, Bytes bytes) {
    Masks::put(m, line, Masks::of(m) | bytes);
  }

  // L1.
  /// The line's set if ways are few; whatever else.
  uint32_t set_in_l1(const Level& l1, uint64_t line) const {
    return l1_few_ ? l1.set_of_line(line / kLine) : 0;
  }
  uint32_t find_in_l1(Level& l1, uint64_t line, uint32_t set) const {
    if (!l1_few_) return l1.find<kWide>(line);
    const L1Sets sets(l1);
    return sets.find(set * sets.stride(), tag_of(line), line);
  }
  uint32_t evict_from_l1(const StreamAccess& a, Level& l1, uint64_t line, uint32_t set) {
    const uint32_t index =
        l1_few_ ? L1Sets(l1).oldest(set * L1Sets(l1).stride()) : l1.victim<kWide>(line);
    ++e_.moment_.clock;
    const Line& old = l1.line(index);
    if (!old.empty()) {
      constexpr auto kReported = static_cast<uint8_t>(~kReadOnlyFill);
      if ((old.flags & kReported) != 0 || old.dirty.any() || l1.priority(index) != Priority::normal)
          [[unlikely]]
        e_.leave(Cache::l1, l1, index, a.context);
      else
        ++n1_.evictions;
    }
    return index;
  }

  void touch_in_l1(Level& l1, uint32_t index) {
    if (l1_few_)
      l1.touch_few(index);
    else
      l1.touch(index);
  }

  void load(const StreamAccess& a, Ahead& ahead) {
    const uint64_t line = ahead.line;
    const Bytes mask = Masks::of(a.mask);
    if (!site_->in_l1) return read_l2(a, ahead, mask);
    SiteCounters& n = *site_->counters;
    Level& l1 = *l1_;
    const unsigned asked = Masks::asked(mask);
    n1_.reads += kOneSector ? 0 : 1;
    const uint32_t set = set_in_l1(l1, line);
    uint32_t index = find_in_l1(l1, line, set);
    Bytes need = whole_lines_ ? Masks::line() : Masks::whole(mask);
    unsigned absent = asked;
    if (index != kNoLine) {
      Line& x = l1.line(index);
      if ((x.flags & kStale) != 0) [[unlikely]]
        e_.check_stale(Cache::l1, *site_->plan, access(a), l1, index, a.mask);
      used(x);
      touch_in_l1(l1, index);
      const Bytes valid = Masks::of(x.valid), missing = mask & ~valid;
      absent = Masks::count(missing);
      if (!kOneSector || absent == 0) {
        n1_.sector_hits += asked - absent;
        n.l1_hits += asked - absent;
      }
      if (absent == 0) return;
      if (!whole_lines_) need = Masks::whole(missing);
      need &= ~valid;
      Masks::put(x.valid, line, valid | need);
      x.fill = a.context;
    } else {
      index = evict_from_l1(a, l1, line, set);
      Line& x = l1_few_ ? l1.renew_few(index, tag_of(line)) : l1.renew(index, line);
      fill(x, line, need, Bytes{}, a.context, kNoContext);
    }
    if (site_->read_only) l1.line(index).flags |= kReadOnlyFill;
    n1_.sector_misses += absent;
    n.l1_misses += absent;
    if (!kOneSector) {
      ++n1_.read_misses;
      n1_.fills += whole_lines_ ? Masks::count(need) : absent;
    }
    if (!few_sms_ && here(ahead)) ahead.page->sharers_of(a.block) |= uint64_t{1} << (a.sm & 63);
    read_l2(a, ahead, need);
  }

  void store_in_l1(const StreamAccess& a, Level& l1, uint64_t line, Bytes mask, unsigned asked) {
    const uint32_t index = find_in_l1(l1, line, set_in_l1(l1, line));
    if (site_->in_l1) {
      SiteCounters& n = *site_->counters;
      ++n1_.writes;
      if (index == kNoLine) ++n1_.write_misses;
      (index != kNoLine ? n1_.write_sector_hits : n1_.write_sector_misses) += asked;
      (index != kNoLine ? n.l1_write_hits : n.l1_write_misses) += asked;
    }
    if (index == kNoLine) return;
    Line& x = l1.line(index);
    if (!site_->updates_l1) {
      const Mask gone = whole_sectors(a.mask, kSector);
      if ((x.dirty & gone).any()) [[unlikely]]
        e_.write_back(Cache::l1, l1, index);
      ++n1_.invalidated;
      return e_.drop_bytes(l1, index, gone);
    }
    touch_in_l1(l1, index);
    written(l1, index, x, line, mask);
  }
  static void written(Level& level, uint32_t index, Line& x, uint64_t line, Bytes mask) {
    add(x.valid, line, mask);
    used(x);
    if ((x.flags & kStale) == 0) [[likely]]
      return;
    Mask bytes;
    Masks::put(bytes, line, mask);
    level.history(index).stale = without(level.history(index).stale, bytes);
  }

  // L2.
  uint32_t find_in_l2(uint64_t line, Prefetched& f) const {
    if (l2_grows_) return l2_.find<kWide>(line);
    if (!l2_few_) return l2_.find<kWide>(line, f.first);
    if (l2_sets_.holds(f, line)) return f.line;
    if (l2_sets_.lacks(f)) return kNoLine;
    const uint32_t index = l2_sets_.find(f.first, tag_of(line), line);
    if (index == kNoLine) f.line = l2_sets_.oldest(f.first);
    return index;
  }
  /// find_in_l2() has not found the line. Its content is left to the caller.
  Line& evict_from_l2(const StreamAccess& a, uint64_t line, const Prefetched& f) {
    const uint32_t index = l2_few_ ? f.line : l2_.victim<kWide>(line);
    const Line& old = l2_.line(index);
    if (!old.empty()) {
      if (old.flags != 0 || l2_.priority(index) != Priority::normal) [[unlikely]] {
        e_.leave(Cache::l2, l2_, index, a.context);
      } else {
        ++n2_.evictions;
        write_back_l2(old, index);
      }
    }
    return l2_few_ ? l2_.renew_few(index, tag_of(line)) : l2_.renew(index, line);
  }
  /// If it is dirty, which no processor can prefetch: so without a branch.
  void write_back_l2(const Line& x, uint32_t index) {
    if (Masks::any(Masks::whole(Masks::of(x.dirty)) & ~Masks::of(x.valid))) [[unlikely]]
      return e_.write_back_line(Cache::l2, l2_, index);
    const unsigned bytes = Masks::count_bytes(x.dirty);
    const int lines = bytes != 0 ? 1 : 0;
    n2_.write_backs += static_cast<unsigned>(lines);
    n2_.write_back_bytes += bytes;
    l2_.count_dirty(-lines);
  }
  /// Of a sample, what the engine counts meanwhile is the set's, too.
  void enter_unit(const Prefetched& f) {
    if (sampled_) e_.count_for(f.first / l2_sets_.stride());
  }
  void touch_in_l2(uint32_t index) {
    if (l2_few_)
      l2_.touch_few(index);
    else
      l2_.touch(index);
  }

  void read_l2(const StreamAccess& a, Ahead& ahead, Bytes mask) {
    ++e_.moment_.clock;
    if (!here(ahead)) return;
    const uint64_t line = ahead.line;
    enter_unit(ahead.l2);
    SiteCounters& n = *site_->counters;
    const unsigned asked = Masks::asked(mask);
    n2_.reads += kOneSector ? 0 : 1;
    const uint32_t index = find_in_l2(line, ahead.l2);
    Bytes missing = Masks::whole(mask);
    unsigned absent = asked;
    if (index != kNoLine) {
      Line& x = l2_.line(index);
      if ((x.flags & kStale) != 0) [[unlikely]] {
        Mask bytes;
        Masks::put(bytes, line, mask);
        e_.check_stale(Cache::l2, *site_->plan, access(a), l2_, index, bytes);
      }
      used(x);
      touch_in_l2(index);
      missing = Masks::whole(missing & ~Masks::of(x.valid));
      absent = Masks::count(missing);
    }
    if (!kOneSector || absent == 0) {
      n2_.sector_hits += asked - absent;
      n.l2_hits += asked - absent;
    }
    if (absent == 0) return;
    n2_.sector_misses += absent;
    n.l2_misses += absent;
    n2_.read_misses += kOneSector ? 0 : 1;
    Bytes need = whole_lines_ ? Masks::line() : missing;
    if (index == kNoLine) {
      if (!kOneSector) n2_.fills += whole_lines_ ? Masks::count(need) : absent;
      Line& x = evict_from_l2(a, line, ahead.l2);
      return fill(x, line, need, Bytes{}, a.context, kNoContext);
    }
    Line& x = l2_.line(index);
    need &= ~Masks::of(x.valid);
    if (!kOneSector) n2_.fills += Masks::count(need);
    add(x.valid, line, need);
    x.fill = a.context;
  }

  void store(const StreamAccess& a, Ahead& ahead) {
    const uint64_t line = ahead.line;
    const Bytes mask = Masks::of(a.mask);
    const unsigned asked = Masks::asked(mask);
    if (l1_ != nullptr) store_in_l1(a, *l1_, line, mask, asked);
    ++e_.moment_.clock;
    if (!here(ahead)) return;
    e_.publish_in(*ahead.page, access(a));
    enter_unit(ahead.l2);
    SiteCounters& n = *site_->counters;
    n2_.writes += kOneSector ? 0 : 1;
    const uint32_t index = find_in_l2(line, ahead.l2);
    if (index == kNoLine) {
      n2_.write_misses += kOneSector ? 0 : 1;
      n2_.write_sector_misses += asked;
      n.l2_write_misses += asked;
      Line& x = evict_from_l2(a, line, ahead.l2);
      l2_.count_dirty(1);
      return fill(x, line, mask, mask, a.context, a.context);
    }
    n2_.write_sector_hits += asked;
    n.l2_write_hits += asked;
    touch_in_l2(index);
    Line& x = l2_.line(index);
    const Bytes dirty = Masks::of(x.dirty);
    if (!Masks::any(dirty)) l2_.count_dirty(1);
    Masks::put(x.dirty, line, dirty | mask);
    x.write = a.context;
    written(l2_, index, x, line, mask);
  }

  /// Of a sample, what an access has counted is its set's.
  void count_for_unit() {
    complete<kOneSector>(n2_, true);
    if (n2_.by_class[0] == 0) return;
    *e_.l2_counters_ += n2_;
    n2_ = {};
  }
  void finish() {
    complete<kOneSector>(n1_, false);
    e_.count(Cache::l1) += n1_;
    if (sampled_) return;
    complete<kOneSector>(n2_, true);
    e_.count(Cache::l2) += n2_;
  }

  Engine& e_;
  Level& l2_;
  const L2Sets l2_sets_;  ///< of no use if it grows, but for the stride
  const std::unique_ptr<Level>* const l1s_;
  uint32_t times_ = 0;  ///< at most, of a cache
  // Of the wave whose accesses are made.
  uint32_t wave_ = kNoContext;
  const StreamSite* site_ = nullptr;
  Level* l1_ = nullptr;  ///< null: a store's, of an SM without one
  uint64_t page_number_ = ~uint64_t{0};
  Page* page_ = nullptr;  ///< with this number
  Ahead ahead_[kRing];
  LevelCounters n1_, n2_;
};

template <bool kWide, unsigned kLine, unsigned kSector>
void Engine::stream(Engine& engine, std::span<const StreamAccess> accesses,
                    const StreamSite* sites) {
  using Common = Stream<kWide, kLine, kSector, true>;
  const StreamFacts facts = Common::facts_of(engine);
  if (StreamKind<kLine, true>::is(facts, engine.preset_))
    Common(engine, facts).run(accesses, sites);
  else
    Stream<kWide, kLine, kSector, false>(engine, facts).run(accesses, sites);
}

// Flattened: see engine_plain.cpp.
#define LANEWISE_STREAM(name, target, wide, line, sector)                                 \
  [[gnu::flatten]] target void Engine::name(Engine& e, std::span<const StreamAccess> all, \
                                            const StreamSite* sites) {                    \
    stream<wide, line, sector>(e, all, sites);                                            \
  }
LANEWISE_STREAM(stream_128_32, , false, 128, 32)
LANEWISE_STREAM(stream_64_64, , false, 64, 64)
LANEWISE_STREAM(stream_128_128, , false, 128, 128)
#if defined(LANEWISE_WIDE)
LANEWISE_STREAM(stream_128_32_wide, LANEWISE_WIDE, true, 128, 32)
LANEWISE_STREAM(stream_64_64_wide, LANEWISE_WIDE, true, 64, 64)
LANEWISE_STREAM(stream_128_128_wide, LANEWISE_WIDE, true, 128, 128)
#endif

Engine::RunStream* Engine::stream_runner(const Preset& preset, bool keep_values,
                                         [[maybe_unused]] Vectors vectors) {
  const Geometry &l1 = preset.l1, &l2 = preset.l2;
  const auto lru = [](const Geometry& g) { return g.replacement == &lru_policy; };
  const Knobs& k = preset.knobs;
  if (keep_values || !lru(l1) || !lru(l2) || k.dirty_limit_percent != 0 || !k.write_allocate_l2 ||
      k.fetch_on_write || l1.line != l2.line || l1.sector != l2.sector)
    return nullptr;
  const auto shape = [&](unsigned line, unsigned sector) {
    return l1.line == line && l1.sector == sector;
  };
#if defined(LANEWISE_WIDE)
  if (vectors != Vectors::base && wide_vectors_run())
    return shape(128, 32)    ? stream_128_32_wide
           : shape(64, 64)   ? stream_64_64_wide
           : shape(128, 128) ? stream_128_128_wide
                             : nullptr;
#endif
  return shape(128, 32)    ? stream_128_32
         : shape(64, 64)   ? stream_64_64
         : shape(128, 128) ? stream_128_128
                           : nullptr;
}

void StreamSite::set_plan(const Plan& p) {
  plan = &p;
  store = p.row->kind == trace::OpKind::store;
  in_l1 = p.in_l1;
  updates_l1 = store && p.store == L1Store::update;
  read_only = p.row->path == Path::read_only;
}

void Engine::run_stream(std::span<const StreamAccess> accesses, const StreamSite* sites, bool ask) {
  trim();
  notify_observer_ = ask;
  run_stream_(*this, accesses, sites);
  now_ = 0;
}

}  // namespace lanewise::cache
