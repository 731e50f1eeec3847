// Heat maps: what happened, by a row (a band of sets, of SMs, of addresses) and a stretch of the
// trace. Memory is bounded whatever the trace's length: stretches and bands grow instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace lanewise::cache {

/// What one row saw in one stretch of the trace. Hits and misses are sectors that instructions
/// asked for; those of L2 include stores.
struct HeatCell {
  uint64_t requests = 0;
  uint64_t l1_hits = 0, l1_misses = 0, l2_hits = 0, l2_misses = 0;
  uint64_t l1_evictions = 0, l2_evictions = 0;  ///< lines; l1: of all first caches
  uint64_t write_backs = 0;                     ///< lines from L2 to memory
  uint64_t stores = 0;                          ///< sectors that reached L2
  uint64_t stale = 0;

  void add(const HeatCell& c);
  /// What has happened since `before`.
  HeatCell since(const HeatCell& before) const;
  bool operator==(const HeatCell&) const = default;
};

/// Shows each field with its name to f(name, field). `C` is HeatCell or const HeatCell.
template <class C, class F>
void each_heat_field(C& c, F f) {
  f("requests", c.requests);
  f("l1_hits", c.l1_hits);
  f("l1_misses", c.l1_misses);
  f("l2_hits", c.l2_hits);
  f("l2_misses", c.l2_misses);
  f("l1_evictions", c.l1_evictions);
  f("l2_evictions", c.l2_evictions);
  f("write_backs", c.write_backs);
  f("stores", c.stores);
  f("stale", c.stale);
}

inline constexpr uint32_t kHeatColumns = 128;

/// One row of a map, a cell for each stretch of time.
class HeatRow {
 public:
  HeatRow() : cells_(kHeatColumns) {}
  HeatCell& at(uint32_t column) { return cells_[column]; }
  const HeatCell& at(uint32_t column) const { return cells_[column]; }
  /// Two stretches become one.
  void halve();
  void add(const HeatRow& row);

 private:
  std::vector<HeatCell> cells_;
};

/// Rows that are known beforehand: numbers 0 to count - 1, in bands where they are too many.
class NumberedHeat {
 public:
  NumberedHeat(uint32_t count, uint32_t most_rows);

  uint32_t count() const { return count_; }
  uint32_t rows() const { return static_cast<uint32_t>(rows_.size()); }
  /// The first number of a row; that of rows() is count().
  uint32_t first(uint32_t row) const {
    return static_cast<uint32_t>((uint64_t{row} * count_ + rows() - 1) / rows());
  }
  const HeatRow& row(uint32_t r) const { return rows_[r]; }
  HeatCell& cell(uint32_t number, uint32_t column) {
    return rows_[static_cast<size_t>(uint64_t{number} * rows() / count_)].at(column);
  }
  void halve();

 private:
  uint32_t count_;
  std::vector<HeatRow> rows_;
};

/// Rows are aligned bands of addresses, of the size that leaves at most kMaxRows of them in use.
class AddressHeat {
 public:
  static constexpr uint32_t kMaxRows = 128;

  uint64_t band_bytes() const { return uint64_t{1} << shift_; }
  /// By the number of the band: address / band_bytes().
  const std::map<uint64_t, HeatRow>& rows() const { return rows_; }
  HeatCell& cell(uint64_t address, uint32_t column);
  void halve();

 private:
  unsigned shift_ = 7;
  std::map<uint64_t, HeatRow> rows_;
};

}  // namespace lanewise::cache
