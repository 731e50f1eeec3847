// Set-up, plans, loads. Stores: engine_store.cpp; control operations: engine_control.cpp.
#include "runtime/cache/engine.hpp"

#include <algorithm>

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

Class class_of(ir::EvictPriority p, Class otherwise) {
  switch (p) {
    case ir::EvictPriority::first:
      return Class::first;
    case ir::EvictPriority::last:
      return Class::last;
    case ir::EvictPriority::unchanged:
      return Class::unchanged;
    default:
      return otherwise;
  }
}

}  // namespace

std::string_view name(Cache c) {
  constexpr std::string_view kNames[kCaches] = {
      "L1", "constant", "constant L1.5", "instruction", "instruction L1.5", "scalar", "L2"};
  return kNames[static_cast<size_t>(c)];
}

Engine::Engine(const Preset& preset, Observer* observer, bool keep_values)
    : preset_(preset),
      observer_(observer != nullptr ? observer : &silent_),
      keep_values_(keep_values),
      l1_(preset.sms),
      l2_(std::make_unique<Level>(preset.l2, preset.knobs.dirty_limit_percent,
                                  preset.knobs.persisting_percent)),
      call_stacks_(preset.sms) {
  if (keep_values_) l2_->keep_values();
}

Level& Engine::l1(uint32_t sm) {
  std::unique_ptr<Level>& level = l1_[sm];
  if (!level) {
    level = std::make_unique<Level>(preset_.l1, preset_.knobs.dirty_limit_percent, 100);
    level->owner = sm;
    if (keep_values_) level->keep_values();
  }
  return *level;
}

Level& Engine::instance(Cache c, uint32_t sm) {
  if (c == Cache::l2) return *l2_;
  if (c == Cache::l1) return l1(sm);
  const Geometry* geometry[kCaches] = {
      &preset_.l1,          &preset_.constant,      &preset_.constant15,
      &preset_.instruction, &preset_.instruction15, &preset_.scalar,
      &preset_.l2};
  const Geometry& g = *geometry[static_cast<size_t>(c)];
  std::vector<std::unique_ptr<Level>>& all = others_[static_cast<size_t>(c)];
  const uint32_t at = sm / g.shared_by;
  if (at >= all.size()) all.resize(at + 1);
  if (!all[at]) {
    all[at] = std::make_unique<Level>(g, 0, 100);
    all[at]->owner = at * g.shared_by;
    if (keep_values_) all[at]->keep_values();
    any_other_ = true;
  }
  return *all[at];
}

Plan Engine::plan(const trace::Site& site, trace::Space space) const {
  Plan p;
  p.row = find_row(site, space);
  if (p.row == nullptr) return p;
  const Knobs& k = preset_.knobs;
  p.local = space == trace::Space::local;
  p.probe = p.row->probe;
  p.flags = p.row->flags;
  p.l1_class = p.row->l1_class;
  // An explicit L2 priority stands above what the cache operator implies.
  p.l2_class = class_of(site.l2, p.row->l2_class);
  p.prefetch_bytes = site.prefetch_bytes;
  p.hinted = site.hinted;
  if (site.hinted) p.policy = decode_policy(site.policy);
  p.volatile_lines = site.volatile_lines || site.system_lines;
  p.store = p.row->store == StoreRule::evict        ? L1Store::evict
            : p.row->store == StoreRule::write_back ? L1Store::write_back
                                                    : k.l1_store;
  switch (p.row->path) {
    case Path::data:
      p.in_l1 = p.local ? k.local_in_l1 : k.global_in_l1 || site.dialect == trace::Dialect::gcn;
      break;
    case Path::read_only:
      p.in_l1 = k.nc_in_l1;
      break;
    case Path::constant:
      p.in_l1 = preset_.constant.present;
      break;
    case Path::instruction:
      p.in_l1 = preset_.instruction.present;
      break;
    case Path::scalar:
      p.in_l1 = preset_.scalar.present;
      break;
    default:
      break;
  }
  const bool plain = p.row->path == Path::data && p.in_l1 && p.flags == 0 && !p.local &&
                     p.l1_class == Class::normal && p.prefetch_bytes == 0;
  p.fast = plain && ((p.row->kind == trace::OpKind::load && p.probe == Probe::normal) ||
                     (p.row->kind == trace::OpKind::store && p.store == L1Store::write_back));
  return p;
}

Cache Engine::first_cache(const Plan& p) const {
  switch (p.row->path) {
    case Path::constant:
      return Cache::constant;
    case Path::instruction:
      return Cache::instruction;
    case Path::scalar:
      return Cache::scalar;
    default:
      return Cache::l1;
  }
}

void Engine::load(const Plan& p, const Access& a) {
  if (p.row == nullptr || p.row->path == Path::none) return;
  const Cache c = first_cache(p);
  if (!p.in_l1) {
    read_l2(p, a, a.block, a.mask, a.bytes);
  } else if (p.probe == Probe::normal || p.probe == Probe::no_fill) {
    each_line(instance(c, a.sm), a.block, a.mask,
              [&](uint64_t line, const Mask& m) { read_line(c, p, a, line, m); });
  } else {
    each_line(instance(c, a.sm), a.block, a.mask,
              [&](uint64_t line, const Mask& m) { pass_by(p, a, line, m); });
  }
  if (p.prefetch_bytes != 0) over_fetch(p, a);
  if ((p.flags & kAcquire) != 0) invalidate_global(a);
}

void Engine::hit(Level& level, uint32_t index, Class wanted) {
  if (wanted == Class::unchanged) return;
  level.touch(index);
  if (wanted != Class::normal) level.set_priority(index, priority_of(wanted));
}

void Engine::check_stale(Cache c, const Plan& p, const Access& a, const Level& level,
                         uint32_t index, const Mask& mask) {
  if (p.row->kind == trace::OpKind::control) return;  // a prefetch hands nobody the bytes
  Level& l = const_cast<Level&>(level);
  const History& h = l.history(index);
  const Mask bytes = mask & h.stale & l.line(index).valid;
  if (bytes.none()) return;
  ++site_->stale;
  observer_->stale_read({c, &p, a, l.line(index), h, bytes});
}

void Engine::read_line(Cache c, const Plan& p, const Access& a, uint64_t line, Mask mask) {
  Level& level = instance(c, a.sm);
  LevelCounters& n = count(c);
  ++n.reads;
  const unsigned sectors = sector_count(mask, level.geometry().sector);
  n.by_class[static_cast<size_t>(p.l1_class)] += sectors;
  const uint32_t index = level.find(line);
  if (index == kNoLine) {
    ++n.read_misses;
    n.sector_misses += sectors;
    site_->l1_misses += sectors;
    return read_through(c, p, a, line, mask);
  }
  Line& x = level.line(index);
  if ((x.flags & kStale) != 0) check_stale(c, p, a, level, index, mask);
  x.flags &= static_cast<uint8_t>(~kPrefetched);
  if (!x.valid.covers(mask)) {
    const Mask missing = without(mask, x.valid);
    const unsigned absent = sector_count(missing, level.geometry().sector);
    ++n.read_misses;
    n.sector_misses += absent;
    n.sector_hits += sectors - absent;
    site_->l1_misses += absent;
    site_->l1_hits += sectors - absent;
    if (a.bytes != nullptr) copy_bytes(a.bytes, level.bytes(index, a.block), mask & x.valid);
    return read_through(c, p, a, line, missing);
  }
  n.sector_hits += sectors;
  site_->l1_hits += sectors;
  hit(level, index, p.l1_class);
  if (a.bytes != nullptr) copy_bytes(a.bytes, level.bytes(index, a.block), mask);
  if ((p.flags & kLastUse) != 0 && (x.dirty & mask).any()) {
    observer_->lost(Loss::last_use, a, x, x.dirty & mask);
    x.dirty = without(x.dirty, mask);
    if (x.dirty.none()) level.count_dirty(-1);
  }
}

/// A read that its first cache cannot serve: fetch from below and, unless told not to, keep.
void Engine::read_through(Cache c, const Plan& p, const Access& a, uint64_t line,
                          const Mask& mask) {
  Level& level = instance(c, a.sm);
  const Geometry& g = level.geometry();
  if (p.probe == Probe::no_fill)
    return fetch(c, p, a, line, whole_sectors(mask, g.sector), a.bytes);
  uint32_t index = level.find(line);
  if (index == kNoLine) {
    index = allocate(c, level, line, p.l1_class, a);
  } else {
    hit(level, index, p.l1_class);
  }
  Line& x = level.line(index);
  const Mask whole = g.line >= 128 ? ~Mask{} : byte_range(line % kBlockBytes, g.line);
  const Mask want =
      preset_.knobs.fill == Granule::line || g.line > 128 ? whole : whole_sectors(mask, g.sector);
  const Mask need = without(want, x.valid);
  count(c).fills += sector_count(need, g.sector);
  fetch(c, p, a, line, need, values(level, index, a.block));
  x.valid |= need;
  x.fill = a.context;
  if (p.row->path == Path::read_only) x.flags |= kReadOnlyFill;
  if (p.local) x.flags |= kLocal;
  if (p.volatile_lines) x.flags |= kVolatile;
  register_copy(c, line, a.sm);
  if (a.bytes != nullptr) copy_bytes(a.bytes, level.bytes(index, a.block), mask);
}

/// A read that must not be served by a global L1 line.
void Engine::pass_by(const Plan& p, const Access& a, uint64_t line, Mask mask) {
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
      return read_line(c, through, a, line, mask);
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
  fetch(c, p, a, line, whole_sectors(mask, level.geometry().sector), a.bytes);
}

uint32_t Engine::allocate(Cache c, Level& level, uint64_t address, Class wanted, const Access& a) {
  const uint32_t index = level.victim(address);
  if (!level.line(index).empty()) {
    leave(c, level, index, a.context);
    level.vacate(index);
  }
  const bool least_recent = wanted == Class::unchanged && preset_.knobs.unchanged_fills_at_lru_end;
  level.place(index, address, priority_of(wanted), least_recent);
  if (wanted == Class::last && level.priority(index) != Priority::last)
    observer_->priority_refused(a);
  return index;
}

void Engine::register_copy(Cache c, uint64_t address, uint32_t sm) {
  Page& page = memory_.page(address);
  if (c == Cache::l1)
    page.sharers_of(address) |= uint64_t{1} << (sm & 63);
  else
    page.in_other_caches = true;
}

void Engine::fetch(Cache below_of, const Plan& p, const Access& a, uint64_t line, const Mask& need,
                   uint8_t* to) {
  const bool constant = below_of == Cache::constant && preset_.constant15.present;
  const bool instruction = below_of == Cache::instruction && preset_.instruction15.present;
  if (constant || instruction) {
    const Cache next = constant ? Cache::constant15 : Cache::instruction15;
    Access below = a;
    below.mask = need;
    below.bytes = to;
    Plan plain = p;
    plain.l1_class = Class::normal;
    plain.probe = Probe::normal;
    return read_line(next, plain, below, instance(next, a.sm).line_address(line), need);
  }
  const uint32_t bytes = instance(below_of, a.sm).geometry().line;
  if (bytes <= kBlockBytes) return read_l2(p, a, block_of(line), need, to);
  for (uint64_t block = line; block < line + bytes; block += kBlockBytes)
    read_l2(p, a, block, ~Mask{}, to == nullptr ? nullptr : to - a.block % bytes + (block - line));
}

Class Engine::l2_class(const Plan& p, uint64_t line) const {
  if (p.hinted && p.policy.known) return policy_class(p.policy, line);
  if (line - window_.address < window_.size && p.l2_class == Class::normal) {
    const uint64_t h = (line >> 7) * 0x9e3779b97f4a7c15ULL >> 48;
    return h < window_.hit_ratio ? window_.hit : window_.miss;
  }
  return p.l2_class;
}

void Engine::read_l2(const Plan& p, const Access& a, uint64_t block, const Mask& need,
                     uint8_t* to) {
  each_line(*l2_, block, need,
            [&](uint64_t line, const Mask& m) { read_l2_line(p, a, line, m, to); });
}

void Engine::read_l2_line(const Plan& p, const Access& a, uint64_t line, Mask mask, uint8_t* to) {
  Level& l2 = *l2_;
  const Geometry& g = l2.geometry();
  LevelCounters& n = count(Cache::l2);
  const Class wanted = l2_class(p, line);
  const unsigned sectors = sector_count(mask, g.sector);
  ++n.reads;
  n.by_class[static_cast<size_t>(wanted)] += sectors;
  uint32_t index = l2.find(line);
  if ((p.flags & (kRefetchSystem | kUncached)) != 0 && index != kNoLine &&
      memory_.page(line).system) {
    invalidate_line(Cache::l2, l2, index, a.context);
    index = kNoLine;
  }
  Mask missing = mask;
  if (index != kNoLine) {
    Line& x = l2.line(index);
    if ((x.flags & kStale) != 0) check_stale(Cache::l2, p, a, l2, index, mask);
    x.flags &= static_cast<uint8_t>(~kPrefetched);
    missing = whole_sectors(without(mask, x.valid), g.sector);
    hit(l2, index, wanted);
  }
  const unsigned absent = sector_count(missing, g.sector);
  n.sector_hits += sectors - absent;
  n.sector_misses += absent;
  site_->l2_hits += sectors - absent;
  site_->l2_misses += absent;
  if (absent != 0) {
    ++n.read_misses;
    if (index == kNoLine) index = allocate(Cache::l2, l2, line, wanted, a);
    Line& x = l2.line(index);
    const Mask whole = g.line >= 128 ? ~Mask{} : byte_range(line % kBlockBytes, g.line);
    const Mask need = without(preset_.knobs.fill == Granule::line ? whole : missing, x.valid);
    n.fills += sector_count(need, g.sector);
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

/// .L2::64B / 128B / 256B: the rest of the aligned piece comes along.
void Engine::over_fetch(const Plan& p, const Access& a) {
  const unsigned first = a.mask.lo != 0 ? static_cast<unsigned>(std::countr_zero(a.mask.lo))
                                        : 64 + static_cast<unsigned>(std::countr_zero(a.mask.hi));
  const uint64_t start = (a.block + first) & ~uint64_t{p.prefetch_bytes - 1u};
  const LevelCounters before = count(Cache::l2);
  const SiteCounters site = *site_;
  for (uint64_t at = start; at < start + p.prefetch_bytes;) {
    const auto in_block = static_cast<unsigned>(at % kBlockBytes);
    const auto bytes = static_cast<unsigned>(
        std::min<uint64_t>(kBlockBytes - in_block, start + p.prefetch_bytes - at));
    read_l2(p, a, block_of(at), byte_range(in_block, bytes), nullptr);
    at += bytes;
  }
  // What came along is no demand: only the fills and the over-fetch count stay.
  LevelCounters& n = count(Cache::l2);
  const uint64_t extra = n.sector_misses - before.sector_misses;
  LevelCounters kept = before;
  kept.fills = n.fills;
  kept.evictions = n.evictions;
  kept.write_backs = n.write_backs;
  kept.write_back_bytes = n.write_back_bytes;
  kept.over_fetch += extra;
  n = kept;
  *site_ = site;
}

}  // namespace lanewise::cache
