// May this access happen? Rules and their order: docs/execution.md. Nothing here relies on the
// driver's robustness, and no sum can wrap: offsets are compared with "size - n" where size >= n.

// Access flags: bits 0-1 AlignRule, bit 2 strong, bit 3 flush subnormals (atomics), bit 4 whole (a
// strong access of 128 bits is one access), bits 8-15
// alignment in bytes (0 = the access size).
const uint ALIGN_TRAP = 0u, ALIGN_FORCE = 1u, ALIGN_ANY = 2u, STRONG = 4u, ATOMIC_FTZ = 8u, WHOLE = 16u;

uint alignment_of(uint n, uint flags) {
  uint align = (flags >> 8) & 0xffu;
  return pick(align == 0u, n, align);
}
bool strong(uint flags) { return (flags & STRONG) != 0u; }
/// The access may straddle its natural boundary (known when the shader is compiled).
bool may_straddle(uint n, uint flags) {
  return either((flags & 3u) == ALIGN_ANY, alignment_of(n, flags) < n);
}
uint forced32(uint a, uint n, uint flags) {
  return pick((flags & 3u) == ALIGN_FORCE, a & ~(alignment_of(n, flags) - 1u), a);
}
B64 forced64(B64 a, uint n, uint flags) { return b64(forced32(lo64(a), n, flags), hi64(a)); }
bool misaligned(uint a, uint n, uint flags) {
  return both((flags & 3u) == ALIGN_TRAP, (a & (alignment_of(n, flags) - 1u)) != 0u);
}

const uint ENTRY_WORDS = 4u, FIRST_ENTRY = 4u, READ_ONLY_BIT = 0x80000000u;

/// 0 when [va, va + n) lies in one allocation that allows the access, else the kind of fault.
uint allocation_fault(B64 va, uint n, bool write) {
  uint lo = 0u, hi = allocations.w[0];
  while (lo < hi) {  // finds the first allocation that starts above va
    uint mid = (lo + hi) >> 1;
    uint at = FIRST_ENTRY + ENTRY_WORDS * mid;
    if (lt64(va, b64(allocations.w[at], allocations.w[at + 1u]))) {
      hi = mid;
    } else {
      lo = mid + 1u;
    }
  }
  if (lo == 0u) return OUT_OF_RANGE;
  uint at = FIRST_ENTRY + ENTRY_WORDS * (lo - 1u);
  uint end_hi = allocations.w[at + 3u];
  B64 end = b64(allocations.w[at + 2u], end_hi & ~READ_ONLY_BIT);
  B64 room = sub64(end, va);
  if (!lt64(va, end) || lt64(room, b64(n, 0u))) return OUT_OF_RANGE;
  return write && (end_hi & READ_ONLY_BIT) != 0u ? READ_ONLY : 0u;
}

/// 0 or the fault of a global access; va has had its low bits dropped.
uint global_fault(B64 va, uint n, uint flags, bool write) {
  uint kind = pick(misaligned(lo64(va), n, flags), MISALIGNED, 0u);
  if (MEMCHECK == 2u) return kind;
  B64 off = sub64(va, b64(ARENA_BASE, 0u));
  B64 size = arena_size;
  bool outside = either(lt64(size, b64(n, 0u)), lt64(sub64(size, b64(n, 0u)), off));
  bool null_page = both(hi64(va) == 0u, lo64(va) < NULL_PAGE_END);
  kind = pick(outside, pick(null_page, NULL_ACCESS, OUT_OF_RANGE), kind);
  if (MEMCHECK == 1u && !outside) {
    uint wrong = allocation_fault(va, n, write);
    kind = pick(wrong != 0u, wrong, kind);
  }
  return kind;
}
/// Access to one of the small spaces at offset `off`.
uint small_fault(uint off, uint size, uint n, uint flags) {
  bool outside = either(size < n, off > size - n);
  return pick(outside, OUT_OF_RANGE, pick(misaligned(off, n, flags), MISALIGNED, 0u));
}

// Checked accesses decide without branches whether they may happen and whether that is a fault:
// drivers that compile branches as they stand take very long over many of them. A load that may not
// happen reads offset 0 of its space, which is always there, and throws the value away.
bool global_ok(B64 va, uint n, uint site, uint flags, bool enabled, bool write) {
  uint kind = global_fault(va, n, flags, write);
  lw_fault(pick(enabled, kind, 0u), site, lo64(va), hi64(va), n);
  return (kind | pick(enabled, 0u, 1u)) == 0u;
}
bool small_ok(uint off, uint size, uint lo, uint n, uint site, uint flags, bool enabled) {
  uint kind = small_fault(off, size, n, flags);
  lw_fault(pick(enabled, kind, 0u), site, lo, 0u, n);
  return (kind | pick(enabled, 0u, 1u)) == 0u;
}
