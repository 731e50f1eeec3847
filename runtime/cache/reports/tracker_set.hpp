// One tracker for each of several presets, fed together. To compare, each has a second one that
// sees the same trace without hints.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cache/analysis/hints.hpp"
#include "runtime/cache/tracker/exact.hpp"
#include "runtime/trace/fan.hpp"

namespace lanewise::cache {

class TrackerSet {
 public:
  /// Throws Error(usage) for a preset that does not exist.
  TrackerSet(std::span<const std::string> presets, const TrackerOptions& options) {
    for (const std::string& name : presets) {
      trackers_.push_back(std::make_unique<Tracker>(load_preset(name), options));
      runs_.push_back(trackers_.back().get());
      fan_.add(trackers_.back().get());
      if (!options.compare) continue;
      without_.push_back(std::make_unique<Tracker>(load_preset(name), options));
      trackers_.back()->set_without_hints(without_.back().get());
      filters_.push_back(std::make_unique<WithoutHints>(*without_.back()));
      fan_.add(filters_.back().get());
    }
  }

  /// For the reports alone.
  explicit TrackerSet(std::vector<std::unique_ptr<Tracker>> with_results)
      : trackers_(std::move(with_results)) {
    for (const auto& t : trackers_) runs_.push_back(t.get());
  }

  /// The trace has ended.
  void settle() {
    for (const auto& t : trackers_) t->settle();
  }
  bool empty() const { return trackers_.empty(); }
  Tracker& first() { return *trackers_.front(); }
  /// What takes the trace for all of them.
  trace::Fan& sink() { return fan_; }
  /// For the reports.
  std::span<const Tracker* const> runs() const { return runs_; }

 private:
  std::vector<std::unique_ptr<Tracker>> trackers_, without_;
  std::vector<std::unique_ptr<WithoutHints>> filters_;
  std::vector<const Tracker*> runs_;
  trace::Fan fan_;
};

}  // namespace lanewise::cache
