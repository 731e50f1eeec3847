// Stores to words in which two orders differ.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/guest/engine.hpp"

namespace lanewise::reference {

/// One word of a store or an atomic.
struct LoggedStore {
  std::array<uint32_t, 3> group{};
  uint32_t lane = 0, site = ir::kNone;
  RaceAccess access = RaceAccess::store;
  const std::byte* word = nullptr;
  uint64_t address = 0;
  uint32_t value = 0;  ///< of the word, behind the store
};

class StoreLog {
 public:
  /// Words of the host's memory, sorted.
  explicit StoreLog(const std::vector<const std::byte*>& words) : words_(words) {}
  bool watches(const std::byte* word) const;
  void note(const LoggedStore& store);
  const std::vector<LoggedStore>& all() const { return all_; }
  const std::vector<const std::byte*>& words() const { return words_; }
  const LoggedStore* last_to(const std::byte* word) const;

 private:
  const std::vector<const std::byte*>& words_;
  std::vector<LoggedStore> all_;
};

/// Where a second order parts from the first: its first store that is not what the same lane has
/// stored in its turn; where there is none, the stores that left the lowest word as it is. Of the
/// first order: the lane's own store if it went to the same word, else the last one to the word.
struct Parting {
  const LoggedStore *store = nullptr, *other = nullptr;
};
Parting first_parting(const StoreLog& first, const StoreLog& second);

}  // namespace lanewise::reference
