// What a kernel argument holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace lanewise::detail {

/// The bytes of an argument; those of a scalar take no memory of their own.
class ArgBytes {
 public:
  explicit ArgBytes(std::span<const std::byte> bytes) : size_(bytes.size()) {
    if (size_ > sizeof small_)
      large_.assign(bytes.begin(), bytes.end());
    else
      std::copy(bytes.begin(), bytes.end(), small_);
  }
  std::span<const std::byte> all() const {
    return {size_ > sizeof small_ ? large_.data() : small_, size_};
  }

 private:
  size_t size_;
  std::byte small_[8] = {};
  std::vector<std::byte> large_;
};

}  // namespace lanewise::detail
