// A search over orders: one launch, run in the orders of many seeds from the same memory, until one
// ends with other bytes than the first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "runtime/guest/engine.hpp"
#include "runtime/guest/schedule.hpp"
#include "runtime/reference/schedule/orders.hpp"

namespace lanewise::reference {

/// Memory that a launch may change.
struct Area {
  std::byte* data = nullptr;
  uint64_t bytes = 0;
  uint64_t address = 0;
  bool is_result = true;  ///< false: the runtime's own, such as the buffer of printed text
};

using RunInOrder = std::function<LaunchResult(Orders&)>;

/// Memory and result are those of the first order, and of what was found a fault beside them.
/// Faults of another order than the first are found, too.
LaunchResult search_orders(const LaunchRequest& request, const guest::Schedule& schedule,
                           std::span<const Area> areas, const RunInOrder& run);

}  // namespace lanewise::reference
