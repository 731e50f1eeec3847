// One tracker for each of several presets, fed together.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/cache/engine/exact.hpp"
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
    }
  }

  bool empty() const { return trackers_.empty(); }
  Tracker& first() { return *trackers_.front(); }
  /// What takes the trace for all of them.
  trace::Fan& sink() { return fan_; }
  /// For the reports.
  std::span<const Tracker* const> runs() const { return runs_; }

 private:
  std::vector<std::unique_ptr<Tracker>> trackers_;
  std::vector<const Tracker*> runs_;
  trace::Fan fan_;
};

}  // namespace lanewise::cache
