// Columns of numbers in few bytes: what lies long untouched and is mostly regular (memory.hpp,
// contexts.hpp).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace lanewise::cache {

/// Each column is zero throughout, or as the one before it, or runs of equal steps.
class PutColumns {
 public:
  /// All of one instance have the same length.
  template <class T>
  void add(std::span<const T> column) {
    static_assert(sizeof(T) <= 8);
    now_.assign(column.begin(), column.end());
    add_now();
  }
  /// The same of a column that is made value by value; f(i) gives one.
  template <class F>
  void add(size_t count, F f) {
    now_.resize(count);
    for (size_t i = 0; i < count; ++i) now_[i] = f(i);
    add_now();
  }
  std::span<const uint8_t> bytes() const { return {bytes_.data(), size_}; }
  void clear() {
    size_ = 0;
    before_.clear();
  }

 private:
  void add_now();
  static uint8_t* number(uint8_t* to, uint64_t v);

  std::vector<uint64_t> now_, before_;
  std::vector<uint8_t> bytes_;  ///< of which `size_` are used
  size_t size_ = 0;
};

class TakeColumns {
 public:
  explicit TakeColumns(const uint8_t* bytes) : at_(bytes) {}
  /// The next column; it stays until the next call.
  std::span<const uint64_t> take(size_t count);

 private:
  uint64_t number();

  const uint8_t* at_;
  std::vector<uint64_t> column_;
};

}  // namespace lanewise::cache
