// Queues in which asynchronous copies wait (policy async.copy).
#pragma once

#include "runtime/ir/ir.hpp"

namespace lanewise::host::detail {

/// Copies complete at once: nothing is left of the queues. Passes would keep their branches where
/// the program has operations across lanes, and with them traps and loops that kernels for devices
/// would take into account.
bool drop_queues(ir::Program& program);

}  // namespace lanewise::host::detail
