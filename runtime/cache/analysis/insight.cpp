#include "runtime/cache/analysis/insight.hpp"

#include <algorithm>

namespace lanewise::cache {
namespace {

uint64_t lines_of(const Geometry& g) {
  return g.infinite ? ~uint64_t{0} : uint64_t{g.slices} * g.sets * g.ways;
}
std::vector<SetUse> sets_of(const Geometry& g) {
  return std::vector<SetUse>(g.infinite ? 0 : size_t{g.slices} * g.sets);
}
bool counts(Cache c) {
  return c == Cache::l1 || c == Cache::l2;
}

}  // namespace

Insight::Insight(const Preset& preset, const RunFacts& facts)
    : facts_(facts),
      line_bytes_(std::min<uint32_t>(preset.l2.line, kBlockBytes)),
      capacity_{lines_of(preset.l1), lines_of(preset.l2)},
      l1_(preset.sms),
      sets_{sets_of(preset.l1), sets_of(preset.l2)} {}

SiteInsight& Insight::site(uint32_t context) {
  const uint32_t site = context == kNoContext ? kNoContext : facts_.context_of(context).site;
  if (site == kNoContext) return nobody_;
  if (site >= by_site_.size()) by_site_.resize(site + 1);
  return by_site_[site];
}

const SiteInsight& Insight::of_site(uint32_t site) const {
  static const SiteInsight kNothing;
  if (site == kNoContext) return nobody_;
  return site < by_site_.size() ? by_site_[site] : kNothing;
}

void Insight::requested(uint64_t block, const Mask& mask, uint32_t context) {
  for (uint32_t at = 0; at < kBlockBytes; at += line_bytes_) {
    if ((mask & byte_range(at, line_bytes_)).none()) continue;
    const uint64_t distance = all_.use(block + at).distance;
    constexpr auto kStream = static_cast<size_t>(Asked::all);
    reuse_[kStream].add(distance);
    site(context).reuse[kStream].add(distance);
  }
}

void Insight::asked(Cache c, const Level& level, uint64_t line, uint32_t context, bool present,
                    bool demand) {
  if (!counts(c)) return;
  const bool l2 = c == Cache::l2;
  ReuseStack& stack = l2 ? l2_ : l1_[level.owner];
  const ReuseStack::Use use = stack.use(line);
  SetUse* const set = sets_[l2].empty() ? nullptr : &sets_[l2][level.set_of(line)];
  if (set != nullptr) ++set->requests;
  if (!demand) return;
  SiteInsight& s = site(context);
  const auto stream = static_cast<size_t>(l2 ? Asked::l2 : Asked::l1);
  reuse_[stream].add(use.distance);
  s.reuse[stream].add(use.distance);
  if (present) return;
  if (set != nullptr) ++set->misses;
  const auto count = [&](MissCauses& n) {
    if (use.distance == ReuseStack::kFirstUse)
      ++n.first;
    else if (!use.evicted)
      ++n.invalidated;
    else if (use.distance >= capacity_[l2])
      ++n.capacity;
    else
      ++n.conflict;
  };
  count(causes_[l2]);
  count(s.causes[l2]);
  if (set != nullptr && use.distance < capacity_[l2] && use.evicted) ++set->conflicts;
}

void Insight::evicted(Cache c, const Level& level, uint32_t index, uint32_t context) {
  if (!counts(c)) return;
  const bool l2 = c == Cache::l2;
  const Line& x = level.line(index);
  (l2 ? l2_ : l1_[level.owner]).evicted(x.address);
  if (!sets_[l2].empty()) ++sets_[l2][level.set_of(x.address)].evictions;
  ++site(context).evicts[l2];
  ++site(x.fill).evicted[l2];
  const auto number = [&](uint32_t who) {
    return who == kNoContext ? kNoContext : facts_.context_of(who).site;
  };
  ++matrix_[l2][{number(context), number(x.fill)}];
}

void Insight::written_back(Cache c, const Line& line, const Mask&) {
  if (counts(c)) ++site(line.write).write_backs[c == Cache::l2];
}

void Insight::discarded(Cache c, uint32_t context, const Mask& bytes) {
  if (!counts(c)) return;
  discarded_[c == Cache::l2] += bytes.count();
  site(context).discarded[c == Cache::l2] += bytes.count();
}

void Insight::sample(uint64_t now, const Engine& engine) {
  // The trace is longer than was thought: of two samples the later one stays.
  if (samples_.size() == kSamples) {
    for (size_t i = 0; i < kSamples / 2; ++i) samples_[i] = samples_[2 * i + 1];
    samples_.resize(kSamples / 2);
    width_ *= 2;
  }
  const std::array<uint32_t, 4> lines = engine.l2_lines();
  samples_.push_back({lines[static_cast<size_t>(Priority::first)],
                      lines[static_cast<size_t>(Priority::normal)],
                      lines[static_cast<size_t>(Priority::last)]});
  next_sample_ = now + width_;
}

}  // namespace lanewise::cache
