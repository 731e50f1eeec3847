// What sample and gather become.
#pragma once

#include "runtime/ir/passes/textures/image.hpp"

namespace lanewise::ir::textures {

/// Emits the operation without its guard and gives its four values.
Values sample(Fold& f, const Inst& inst, FilterRule rule);

}  // namespace lanewise::ir::textures
