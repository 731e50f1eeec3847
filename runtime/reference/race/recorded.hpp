// Races of a launch on a device, from what its lanes have recorded (events/race_plan.hpp). Words
// and clocks are those of the reference engine; what the records do not say counts as ordered, so
// that nothing is reported that may be in order (docs/races.md has the list).
#pragma once

#include <memory>
#include <vector>

#include "runtime/events/collector.hpp"
#include "runtime/events/race_plan.hpp"
#include "runtime/reference/race/clocks.hpp"
#include "runtime/reference/race/stored.hpp"
#include "runtime/reference/race/watch.hpp"

namespace lanewise::reference::race {

/// Which intervals between barriers of a group may order lanes through memory: some lane may have
/// released a place, and another one may have acquired it.
struct Handshakes {
  bool released = false, acquired = false;
};

class Recorded : public events::GroupReader {
 public:
  /// Puts what is to be recorded into the program, which has to outlive this.
  explicit Recorded(ir::Program& program);
  ~Recorded() override;
  /// What a launch of the program takes as its events.
  events::Collector& collector() { return collector_; }

  void begin(const LaunchRequest& request) override;
  void group(uint64_t linear, std::span<const events::LaneWords> lanes) override;
  /// Appends the races that were found.
  void collect(LaunchResult& result) const;

 private:
  class Run;
  bool may_be_ordered(const Mark& first, const Mark& second) const;

  struct Nowhere : trace::Sink {
    void buffer(const trace::Buffer&) override {}
    void kernel(const trace::Kernel&) override {}
    void site(const trace::Site&) override {}
    void event(const trace::Event&) override {}
  };
  Nowhere nowhere_;
  events::RacePlan plan_;
  events::Collector collector_;
  const LaunchRequest* request_ = nullptr;
  std::unique_ptr<Watch> watch_;
  std::unique_ptr<Clocks> clocks_;
  std::unique_ptr<Shadow> shared_;
  Stored stored_, stored_shared_;
  std::vector<Handshakes> groups_;     ///< [number of the group - 1]: between groups
  std::vector<Handshakes> intervals_;  ///< of the group that is looked at
  size_t interval_ = 0;
  bool has_parts_ = false;  ///< some access is to a part of a word
};

}  // namespace lanewise::reference::race
