// From a status of the C API to what a surface's call fails with.
#pragma once

#include "lanewise/lanewise.h"
#include "runtime/host/core/failure.hpp"

namespace lanewise::core {

/// Of the calling thread's last call.
Code code_of(lw_status status);
/// Throws Failure for anything but LW_OK.
void check(lw_status status);

}  // namespace lanewise::core
