// The coverage tables of every instruction set behind one door.
#pragma once

#include <string>
#include <vector>

#include "runtime/isa/coverage.hpp"

namespace lanewise::tools {

/// Every form of "ptx", "sass" or "gcn". Targets are GCN's alone: gfx600 (default), gfx700, gfx803.
/// Error(usage) for an unknown name.
std::vector<isa::Coverage> coverage(const std::string& isa, const std::string& target);
/// Of one form, as the assembler spells it.
isa::Coverage coverage_of(const std::string& isa, const std::string& target,
                          const std::string& form);
/// Which target the answers are for; empty where the instruction set has but one table.
std::string judged_target(const std::string& isa, const std::string& target);

const char* state_name(isa::FormState state);

}  // namespace lanewise::tools
