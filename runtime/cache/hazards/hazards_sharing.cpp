// H14: SMs that write different bytes of one sector in turn. Whether they do is known only when the
// kernel ends: until then two instructions may yet cover the same bytes from both sides.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cache/hazards/hazards.hpp"

namespace lanewise::cache {

Hazards::Alternation::Part* Hazards::Alternation::part_of(uint32_t sm) {
  if (any && first.first == sm) return &first;
  if (more != nullptr)
    for (Part& p : *more)
      if (p.first == sm) return &p;
  return nullptr;
}

bool Hazards::Alternation::knows(uint32_t sm) const {
  const auto own = [&](const Part& p) { return p.first == sm; };
  return (any && own(first)) || (more != nullptr && std::ranges::any_of(*more, own));
}

bool Hazards::Alternation::overlaps(uint32_t sm, uint32_t mask) const {
  const auto meets = [&](const Part& p) { return p.first != sm && (p.second & mask) != 0; };
  return (any && meets(first)) || (more != nullptr && std::ranges::any_of(*more, meets));
}

void Hazards::Alternation::add(uint32_t sm, uint32_t mask) {
  if (shared) return;
  shared = overlaps(sm, mask);
  if (shared) {
    any = false;
    more.reset();
  } else if (Part* const own = part_of(sm); own != nullptr) {
    own->second |= mask;
  } else if (!any) {
    any = true;
    first = {sm, mask};
  } else {
    if (more == nullptr) more = std::make_unique<std::vector<Part>>();
    more->emplace_back(sm, mask);
  }
}

void Hazards::shared_write(const Access& a, uint64_t sector, const SectorState& before,
                           uint32_t bytes) {
  const Context other = facts_.context_of(before.writer()), here = facts_.context_of(a.context);
  if (other.site == kNoContext || here.site == kNoContext) return;
  // Atomics are there to share.
  if (facts_.site_of(other.site).kind == trace::OpKind::atomic) return;
  auto it = alternations_.find(sector);
  if (it == alternations_.end()) {
    if (alternations_.size() == most_alternations_) return;
    it = alternations_.try_emplace(sector).first;
    it->second.since = engine_->moment().clock;
  }
  Alternation& x = it->second;
  x.add(before.sm(), bytes);
  if (facts_.site_of(here.site).kind != trace::OpKind::store) return;
  ++x.count;
  x.other = before.writer();
  x.context = a.context;
}

std::vector<SharedSector> Hazards::often_shared() const {
  std::vector<SharedSector> all;
  for (const auto& [sector, seen] : alternations_) {
    if (seen.shared || seen.count < preset_.knobs.false_sharing_limit) continue;
    const SectorState last = engine_->sector(sector);
    SharedSector s;
    s.sector = sector;
    s.bytes = engine_->written_bytes(sector);
    s.sms = seen.sms();
    if (last.sm() != kHostSm) {
      if (seen.overlaps(last.sm(), s.bytes)) continue;
      if (!seen.knows(last.sm())) ++s.sms;
    }
    s.count = seen.count;
    s.context = seen.context;
    s.other = seen.other;
    s.where = facts_.context_of(seen.context);
    s.other_where = facts_.context_of(seen.other);
    all.push_back(s);
  }
  std::ranges::sort(all, {}, &SharedSector::sector);
  return all;
}

Finding false_sharing(const SharedSector& s, uint64_t clock) {
  Finding f;
  f.rule = 14;
  f.severity = Severity::advice;
  f.count = s.count;
  f.site = s.where.site;
  f.other_site = s.other_where.site;
  f.context = s.context;
  f.other_context = s.other;
  f.where = s.where;
  f.other_where = s.other_where;
  f.address = s.bytes != 0 ? s.sector + static_cast<unsigned>(std::countr_zero(s.bytes))
                           : block_of(s.sector);
  f.bytes = static_cast<unsigned>(std::popcount(s.bytes));
  f.message =
      fmt::format("{} SMs write different bytes of one sector in turn, {} times", s.sms, s.count);
  f.fix = "give each SM sectors (32 bytes) or lines (128 bytes) of its own";
  f.seen = {clock, s.sector};
  return f;
}

void add_later(Findings& all, const Finding& f) {
  const auto [it, fresh] = all.try_emplace(key_of(f), f);
  if (!fresh) it->second.count += f.count;
}

void Hazards::judge_sharing(Findings& findings) const {
  for (const SharedSector& s : often_shared())
    add_later(findings, false_sharing(s, engine_->moment().clock));
}

SharingLog Hazards::sharing_log() const {
  SharingLog log;
  log.clock = engine_->moment().clock;
  std::vector<std::pair<uint64_t, uint64_t>> order;  // since when, sector: those of one store rise
  for (const auto& [sector, seen] : alternations_) order.emplace_back(seen.since, sector);
  std::sort(order.begin(), order.end());
  for (const auto& [since, sector] : order) log.since.push_back(since);
  log.often = often_shared();
  for (SharedSector& s : log.often) {
    const std::pair own(alternations_.at(s.sector).since, s.sector);
    s.since =
        static_cast<uint64_t>(std::lower_bound(order.begin(), order.end(), own) - order.begin());
  }
  return log;
}

void Hazards::kernel_end() {
  engine_->tick();
  if (is_part()) {
    if (!alternations_.empty()) sharing_logs_.push_back(sharing_log());
  } else {
    judge_sharing(findings_);
  }
  engine_->tick();
  alternations_.clear();
}

std::vector<SharingLog> Hazards::sharing_logs() const {
  std::vector<SharingLog> all = sharing_logs_;
  if (!alternations_.empty()) all.push_back(sharing_log());
  return all;
}

}  // namespace lanewise::cache
