// Plain loads and stores of any instructions and SMs, in their order: the same steps as in
// engine_path.cpp, for what plain accesses can meet, as one function for one kind of processor.
// What is out of the ordinary (flags, classes, lines that are dirty in L1) goes the general way
// from where it is met.
#include <algorithm>

#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/publish.hpp"

namespace lanewise::cache {

template <bool kWide, unsigned kLine, unsigned kSector>
class Engine::Stream {
 public:
  explicit Stream(Engine& engine)
      : e_(engine),
        l2_(*engine.l2_),
        shared_(!engine.share_.whole()),
        l2_grows_(engine.preset_.l2.infinite),
        whole_lines_(engine.preset_.knobs.fill == Granule::line),
        few_sms_(engine.preset_.sms <= 1) {}

  void run(std::span<const StreamAccess> accesses, const StreamSite* sites) {
    const size_t count = accesses.size();
    for (size_t i = 0; i < std::min(count, kFar); ++i) look_far(accesses, sites, i);
    for (size_t i = 0; i < std::min(count, kNear); ++i) look_near(accesses, sites, i);
    for (size_t i = 0; i < count; ++i) {
      if (i + kFar < count) look_far(accesses, sites, i + kFar);
      if (i + kNear < count) look_near(accesses, sites, i + kNear);
      const StreamAccess& a = accesses[i];
      const StreamSite& site = sites[a.site];
      e_.site_ = site.counters;
      e_.now_ = a.context + 1;
      const Access access{a.block, a.mask, a.context, a.sm, nullptr};
      const uint64_t line = line_of(access);
      l2_first_ = l2_grows_ ? first_of(line) : firsts_[i % kRing];
      here_ = !shared_ || (l2_grows_ ? e_.owns(a.block) : l2_first_ != kElsewhere);
      e_.tick();
      if (e_.tell_observer_) e_.observer_->asked(*site.plan, access);
      if (site.plan->row->kind == trace::OpKind::store)
        store(*site.plan, access, line);
      else
        load(*site.plan, access, line);
    }
    finish();
  }

 private:
  // The tables are larger than the host's nearer caches, and which part of them an access needs is
  // known long before: its set, and some accesses later, from the set, its line or the line that
  // makes room for it.
  static constexpr size_t kFar = 16, kNear = 8, kRing = 32;
  static constexpr uint32_t kElsewhere = ~uint32_t{0};  ///< in another share
  uint32_t first_of(uint64_t line) const {
    const Level::Tables t = l2_.tables();
    const uint32_t set = l2_.set_of(line);
    return shared_ && set == kNoSet ? kElsewhere : set * t.stride;
  }
  void look_far(std::span<const StreamAccess> accesses, const StreamSite* sites, size_t i) {
    const StreamAccess& a = accesses[i];
    const Plan& p = *sites[a.site].plan;
    const bool store = p.row->kind == trace::OpKind::store;
    uint32_t first = 0;
    if (!l2_grows_) firsts_[i % kRing] = first = first_of(line_of(a));
    const bool here = !shared_ || (l2_grows_ ? e_.owns(a.block) : first != kElsewhere);
    if (here && (store || (p.in_l1 && !few_sms_))) {
      // Comes to be in any case.
      Page& page = e_.memory_.page(a.block);
      __builtin_prefetch(&page.sharers_of(a.block), 1);
      if (store) {
        __builtin_prefetch(&page.sector(a.block), 1);
        __builtin_prefetch(&page.written_bytes(a.block), 1);
      }
    }
    if (p.in_l1 && e_.l1_[a.sm] != nullptr) {
      Level& l1 = *e_.l1_[a.sm];
      if (l1.many_ways()) {
        l1.look_far(line_of(a));
      } else {
        const Level::Tables t = l1.tables();
        const auto at = t.next_victims[l1.set_of(line_of(a))].offset;
        // Or the ones behind it, if others of these accesses take it.
        for (uint32_t further = 0; further < 3; ++further)
          __builtin_prefetch(reinterpret_cast<const char*>(t.lines + further) + at, 1);
      }
    }
    if (l2_grows_ || !here) return;
    if (l2_.many_ways()) return l2_.look_far(line_of(a));
    const Level::Tables t = l2_.tables();
    for (uint32_t at = first; at < first + t.stride; at += 16) {
      __builtin_prefetch(t.tags + at);
      __builtin_prefetch(t.stamps + at, 1);
    }
  }
  void look_near(std::span<const StreamAccess> accesses, const StreamSite* sites, size_t i) {
    const StreamAccess& a = accesses[i];
    const uint64_t line = line_of(a);
    if (sites[a.site].plan->in_l1 && e_.l1_[a.sm] != nullptr && e_.l1_[a.sm]->many_ways())
      e_.l1_[a.sm]->look_near(line);
    if (l2_grows_) return;
    const uint32_t first = firsts_[i % kRing];
    if (shared_ && first == kElsewhere) return;
    if (l2_.many_ways()) return l2_.look_near(line);
    const Level::Tables t = l2_.tables();
    const uint32_t tag = l2_.tag_of(line);
    const uint32_t step = std::min(t.stride, 16U);
    for (uint32_t at = first; at < first + t.stride; at += step)
      if (const uint32_t ways = equal(t.tags + at, step, tag); ways != 0)
        return __builtin_prefetch(&t.lines[at + static_cast<uint32_t>(std::countr_zero(ways))], 1);
    __builtin_prefetch(&t.lines[l2_.foresee<kWide>(first)], 1);
  }

  static uint32_t equal(const uint32_t* column, uint32_t count, uint32_t value) {
#if defined(LANEWISE_WIDE)
    if constexpr (kWide) return equal_ways_wide(column, count, value);
#endif
    return equal_ways(column, count, value);
  }

  /// The request's line. All its bytes are of one.
  template <class A>
  static uint64_t line_of(const A& a) {
    return kLine >= kBlockBytes || a.mask.lo != 0 ? a.block : a.block + 64;
  }
  static Mask all_bytes(uint64_t line) {
    if (kLine >= kBlockBytes) return ~Mask{};
    return line % kBlockBytes == 0 ? Mask{~uint64_t{0}, 0} : Mask{0, ~uint64_t{0}};
  }
  static unsigned sectors(const Mask& m) {
    return sector_count(m, kSector);
  }
  static Mask whole(const Mask& m) {
    return whole_sectors(m, kSector);
  }

  void load(const Plan& p, const Access& a, uint64_t line) {
    if (!p.in_l1) return read_l2(p, a, line, a.mask);
    Level& l1 = e_.l1(a.sm);
    const unsigned asked = sectors(a.mask);
    ++n1_.reads;
    n1_.by_class[0] += asked;
    uint32_t index = l1.find<kWide>(line);
    Mask missing = a.mask;
    if (index != kNoLine) {
      Line& x = l1.line(index);
      if ((x.flags & kStale) != 0) [[unlikely]]
        e_.check_stale(Cache::l1, p, a, l1, index, a.mask);
      x.flags &= static_cast<uint8_t>(~kPrefetched);
      l1.touch(index);
      missing = without(a.mask, x.valid);
      const unsigned absent = sectors(missing);
      n1_.sector_misses += absent;
      n1_.sector_hits += asked - absent;
      e_.site_->l1_misses += absent;
      e_.site_->l1_hits += asked - absent;
      if (absent == 0) return;
      ++n1_.read_misses;
    } else {
      ++n1_.read_misses;
      n1_.sector_misses += asked;
      e_.site_->l1_misses += asked;
      index = allocate(Cache::l1, n1_, l1, line, a);
    }
    Line& x = l1.line(index);
    const Mask need = without(whole_lines_ ? all_bytes(line) : whole(missing), x.valid);
    n1_.fills += sectors(need);
    read_l2(p, a, line, need);
    x.valid |= need;
    x.fill = a.context;
    if (p.row->path == Path::read_only) x.flags |= kReadOnlyFill;
    if (!few_sms_) e_.register_copy(Cache::l1, line, a.sm);
  }

  uint32_t allocate(Cache c, LevelCounters& n, Level& level, uint64_t line, const Access& a) {
    const uint32_t index =
        c == Cache::l1 ? level.victim<kWide>(line) : level.victim<kWide>(line, l2_first_);
    const Line& old = level.line(index);
    if (c == Cache::l1) {
      e_.tick();
      // Lines that came one after the other mostly leave so: a guess at the next one, for
      // look_far().
      if (!level.many_ways()) {
        const Level::Tables t = level.tables();
        t.next_victims[index / t.stride].offset = (index + 1) * static_cast<uint32_t>(sizeof(Line));
      }
    }
    if (!old.empty()) {
      constexpr auto kToldOf = static_cast<uint8_t>(~kReadOnlyFill);
      if (c == Cache::l1 ? (old.flags & kToldOf) != 0 || old.dirty.any() : old.flags != 0)
          [[unlikely]]
        e_.leave(c, level, index, a.context);
      else if (level.priority(index) != Priority::normal) [[unlikely]]
        e_.leave(c, level, index, a.context);
      else {
        ++n.evictions;
        if (c == Cache::l2 && old.dirty.any()) write_back_l2(n, old, index);
      }
    }
    level.place(index, line, Priority::normal);
    return index;
  }

  void write_back_l2(LevelCounters& n, const Line& x, uint32_t index) {
    if (without(whole(x.dirty), x.valid).any()) [[unlikely]]
      return e_.write_back_line(Cache::l2, l2_, index);
    ++n.write_backs;
    n.write_back_bytes += bytes(x.dirty);
    l2_.count_dirty(-1);
  }
  static unsigned bytes(const Mask& m) {
#if defined(LANEWISE_WIDE)
    if constexpr (kWide) return bytes_wide(m);
#endif
    return m.count();
  }

  void read_l2(const Plan& p, const Access& a, uint64_t line, const Mask& mask) {
    e_.tick();
    if (here_) read_l2_here(p, a, line, mask);
  }
  /// What the accesses to L2 are counted in.
  LevelCounters& l2_counters() {
    if (e_.unit_counters_.empty()) return n2_;
    e_.count_for(l2_first_ / l2_.tables().stride);
    return *e_.l2_counters_;
  }
  void read_l2_here(const Plan& p, const Access& a, uint64_t line, const Mask& mask) {
    LevelCounters& n2 = l2_counters();
    const unsigned asked = sectors(mask);
    ++n2.reads;
    n2.by_class[0] += asked;
    uint32_t index = l2_.find<kWide>(line, l2_first_);
    Mask missing = whole(mask);
    if (index != kNoLine) {
      Line& x = l2_.line(index);
      if ((x.flags & kStale) != 0) [[unlikely]]
        e_.check_stale(Cache::l2, p, a, l2_, index, mask);
      x.flags &= static_cast<uint8_t>(~kPrefetched);
      missing = whole(without(missing, x.valid));
      l2_.touch(index);
    }
    const unsigned absent = sectors(missing);
    n2.sector_hits += asked - absent;
    n2.sector_misses += absent;
    e_.site_->l2_hits += asked - absent;
    e_.site_->l2_misses += absent;
    if (absent == 0) return;
    ++n2.read_misses;
    if (index == kNoLine) index = allocate(Cache::l2, n2, l2_, line, a);
    Line& x = l2_.line(index);
    const Mask need = without(whole_lines_ ? all_bytes(line) : missing, x.valid);
    n2.fills += sectors(need);
    x.valid |= need;
    x.fill = a.context;
  }

  void store(const Plan& p, const Access& a, uint64_t line) {
    const unsigned asked = sectors(a.mask);
    if (p.in_l1 || e_.l1_[a.sm]) store_l1(p, a, line, asked);
    e_.tick();
    if (!here_) return;
    e_.publish_here(a);
    // L2.
    LevelCounters& n2 = l2_counters();
    n2.by_class[0] += asked;
    uint32_t index = l2_.find<kWide>(line, l2_first_);
    ++n2.writes;
    if (index != kNoLine) {
      n2.write_sector_hits += asked;
      e_.site_->l2_write_hits += asked;
      l2_.touch(index);
    } else {
      ++n2.write_misses;
      n2.write_sector_misses += asked;
      e_.site_->l2_write_misses += asked;
      index = allocate(Cache::l2, n2, l2_, line, a);
      l2_.line(index).fill = a.context;
    }
    Line& x = l2_.line(index);
    if (x.dirty.none()) l2_.count_dirty(1);
    x.valid |= a.mask;
    x.dirty |= a.mask;
    x.write = a.context;
    x.flags &= static_cast<uint8_t>(~kPrefetched);
    if ((x.flags & kStale) != 0) [[unlikely]]
      l2_.history(index).stale = without(l2_.history(index).stale, a.mask);
  }

  void store_l1(const Plan& p, const Access& a, uint64_t line, unsigned asked) {
    Level& l1 = e_.l1(a.sm);
    const uint32_t index = l1.find<kWide>(line);
    if (p.in_l1) {
      ++n1_.writes;
      if (index == kNoLine) ++n1_.write_misses;
      (index != kNoLine ? n1_.write_sector_hits : n1_.write_sector_misses) += asked;
      (index != kNoLine ? e_.site_->l1_write_hits : e_.site_->l1_write_misses) += asked;
    }
    if (index == kNoLine) return;
    Line& x = l1.line(index);
    if (p.store != L1Store::update) {
      const Mask gone = whole(a.mask);
      if ((x.dirty & gone).any()) [[unlikely]]
        e_.write_back(Cache::l1, l1, index);
      ++n1_.invalidated;
      return e_.drop_bytes(l1, index, gone);
    }
    l1.touch(index);
    x.valid |= a.mask;
    x.flags &= static_cast<uint8_t>(~kPrefetched);
    if ((x.flags & kStale) != 0) [[unlikely]]
      l1.history(index).stale = without(l1.history(index).stale, a.mask);
  }

  void finish() {
    e_.count(Cache::l1) += n1_;
    if (e_.unit_counters_.empty()) e_.count(Cache::l2) += n2_;
  }

  Engine& e_;
  Level& l2_;
  const bool shared_;  ///< L2 with other engines
  const bool l2_grows_, whole_lines_, few_sms_;
  bool here_ = true;       ///< the access goes to this engine's share
  uint32_t l2_first_ = 0;  ///< of the set that the access comes to
  uint32_t firsts_[kRing] = {};
  LevelCounters n1_, n2_;
};

template <bool kWide, unsigned kLine, unsigned kSector>
void Engine::stream(Engine& engine, std::span<const StreamAccess> accesses,
                    const StreamSite* sites) {
  Stream<kWide, kLine, kSector>(engine).run(accesses, sites);
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
  const auto lru = [](const Geometry& g) { return g.replacement == Replacement::lru; };
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

void Engine::run_stream(std::span<const StreamAccess> accesses, const StreamSite* sites, bool ask) {
  trim();
  tell_observer_ = ask;
  run_stream_(*this, accesses, sites);
  now_ = 0;
}

}  // namespace lanewise::cache
