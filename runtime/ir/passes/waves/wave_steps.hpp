// Warp-synchronous code: what it leaves to the step of the wave.
#pragma once

#include <cstdint>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// What shows that a kernel leaves the order of its accesses to the step of the wave: that a lane
/// loads what others may have stored, and the lanes have not reconverged in between.
enum class StepEvidence : uint8_t {
  volatile_access,  ///< where the guest calls the accesses volatile
  any_access,       ///< whatever the accesses: the guest's machine runs its waves in step
};

/// The mode of a `wave_sync` that step_waves() inserts. Nobody wrote that all lanes come there:
/// those that go another way need not be waited for where a wave runs in step.
inline constexpr uint8_t kImpliedStep = 1;

/// In kernels that do, the wave reconverges (`wave_sync`) before each access to shared memory that
/// may conflict with an earlier one of another lane. True when there was such a place.
bool step_waves(Program& program, StepEvidence evidence);

}  // namespace lanewise::ir
