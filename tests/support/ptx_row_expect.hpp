// What the manual says a row of the tables does, by the literal oracle and nothing of the runtime.
#pragma once

#include "tests/support/ptx_row.hpp"

namespace lanewise::test {

/// The memories that rows reach: a range of the arena, sbuf and lbuf.
struct RowMemory {
  uint64_t start = 0;  ///< guest address of the range
  std::vector<std::byte> arena, shared, local;
  bool operator==(const RowMemory&) const = default;
};

struct RowOutcome {
  RowMemory memory;
  std::vector<Words> results;  ///< of RowKernel::destinations
  bool faults = false;
};

/// Nothing where the documents leave the result open or where it is arithmetic that the numeric
/// tests own (floating-point atomics, policies of ranges).
std::optional<RowOutcome> expected_outcome(const RowKernel& kernel, const RowPlace& place,
                                           const RowMemory& before);

}  // namespace lanewise::test
