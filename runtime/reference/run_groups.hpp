// The groups of a launch, one after another or on all cores.
#pragma once

#include "runtime/guest/engine.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {

/// Groups that may run at the same time.
struct Threads {
  uint32_t most = 1;
  bool asked = false;  ///< also in launches that last too short to gain by it
};
/// For groups of so many bytes: one on each core, or as many as the environment variable
/// LANEWISE_THREADS says.
Threads threads_for(uint64_t group_bytes);

/// One after another, or so many at a time; where the setting says so, several are alive and take
/// turns, or steps as a schedule chooses. Puts what the groups did wrong into the result, in their
/// order.
void run_groups(const LaunchRequest& request, const DecodedProgram& program,
                const MemoryView& memory, const Setting& setting, Threads threads,
                LaunchResult& result);

/// The same on one thread, where groups may wait for each other by what they store: one that goes
/// round a loop for long stands aside for those behind it, as on GPUs, which hold many at the same
/// time. `group_bytes`: of one of them.
void run_patient_groups(const LaunchRequest& request, const DecodedProgram& program,
                        const MemoryView& memory, const Setting& setting, uint64_t group_bytes,
                        LaunchResult& result);

}  // namespace lanewise::reference
