// The coordinates of a launch, and the special registers that are sums of them.
#pragma once

#include "runtime/events/derive/linear.hpp"
#include "runtime/guest/engine.hpp"

namespace lanewise::events {

Extents extents_of(const LaunchRequest& request);

/// Unknown where it is neither the same for all lanes nor such a sum.
Value special_register(ir::SReg which, const LaunchRequest& request, const Extents& extents);

}  // namespace lanewise::events
