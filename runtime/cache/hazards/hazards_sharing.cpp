// H14: SMs that write different bytes of one sector in turn. Whether they do is known only when the
// kernel ends: until then two instructions may yet cover the same bytes from both sides.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/cache/hazards/hazards.hpp"

namespace lanewise::cache {

void Hazards::Alternation::add(uint32_t sm, uint32_t mask) {
  if (shared) return;
  std::pair<uint32_t, uint32_t>* own = nullptr;
  for (auto& of : bytes) {
    if (of.first == sm)
      own = &of;
    else
      shared = shared || (of.second & mask) != 0;
  }
  if (shared)
    bytes = {};
  else if (own != nullptr)
    own->second |= mask;
  else
    bytes.emplace_back(sm, mask);
}

void Hazards::shared_write(const Access& a, uint64_t sector, const SectorState& before,
                           uint32_t bytes) {
  const Context other = facts_.context_of(before.writer()), here = facts_.context_of(a.context);
  if (other.site == kNoContext || here.site == kNoContext) return;
  // Atomics are there to share.
  if (facts_.site_of(other.site).kind == trace::OpKind::atomic) return;
  auto it = alternations_.find(sector);
  if (it == alternations_.end()) {
    if (alternations_.size() == kMostAlternations) return;
    it = alternations_.try_emplace(sector).first;
  }
  Alternation& x = it->second;
  x.add(before.sm(), bytes);
  if (facts_.site_of(here.site).kind != trace::OpKind::store) return;
  ++x.count;
  x.other = before.writer();
  x.context = a.context;
}

void Hazards::judge_sharing(Findings& findings) const {
  std::vector<uint64_t> often;
  for (const auto& [sector, seen] : alternations_)
    if (!seen.shared && seen.count >= preset_.knobs.false_sharing_limit) often.push_back(sector);
  std::sort(often.begin(), often.end());
  for (const uint64_t sector : often) {
    Alternation x = alternations_.at(sector);
    const SectorState last = engine_->sector(sector);
    const uint32_t bytes = engine_->written_bytes(sector);
    if (last.sm() != kHostSm) x.add(last.sm(), bytes);
    if (x.shared) continue;
    Access a;
    a.block = block_of(sector);
    const auto at = static_cast<unsigned>(sector % kBlockBytes);
    (at < 64 ? a.mask.lo : a.mask.hi) = uint64_t{bytes} << at % 64;
    a.context = x.context;
    Finding& f =
        report_to(findings, {engine_->moment().clock, sector}, 14, Severity::advice, a, x.other,
                  fmt::format("{} SMs write different bytes of one sector in turn, {} times",
                              x.bytes.size(), x.count),
                  "give each SM sectors (32 bytes) or lines (128 bytes) of its own");
    f.count += x.count - 1;
  }
}

void Hazards::kernel_end() {
  engine_->tick();
  judge_sharing(findings_);
  engine_->tick();
  watched_.push_back(static_cast<uint32_t>(alternations_.size()));
  alternations_.clear();
}

std::vector<uint32_t> Hazards::watched_sectors() const {
  std::vector<uint32_t> all = watched_;
  all.push_back(static_cast<uint32_t>(alternations_.size()));
  return all;
}

}  // namespace lanewise::cache
