// Whether lanes read the bits of a mask that nothing meaningful was written to.
#pragma once

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {

/// True when nothing depends on the lanes' own bits of this pair as instruction `n` leaves them:
/// each lane overwrites its bit, or is off wherever it is read. Compilers leave such bits where a
/// loop collects a mask that has no value before its first iteration.
bool bits_are_unread(const Kernel& kernel, const Analysis& analysis, size_t n, unsigned low,
                     size_t& steps);

}  // namespace lanewise::gcn
