// The groups of a launch, one after another or on all cores.
#pragma once

#include "runtime/guest/engine.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {

/// How many groups of so many bytes may run at the same time: one on each core, or as many as the
/// environment variable LANEWISE_THREADS says.
uint32_t threads_for(uint64_t group_bytes);

/// Puts what the groups did wrong into the result, in the order of groups, which is that of a
/// single thread. A launch that lasts too short to gain by more threads gets none.
void run_groups_of(const LaunchRequest& request, const DecodedProgram& program,
                   const MemoryView& memory, const Setting& setting, uint32_t threads,
                   LaunchResult& result);

/// The same with all groups alive from the start: each takes a turn after the other.
void run_resident_groups(const LaunchRequest& request, const DecodedProgram& program,
                         const MemoryView& memory, const Setting& setting, LaunchResult& result);

/// The same where a schedule chooses, with some or all groups alive.
void run_scheduled_groups(const LaunchRequest& request, const DecodedProgram& program,
                          const MemoryView& memory, const Setting& setting, uint64_t together,
                          LaunchResult& result);

}  // namespace lanewise::reference
