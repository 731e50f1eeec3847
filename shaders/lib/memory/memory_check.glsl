// The list of allocations.

/// [va, va + n) lies in the last of the first `count` allocations, which allows the access.
bool lw_allocation_holds(const in B64 va, const in uint n, const in bool write, const in uint count) {
  bool none = count == 0u;
  uint at = FIRST_ENTRY + ENTRY_WORDS * pick(none, 0u, count - 1u);
  uint end_hi = ALLOCATION(at + 3u);
  B64 end = b64(ALLOCATION(at + 2u), end_hi & ~READ_ONLY_BIT);
  bool outside = either(!lt64(va, end), lt64(sub64(end, va), b64(n, 0u)));
  bool refused = both(write, (end_hi & READ_ONLY_BIT) != 0u);
  return !either(none, either(outside, refused));
}

// How many allocations begin at or below an address. Its granule decides, but for those that begin
// inside the granule: where there are such, a search goes on from there, by ever smaller steps and
// for several addresses at a time. Steps are powers of two, the last one is 1.

uint lw_allocation_first(const in B64 va) {
  B64 start = b64(allocations.w[GRANULES_START], allocations.w[GRANULES_START + 1u]);
  B64 granule = shr64(sub64(va, start), allocations.w[GRANULE_SHIFT]);
  // Below the start the difference is huge.
  bool known = both(hi64(granule) == 0u, lo64(granule) < allocations.w[GRANULE_COUNT]);
  uint at = allocations.w[FIRST_GRANULE] + lo64(granule);
  return pick(known, ALLOCATION(pick(known, at, 0u)), 0u);
}
uint lw_allocation_first_step() { return allocations.w[FIRST_STEP]; }
uint lw_allocation_step(const in B64 va, const in uint found, const in uint size) {
  uint next = found + size;
  bool exists = both(size != 0u, next <= allocations.w[ALLOCATION_COUNT]);
  uint at = FIRST_ENTRY + ENTRY_WORDS * pick(exists, next - 1u, 0u);
  bool above = lt64(va, b64(ALLOCATION(at), ALLOCATION(at + 1u)));
  return pick(both(exists, !above), next, found);
}

uint lw_allocation_found(const in B64 va) {
  uint found = lw_allocation_first(va);
  for (uint size = lw_allocation_first_step(); size != 0u; size >>= 1)
    found = lw_allocation_step(va, found, size);
  return found;
}

/// [va, va + n) lies in one allocation that allows the access.
bool lw_allocation_allows(const in B64 va, const in uint n, const in bool write) {
  return lw_allocation_holds(va, n, write, lw_allocation_found(va));
}

/// Where the last of the first `count` allocations begins, and so many bytes from there on may be
/// accessed: 0 where its end does not lie below 2^32 - 64 KiB.
uvec2 lw_allocation_span(const in uint count, const in bool write) {
  if (count == 0u) return uvec2(0u);
  uint at = FIRST_ENTRY + ENTRY_WORDS * (count - 1u);
  uint start = ALLOCATION(at), end = ALLOCATION(at + 2u), end_hi = ALLOCATION(at + 3u);
  bool refused = both(write, (end_hi & READ_ONLY_BIT) != 0u);
  bool far = either((end_hi & ~READ_ONLY_BIT) != 0u, end > 0xffff0000u);
  return uvec2(start, pick(either(refused, far), 0u, end - start));
}

/// The device address of the byte at an offset from the arena's start, which may lie in memory from
/// elsewhere. What lies nowhere counts as the arena's: the access was checked.
B64 lw_device_address(const in B64 arena, const in B64 offset) {
  uint first = allocations.w[FIRST_IMPORTED];
  uint lo = 0u, hi = allocations.w[IMPORTED_COUNT];
  while (lo < hi) {  // finds the first window that starts above the offset
    uint mid = (lo + hi) >> 1;
    uint at = first + IMPORTED_WORDS * mid + IMPORTED_START;
    if (lt64(offset, b64(ALLOCATION(at), ALLOCATION(at + 1u)))) {
      hi = mid;
    } else {
      lo = mid + 1u;
    }
  }
  if (lo == 0u) return add64(arena, offset);
  uint at = first + IMPORTED_WORDS * (lo - 1u);
  B64 start = b64(ALLOCATION(at + IMPORTED_START), ALLOCATION(at + IMPORTED_START + 1u));
  B64 size = b64(ALLOCATION(at + IMPORTED_SIZE), ALLOCATION(at + IMPORTED_SIZE + 1u));
  B64 inside = sub64(offset, start);
  if (!lt64(inside, size)) return add64(arena, offset);
  return add64(b64(ALLOCATION(at + IMPORTED_ADDRESS), ALLOCATION(at + IMPORTED_ADDRESS + 1u)),
               inside);
}
