// Loops in which no lane waits for another one although an atomic decides who leaves: those around
// a compare-and-swap, as in `do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (old !=
// seen)`.
//
// What is proven of such a loop, the innermost of its blocks:
//  - its only atomic is a compare-and-swap, it stores nothing where that could read it, and holds
//    no barrier and no cross-lane operation;
//  - each iteration passes the compare-and-swap once;
//  - a lane whose compare-and-swap succeeded, which is one that returned the bits of its comparand,
//    leaves. So all that iterate have failed, and wrote nothing;
//  - the next comparand of a lane that iterates is what the failed one returned, at the same
//    address; or each comparand is what a strong load found there in the same iteration.
//
// Then the loop ends in step, too. As long as no other wave writes, memory changes only where a
// lane of this wave succeeds, and that lane leaves. Once an iteration has passed without one, each
// lane's comparand is what memory holds at its address, so the first compare-and-swap of the next
// iteration succeeds. A wave of n lanes is through after n + 1 iterations, and other waves hold it
// up only where one of theirs got through. No lane waits for a value, nor for what the wave's other
// lanes do elsewhere: a lane that finds any value puts its own there.
//
// A lock is none: its comparand is a constant, or the seen value with the lock's bit off, and a
// lane that iterates has seen nothing that its next try will swap. Nor is a loop that the lane
// which succeeded stays in, because it wants a certain value or because its compare calls equal
// bits unequal (floats, where a NaN is never equal to itself).
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::spirv {

struct SwapLoop {
  std::vector<uint32_t> blocks;
  uint32_t leads_to = ir::kNone;  ///< the convergence point of all exits, or kNone
};
std::vector<SwapLoop> swap_loops(const ir::Program& program);

}  // namespace lanewise::spirv
