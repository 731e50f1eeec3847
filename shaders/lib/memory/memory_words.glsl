// The words of each space: plain access, strong access (atomic), compare and swap.
// An address here is a byte offset in the space whose low two bits are ignored; it was checked. In
// the arena it is a device address where the device has such, else an offset.

const int DEV = gl_ScopeDevice, GRP = gl_ScopeWorkgroup;
const int BUF = gl_StorageSemanticsBuffer, SHM = gl_StorageSemanticsShared;

#if LW_INT64
#define OFF uint64_t
layout(buffer_reference, std430, buffer_reference_align = 1) buffer Ref8 { uint8_t v; };
layout(buffer_reference, std430, buffer_reference_align = 2) buffer Ref16 { uint16_t v; };
layout(buffer_reference, std430, buffer_reference_align = 4) buffer Ref32 { uint v; };
layout(buffer_reference, std430, buffer_reference_align = 8) buffer Ref64 { uvec2 v; };
layout(buffer_reference, std430, buffer_reference_align = 16) buffer Ref128 { uvec4 v; };
#define GLOBAL_WORD(off) Ref32((off) & ~uint64_t(3)).v
#define GLOBAL_ALIGNED_WORD(off) Ref32(off).v
#else
#define OFF uint
#define GLOBAL_WORD(off) arena_words.w[(off) >> 2]
#define GLOBAL_ALIGNED_WORD(off) GLOBAL_WORD(off)
#endif

uint global_get(const in OFF off) { return GLOBAL_WORD(off); }
uint global_get_aligned(const in OFF off) { return GLOBAL_ALIGNED_WORD(off); }
void global_put_aligned(const in OFF off, const in uint v) { GLOBAL_ALIGNED_WORD(off) = v; }
uint global_get_strong(const in OFF off) {
  return atomicLoad(GLOBAL_WORD(off), DEV, BUF, gl_SemanticsRelaxed);
}
void global_put_strong(const in OFF off, const in uint v) {
  atomicStore(GLOBAL_WORD(off), v, DEV, BUF, gl_SemanticsRelaxed);
}
uint global_cas(const in OFF off, const in uint expected, const in uint v) {
  return atomicCompSwap(GLOBAL_WORD(off), expected, v);
}

// Shared memory is the on-chip array, or this group's slot of the backing buffer.
#define SHARED_WORD(off) shared_words[(off) >> 2]
#define BACKING_WORD(off) BACKING(backing_base + ((off) >> 2))
uint shared_get(const in uint off) {
  if (SHARED_IN_BACKING != 0u) return BACKING_WORD(off);
  return SHARED_WORD(off);
}
void shared_put(const in uint off, const in uint v) {
  if (SHARED_IN_BACKING != 0u) {
    BACKING_WORD(off) = v;
  } else {
    SHARED_WORD(off) = v;
  }
}
// Where words are an array, an offset finds its word whatever its low bits are.
uint shared_get_aligned(const in uint off) { return shared_get(off); }
void shared_put_aligned(const in uint off, const in uint v) { shared_put(off, v); }
uint shared_get_strong(const in uint off) {
  if (SHARED_IN_BACKING != 0u) return atomicLoad(BACKING_WORD(off), DEV, BUF, gl_SemanticsRelaxed);
  return atomicLoad(SHARED_WORD(off), GRP, SHM, gl_SemanticsRelaxed);
}
void shared_put_strong(const in uint off, const in uint v) {
  if (SHARED_IN_BACKING != 0u) {
    atomicStore(BACKING_WORD(off), v, DEV, BUF, gl_SemanticsRelaxed);
  } else {
    atomicStore(SHARED_WORD(off), v, GRP, SHM, gl_SemanticsRelaxed);
  }
}
uint shared_cas(const in uint off, const in uint expected, const in uint v) {
  if (SHARED_IN_BACKING != 0u) return atomicCompSwap(BACKING_WORD(off), expected, v);
  return atomicCompSwap(SHARED_WORD(off), expected, v);
}

// Local memory belongs to one lane: strong access is plain access. It is an array of the invocation,
// or a part of the group's slot of the backing buffer.
uint local_place(const in uint off) {
  return backing_base + LOCAL_START + lane_index * LOCAL_WORDS + (off >> 2);
}
uint local_index(const in uint off) {
  return (LANES > 1u ? slot_index() * LOCAL_WORDS : 0u) + (off >> 2);
}
uint local_get(const in uint off) {
  if (LOCAL_IN_BACKING != 0u) return BACKING(local_place(off));
  return local_words[local_index(off)];
}
void local_put(const in uint off, const in uint v) {
  if (LOCAL_IN_BACKING != 0u) {
    BACKING(local_place(off)) = v;
  } else {
    local_words[local_index(off)] = v;
  }
}
uint local_get_aligned(const in uint off) { return local_get(off); }
void local_put_aligned(const in uint off, const in uint v) { local_put(off, v); }
uint local_get_strong(const in uint off) { return local_get(off); }
uint local_cas(const in uint off, const in uint expected, const in uint v) {
  uint old = local_get(off);
  if (old == expected) local_put(off, v);
  return old;
}

uint param_get(const in uint off) { return launch.w[LAUNCH_PARAMS + (off >> 2)]; }
uint param_get_aligned(const in uint off) { return param_get(off); }
uint param_get_strong(const in uint off) { return param_get(off); }

/// Wide atomic access where the device has none: a lock, held for a few instructions; one for global
/// memory and one for the shared memory of each group, so that only those wait who must. The loop
/// leaves the critical section before the test, so lanes in lockstep cannot starve. Everything
/// inside is an atomic on its own. Taking the lock acquires and giving it back releases, but not on
/// llvmpipe, which suspends the invocation at a barrier, with the lock held, and loses lanes in
/// loops like this (see lw_fence); its atomics are in order anyway.
/// S##_lock_holder: 0 = the lane has it now.
#define LOCK(S, WORD)                                                                          \
  uint S##_lock_holder(const in uint self) {                                                   \
    if (FENCE_BY_ATOMIC != 0u) return atomicCompSwap(WORD, 0u, self);                          \
    return atomicCompSwap(WORD, 0u, self, DEV, BUF | SHM, gl_SemanticsAcquire, 0,              \
                          gl_SemanticsRelaxed);                                                \
  }                                                                                            \
  void S##_lock_given_back() {                                                                 \
    if (FENCE_BY_ATOMIC != 0u) {                                                               \
      atomicExchange(WORD, 0u);                                                                \
    } else {                                                                                   \
      atomicStore(WORD, 0u, DEV, BUF | SHM, gl_SemanticsRelease);                              \
    }                                                                                          \
  }
LOCK(global, faults.w[FAULT_LOCK])
LOCK(shared, group_lock)

/// A driver that cuts loops runs each group in one thread. While a thread sleeps with the lock,
/// those of other groups must not use up their iterations: each takes a while.
uint global_lock_self() { return LOOPS != 0u ? 1u + group_number(lane_group) : 1u; }
uint shared_lock_self() { return 1u; }
#define WAIT atomicAdd(faults.w[FAULT_SPARE], 0u);
#define WAIT_FOUR WAIT WAIT WAIT WAIT
void lock_waits(const in uint self, const in uint holder) {
  if (LOOPS == 0u) return;
  if (holder != self) { WAIT_FOUR WAIT_FOUR WAIT_FOUR WAIT_FOUR }
}
#define WITH_LOCK(S, BODY)                                     \
  uint self = S##_lock_self();                                 \
  bool done = false;                                           \
  while (!done) {                                              \
    uint holder = S##_lock_holder(self);                       \
    if (holder == 0u) {                                        \
      BODY                                                     \
      S##_lock_given_back();                                   \
      done = true;                                             \
    } else {                                                   \
      lock_waits(self, holder);                                \
    }                                                          \
  }

#if LW_ATOMIC64
layout(buffer_reference, std430, buffer_reference_align = 8) buffer RefAtomic64 { uint64_t v; };
#endif
