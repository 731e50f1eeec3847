// Which bytes of a memory somebody has written, for the check of uninitialised reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/reference/memory/memory.hpp"

namespace lanewise::reference {

class Written {
 public:
  /// Nobody has written anything of it yet, but its last `given` bytes. It stays where it is.
  explicit Written(std::span<const std::byte> memory, size_t given = 0);
  bool holds(const std::byte* at) const { return reference::holds(memory_, at); }
  /// As in the beginning.
  void forget();
  /// All of bytes inside, at most 64.
  void note(const std::byte* at, size_t bytes);
  /// One bit a byte: those that were not written.
  uint64_t missing(const std::byte* at, size_t bytes) const;
  /// These bytes hold what was copied of such that nobody wrote (bits as above), or what was
  /// computed of it.
  void lose(const std::byte* at, uint64_t missing, bool computed);
  bool computed(const std::byte* at, size_t bytes) const;
  /// All of it is written.
  bool full() const { return left_ == 0; }

 private:
  size_t index(const std::byte* at) const { return static_cast<size_t>(at - memory_.data()); }

  std::span<const std::byte> memory_;
  size_t given_;
  size_t left_;                     ///< bytes that are not
  std::vector<uint64_t> written_;   ///< one bit a byte
  std::vector<uint64_t> computed_;  ///< the same; empty: none
};

}  // namespace lanewise::reference
