// What a lane remembers: who it is, its first fault, how many steps it has left.

uvec3 lane_group;
uint lane_slot;       // which of the invocation's lanes is running
uint lane_index;      // its linear index in the group
uint invocation_index;
uint steps_taken;     // per invocation: its lanes branch together
uint step_budget;
uint backing_base;    // first word of this group's slot
uint shared_bytes;
B64 arena_size;
#if LW_INT64
uint64_t arena_address;
#endif
uint first_fault[LANES];  // kind | access size << 24, 0 = none
uint first_site[LANES];
uint first_lo[LANES];
uint first_hi[LANES];

/// Index of per-lane state; the constant makes single-lane kernels plain variables.
uint slot_index() { return pick(LANES > 1u, min(lane_slot, LANES - 1u), 0u); }

uint lw_launch(const in uint word) { return launch.w[word]; }

void lw_set_lane(const in uint slot, const in uint lane) {
  lane_slot = slot;
  lane_index = lane;
}

/// Budgets of 2^32 steps and more count as 2^32 - 1.
uint saturated_budget() {
  return launch.w[LAUNCH_BUDGET + 1u] != 0u ? ~0u : launch.w[LAUNCH_BUDGET];
}

void lw_begin(const in uvec3 group, const in uint lane) {
  lane_group = group;
  lw_set_lane(0u, lane);
  invocation_index = lane;
  steps_taken = 0u;
  step_budget = saturated_budget();
  shared_bytes = launch.w[LAUNCH_STATIC_SHARED] + launch.w[LAUNCH_DYNAMIC_SHARED];
  arena_size = b64(launch.w[LAUNCH_ARENA_SIZE], launch.w[LAUNCH_ARENA_SIZE + 1u]);
#if LW_INT64
  arena_address = b64(launch.w[LAUNCH_ARENA_ADDRESS], launch.w[LAUNCH_ARENA_ADDRESS + 1u]);
#endif
  if (SHARED_IN_BACKING != 0u) {
    // Groups of one dispatch are neighbours in linear order, so their slots differ.
    uint gx = launch.w[LAUNCH_GRID], gy = launch.w[LAUNCH_GRID + 1u];
    uint linear = (group.z * gy + group.y) * gx + group.x;
    uint slot = linear % max(launch.w[LAUNCH_SLOTS], 1u);
    backing_base = slot * (launch.w[LAUNCH_SLOT_BYTES] >> 2);
  }
  for (uint i = 0u; i < LANES; ++i) first_fault[i] = 0u;
}

/// Keeps the first; kind 0 is no fault. Without branches: every access comes through here.
void lw_fault(const in uint kind, const in uint site, const in uint lo, const in uint hi,
              const in uint size) {
  uint i = slot_index();
  bool first = both(kind != 0u, first_fault[i] == 0u);
  first_fault[i] = pick(first, kind | size << 24, first_fault[i]);
  first_site[i] = pick(first, site, first_site[i]);
  first_lo[i] = pick(first, lo, first_lo[i]);
  first_hi[i] = pick(first, hi, first_hi[i]);
}

void lw_end() {
  uint i = slot_index();
  if (first_fault[i] == 0u) return;
  if ((first_fault[i] & 0xffu) == STEP_BUDGET) atomicOr(faults.w[FAULT_ABORT], 1u);
  uint n = atomicAdd(faults.w[FAULT_COUNT], 1u);
  if (n >= MAX_FAULTS) return;
  uint at = FAULT_RECORDS + 8u * n;
  faults.w[at] = first_fault[i];
  faults.w[at + 1u] = first_site[i];
  faults.w[at + 2u] = lane_group.x;
  faults.w[at + 3u] = lane_group.y;
  faults.w[at + 4u] = lane_group.z;
  faults.w[at + 5u] = lane_index;
  faults.w[at + 6u] = first_lo[i];
  faults.w[at + 7u] = first_hi[i];
}

bool lw_aborted() {
  return atomicLoad(faults.w[FAULT_ABORT], gl_ScopeDevice, gl_StorageSemanticsBuffer,
                    gl_SemanticsRelaxed) != 0u;
}

/// The next lane of an invocation that runs them one after the other, in one slot.
void lw_next_lane(const in uint lane) {
  lw_set_lane(0u, lane);
  steps_taken = 0u;
  first_fault[0] = 0u;
}

/// The host can end a launch that takes too long: it is asked every 4096 steps. A lane without a
/// budget ends the launch, for lanes that spin on what it holds would use up theirs one after the
/// other. llvmpipe, which runs both sides of every branch, cuts all of them long before.
bool lw_step(const in uint site) {
  if (steps_taken >= step_budget) {
    lw_fault(STEP_BUDGET, site, 0u, 0u, 0u);
    if (FENCE_BY_ATOMIC == 0u) atomicOr(faults.w[FAULT_ABORT], 1u);
    return false;
  }
  steps_taken += 1u;
  return (steps_taken & 4095u) != 0u || !lw_aborted();
}

// Did the lane leave the loop by its own decision? llvmpipe leaves loops after 65535 iterations in
// all, and a flag that the compiler can keep in a register is folded away.
void lw_loop_mark(const in uint id) { loop_marks[invocation_index] = id; }
bool lw_loop_left(const in uint id) { return loop_marks[invocation_index] == id; }
/// The lane was taken out of a loop. When lw_step did it, the fault is there already; address 1 says
/// that it was the driver.
void lw_loop_cut(const in uint site) {
  if (!lw_aborted()) lw_fault(STEP_BUDGET, site, 1u, 0u, 0u);
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
