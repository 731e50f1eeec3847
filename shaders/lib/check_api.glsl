// Checks without an access, for instructions that are made of several library accesses: all of the
// bytes are checked first, then all of the accesses happen or none.

#define CHECK_SMALL(S, SIZE)                                                                     \
  bool lw_check_##S(const in uint a, const in uint n, const in uint site, const in uint flags,   \
                    const in bool write, const in bool enabled) {                                \
    return small_ok(a, SIZE, a, n, site, flags, enabled);                                        \
  }
CHECK_SMALL(shared, shared_bytes)
CHECK_SMALL(local, 4u * LOCAL_WORDS)

bool lw_check_param(const in uint a, const in uint n, const in uint site, const in uint flags,
                    const in bool write, const in bool enabled) {
  bool inside = small_ok(a, param_bytes(), a, n, site, write ? ALIGN_ANY : flags, enabled);
  if (inside && write) lw_fault(READ_ONLY, site, a, 0u, n);
  return inside && !write;
}
bool lw_check_global(const in B64 a, const in uint n, const in uint site, const in uint flags,
                     const in bool write, const in bool enabled) {
  return global_ok(a, n, site, flags, enabled, write);
}
bool lw_check_generic(const in B64 a, const in uint n, const in uint site, const in uint flags,
                      const in bool write, const in bool enabled) {
  uint w = window_of(a);
  if (w == 0u) return global_ok(a, n, site, flags, enabled, write);
  return small_ok(lo64(a) & 0xffffffu, window_size(w), lo64(a), n, site, flags, enabled);
}
