// Memory that grows without being copied: pages of its own. Those that nobody touches cost nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lanewise::reference {

class Pages {
 public:
  Pages() = default;
  ~Pages();
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  std::byte* get() const { return data_; }
  uint64_t size() const { return size_; }
  /// To `bytes` of them at least; new ones are 0, and all may have moved. False where the host has
  /// no more.
  bool grow(uint64_t bytes);

 private:
  std::byte* data_ = nullptr;
  uint64_t size_ = 0;
};

}  // namespace lanewise::reference
