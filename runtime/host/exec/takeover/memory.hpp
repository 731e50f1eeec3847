// Addresses that the loader and the kernel name by number.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>

namespace lanewise::exec {

inline constexpr size_t kPage = 4096;

inline void* at_address(uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT: it is a number until here
}
/// Nothing where something is mapped there already.
inline void* map_at(uintptr_t address, size_t bytes, int protection) {
  void* memory = mmap(at_address(address), bytes, protection,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  if (memory == at_address(address)) return memory;
  munmap(memory, bytes);
  return nullptr;
}
/// The pages that hold these bytes.
inline bool protect(uintptr_t address, size_t bytes, int protection) {
  const uintptr_t first = address / kPage * kPage;
  return mprotect(at_address(first), address + bytes - first, protection) == 0;
}

}  // namespace lanewise::exec
