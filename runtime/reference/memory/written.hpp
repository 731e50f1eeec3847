// Which bytes of a memory somebody has written, for the check of uninitialised reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace lanewise::reference {

class Written {
 public:
  /// Nobody has written anything of it yet. It stays where it is.
  explicit Written(std::span<const std::byte> memory);
  bool holds(const std::byte* at) const;
  /// Nothing is written any more.
  void forget();
  /// Both of bytes inside.
  void note(const std::byte* at, size_t bytes);
  bool all(const std::byte* at, size_t bytes) const;

 private:
  std::span<const std::byte> memory_;
  std::vector<bool> written_;  ///< one bit a byte
};

}  // namespace lanewise::reference
