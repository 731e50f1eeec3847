// The checker for missing s_waitcnt.
#pragma once

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {

/// One warning per instruction that uses a register whose load is outstanding.
std::vector<Diagnostic> hazards(const Kernel& kernel, const Analysis& analysis);

}  // namespace lanewise::gcn
