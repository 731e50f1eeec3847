#include "runtime/cache/reports/heat.hpp"

#include <algorithm>

namespace lanewise::cache {

void HeatCell::add(const HeatCell& c) {
  requests += c.requests;
  l1_hits += c.l1_hits;
  l1_misses += c.l1_misses;
  l2_hits += c.l2_hits;
  l2_misses += c.l2_misses;
  l1_evictions += c.l1_evictions;
  l2_evictions += c.l2_evictions;
  write_backs += c.write_backs;
  stores += c.stores;
  stale += c.stale;
}

HeatCell HeatCell::since(const HeatCell& before) const {
  return {requests - before.requests,
          l1_hits - before.l1_hits,
          l1_misses - before.l1_misses,
          l2_hits - before.l2_hits,
          l2_misses - before.l2_misses,
          l1_evictions - before.l1_evictions,
          l2_evictions - before.l2_evictions,
          write_backs - before.write_backs,
          stores - before.stores,
          stale - before.stale};
}

void HeatRow::halve() {
  for (uint32_t c = 0; c < kHeatColumns; ++c) {
    HeatCell sum;
    for (uint32_t k = 2 * c; k < std::min(2 * c + 2, kHeatColumns); ++k) sum.add(cells_[k]);
    cells_[c] = sum;
  }
}

void HeatRow::add(const HeatRow& row) {
  for (uint32_t c = 0; c < kHeatColumns; ++c) cells_[c].add(row.cells_[c]);
}

NumberedHeat::NumberedHeat(uint32_t count, uint32_t most_rows)
    : count_(std::max(1U, count)), rows_(std::min(count_, most_rows)) {}

void NumberedHeat::halve() {
  for (HeatRow& row : rows_) row.halve();
}

HeatCell& AddressHeat::cell(uint64_t address, uint32_t column) {
  const auto at = rows_.find(address >> shift_);
  if (at != rows_.end()) return at->second.at(column);
  while (rows_.size() >= kMaxRows && !rows_.contains(address >> shift_)) {
    ++shift_;
    std::map<uint64_t, HeatRow> wider;
    for (auto& [band, row] : rows_) {
      const auto [to, fresh] = wider.try_emplace(band >> 1);
      if (fresh)
        to->second = std::move(row);
      else
        to->second.add(row);
    }
    rows_ = std::move(wider);
  }
  return rows_[address >> shift_].at(column);
}

void AddressHeat::halve() {
  for (auto& [band, row] : rows_) row.halve();
}

}  // namespace lanewise::cache
