// What the entry points for allocations share.
#pragma once

#include "runtime/host/cuda/entry.hpp"

namespace lanewise::cuda {

/// "cudaMalloc #3", which fault reports name.
std::string next_name(const char* call);
void allocate(void** pointer, size_t bytes, const char* call);
/// Waits for all work; throws where no allocation of this kind begins there.
void release(void* pointer, bool (*is_kind)(MemoryKind));

}  // namespace lanewise::cuda
