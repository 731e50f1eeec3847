// Sets of enumerators that are known when the program is compiled.
#pragma once

#include <cstddef>
#include <initializer_list>

namespace lanewise {

/// Looked up by number; those from N on are never in it.
template <typename Enum, size_t N = 256>
class EnumSet {
 public:
  constexpr EnumSet(std::initializer_list<Enum> list) {
    for (const Enum e : list) in_[static_cast<size_t>(e)] = true;
  }
  constexpr bool has(Enum e) const {
    return static_cast<size_t>(e) < N && in_[static_cast<size_t>(e)];
  }

 private:
  bool in_[N] = {};
};

}  // namespace lanewise
