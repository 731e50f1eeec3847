// The named choices a launch can make; docs/policies.md explains each.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "runtime/guest/engine.hpp"
#include "runtime/ir/ir.hpp"

namespace lanewise::host::detail {

using Policies = std::map<std::string, std::string>;

/// Defaults overlaid with what the user asked. Error(usage) names an unknown policy or a wrong
/// value and lists what there is.
Policies complete_policies(const Policies& asked);

/// "ptx.align=force", of every value that is a word; "heap=" where it is a number.
std::vector<std::string> policy_words();

uint64_t step_budget(const Policies& complete);
/// True when the program must be changed (the alignment rule of PTX accesses); `program` is a copy.
bool apply_policies(ir::Program& program, const Policies& complete);

}  // namespace lanewise::host::detail
