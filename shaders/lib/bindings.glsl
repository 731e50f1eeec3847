// What the host hands over (../INTERFACE.md), and the sizes that the translator freezes.
#include "../../runtime/layout/host_shader.h"

layout(constant_id = 0) const uint SHARED_WORDS = 1u;  // length of the on-chip array
layout(constant_id = 1) const uint LOCAL_WORDS = 1u;   // per lane, for the bounds check
layout(constant_id = 2) const uint LANES = 1u;
layout(constant_id = 3) const uint SHARED_IN_BACKING = 0u;
layout(constant_id = 11) const uint LOCAL_IN_BACKING = 0u;
layout(constant_id = 12) const uint LOCAL_START = 0u;  // words of a group's slot before local memory
layout(constant_id = 6) const uint FENCE_BY_ATOMIC = 0u;  // see lw_fence
layout(constant_id = 4) const uint LOOPS = 0u;       // on devices that cut loops: there are some
layout(constant_id = 7) const uint LOOP_MARKS = 1u;  // invocations, on devices that cut loops
layout(constant_id = 9) const uint LEVELS = 0u;        // counted loops around a cross-lane operation
layout(constant_id = 10) const uint LEVEL_WORDS = 1u;  // LEVELS * LANES, at least 1
layout(constant_id = 5) const uint LOCAL_TOTAL = 1u;   // LOCAL_WORDS * LANES, at least 4

#if !LW_INT64
layout(set = 0, binding = 0, std430) buffer ArenaWords { uint w[]; } arena_words;
#endif
layout(set = 0, binding = 1, std430) readonly buffer LaunchWords { uint w[]; } launch;
layout(set = 0, binding = 2, std430) buffer FaultWords { uint w[]; } faults;
layout(set = 0, binding = 2, std430) writeonly buffer FaultRecords { uvec4 r[]; } fault_records;
layout(set = 0, binding = 3, std430) buffer BackingWords { uint w[]; } backing;
layout(set = 0, binding = 4, std430) readonly buffer AllocationWords { uint w[]; } allocations;

shared uint shared_words[SHARED_WORDS];
uint local_words[LOCAL_TOTAL];
shared uint loop_marks[LOOP_MARKS];
shared uint group_lock;  // of shared memory: lw_begin_lock

// What lanes read at places of their own goes through a pointer where the device has such: drivers
// for CPUs make one gather of it, but a guarded read for each lane from a storage buffer.
#if LW_INT64
layout(buffer_reference, std430, buffer_reference_align = 4) buffer WordRef { uint v; };
#define WORD_BEHIND(field, i) \
  WordRef(packUint2x32(uvec2(launch.w[field], launch.w[field + 1u])) + uint64_t(4u * (i))).v
#define ALLOCATION(i) WORD_BEHIND(LAUNCH_ALLOCATIONS, i)
#define BACKING(i) WORD_BEHIND(LAUNCH_BACKING, i)
#else
#define ALLOCATION(i) allocations.w[i]
#define BACKING(i) backing.w[i]
#endif

// The guest address space (runtime/layout/addresses.hpp).
const uint SHARED_WINDOW = 1u, LOCAL_WINDOW = 2u;
