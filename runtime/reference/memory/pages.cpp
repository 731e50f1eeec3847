#include "runtime/reference/memory/pages.hpp"

#include <sys/mman.h>

namespace lanewise::reference {

Pages::~Pages() {
  if (data_ != nullptr) munmap(data_, size_);
}

bool Pages::grow(uint64_t bytes) {
  // A multiple of every host's pages.
  constexpr uint64_t kUnit = uint64_t{64} << 10;
  if (bytes <= size_) return true;
  if (bytes > UINT64_MAX - kUnit) return false;
  const uint64_t whole = (bytes + kUnit - 1) / kUnit * kUnit;
  void* grown = data_ == nullptr ? mmap(nullptr, whole, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                                 : mremap(data_, size_, whole, MREMAP_MAYMOVE);
  if (grown == MAP_FAILED) return false;
  data_ = static_cast<std::byte*>(grown);
  size_ = whole;
  return true;
}

}  // namespace lanewise::reference
