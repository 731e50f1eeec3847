// What --check perf shows of the instructions of kernels: costs by line, summed over launches.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "runtime/support/findings/finding.hpp"

namespace lanewise::findings {

class Costs {
 public:
  /// Of one launch: what a result has as its profile. `file` is the input, whose lines instructions
  /// have where no source is known.
  void add(const std::string& profile, const std::string& kernel, const std::string& file);
  /// Those that cost more than they have to, kernel by kernel.
  std::vector<Finding> findings() const;

 private:
  /// Kernel, byte offset, line, text, space and operation.
  using Key = std::tuple<std::string, uint64_t, uint32_t, std::string, std::string, std::string>;
  struct Row {
    Place place;
    uint64_t executed = 0, requests = 0, sectors = 0, least_sectors = 0, passes = 0,
             least_passes = 0, serial = 0, divergent = 0;
  };
  static std::vector<std::pair<const char*, uint64_t Row::*>> numbers();
  std::map<Key, Row> rows_;
};

}  // namespace lanewise::findings
