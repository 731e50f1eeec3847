// Puts jumps over the entry points of a CUDA runtime that is linked into an object.
#pragma once

#include <cstdint>

#include "runtime/host/exec/object/inspect.hpp"

namespace lanewise::exec {

/// Returns how many of the object's functions now jump to ours. `bias` is what the loader added to
/// the object's addresses.
unsigned redirect_runtime(const MappedObject& object, uintptr_t bias, CudaMajor major);
/// Calls of the library's function `from` go to its function `to`; false where one is not there.
bool redirect_within(const MappedObject& library, uintptr_t bias, std::string_view from,
                     std::string_view to);

}  // namespace lanewise::exec
