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

/// Puts what the groups did wrong into the result, in the order of groups, which is that of a
/// single thread.
void run_groups_of(const LaunchRequest& request, const DecodedProgram& program,
                   const MemoryView& memory, const Setting& setting, Threads threads,
                   LaunchResult& result);

/// The same on one thread, where groups may wait for each other by what they store: one that goes
/// round a loop for long stands aside for those behind it, as on GPUs, which hold many at the same
/// time. `group_bytes`: of one of them.
void run_patient_groups(const LaunchRequest& request, const DecodedProgram& program,
                        const MemoryView& memory, const Setting& setting, uint64_t group_bytes,
                        LaunchResult& result);

/// The same with all groups alive from the start: each takes a turn after the other.
void run_resident_groups(const LaunchRequest& request, const DecodedProgram& program,
                         const MemoryView& memory, const Setting& setting, LaunchResult& result);

/// The same where a schedule chooses, with some or all groups alive.
void run_scheduled_groups(const LaunchRequest& request, const DecodedProgram& program,
                          const MemoryView& memory, const Setting& setting, uint64_t together,
                          LaunchResult& result);

}  // namespace lanewise::reference
