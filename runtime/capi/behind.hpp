// The runtime's own objects behind handles of the C API, for tools that look further than it.
#pragma once

#include "lanewise/lanewise.h"
#include "runtime/api/api.hpp"

namespace lanewise::capi {

/// Throws Error(usage) for a handle that is none.
host::Device device_behind(lw_device* device);

}  // namespace lanewise::capi
