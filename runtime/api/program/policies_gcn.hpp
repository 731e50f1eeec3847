// The launch policies of GCN programs; docs/policies.md explains each.
#pragma once

#include "runtime/api/program/policies.hpp"

namespace lanewise::host::detail {

/// True when the program was changed.
bool apply_gcn_policies(ir::Program& program, const Policies& complete);

}  // namespace lanewise::host::detail
