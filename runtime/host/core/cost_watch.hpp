// The check of costs (--check perf): what the instructions of a program's launches cost, summed
// until it ends, and counters of each launch.
#pragma once

#include <memory>
#include <string>

#include "lanewise/lanewise.h"
#include "runtime/support/findings/costs.hpp"
#include "runtime/support/findings/counters.hpp"

namespace lanewise::core {

/// Kept from the call that launches until the launch is done.
using CountedLaunchPtr = std::shared_ptr<const findings::CountedLaunch>;

class CostWatch {
 public:
  /// `counters`: the file that they are written to; "" = none.
  explicit CostWatch(std::string counters) : file_(std::move(counters)) {}

  static CountedLaunchPtr counted(const std::string& kernel, const lw_launch_options& shape);
  void add(const char* profile, const findings::CountedLaunch& launch);
  std::vector<findings::Finding> findings() const { return costs_.findings(); }
  /// Throws Error where the file cannot be written.
  void write() const;

 private:
  std::string file_;
  findings::Costs costs_;
  findings::Counters counters_;
  std::string left_out_;  ///< the kernel that was named last: once is enough
};

}  // namespace lanewise::core
