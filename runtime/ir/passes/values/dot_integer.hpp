// Sums of integers as f32.
#pragma once

#include "runtime/ir/passes/values/dot_code.hpp"

namespace lanewise::ir {

inline constexpr uint64_t kSignBit = 0x80000000;

/// The two halves of a sum, which has at most 33 bits; the second one is none where the first has
/// it all in 31.
struct CutTotal {
  Operand first, second;
  void add(DotCode& code, Operand part, bool to_second);
};

/// As f32, cut to its 24 bits; `odd`: the lowest of them shows that something was lost.
Operand as_f32(DotCode& code, const CutTotal& total, bool odd);

/// Do `count` products, each cut after `fraction` bits, and an addend need two words?
constexpr bool needs_two_words(unsigned count, unsigned fraction) {
  return (uint64_t{count} << (fraction + 2)) + (uint64_t{2} << fraction) >= 1U << 31;
}

}  // namespace lanewise::ir
