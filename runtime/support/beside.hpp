// Tables of two columns.
#pragma once

#include <cstddef>
#include <utility>

namespace lanewise {

/// What stands beside the key in the first row that has it.
template <typename Key, typename Value, size_t kRows>
constexpr Value beside(const std::pair<Key, Value> (&rows)[kRows], const Key& key,
                       Value otherwise = {}) {
  for (const auto& [known, value] : rows)
    if (known == key) return value;
  return otherwise;
}

}  // namespace lanewise
