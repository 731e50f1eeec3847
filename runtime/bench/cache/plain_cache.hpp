// The loop that the tracker is measured beside: what a programmer writes in ten minutes.
#pragma once

#include <memory>
#include <span>

#include "runtime/bench/cache/access_traces.hpp"

namespace lanewise::bench {

struct PlainMisses {
  uint64_t l1 = 0, l2 = 0;
};
/// L1 of 64 x 4 and L2 of 1024 x 16 lines of 128 bytes, LRU, write back, write allocate.
class PlainLoop {
 public:
  PlainLoop();
  ~PlainLoop();
  void run(std::span<const PackedAccess> trace);
  PlainMisses misses() const;

 private:
  struct Caches;
  std::unique_ptr<Caches> caches_;
};

}  // namespace lanewise::bench
