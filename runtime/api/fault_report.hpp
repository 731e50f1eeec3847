// What the host is told of a fault.
#pragma once

#include "runtime/api/api.hpp"
#include "runtime/guest/engine.hpp"
#include "runtime/ir/ir.hpp"

namespace lanewise::host::detail {

/// allocations: what the access may have been near to, sorted by address. params: the launch's
/// parameter block.
FaultReport report(const ir::Program& p, const Fault& f, std::span<const Allocation> allocations,
                   std::span<const std::byte> params);

}  // namespace lanewise::host::detail
