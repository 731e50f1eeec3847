// What both plans (plan.hpp, race_plan.hpp) make of an instruction.
#pragma once

#include "runtime/events/plan.hpp"

namespace lanewise::events {

/// An instruction for what is recorded alone, for the lanes that execute `inst`.
ir::Inst marker(ir::Op op, const ir::Inst& inst);
Point make_point(const ir::Inst& inst);
bool has_loops(const ir::Program& program);

}  // namespace lanewise::events
