// Whether lanes read the bits of a mask that nothing meaningful was written to.
#pragma once

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {

/// Of these instructions, each with the low code of a pair, those where nothing depends on the
/// lanes' own bits of the pair as the instruction leaves them: each lane overwrites its bit, or is
/// off wherever it is read. Compilers leave such bits where a loop collects a mask that has no
/// value before its first iteration.
std::map<size_t, unsigned> unread_bits(const Kernel& kernel, const Analysis& analysis,
                                       std::map<size_t, unsigned> written);

}  // namespace lanewise::gcn
