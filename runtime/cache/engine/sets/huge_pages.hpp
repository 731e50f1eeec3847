// Memory for tables that are read at random: on huge pages where the system has them, since the
// translation of an address would otherwise cost more than the access.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace lanewise::cache {

template <class T>
struct HugePages {
  using value_type = T;
  static constexpr size_t kBytes = size_t{2} << 20;

  HugePages() = default;
  template <class U>
  HugePages(const HugePages<U>&) {}

  T* allocate(size_t count) {
    const size_t bytes = count * sizeof(T);
    // A table that would waste much of its last huge page has small ones.
    const size_t huge = (bytes + kBytes - 1) / kBytes * kBytes;
    const size_t align = huge - bytes <= bytes / 4 ? kBytes : size_t{64};
    const size_t size = (bytes + align - 1) / align * align;
    void* const p = std::aligned_alloc(align, size);
    if (p == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    if (align == kBytes) madvise(p, size, MADV_HUGEPAGE);  // a wish: failing changes nothing
#endif
    return static_cast<T*>(p);
  }
  void deallocate(T* p, size_t) {
    std::free(p);
  }
  bool operator==(const HugePages&) const = default;
};

}  // namespace lanewise::cache
