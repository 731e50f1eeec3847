// Which lane is running, what ends a launch, and what is left of a lane that faulted. Faults and
// steps themselves are variables of the translated kernel (runtime/spirv/lane/lane_state.hpp).

uvec3 lane_group;
uint lane_slot;       // which of the invocation's lanes is running
uint lane_index;      // its linear index in the group
uint invocation_index;
uint backing_base;    // first word of this group's slot

/// Index of per-lane state; the constant makes single-lane kernels plain variables.
uint slot_index() { return pick(LANES > 1u, min(lane_slot, LANES - 1u), 0u); }

uint lw_launch(const in uint word) { return launch.w[word]; }

void lw_set_lane(const in uint slot, const in uint lane) {
  lane_slot = slot;
  lane_index = lane;
}

/// Of all groups of the launch, in linear order.
uint group_number(const in uvec3 group) {
  uint gx = launch.w[LAUNCH_GRID], gy = launch.w[LAUNCH_GRID + 1u];
  return (group.z * gy + group.y) * gx + group.x;
}

void lw_begin(const in uvec3 group, const in uint lane) {
  lane_group = group;
  lw_set_lane(0u, lane);
  invocation_index = lane;
  if (SHARED_IN_BACKING + LOCAL_IN_BACKING != 0u) {
    // Groups of one dispatch are neighbours in linear order, so their slots differ.
    uint slot = group_number(group) % max(launch.w[LAUNCH_SLOTS], 1u);
    backing_base = slot * (launch.w[LAUNCH_SLOT_BYTES] >> 2);
  }
}

/// A lane that ends reports its first fault. Bit 31 of its number asks the host to end the launch.
void lw_report(const in uint point, const in uint lo, const in uint hi, const in uvec3 group,
               const in uint lane) {
  uint n = atomicAdd(faults.w[FAULT_COUNT], 1u);
  if (n >= MAX_FAULTS) return;
  fault_records.r[FAULT_RECORDS / 4u + 2u * n] = uvec4(point, group);
  fault_records.r[FAULT_RECORDS / 4u + 2u * n + 1u] = uvec4(lane, lo, hi, 0u);
}

bool lw_aborted() {
  return atomicLoad(faults.w[FAULT_ABORT], gl_ScopeDevice, gl_StorageSemanticsBuffer,
                    gl_SemanticsRelaxed) != 0u;
}

/// A lane has used up the steps it was given: the next ones out of what is left of its budget, 0 =
/// it must stop. That is also where the host is asked whether the launch shall end. A lane without a
/// budget ends the launch, for lanes that spin on what it holds would use up theirs one after the
/// other. llvmpipe, which runs both sides of every branch, cuts all of them long before.
uint lw_refill(const in uint reserve) {
  if (reserve == 0u) {
    if (FENCE_BY_ATOMIC == 0u) atomicOr(faults.w[FAULT_ABORT], 1u);
    return 0u;
  }
  return lw_aborted() ? 0u : min(reserve, 4096u);
}

// Did the lane leave the loop by its own decision? llvmpipe leaves loops after 65535 iterations in
// all, and a flag that the compiler can keep in a register is folded away.
void lw_loop_mark(const in uint id) { loop_marks[invocation_index] = id; }
bool lw_loop_left(const in uint id) { return loop_marks[invocation_index] == id; }
/// Such a driver has one limit for all loops of an invocation and its neighbours: those of atomics
/// that try again, over lanes, or in a search, which nobody has marked, as well. Whatever they left
/// behind is wrong. One loop more, when all is done, is cut, too, and so shows it. `counts`: a lane is
/// there to report. True for one invocation of a launch.
bool lw_loops_cut(const in bool counts) {
  if (LOOPS == 0u) return false;
  uint trips = 0u;
  do {
    ++trips;
  } while (trips < 2u + launch.w[LAUNCH_ZERO]);
  return counts && trips < 2u && atomicOr(faults.w[FAULT_CUT], 1u) == 0u;
}

/// llvmpipe suspends the invocation at a memory barrier and loses lanes when parts of a group pass
/// different numbers of them, as in divergent loops. It runs on CPUs, where a sequentially consistent atomic operation orders all memory.
void lw_fence(const in uint scope) {
  if (FENCE_BY_ATOMIC != 0u) {
    atomicAdd(faults.w[FAULT_SPARE], 0u);
  } else if ((scope & 8u) != 0u) {  // sequentially consistent: all of these are in one order
    atomicAdd(faults.w[FAULT_SPARE], 0u, gl_ScopeDevice,
              gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
  } else if (scope == 1u) {  // Scope::cta
    groupMemoryBarrier();
  } else {
    memoryBarrier();
  }
}
void lw_barrier() {
  controlBarrier(gl_ScopeWorkgroup, gl_ScopeWorkgroup,
                 gl_StorageSemanticsBuffer | gl_StorageSemanticsShared, gl_SemanticsAcquireRelease);
}

/// The lock of the group's shared memory is free. All invocations come here before the first access.
void lw_begin_lock(const in uint invocation, const in uint invocations) {
  if (invocation == 0u) group_lock = 0u;
  if (invocations > 1u) lw_barrier();
}
