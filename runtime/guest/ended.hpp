// Why a launch ended before its kernel did: one text for every engine.
#pragma once

#include "lanewise/error_detail.hpp"
#include "runtime/guest/engine.hpp"

namespace lanewise::guest {

/// With the faults that were found until then.
class Ended : public DetailedError {
 public:
  Ended(const DetailedError& why, LaunchResult found)
      : DetailedError(why), result(std::move(found)) {}
  LaunchResult result;
};

DetailedError timed_out(double seconds);
DetailedError cancelled();

inline bool is_cancelled(const LaunchRequest& request) {
  return request.cancel != nullptr && request.cancel->load(std::memory_order_relaxed);
}

}  // namespace lanewise::guest
