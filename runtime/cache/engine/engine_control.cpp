// Cache control, kernel boundaries and the host.
#include <algorithm>

#include "runtime/cache/engine/engine.hpp"

namespace lanewise::cache {

void Engine::invalidate_line(Cache c, Level& level, uint32_t index, uint32_t context) {
  Line& x = level.line(index);
  if (x.flags != 0) observer_->evicted(c, x, level.priority(index), context);
  write_back(c, level, index);
  ++count(c).invalidated;
  level.remove(index);
}

template <class Which>
uint32_t Engine::invalidate_where(Cache c, Level& level, uint32_t context, Which which) {
  uint32_t removed = 0;
  for (uint32_t i = 0; i < level.slots(); ++i)
    if (!level.line(i).empty() && which(level.line(i))) {
      tick();
      invalidate_line(c, level, i, context);
      ++removed;
    }
  return removed;
}

void Engine::invalidate_global(const Access& cause) {
  if (!l1_[cause.sm]) return;
  invalidate_where(Cache::l1, *l1_[cause.sm], cause.context,
                   [](const Line& x) { return (x.flags & kLocal) == 0; });
}

void Engine::control(Effect effect, const trace::Site& site, bool local, const Access& a) {
  const auto all_of = [&](Cache c, auto which) {
    if (invalidate_where(c, instance(c, a.sm), a.context, which) == 0)
      observer_->useless_control(a, effect, "no line was there to invalidate");
  };
  const auto any = [](const Line&) { return true; };
  tick();
  switch (effect) {
    case Effect::none:
    case Effect::illegal:
      return;
    case Effect::prefetch_l1:
    case Effect::prefetch_l15:
    case Effect::prefetch_l2:
    case Effect::prefetch_l2_last:
    case Effect::prefetch_l2_normal:
      return prefetch_line(effect, site, local, a);
    case Effect::write_back_line:
    case Effect::invalidate_line:
    case Effect::reset_line:
      return each_line(l1(a.sm), a.block, a.mask,
                       [&](uint64_t line, const Mask&) { control_line(effect, local, a, line); });
    case Effect::invalidate_global:
      return all_of(Cache::l1, [](const Line& x) { return (x.flags & kLocal) == 0; });
    case Effect::invalidate_local:
      return all_of(Cache::l1, [](const Line& x) { return (x.flags & kLocal) != 0; });
    case Effect::invalidate_read_only:
      return all_of(Cache::l1, [](const Line& x) { return (x.flags & kReadOnlyFill) != 0; });
    case Effect::invalidate_vector: {
      const bool only_volatile =
          (site.volatile_lines || site.system_lines) && !preset_.knobs.wbinvl1_all_lines;
      return all_of(Cache::l1,
                    [=](const Line& x) { return !only_volatile || (x.flags & kVolatile) != 0; });
    }
    case Effect::cctl_u_all:
      if (preset_.knobs.cctl_u != CctlU::constant)
        control(Effect::invalidate_global, site, local, a);
      if (preset_.knobs.cctl_u != CctlU::data) control(Effect::invalidate_constant, site, local, a);
      return;
    case Effect::invalidate_constant:
      if (preset_.knobs.ivall_reaches_l15 && preset_.constant15.present)
        invalidate_where(Cache::constant15, instance(Cache::constant15, a.sm), a.context, any);
      if (preset_.constant.present) all_of(Cache::constant, any);
      return;
    case Effect::invalidate_instruction:
      if (preset_.knobs.ivall_reaches_l15 && preset_.instruction15.present)
        invalidate_where(Cache::instruction15, instance(Cache::instruction15, a.sm), a.context,
                         any);
      if (preset_.instruction.present) all_of(Cache::instruction, any);
      return;
    case Effect::invalidate_scalar:
    case Effect::write_back_scalar:
      return scalar_control(effect, a);
    case Effect::write_back_call_stack:
      return write_back_call_stack(a);
    case Effect::demote:
      if (!enter_l2(a.block)) return;
      return each_line(*l2_, a.block, a.mask, [&](uint64_t line, const Mask&) {
        const uint32_t index = l2_->find(line);
        if (index != kNoLine && l2_->priority(index) == Priority::last)
          l2_->set_priority(index, Priority::normal);
        else
          observer_->useless_control(a, effect, "the line was not evict_last in L2");
      });
    case Effect::discard:
      return discard_l2(a);
  }
}

void Engine::control_line(Effect effect, bool local, const Access& a, uint64_t line) {
  Level& level = l1(a.sm);
  const uint32_t index = level.find(line);
  if (index == kNoLine || ((level.line(index).flags & kLocal) != 0) != local)
    return observer_->useless_control(a, effect, "the line was not in L1");
  Line& x = level.line(index);
  if (effect == Effect::reset_line) {
    if (x.dirty.any()) give_up(Cache::l1, Loss::reset, a, x, x.dirty);
    ++count(Cache::l1).invalidated;
    return level.remove(index);
  }
  if (effect == Effect::invalidate_line) return invalidate_line(Cache::l1, level, index, a.context);
  if (x.dirty.none()) return observer_->useless_control(a, effect, "the line was clean");
  write_back(Cache::l1, level, index);
  x.flags |= kWrittenBack;
}

void Engine::prefetch_line(Effect effect, const trace::Site& site, bool local, const Access& a) {
  Plan p;
  static constexpr Row kPrefetch{.id = "prefetch", .kind = trace::OpKind::control};
  p.row = &kPrefetch;
  p.local = local;
  if (effect == Effect::prefetch_l2_last) p.l2_class = Class::last;
  if (site.hinted) {
    p.hinted = true;
    p.policy = decode_policy(site.policy);
  }
  const bool to_l1 = effect == Effect::prefetch_l1 &&
                     (local ? preset_.knobs.local_in_l1 : preset_.knobs.global_in_l1);
  Access whole = a;
  if (preset_.knobs.prefetch_fill == Granule::line) whole.mask = ~Mask{};
  const Cache c = to_l1 ? Cache::l1 : Cache::l2;
  const bool here = enter_l2(a.block);
  if (!to_l1 && !here) return;
  ++count(c).prefetches;
  Level& level = instance(c, a.sm);
  bool new_bytes = false;
  // What a prefetch reads is no demand. Lines that are evicted for it are written as ever.
  const LevelCounters before[2] = {count(Cache::l1), count(Cache::l2)};
  SiteCounters* const site_counters = site_;
  SiteCounters ignored;
  site_ = &ignored;
  demand_ = false;
  each_line(level, a.block, whole.mask, [&](uint64_t line, const Mask& m) {
    uint32_t index = level.find(line);
    const bool absent = index == kNoLine || !level.line(index).valid.covers(m);
    new_bytes = new_bytes || absent;
    if (to_l1)
      read_line(c, level, index, p, whole, line, m);
    else
      read_l2_line(p, whole, line, m, nullptr);
    index = level.find(line);
    if (absent) level.line(index).flags |= kPrefetched;
    if (effect == Effect::prefetch_l2_normal) level.set_priority(index, Priority::normal);
  });
  site_ = site_counters;
  demand_ = true;
  enter_l2(a.block);  // the same that `before` is of
  for (const Cache each : {Cache::l1, Cache::l2}) {
    if (each == Cache::l2 && !here) continue;
    LevelCounters& n = count(each);
    const LevelCounters& b = before[each == Cache::l2];
    n.reads = b.reads;
    n.read_misses = b.read_misses;
    n.sector_hits = b.sector_hits;
    n.sector_misses = b.sector_misses;
  }
  if (!new_bytes) observer_->useless_control(a, effect, "the line was there already");
}

void Engine::discard_l2(const Access& a) {
  if (enter_l2(a.block)) discard_in_l2(a);
  tick();
  if (!l1_[a.sm]) return;
  each_line(*l1_[a.sm], a.block, ~Mask{}, [&](uint64_t line, const Mask&) {
    const uint32_t index = l1_[a.sm]->find(line);
    if (index != kNoLine) invalidate_line(Cache::l1, *l1_[a.sm], index, a.context);
  });
}

void Engine::discard_in_l2(const Access& a) {
  each_line(*l2_, a.block, ~Mask{}, [&](uint64_t line, const Mask&) {
    const uint32_t index = l2_->find(line);
    if (index == kNoLine) return;
    Line& x = l2_->line(index);
    if (x.dirty.any()) {
      give_up(Cache::l2, Loss::discard, a, x, x.dirty);
      l2_->count_dirty(-1);
      if (keep_values_)  // what is read now is what memory had
        copy_bytes(l2_->bytes(index, a.block), memory_bytes_of(a.block), x.dirty);
      x.dirty = {};
    }
  });
  Access undefined = a;
  undefined.mask = ~Mask{};
  publish(undefined);
}

void Engine::scalar_control(Effect effect, const Access& a) {
  if (!preset_.scalar.present) return;
  Level& level = instance(Cache::scalar, a.sm);
  uint32_t touched = 0;
  for (uint32_t i = 0; i < level.slots(); ++i) {
    Line& x = level.line(i);
    if (x.empty() || (effect == Effect::write_back_scalar && x.dirty.none())) continue;
    ++touched;
    tick();
    if (effect == Effect::write_back_scalar) {
      write_back(Cache::scalar, level, i);
      continue;
    }
    if (x.dirty.any()) give_up(Cache::scalar, Loss::scalar_invalidate, a, x, x.dirty);
    ++count(Cache::scalar).invalidated;
    level.remove(i);
  }
  if (touched == 0) observer_->useless_control(a, effect, "the scalar cache had no such line");
}

void Engine::write_back_call_stack(const Access& a) {
  std::vector<StackEntry>& pending = call_stacks_[a.sm];
  if (pending.empty())
    observer_->useless_control(a, Effect::write_back_call_stack,
                               "the call return stack had nothing new");
  Plan p;
  static constexpr Row kCallStackRow{.id = "call_stack", .store = StoreRule::write_back};
  p.row = &kCallStackRow;
  p.local = true;
  p.store = L1Store::write_back;
  for (const StackEntry& e : pending) {
    Level& level = l1(a.sm);
    const uint64_t line = level.line_address(e.block);
    store_l1_write_back(Cache::l1, level, level.find(line), p, {e.block, e.mask, e.context, a.sm},
                        line, e.mask);
    level.line(level.find(line)).flags |= kCallStack;
  }
  pending.clear();
}

void Engine::kernel_begin(uint32_t first_context) {
  first_context_ = first_context;
  if (!preset_.knobs.l1_invalidated_at_kernel_begin) return;
  const auto any = [](const Line&) { return true; };
  for (auto& level : l1_)
    if (level) invalidate_where(Cache::l1, *level, kNoContext, any);
  for (const Cache c : {Cache::constant, Cache::constant15, Cache::scalar})
    for (auto& level : others_[static_cast<size_t>(c)])
      if (level) invalidate_where(c, *level, kNoContext, any);
}

void Engine::kernel_end() {
  for (auto& level : l1_) {
    if (!level) continue;
    for (uint32_t i = 0; i < level->slots(); ++i) {
      Line& x = level->line(i);
      if (x.empty()) continue;
      tick();
      // Local memory ends with its threads: nothing of it needs to survive.
      if ((x.flags & kLocal) == 0) {
        write_back(Cache::l1, *level, i);
        if ((x.flags & kPrefetched) != 0)
          observer_->evicted(Cache::l1, x, level->priority(i), kNoContext);
        x.flags &= static_cast<uint8_t>(~kPrefetched);
        continue;
      }
      observer_->evicted(Cache::l1, x, level->priority(i), kNoContext);
      level->remove(i);
    }
  }
  if (!preset_.knobs.l2_written_back_at_kernel_end) return;
  tick();
  const uint32_t stride = Level::stride_of(preset_.l2.ways);
  for (uint32_t i = 0; i < l2_->slots(); ++i) {
    if (l2_->line(i).empty()) continue;
    if (!share_.whole()) {
      count_for(i / stride);
      at_place(uint64_t{share_.set_at(i / stride)} * stride + i % stride);
    }
    write_back(Cache::l2, *l2_, i);
  }
  tick();
}

void Engine::host_write(uint64_t address, uint64_t size, uint32_t context) {
  if (size == 0) return;
  const uint64_t end = address + size;
  const auto part = [&](uint64_t block) {
    const uint64_t from = std::max(address, block), to = std::min(end, block + kBlockBytes);
    return from < to
               ? byte_range(static_cast<unsigned>(from - block), static_cast<unsigned>(to - from))
               : Mask{};
  };
  std::vector<std::pair<uint64_t, Mask>> cached;  // blocks, and bytes that some cache has
  const auto mark = [&](Level& level, bool is_l2) {
    for (uint32_t i = 0; i < level.slots(); ++i) {
      Line& x = level.line(i);
      if (x.empty() || x.address >= end || x.address + level.geometry().line <= address) continue;
      const uint64_t block = block_of(x.address);
      if (!owns(block)) continue;
      Page& page = memory_.page(x.address);
      const Mask bytes = part(block);
      cached.emplace_back(block, bytes & x.valid);
      if (is_l2 && !page.system)
        drop_bytes(level, i, bytes);  // copies to device memory go through L2
      else
        mark_stale(level, i, page, bytes);
    }
  };
  for (auto& level : l1_)
    if (level) mark(*level, false);
  for (auto& all : others_)
    for (auto& level : all)
      if (level && level->geometry().line <= kBlockBytes) mark(*level, false);
  mark(*l2_, true);
  // A new version of what was written before, or is in a cache: of other sectors nobody can know
  // one from another, and which of them are known of hangs on what else was touched.
  WritesPool& writes = memory_.writes();
  memory_.each_page(address, end, [&](uint64_t first, Page& page) {
    if (page.writes.none()) return;
    for (uint64_t block = std::max(first, block_of(address));
         block < std::min(first + kPageBytes, end); block += kBlockBytes)
      writes.change(page.writes, block, sectors32(part(block)), [&](SectorState& state, uint32_t&) {
        if (state.writer() != kNoContext) state.written(context, kHostSm);
      });
  });
  for (const auto& [block, bytes] : cached)
    writes.change(memory_.page(block).writes, block, sectors32(bytes),
                  [&](SectorState& state, uint32_t&) {
                    if (state.writer() != context) state.written(context, kHostSm);
                  });
}

void Engine::mark_system(uint64_t address, uint64_t size) {
  for (uint64_t at = address & ~(kPageBytes - 1); at < address + size; at += kPageBytes)
    memory_.page(at).system = true;
}

size_t Engine::memory_bytes() const {
  size_t total = memory_.memory_bytes() + l2_->memory_bytes();
  for (const auto& level : l1_)
    if (level) total += level->memory_bytes();
  for (const auto& all : others_)
    for (const auto& level : all)
      if (level) total += level->memory_bytes();
  return total;
}

}  // namespace lanewise::cache
