// Why a launch ended before its kernel did: one text for every engine.
#pragma once

#include "lanewise/error_detail.hpp"
#include "runtime/guest/engine.hpp"

namespace lanewise::guest {

DetailedError timed_out(double seconds);
DetailedError cancelled();

inline bool is_cancelled(const LaunchRequest& request) {
  return request.cancel != nullptr && request.cancel->load(std::memory_order_relaxed);
}

}  // namespace lanewise::guest
