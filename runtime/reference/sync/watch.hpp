// Misuse of barriers and member masks in a launch: each pair of instructions is one finding,
// however often it came up.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "runtime/guest/engine.hpp"

namespace lanewise::reference {

class SyncWatch {
 public:
  void add(Fault fault, Sync sync);
  /// Appends what was found, the first in front.
  void collect(LaunchResult& result) const;

 private:
  using Key = std::tuple<SyncKind, uint32_t, uint32_t>;  ///< two sites
  std::map<Key, size_t> known_;
  std::vector<Fault> found_;
  std::vector<std::shared_ptr<Sync>> syncs_;
};

}  // namespace lanewise::reference
