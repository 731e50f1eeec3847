// The path of loads and stores through L1, L2 and memory.
#include <algorithm>

#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/engine/publish.hpp"

namespace lanewise::cache {
namespace {

Priority priority_of(Class c) {
  switch (c) {
    case Class::first:
      return Priority::first;
    case Class::last:
      return Priority::last;
    default:
      return Priority::normal;
  }
}

unsigned sectors_of(const Level& level, const Mask& mask) {
  return sector_count(mask, level.geometry().sector);
}
Mask whole_sectors_of(const Level& level, const Mask& mask) {
  return whole_sectors(mask, level.geometry().sector);
}

}  // namespace

void Engine::load(const Plan& p, const Access& a) {
  if (p.row == nullptr || p.row->path == Path::none) return;
  const Cache c = first_cache(p);
  if (!p.in_l1) {
    read_l2(p, a, a.block, a.mask, a.bytes);
  } else if (p.probe == Probe::normal || p.probe == Probe::no_fill) {
    Level& level = instance(c, a.sm);
    each_line(level, a.block, a.mask,
              [&](uint64_t line, Mask m) { read_line(c, level, level.find(line), p, a, line, m); });
  } else {
    each_line(instance(c, a.sm), a.block, a.mask,
              [&](uint64_t line, Mask m) { pass_by(p, a, line, m); });
  }
  if (p.prefetch_bytes != 0) over_fetch(p, a);
  if ((p.flags & kAcquire) != 0) invalidate_global(a);
}

void Engine::hit(Level& level, uint32_t index, Class wanted) {
  if (wanted == Class::unchanged) return;
  level.touch(index);
  if (wanted != Class::normal) level.set_priority(index, priority_of(wanted));
}

[[gnu::noinline]] void Engine::check_stale(Cache c, const Plan& p, const Access& a,
                                           const Level& level, uint32_t index, Mask mask) {
  if (p.row->kind == trace::OpKind::control) return;  // a prefetch hands nobody the bytes
  if (!owns(a.block)) return;
  Level& l = const_cast<Level&>(level);
  const History& h = l.history(index);
  const Mask bytes = mask & h.stale & l.line(index).valid;
  if (bytes.none()) return;
  ++site_->stale;
  observer_->stale_read({c, &p, a, l.line(index), h, bytes});
}

/// `index`: where the line is, or kNoLine.
void Engine::read_line(Cache c, Level& level, uint32_t index, const Plan& p, const Access& a,
                       uint64_t line, Mask mask) {
  LevelCounters& n = count(c);
  ++n.reads;
  const unsigned sectors = sectors_of(level, mask);
  if (demand_) n.by_class[static_cast<size_t>(p.l1_class)] += sectors;
  if (index != kNoLine || p.probe != Probe::no_fill)
    notify(c, level, line, a.context, index != kNoLine);
  if (index == kNoLine) {
    ++n.read_misses;
    n.sector_misses += sectors;
    site_->l1_misses += sectors;
    return read_through(c, level, kNoLine, p, a, line, mask);
  }
  Line& x = level.line(index);
  if ((x.flags & kStale) != 0) check_stale(c, p, a, level, index, mask);
  x.flags &= static_cast<uint8_t>(~kPrefetched);
  if (!x.valid.covers(mask)) {
    const Mask missing = without(mask, x.valid);
    const unsigned absent = sectors_of(level, missing);
    ++n.read_misses;
    n.sector_misses += absent;
    n.sector_hits += sectors - absent;
    site_->l1_misses += absent;
    site_->l1_hits += sectors - absent;
    if (a.bytes != nullptr) copy_bytes(a.bytes, level.bytes(index, a.block), mask & x.valid);
    return read_through(c, level, index, p, a, line, missing);
  }
  n.sector_hits += sectors;
  site_->l1_hits += sectors;
  hit(level, index, p.l1_class);
  if (a.bytes != nullptr) copy_bytes(a.bytes, level.bytes(index, a.block), mask);
  if ((p.flags & kLastUse) != 0 && (x.dirty & mask).any()) {
    give_up(c, Loss::last_use, a, x, x.dirty & mask);
    x.dirty = without(x.dirty, mask);
    if (x.dirty.none()) level.count_dirty(-1);
  }
}

/// A read that its first cache cannot serve, though it may have the line (at `index`): fetch from
/// below and, unless asked not to, keep.
void Engine::read_through(Cache c, Level& level, uint32_t index, const Plan& p, const Access& a,
                          uint64_t line, Mask mask) {
  const Geometry& g = level.geometry();
  if (p.probe == Probe::no_fill)
    return fetch(c, level, p, a, line, whole_sectors(mask, g.sector), a.bytes);
  if (index == kNoLine) {
    index = allocate(c, level, line, p.l1_class, a);
  } else {
    hit(level, index, p.l1_class);
  }
  Line& x = level.line(index);
  const Mask want = preset_.knobs.fill == Granule::line || (g.line > 128)
                        ? line_mask(level, line)
                        : whole_sectors_of(level, mask);
  const Mask need = without(want, x.valid);
  count(c).fills += sectors_of(level, need);
  fetch(c, level, p, a, line, need, values(level, index, a.block));
  x.valid |= need;
  x.fill = a.context;
  if (p.row->path == Path::read_only) x.flags |= kReadOnlyFill;
  if (p.local) x.flags |= kLocal;
  if (p.volatile_lines) x.flags |= kVolatile;
  register_copy(c, line, a.sm);
  if (a.bytes != nullptr) copy_bytes(a.bytes, level.bytes(index, a.block), mask);
}

/// A read that must not be served by a global L1 line.
[[gnu::noinline]] void Engine::pass_by(const Plan& p, const Access& a, uint64_t line, Mask mask) {
  const Cache c = first_cache(p);
  Level& level = instance(c, a.sm);
  const uint32_t index = level.find(line);
  if (index != kNoLine) {
    const PassBy rule = p.probe == Probe::cg    ? preset_.knobs.cg_on_l1_line
                        : p.probe == Probe::glc ? preset_.knobs.glc_on_l1_line
                                                : PassBy::evict;
    if (rule == PassBy::hit) {
      Plan through = p;
      through.probe = Probe::no_fill;
      return read_line(c, level, index, through, a, line, mask);
    }
    Line& x = level.line(index);
    if (rule == PassBy::evict) {
      invalidate_line(c, level, index, a.context);
    } else if (const Mask own = x.dirty & mask; own.any()) {
      // Bytes that this SM wrote and that nobody below has yet.
      if (a.bytes != nullptr) copy_bytes(a.bytes, level.bytes(index, a.block), own);
      mask = without(mask, own);
      if (mask.none()) return;
    }
  }
  fetch(c, level, p, a, line, whole_sectors(mask, level.geometry().sector), a.bytes);
}

uint32_t Engine::allocate(Cache c, Level& level, uint64_t address, Class wanted, const Access& a) {
  if (c != Cache::l2) tick();  // the line that is evicted may be of another share
  const uint32_t index = level.victim(address);
  if (!level.line(index).empty()) leave(c, level, index, a.context);
  const bool least_recent = wanted == Class::unchanged && preset_.knobs.unchanged_fills_at_lru_end;
  level.place(index, address, priority_of(wanted), least_recent);
  if (wanted == Class::last && level.priority(index) != Priority::last)
    observer_->priority_refused(a);
  return index;
}

void Engine::register_copy(Cache c, uint64_t address, uint32_t sm) {
  if (!owns(block_of(address))) return;
  if (c != Cache::l1)
    memory_.page(address).in_other_caches = true;
  else if (preset_.sms > 1)  // nobody asks a lone L1 for the copies of others
    memory_.page(address).sharers_of(address) |= uint64_t{1} << (sm & 63);
}

void Engine::fetch(Cache c, Level& level, const Plan& p, const Access& a, uint64_t line, Mask need,
                   uint8_t* to) {
  if (c != Cache::l1 && has_level15(c)) return fetch_level15(c, p, a, line, need, to);
  const uint32_t bytes = level.geometry().line;
  if (bytes <= kBlockBytes) return read_l2(p, a, block_of(line), need, to);
  Access part = a;
  for (part.block = line; part.block < line + bytes; part.block += kBlockBytes)
    read_l2(p, part, part.block, ~Mask{},
            to == nullptr ? nullptr : to - a.block % bytes + (part.block - line));
}

bool Engine::has_level15(Cache c) const {
  return (c == Cache::constant && preset_.constant15.present) ||
         (c == Cache::instruction && preset_.instruction15.present);
}

[[gnu::noinline]] void Engine::fetch_level15(Cache c, const Plan& p, const Access& a, uint64_t line,
                                             Mask need, uint8_t* to) {
  const Cache next = c == Cache::constant ? Cache::constant15 : Cache::instruction15;
  Access below = a;
  below.mask = need;
  below.bytes = to;
  Plan plain = p;
  plain.l1_class = Class::normal;
  plain.probe = Probe::normal;
  Level& level = instance(next, a.sm);
  line = level.line_address(line);
  read_line(next, level, level.find(line), plain, below, line, need);
}

Class Engine::l2_class(const Plan& p, uint64_t line) const {
  if (p.hinted && p.policy.known) return policy_class(p.policy, line);
  if (line - window_.address < window_.size && p.l2_class == Class::normal) {
    const uint64_t h = (line >> 7) * 0x9e3779b97f4a7c15ULL >> 48;
    return h < window_.hit_ratio ? window_.hit : window_.miss;
  }
  return p.l2_class;
}

void Engine::read_l2(const Plan& p, const Access& a, uint64_t block, Mask need, uint8_t* to) {
  tick();
  if (enter_l2(block))
    each_line(*l2_, block, need, [&](uint64_t line, Mask m) { read_l2_line(p, a, line, m, to); });
  tick();
}

void Engine::read_l2_line(const Plan& p, const Access& a, uint64_t line, Mask mask, uint8_t* to) {
  Level& l2 = *l2_;
  LevelCounters& n = count(Cache::l2);
  const Class wanted = l2_class(p, line);
  const unsigned sectors = sectors_of(l2, mask);
  ++n.reads;
  if (demand_) n.by_class[static_cast<size_t>(wanted)] += sectors;
  uint32_t index = l2.find(line);
  if ((p.flags & (kRefetchSystem | kUncached)) != 0 && index != kNoLine &&
      memory_.page(line).system) {
    invalidate_line(Cache::l2, l2, index, a.context);
    index = kNoLine;
  }
  if (index != kNoLine || (p.flags & kUncached) == 0)
    notify(Cache::l2, l2, line, a.context, index != kNoLine);
  Mask missing = whole_sectors_of(l2, mask);
  if (index != kNoLine) {
    Line& x = l2.line(index);
    if ((x.flags & kStale) != 0) check_stale(Cache::l2, p, a, l2, index, mask);
    x.flags &= static_cast<uint8_t>(~kPrefetched);
    // Who asks for part of a sector gets all of it: one rule, whichever way the request came.
    missing = whole_sectors_of(l2, without(whole_sectors_of(l2, mask), x.valid));
    hit(l2, index, wanted);
  }
  const unsigned absent = sectors_of(l2, missing);
  n.sector_hits += sectors - absent;
  n.sector_misses += absent;
  site_->l2_hits += sectors - absent;
  site_->l2_misses += absent;
  if (absent != 0) {
    ++n.read_misses;
    if (index == kNoLine) index = allocate(Cache::l2, l2, line, wanted, a);
    Line& x = l2.line(index);
    const Mask need =
        without(preset_.knobs.fill == Granule::line ? line_mask(l2, line) : missing, x.valid);
    n.fills += sectors_of(l2, need);
    if (keep_values_)
      copy_bytes(l2.bytes(index, block_of(line)), memory_bytes_of(block_of(line)), need);
    x.valid |= need;
    x.fill = a.context;
    if (p.local) x.flags |= kLocal;
  }
  if (to != nullptr) copy_bytes(to, l2.bytes(index, block_of(line)), mask);
  if ((p.flags & kStream) != 0 && !preset_.knobs.slc_stays_in_l2)
    l2.set_priority(index, Priority::first);
  if ((p.flags & kUncached) != 0) invalidate_line(Cache::l2, l2, index, a.context);
}

/// .L2::64B / 128B / 256B: the rest of the aligned block comes along.
[[gnu::noinline]] void Engine::over_fetch(const Plan& p, const Access& a) {
  const unsigned first = a.mask.lo != 0 ? static_cast<unsigned>(std::countr_zero(a.mask.lo))
                                        : 64 + static_cast<unsigned>(std::countr_zero(a.mask.hi));
  const uint64_t start = (a.block + first) & ~uint64_t{p.prefetch_bytes - 1u};
  demand_ = false;
  const SiteCounters site = *site_;
  for (uint64_t at = start; at < start + p.prefetch_bytes;) {
    const auto in_block = static_cast<unsigned>(at % kBlockBytes);
    const auto bytes = static_cast<unsigned>(
        std::min<uint64_t>(kBlockBytes - in_block, start + p.prefetch_bytes - at));
    Access part = a;
    part.block = block_of(at);
    enter_l2(part.block);
    LevelCounters& n = count(Cache::l2);
    const LevelCounters before = n;
    read_l2(p, part, part.block, byte_range(in_block, bytes), nullptr);
    // What came along is no demand: only the fills and the over-fetch count stay.
    const uint64_t extra = n.sector_misses - before.sector_misses;
    LevelCounters kept = before;
    kept.fills = n.fills;
    kept.evictions = n.evictions;
    kept.write_backs = n.write_backs;
    kept.write_back_bytes = n.write_back_bytes;
    kept.over_fetch += extra;
    n = kept;
    at += bytes;
  }
  demand_ = true;
  *site_ = site;
}

void Engine::run(const Plan& p, const Access& a) {
  if (p.row == nullptr) return;
  tick();
  if (p.row->kind == trace::OpKind::store)
    store(p, a);
  else if (p.row->kind == trace::OpKind::atomic)
    atomic(p, a);
  else
    load(p, a);
}

void Engine::store(const Plan& p, const Access& a) {
  if (p.row == nullptr || p.row->path == Path::none) return;
  if (p.row->path == Path::call_stack) {
    call_stacks_[a.sm].push_back({a.block, a.mask, a.context});
    return;
  }
  const Cache c = first_cache(p);
  if (p.store == L1Store::write_back && p.in_l1) {
    Level& level = instance(c, a.sm);
    return each_line(level, a.block, a.mask, [&](uint64_t line, Mask m) {
      store_l1_write_back(c, level, level.find(line), p, a, line, m);
    });
  }
  if (c == Cache::l1 && (p.in_l1 || l1_[a.sm]))
    each_line(l1(a.sm), a.block, a.mask,
              [&](uint64_t line, Mask m) { store_l1_through(p, a, line, m); });
  write_l2(p, a, p.local);
}

void Engine::count_write(Cache c, const Level& level, const Mask& mask, bool hit, bool demand) {
  LevelCounters& n = count(c);
  const unsigned sectors = sectors_of(level, mask);
  ++n.writes;
  if (!hit) ++n.write_misses;
  (hit ? n.write_sector_hits : n.write_sector_misses) += sectors;
  if (!demand) return;
  if (c == Cache::l2)
    (hit ? site_->l2_write_hits : site_->l2_write_misses) += sectors;
  else
    (hit ? site_->l1_write_hits : site_->l1_write_misses) += sectors;
}

/// What a write-through store does to its own SM's line.
void Engine::store_l1_through(const Plan& p, const Access& a, uint64_t line, Mask mask) {
  Level& level = l1(a.sm);
  uint32_t index = level.find(line);
  if (p.in_l1) count_write(Cache::l1, level, mask, index != kNoLine, true);
  const bool allocates = p.store == L1Store::allocate && p.in_l1 && !p.never_allocates;
  if (index == kNoLine && !allocates) return;
  LevelCounters& n = count(Cache::l1);
  const bool there = index != kNoLine;
  if (!there) {
    index = allocate(Cache::l1, level, line, p.l1_class, a);
    level.line(index).fill = a.context;
    register_copy(Cache::l1, line, a.sm);
  }
  Line& x = level.line(index);
  if (p.store != L1Store::update && p.store != L1Store::allocate) {
    if (x.dirty.any() && (x.dirty & whole_sectors(mask, level.geometry().sector)).any())
      write_back(Cache::l1, level, index);
    ++n.invalidated;
    return drop_bytes(level, index, whole_sectors(mask, level.geometry().sector));
  }
  notify(Cache::l1, level, line, a.context, there);
  if (there) hit(level, index, p.l1_class);
  x.valid |= mask;
  x.flags &= static_cast<uint8_t>(~kPrefetched);
  if ((x.flags & kStale) != 0)
    level.history(index).stale = without(level.history(index).stale, mask);
  if (a.bytes != nullptr) copy_bytes(level.bytes(index, a.block), a.bytes, mask);
}

/// `index`: where the line is, or kNoLine.
void Engine::store_l1_write_back(Cache c, Level& level, uint32_t index, const Plan& p,
                                 const Access& a, uint64_t line, Mask mask) {
  LevelCounters& n = count(c);
  count_write(c, level, mask, index != kNoLine, true);
  notify(c, level, line, a.context, index != kNoLine);
  if (index == kNoLine) {
    index = allocate(c, level, line, p.l1_class, a);
    if (preset_.knobs.fetch_on_write) {
      const Mask need = preset_.knobs.fill == Granule::line ? line_mask(level, line)
                                                            : whole_sectors_of(level, mask);
      n.fills += sectors_of(level, need);
      fetch(c, level, p, a, line, need, values(level, index, a.block));
      level.line(index).valid |= need;
    }
    level.line(index).fill = a.context;
    if (!p.local) register_copy(c, line, a.sm);
  } else {
    hit(level, index, p.l1_class);
  }
  Line& x = level.line(index);
  if (x.dirty.none()) level.count_dirty(1);
  x.valid |= mask;
  x.dirty |= mask;
  x.write = a.context;
  x.flags = static_cast<uint8_t>((x.flags & ~kPrefetched) | (p.local ? kLocal : 0));
  if ((x.flags & kStale) != 0)
    level.history(index).stale = without(level.history(index).stale, mask);
  if (a.bytes != nullptr) copy_bytes(level.bytes(index, a.block), a.bytes, mask);
}

void Engine::write_l2(const Plan& p, const Access& a, bool local) {
  tick();
  if (enter_l2(a.block)) {
    if (!local) publish(a);
    each_line(*l2_, a.block, a.mask, [&](uint64_t line, Mask m) { write_l2_line(p, a, line, m); });
  }
  tick();
}

void Engine::write_l2_line(const Plan& p, const Access& a, uint64_t line, Mask mask) {
  Level& l2 = *l2_;
  LevelCounters& n = count(Cache::l2);
  const Class wanted = l2_class(p, line);
  n.by_class[static_cast<size_t>(wanted)] += sectors_of(l2, mask);
  const bool system = (p.flags & (kWriteThrough | kUncached)) != 0 && memory_.page(line).system;
  const bool uncached = (p.flags & kUncached) != 0;
  uint32_t index = l2.find(line);
  count_write(Cache::l2, l2, mask, index != kNoLine, &p != &write_back_plan());
  if (index != kNoLine || (!uncached && preset_.knobs.write_allocate_l2))
    notify(Cache::l2, l2, line, a.context, index != kNoLine);
  if (index == kNoLine) {
    if (uncached || !preset_.knobs.write_allocate_l2) {
      ++n.write_backs;
      n.write_back_bytes += mask.count();
      if (a.bytes != nullptr) copy_bytes(memory_bytes_of(block_of(line)), a.bytes, mask);
      return;
    }
    index = allocate(Cache::l2, l2, line, wanted, a);
    l2.line(index).fill = a.context;
    if (preset_.knobs.fetch_on_write) {
      const Mask need =
          preset_.knobs.fill == Granule::line ? line_mask(l2, line) : whole_sectors_of(l2, mask);
      n.fills += sectors_of(l2, need);
      if (keep_values_)
        copy_bytes(l2.bytes(index, block_of(line)), memory_bytes_of(block_of(line)), need);
      l2.line(index).valid |= need;
    }
  } else {
    hit(l2, index, wanted);
  }
  Line& x = l2.line(index);
  if (a.bytes != nullptr) copy_bytes(l2.bytes(index, block_of(line)), a.bytes, mask);
  if (x.dirty.none()) l2.count_dirty(1);
  x.valid |= mask;
  x.dirty |= mask;
  x.write = a.context;
  x.flags &= static_cast<uint8_t>(~kPrefetched);
  if ((x.flags & kStale) != 0) l2.history(index).stale = without(l2.history(index).stale, mask);
  if ((p.flags & kStream) != 0 && !preset_.knobs.slc_stays_in_l2)
    l2.set_priority(index, Priority::first);
  if (system) write_back(Cache::l2, l2, index);
  if (uncached) invalidate_line(Cache::l2, l2, index, a.context);
}

void Engine::publish(const Access& a) {
  publish_in(memory_.page(a.block), a);
}

/// A line is evicted: dirty bytes go down.
void Engine::leave(Cache c, Level& level, uint32_t index, uint32_t context) {
  Line& x = level.line(index);
  const Priority priority = level.priority(index);
  if (x.flags != 0 || priority != Priority::normal) {
    observer_->evicted(c, x, priority, context);
    level.forget_priority(index);
  }
  ++count(c).evictions;
  if (probe_ != nullptr) probe_->evicted(c, level, index, context);
  if (x.dirty.any()) write_back_line(c, level, index);
}

void Engine::write_back_line(Cache c, Level& level, uint32_t index) {
  Line& x = level.line(index);
  const Mask dirty = x.dirty;
  LevelCounters& n = count(c);
  ++n.write_backs;
  n.write_back_bytes += dirty.count();
  if (probe_ != nullptr) probe_->written_back(c, x, dirty);
  x.dirty = {};
  level.count_dirty(-1);
  const uint64_t block = block_of(x.address);
  if (c == Cache::l2) {
    const Mask partial = without(whole_sectors_of(level, dirty), x.valid);
    if (partial.any()) observer_->partial_write_back(x, sectors_of(level, partial));
    write_memory(x, dirty, values(level, index, block));
    return;
  }
  const bool local = (x.flags & kLocal) != 0;
  const Access down{block, dirty, x.write, level.owner, values(level, index, block)};
  write_l2(write_back_plan(), down, local);
}

void Engine::write_back(Cache c, Level& level, uint32_t index) {
  if (level.line(index).dirty.any()) write_back_line(c, level, index);
}

}  // namespace lanewise::cache
