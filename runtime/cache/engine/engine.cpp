// Set-up and plans. Loads and stores: engine_path.cpp; copies that a write makes old:
// engine_copies.cpp; control operations: engine_control.cpp.
#include "runtime/cache/engine/engine.hpp"

#include <algorithm>

namespace lanewise::cache {
namespace {

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

Engine::Engine(const Preset& preset, Observer* observer, bool keep_values, Vectors vectors,
               Share share)
    : preset_(preset),
      share_(std::move(share)),
      // Batches count for L1 what L2 finds.
      run_batch_(share_.whole() ? batch_runner(preset, vectors) : nullptr),
      run_stream_(stream_runner(preset, keep_values, vectors)),
      observer_(observer != nullptr ? observer : &silent_),
      keep_values_(keep_values),
      memory_(std::min(preset.l1.line, preset.l2.line) < kBlockBytes ? 64 : 128),
      l1_(preset.sms),
      l2_(std::make_unique<Level>(preset.l2, preset.knobs.dirty_limit_percent,
                                  preset.knobs.persisting_percent, &share_)),
      call_stacks_(preset.sms) {
  if (keep_values_) l2_->keep_values();
  if (share_.sampled()) unit_counters_.resize(share_.kept_units());
}

bool Engine::owned(uint64_t block) const {
  if (block == asked_block_) return asked_owned_;
  asked_block_ = block;
  return asked_owned_ = share_.grows() ? share_.keeps_bucket_of(block)
                                       : l2_->set_of(l2_->line_address(block)) != kNoSet;
}

bool Engine::enter_share(uint64_t block) {
  if (!owned(block)) return false;
  if (!unit_counters_.empty()) count_for(l2_->set_of(l2_->line_address(block)));
  return true;
}

Level& Engine::new_l1(uint32_t sm) {
  l1_[sm] = std::make_unique<Level>(preset_.l1, preset_.knobs.dirty_limit_percent, 100);
  l1_[sm]->owner = sm;
  if (keep_values_) l1_[sm]->keep_values();
  return *l1_[sm];
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
  p.never_allocates = site.l1 == ir::EvictPriority::no_allocate;
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
  const auto common_shape = [](const Geometry& g) {
    return g.line == kBlockBytes && g.sector == 32;
  };
  const bool store = p.row->kind == trace::OpKind::store;
  p.plain = !keep_values_ && common_shape(preset_.l1) && common_shape(preset_.l2) &&
            p.row->path == Path::data && p.in_l1 && p.flags == 0 && !p.local && !p.hinted &&
            !p.volatile_lines && p.l1_class == Class::normal && p.l2_class == Class::normal &&
            p.prefetch_bytes == 0 && !(store && p.store == L1Store::allocate) &&
            (store || (p.row->kind == trace::OpKind::load && p.probe == Probe::normal));
  const bool read_only = p.row->path == Path::read_only && !store;
  p.streams = run_stream_ != nullptr && (p.row->path == Path::data || read_only) && p.flags == 0 &&
              !p.local && !p.hinted && !p.volatile_lines && p.l1_class == Class::normal &&
              p.l2_class == Class::normal && p.prefetch_bytes == 0 &&
              (store ? p.store != L1Store::write_back && p.store != L1Store::allocate
                     : p.row->kind == trace::OpKind::load && p.probe == Probe::normal);
  return p;
}

LevelCounters& LevelCounters::operator+=(const LevelCounters& o) {
  reads += o.reads;
  read_misses += o.read_misses;
  writes += o.writes;
  write_misses += o.write_misses;
  sector_hits += o.sector_hits;
  sector_misses += o.sector_misses;
  write_sector_hits += o.write_sector_hits;
  write_sector_misses += o.write_sector_misses;
  fills += o.fills;
  evictions += o.evictions;
  write_backs += o.write_backs;
  write_back_bytes += o.write_back_bytes;
  invalidated += o.invalidated;
  prefetches += o.prefetches;
  over_fetch += o.over_fetch;
  for (size_t i = 0; i < by_class.size(); ++i) by_class[i] += o.by_class[i];
  return *this;
}

const Plan& Engine::write_back_plan() {
  static constexpr Row kRow{.id = "write_back"};
  static const Plan kPlan = [] {
    Plan plan;
    plan.row = &kRow;
    return plan;
  }();
  return kPlan;
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

}  // namespace lanewise::cache
