// What numbers a register can hold, whatever the launch's data are: an interval and how many low
// bits are zero. Used to leave out checks of accesses that cannot go wrong.
#pragma once

#include <cstdint>
#include <vector>

#include "lanewise/types.hpp"
#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Unsigned numbers `least` to `most`, all multiples of 2^zeros.
struct ValueRange {
  uint64_t least = 0, most = 0;
  uint8_t zeros = 64;  ///< of 0 all bits are
  bool operator==(const ValueRange&) const = default;
};

/// By register, over all of its definitions (the order of instructions does not matter); of
/// predicates nothing is known. `block`: the threads of a group.
std::vector<ValueRange> value_ranges(const Program& program, const Dim3& block);

}  // namespace lanewise::ir
