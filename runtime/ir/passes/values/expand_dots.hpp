// Op::dot as the operations it is made of.
#pragma once

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Sums by fma (DotRule::fraction 0) become conversions and one ffma for each product, which
/// devices with wide subgroups keep in registers. True when something changed.
bool expand_dots(Program& program);

}  // namespace lanewise::ir
