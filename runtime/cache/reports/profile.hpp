// Where and when: L2 set by time, and the story of single lines. The HTML report draws it; memory
// is bounded whatever the trace's length.
#pragma once

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/cache/engine/engine.hpp"

namespace lanewise::cache {

/// Counts of one band of L2 sets in one stretch of the trace.
struct HeatCell {
  uint64_t requests = 0, misses = 0, write_backs = 0;
};

enum class LineOutcome : uint8_t { l1_hit, l2_hit, memory, stale, write, control };

struct LineEvent {
  uint32_t context, site;
  uint16_t sm;
  LineOutcome outcome;
};

/// The latest events of a line; once a finding names the line, those before it and some after.
struct LineStory {
  static constexpr size_t kEvents = 64, kAfterwards = 16;
  uint64_t block = 0;
  uint64_t accesses = 0, misses = 0;
  std::vector<LineEvent> ring;
  size_t next = 0;       ///< where the ring goes on
  uint64_t dropped = 0;  ///< events before those that are kept
  uint64_t later = 0;    ///< events after them
  size_t room = ~size_t{0};

  void add(const LineEvent& e);
  void found() {
    if (room > kAfterwards) room = kAfterwards;
  }
  /// In their order.
  std::vector<LineEvent> events() const;
};

class Profile {
 public:
  static constexpr uint32_t kColumns = 96, kMaxRows = 64;

  explicit Profile(const Preset& preset);
  /// Around each access, so that its part of the counters is known.
  void before(const Engine& engine, const SiteCounters& site) { then_ = counts(engine, site); }
  void after(const Engine& engine, const SiteCounters& site, uint32_t site_index,
             trace::OpKind kind, const Access& access, bool found);

  uint32_t rows() const { return rows_; }
  uint32_t sets() const { return sets_; }
  uint64_t column_width() const { return width_; }  ///< in wave instructions
  uint32_t columns_used() const { return columns_used_; }
  const HeatCell& cell(uint32_t row, uint32_t column) const {
    return cells_[row * kColumns + column];
  }
  const std::unordered_map<uint64_t, LineStory>& lines() const { return lines_; }

 private:
  struct Counts {
    uint64_t l1_misses = 0, l2_requests = 0, l2_misses = 0, write_backs = 0, stale = 0;
  };
  static Counts counts(const Engine& engine, const SiteCounters& site);
  uint32_t column_of(uint64_t context);
  void halve();

  uint32_t rows_ = 1, sets_ = 1;
  Level map_;  ///< only for its index function
  Counts then_;
  uint64_t width_ = 1;
  uint32_t columns_used_ = 0;
  std::vector<HeatCell> cells_;
  std::unordered_map<uint64_t, LineStory> lines_;
};

}  // namespace lanewise::cache
