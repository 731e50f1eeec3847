// Stores, atomics, write-backs, and what a write to L2 means for copies elsewhere.
#include <algorithm>

#include "runtime/cache/engine.hpp"

namespace lanewise::cache {
void Engine::store(const Plan& p, const Access& a) {
  if (p.row == nullptr || p.row->path == Path::none) return;
  if (p.row->path == Path::call_stack) {
    call_stacks_[a.sm].push_back({a.block, a.mask, a.context});
    return;
  }
  const Cache c = first_cache(p);
  if (p.store == L1Store::write_back && p.in_l1) {
    each_line(instance(c, a.sm), a.block, a.mask,
              [&](uint64_t line, const Mask& m) { store_l1_write_back(c, p, a, line, m); });
    return;
  }
  if (l1_[a.sm] && c == Cache::l1)
    each_line(l1(a.sm), a.block, a.mask,
              [&](uint64_t line, const Mask& m) { store_l1_through(p, a, line, m); });
  write_l2(p, a, p.local);
}

void Engine::store_l1_write_back(Cache c, const Plan& p, const Access& a, uint64_t line,
                                 Mask mask) {
  Level& level = instance(c, a.sm);
  const Geometry& g = level.geometry();
  LevelCounters& n = count(c);
  ++n.writes;
  uint32_t index = level.find(line);
  if (index == kNoLine) {
    ++n.write_misses;
    index = allocate(c, level, line, p.l1_class, a);
    if (preset_.knobs.fetch_on_write) {
      const Mask whole = g.line >= 128 ? ~Mask{} : byte_range(line % kBlockBytes, g.line);
      const Mask need = preset_.knobs.fill == Granule::line ? whole : whole_sectors(mask, g.sector);
      n.fills += sector_count(need, g.sector);
      fetch(c, p, a, line, need, values(level, index, a.block));
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

/// What a write-through store does to its own SM's line.
void Engine::store_l1_through(const Plan& p, const Access& a, uint64_t line, const Mask& mask) {
  Level& level = l1(a.sm);
  const uint32_t index = level.find(line);
  if (index == kNoLine) return;
  LevelCounters& n = count(Cache::l1);
  ++n.writes;
  Line& x = level.line(index);
  if (p.store != L1Store::update) {
    if (x.dirty.any() && (x.dirty & whole_sectors(mask, level.geometry().sector)).any())
      write_back(Cache::l1, level, index);
    ++n.invalidated;
    return drop_bytes(level, index, whole_sectors(mask, level.geometry().sector));
  }
  hit(level, index, p.l1_class);
  x.valid |= mask;
  x.flags &= static_cast<uint8_t>(~kPrefetched);
  if ((x.flags & kStale) != 0)
    level.history(index).stale = without(level.history(index).stale, mask);
  if (a.bytes != nullptr) copy_bytes(level.bytes(index, a.block), a.bytes, mask);
}

void Engine::drop_bytes(Level& level, uint32_t index, const Mask& mask) {
  Line& x = level.line(index);
  const bool was_dirty = x.dirty.any();
  x.valid = without(x.valid, mask);
  x.dirty = without(x.dirty, mask);
  if ((x.flags & kStale) != 0)
    level.history(index).stale = without(level.history(index).stale, mask);
  if (was_dirty && x.dirty.none()) level.count_dirty(-1);
  if (x.valid.none()) level.remove(index);
}

void Engine::write_l2(const Plan& p, const Access& a, bool local) {
  if (!local) publish(a);
  each_line(*l2_, a.block, a.mask,
            [&](uint64_t line, const Mask& m) { write_l2_line(p, a, line, m); });
}

void Engine::write_l2_line(const Plan& p, const Access& a, uint64_t line, const Mask& mask) {
  Level& l2 = *l2_;
  LevelCounters& n = count(Cache::l2);
  const Class wanted = l2_class(p, line);
  ++n.writes;
  n.by_class[static_cast<size_t>(wanted)] += sector_count(mask, l2.geometry().sector);
  const bool system = (p.flags & (kWriteThrough | kUncached)) != 0 && memory_.page(line).system;
  const bool uncached = (p.flags & kUncached) != 0;
  uint32_t index = l2.find(line);
  if (index == kNoLine) {
    ++n.write_misses;
    if (uncached || !preset_.knobs.write_allocate_l2) {
      ++n.write_backs;
      n.write_back_bytes += mask.count();
      if (a.bytes != nullptr) copy_bytes(memory_bytes_of(block_of(line)), a.bytes, mask);
      return;
    }
    index = allocate(Cache::l2, l2, line, wanted, a);
    l2.line(index).fill = a.context;
    if (preset_.knobs.fetch_on_write) {
      const Geometry& g = l2.geometry();
      const Mask whole = g.line >= 128 ? ~Mask{} : byte_range(line % kBlockBytes, g.line);
      const Mask need = preset_.knobs.fill == Granule::line ? whole : whole_sectors(mask, g.sector);
      n.fills += sector_count(need, g.sector);
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

void Engine::atomic(const Plan& p, const Access& a) {
  if (p.row == nullptr || p.row->path == Path::none) return;
  if (l1_[a.sm] && preset_.knobs.atomic_invalidates_l1)
    each_line(l1(a.sm), a.block, a.mask, [&](uint64_t line, const Mask& m) {
      const uint32_t index = l1(a.sm).find(line);
      if (index == kNoLine) return;
      if (l1(a.sm).line(index).dirty.any()) write_back(Cache::l1, l1(a.sm), index);
      drop_bytes(l1(a.sm), index, whole_sectors(m, l1(a.sm).geometry().sector));
    });
  Access read = a;
  read.bytes = nullptr;
  read_l2(p, read, a.block, whole_sectors(a.mask, l2_->geometry().sector), nullptr);
  write_l2(p, a, p.local);
  if ((p.flags & kAcquire) != 0) invalidate_global(a);
}

/// A write has reached L2: memory has a new version, copies elsewhere are old from now on.
void Engine::publish(const Access& a) {
  Page& page = memory_.page(a.block);
  const uint64_t own = uint64_t{1} << (a.sm & 63);
  const uint64_t sharers = page.sharers_of(a.block);
  if ((sharers & ~own) != 0 || page.in_other_caches || ((sharers & own) != 0 && preset_.sms > 64))
    mark_copies(page, a);
  const uint64_t halves[2] = {a.mask.lo, a.mask.hi};
  for (unsigned s = 0; s < 4; ++s) {
    if (static_cast<uint32_t>(halves[s / 2] >> (s % 2 * 32)) == 0) continue;
    SectorState& state = page.sector(a.block + 32 * s);
    if (state.sm != a.sm && state.sm != kHostSm && state.writer >= first_context_ &&
        state.writer != kNoContext)
      observer_->shared_write(a, state);
    state.version = state.version + 1;
    state.sm = a.sm;
    state.writer = a.context;
  }
}

void Engine::mark_copies(Page& page, const Access& a) {
  uint64_t& sharers = page.sharers_of(a.block);
  for (uint64_t left = sharers; left != 0; left &= left - 1) {
    const auto bit = static_cast<uint32_t>(std::countr_zero(left));
    bool found = false;
    for (uint32_t sm = bit; sm < preset_.sms; sm += 64) {
      if (!l1_[sm]) continue;
      each_line(*l1_[sm], a.block, a.mask, [&](uint64_t line, const Mask& m) {
        const uint32_t index = l1_[sm]->find(line);
        if (index == kNoLine) return;
        found = true;
        if (sm != a.sm) mark_stale(*l1_[sm], index, page, m);
      });
    }
    // The line may be narrower than the block: only a block of one line tells that none is left.
    if (!found && preset_.l1.line >= kBlockBytes) sharers &= ~(uint64_t{1} << bit);
  }
  if (!page.in_other_caches) return;
  for (size_t c = 0; c < kCaches; ++c)
    for (size_t i = 0; i < others_[c].size(); ++i) {
      Level* level = others_[c][i].get();
      if (level == nullptr) continue;
      each_line(*level, a.block, a.mask, [&](uint64_t line, const Mask& m) {
        const uint32_t index = level->find(line);
        if (index == kNoLine || level->geometry().line > kBlockBytes) return;
        const bool own =
            static_cast<Cache>(c) == Cache::scalar && level->line(index).write == a.context;
        if (!own) mark_stale(*level, index, page, m);
      });
    }
}

void Engine::mark_stale(Level& level, uint32_t index, Page& page, const Mask& mask) {
  Line& x = level.line(index);
  const Mask bytes = mask & x.valid;
  if (bytes.none()) return;
  History& h = level.history(index);
  if ((x.flags & kStale) == 0) h = History{};
  x.flags |= kStale;
  const uint64_t block = block_of(x.address);
  for (unsigned s = 0; s < 4; ++s) {
    const Mask sector = byte_range(32 * s, 32);
    if ((bytes & sector).any() && (h.stale & sector).none())
      h.version[s] = page.sector(block + 32 * s).version;
  }
  h.stale |= bytes;
}

/// A line makes room: dirty bytes go down.
void Engine::leave(Cache c, Level& level, uint32_t index, uint32_t context) {
  Line& x = level.line(index);
  ++count(c).evictions;
  const Priority priority = level.priority(index);
  if (x.flags != 0 || priority != Priority::normal) observer_->evicted(c, x, priority, context);
  if (x.dirty.none()) return;
  write_back(c, level, index);
  level.count_dirty(1);  // vacate() takes the line for what it was
  x.dirty = {1, 0};
}

void Engine::write_back(Cache c, Level& level, uint32_t index) {
  Line& x = level.line(index);
  if (x.dirty.none()) return;
  LevelCounters& n = count(c);
  ++n.write_backs;
  n.write_back_bytes += x.dirty.count();
  const Mask dirty = x.dirty;
  x.dirty = {};
  level.count_dirty(-1);
  const uint64_t block = block_of(x.address);
  if (c == Cache::l2) {
    const Mask partial = without(whole_sectors(dirty, level.geometry().sector), x.valid);
    if (partial.any())
      observer_->partial_write_back(x, sector_count(partial, level.geometry().sector));
    return write_memory(x, dirty, values(level, index, block));
  }
  Plan plain;
  static constexpr Row kWriteBack{.id = "write_back"};
  plain.row = &kWriteBack;
  const bool local = (x.flags & kLocal) != 0;
  const Access down{block, dirty, x.write, level.owner, values(level, index, block)};
  write_l2(plain, down, local);
}

void Engine::write_memory(const Line& line, const Mask& mask, const uint8_t* bytes) {
  if (bytes != nullptr) copy_bytes(memory_bytes_of(block_of(line.address)), bytes, mask);
}

uint8_t* Engine::memory_bytes_of(uint64_t block) {
  Page& page = memory_.page(block);
  if (!page.bytes) page.bytes = std::make_unique<uint8_t[]>(kPageBytes);
  return page.bytes.get() + block % kPageBytes;
}

uint8_t Engine::coherent_byte(uint64_t address) {
  const uint64_t block = block_of(address);
  const auto at = static_cast<unsigned>(address - block);
  const uint32_t index = l2_->find(l2_->line_address(address));
  if (index != kNoLine && l2_->line(index).valid.covers(byte_range(at, 1)))
    return l2_->bytes(index, block)[at];
  return memory_bytes_of(block)[at];
}

void Engine::cached_bytes(Cache c, const Access& a, uint64_t line, uint8_t* block) {
  Level& level = instance(c, a.sm);
  const uint32_t index = level.find(line);
  if (index != kNoLine) copy_bytes(block, level.bytes(index, a.block), ~Mask{});
}

void Engine::set_memory_byte(uint64_t address, uint8_t value) {
  memory_bytes_of(block_of(address))[address % kBlockBytes] = value;
}

}  // namespace lanewise::cache
