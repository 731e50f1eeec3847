// The 64-bit L2 policy word of createpolicy, as ptxas folds it for sm_80. Bits 31:28 of the high
// word are 1; bit 27 = range; 26:25 primary (0 unchanged, 1 first, 2 last, 3 normal); bit 24
// secondary (0 unchanged, 1 first); fractional: 23:20 = n, so (n + 1) / 16 of the lines are
// primary; range: 23:20 = log2(block) - 12, 18:12 = first block, 11:5 = number of blocks.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/cache/dialects/dialect.hpp"

namespace lanewise::cache {

struct PolicyWord {
  bool known = false;  ///< a word that we can decode; word 0 is `normal` and known
  bool range = false;
  Class primary = Class::normal, secondary = Class::normal;
  uint32_t sixteenths = 16;
  uint32_t shift = 0, start = 0, blocks = 0;
};

PolicyWord decode_policy(uint64_t word);
/// The class for a line; for a fractional word, a stable hash of the line address decides.
Class policy_class(const PolicyWord& policy, uint64_t line_address);
/// True when a range word says nothing of this address (before or after its 128 blocks a range
/// repeats, so only the primary part can be known).
bool in_primary_range(const PolicyWord& policy, uint64_t address);

/// `last`, `last 8/16, else first`, `last in a range, else first`.
std::string describe(const PolicyWord& policy);
/// The same of an instruction's hint; empty where it has no hint, or one that is not known.
std::string policy_of(const trace::Site& site);

/// What createpolicy makes; used by tests and by importers.
uint64_t fractional_policy(Class primary, Class secondary, double fraction);
uint64_t range_policy(Class primary, Class secondary, uint64_t address, uint32_t primary_size,
                      uint32_t total_size);

}  // namespace lanewise::cache
