// What launches of the driver share with those of HIP.
#pragma once

#include "runtime/host/core/stream.hpp"

namespace lanewise::driver {

/// Arguments are pointers to each, or a block that `extra` names, up to a value of `end`.
void launch(core::Function* handle, const core::Shape& shape, core::Stream* stream, void** pointers,
            void** extra, uintptr_t end = 0);

}  // namespace lanewise::driver
