// The heap that kernels allocate from (runtime/layout/device_heap.hpp), on the host's side.
#pragma once

#include "runtime/api/objects/objects.hpp"

namespace lanewise::host {

/// Before a launch of the module: the first one that may allocate makes the device's heap, for so
/// many bytes; the module's variable gets its address. Where kernels found no memory, what is free
/// is joined.
void give_heap(Module& module, uint64_t bytes);

}  // namespace lanewise::host
