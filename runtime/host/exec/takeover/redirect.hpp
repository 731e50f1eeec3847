// Puts jumps over the entry points of a CUDA runtime that is linked into an object.
#pragma once

#include <cstdint>

#include "runtime/host/exec/object/inspect.hpp"

namespace lanewise::exec {

/// Returns how many of the object's functions now jump to ours. `bias` is what the loader added to
/// the object's addresses.
unsigned redirect_runtime(const MappedObject& object, uintptr_t bias, CudaMajor major);

}  // namespace lanewise::exec
