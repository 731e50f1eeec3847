// Plain loads and stores of many instructions and SMs in the order of the trace: what the engine's
// fast path (engine_stream.cpp) takes.
#pragma once

#include <cstdint>

#include "runtime/cache/engine/sets/mask.hpp"

namespace lanewise::cache {

struct Plan;
struct SiteCounters;

/// One wave's request for bytes of one line of 64 or 128 bytes.
struct StreamAccess {
  uint64_t block = 0;  ///< 128-byte aligned
  Mask mask;
  uint32_t context = 0;
  uint32_t site = 0;
  uint32_t sm = 0;
};

/// Of a site whose accesses come so. Plan::streams is true of the plan.
struct StreamSite {
  const Plan* plan = nullptr;
  SiteCounters* counters = nullptr;
  // What each access needs to know of the plan.
  bool store = false, in_l1 = false;
  bool updates_l1 = false;  ///< a store, whose bytes a line of L1 takes over
  bool read_only = false;   ///< the path
  void set_plan(const Plan& p);
};

}  // namespace lanewise::cache
