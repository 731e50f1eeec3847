// What the entry points for allocations share.
#pragma once

#include "runtime/host/cuda/entry.hpp"

namespace lanewise::cuda {

/// "cudaMalloc #3", which fault reports name.
std::string next_name(const char* call);
void memory_left(size_t& free, size_t& total);
/// Throws where there is not so much left.
MemoryPtr device_memory(size_t bytes, const char* call);
void allocate(void** pointer, size_t bytes, const char* call);
/// Waits for all work; throws where no allocation of this kind begins there.
void release(void* pointer, bool (*is_kind)(MemoryKind));

/// cudaPointerAttributes, but for what is reserved
struct PointerAttributes {
  int type, device;
  const void *device_pointer, *host_pointer;
};
inline constexpr int kUnregistered = 0, kHost = 1, kDevice = 2, kManaged = 3, kNoDevice = -2;

PointerAttributes pointer_attributes_of(const void* pointer);

}  // namespace lanewise::cuda
