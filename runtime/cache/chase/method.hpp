// Recovers a cache's shape from the times of loads, as published microbenchmarks do (Saavedra; Wong
// et al.; Mei and Chu; Abel and Reineke): which lists of addresses, read again and again, fit into
// it?
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "runtime/cache/chase/target.hpp"

namespace lanewise::cache {

/// What was found out of one cache; what was not is 0 or empty, and `notes` say why.
struct ChasedCache {
  bool found = false;  ///< loads that come again are faster than from below
  ChaseWay way = ChaseWay::l1;
  double hit = 0, miss = 0;  ///< times of a load
  uint32_t fetch = 0;        ///< bytes that a miss brings; 32 stands for 32 or less
  uint32_t line = 0;         ///< bytes under one tag; 32 stands for 32 or less
  uint32_t ways = 0;
  uint64_t lines = 0;  ///< that it holds
  uint64_t sets = 0;   ///< of all slices together
  uint64_t bytes() const { return lines * line; }
  bool evicts = false;                  ///< some list did not fit
  uint64_t tried = 0;                   ///< bytes of the longest list that was tried
  std::optional<bool> modulo;           ///< the set is the line's number modulo the number of sets
  std::vector<const Policy*> policies;  ///< those that would have made the same misses
  bool unsteady = false;  ///< equal rounds miss differently: random replacement, or noise
  std::vector<std::string> notes;
};

struct ChaseResult {
  ChasedCache l1, l2;
};

/// Misses of the rounds after the first `warm` ones, in one set that is empty at first. `round`:
/// lines by number.
uint64_t policy_misses(const Policy& policy, uint32_t ways, std::span<const uint32_t> round,
                       unsigned warm, unsigned timed);

/// `progress` is given what is being looked for.
ChaseResult chase(ChaseTarget& target,
                  const std::function<void(const std::string&)>& progress = {});

std::string chase_text(const ChaseResult& r, const ChaseTarget& target);
std::string chase_json(const ChaseResult& r, const ChaseTarget& target);

}  // namespace lanewise::cache
