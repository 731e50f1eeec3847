// In which order the warps of a trace come that stores them one after the other.
#pragma once

#include <functional>
#include <vector>

#include "runtime/trace/formats.hpp"

namespace lanewise::trace {

/// What a warp does next: an access, or a barrier of its group.
struct WarpStep {
  WaveRecord record;
  bool barrier = false;
};
/// The warps of a group, each with its steps in order.
using GroupSteps = std::vector<std::vector<WarpStep>>;

/// Serial: one warp after the other. Round robin: the first ReadOptions::resident groups run at
/// once and take turns, in each turn every warp of the group takes a step, unless it waits at a
/// barrier; the group behind them takes the place of the first that ends. A barrier lets go once
/// every warp of its group waits or has ended.
class Interleaver {
 public:
  Interleaver(const ReadOptions& options, std::function<void(const WaveRecord&)> to)
      : options_(options), to_(std::move(to)) {}
  void add(GroupSteps group);
  /// No more groups will come in this kernel.
  void finish();

 private:
  struct Warp {
    std::vector<WarpStep> steps;
    size_t next = 0;
    bool waits = false;
    bool done() const { return next == steps.size(); }
  };
  struct Group {
    std::vector<Warp> warps;
    bool done() const;
  };
  void turn(Group& group);
  /// Until a place is free.
  void run_until_free();

  ReadOptions options_;
  std::function<void(const WaveRecord&)> to_;
  std::vector<Group> resident_;
  size_t turn_ = 0;  ///< whose turn it is
};

}  // namespace lanewise::trace
