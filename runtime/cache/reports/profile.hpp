// Where and when: heat maps by L2 set, by SM and by address, the launches, and the history of
// single lines. The HTML and Perfetto reports show it; memory is bounded whatever the trace's
// length.
#pragma once

#include <array>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/cache/engine/engine.hpp"
#include "runtime/cache/reports/heat.hpp"

namespace lanewise::cache {

enum class LineOutcome : uint8_t { l1_hit, l2_hit, memory, stale, write, control };

struct LineEvent {
  uint32_t context, site;
  uint16_t sm;
  LineOutcome outcome;
};

/// The latest events of a line; once a finding names the line, those before it and some after.
struct LineHistory {
  static constexpr size_t kEvents = 64, kAfterwards = 16;
  uint64_t block = 0;
  uint64_t accesses = 0, misses = 0;
  std::vector<LineEvent> ring;
  size_t next = 0;       ///< where the ring goes on
  uint64_t dropped = 0;  ///< events before those that are kept
  uint64_t later = 0;    ///< events after them
  size_t capacity = ~size_t{0};

  void add(const LineEvent& e);
  void found() {
    if (capacity > kAfterwards) capacity = kAfterwards;
  }
  /// In their order.
  std::vector<LineEvent> events() const;
};

/// One launch, in wave instructions.
struct LaunchSpan {
  uint32_t kernel, begin, end;
  bool ended = false;                              ///< the trace says where
  std::array<LevelCounters, 2> before{}, after{};  ///< of L1 and L2; after: once it has ended
};

class Profile {
 public:
  explicit Profile(const Preset& preset);
  /// Around each access, so that its part of the counters is known.
  void before(const Engine& engine, const SiteCounters& site) { then_ = counts(engine, site); }
  void after(const Engine& engine, const SiteCounters& site, uint32_t site_index,
             trace::OpKind kind, const Access& access, bool found);
  void kernel_begin(const Engine& engine, uint32_t kernel, uint32_t context);
  void kernel_end(const Engine& engine, uint32_t context);

  const NumberedHeat& by_set() const { return by_set_; }
  const NumberedHeat& by_sm() const { return by_sm_; }
  const AddressHeat& by_address() const { return by_address_; }
  uint64_t column_width() const { return width_; }  ///< in wave instructions
  uint32_t columns_used() const { return columns_used_; }
  const std::unordered_map<uint64_t, LineHistory>& lines() const { return lines_; }
  /// The first launches; what is beyond kLaunches is not reported.
  const std::vector<LaunchSpan>& launches() const { return launches_; }
  static constexpr size_t kLaunches = 4096;

 private:
  static HeatCell counts(const Engine& engine, const SiteCounters& site);
  uint32_t column_of(uint64_t context);
  void halve();

  Level map_;  ///< only for its index function
  NumberedHeat by_set_, by_sm_;
  AddressHeat by_address_;
  HeatCell then_;
  uint64_t width_ = 1;
  uint32_t columns_used_ = 0;
  std::unordered_map<uint64_t, LineHistory> lines_;
  std::vector<LaunchSpan> launches_;
  bool in_launch_ = false;
};

}  // namespace lanewise::cache
