#include "runtime/reference/memory/written.hpp"

#include <algorithm>
#include <functional>

namespace lanewise::reference {

Written::Written(std::span<const std::byte> memory) : memory_(memory), written_(memory.size()) {}

bool Written::holds(const std::byte* at) const {
  const std::less<> before;  // also of pointers into different arrays
  return !before(at, memory_.data()) && before(at, memory_.data() + memory_.size());
}

void Written::forget() {
  written_.assign(memory_.size(), false);
}

void Written::note(const std::byte* at, size_t bytes) {
  const auto first = written_.begin() + (at - memory_.data());
  std::fill_n(first, bytes, true);
}

bool Written::all(const std::byte* at, size_t bytes) const {
  const auto first = written_.begin() + (at - memory_.data());
  return std::all_of(first, first + static_cast<std::ptrdiff_t>(bytes), [](bool b) { return b; });
}

}  // namespace lanewise::reference
