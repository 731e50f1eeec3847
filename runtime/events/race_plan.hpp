// What lanes record for the check of races on devices: accesses that others can meet, with what
// stores write, fences, barriers and meetings of lanes of a wave, with what these name.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/events/plan.hpp"

namespace lanewise::events {

/// What a point stands for. Operands come before the instruction that has them.
struct RacePoint {
  enum class Role : uint8_t { operand, access, fence, barrier, meeting };
  Role role = Role::access;
  uint8_t operand = 0;  ///< which source the lane has written down
  ir::Inst inst;        ///< the instruction
};

struct RacePlan {
  Plan plan;
  std::vector<RacePoint> points;  ///< as Plan::points
  const RacePoint& point(uint32_t number) const { return points[number - 1]; }
};

/// Numbers the points of the program, and puts in what has to be recorded before instructions.
RacePlan number_for_races(ir::Program& program);

}  // namespace lanewise::events
