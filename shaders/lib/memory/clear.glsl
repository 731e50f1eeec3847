// On-chip and local memory start as zeros, as on the reference engine. Otherwise a kernel could read
// what was there before: of another kernel, or on CPU drivers of the host program.

/// Shared memory on chip. All invocations come here before the first access of the group. What lies
/// in the backing buffer the host fills.
void lw_clear_shared(const in uint invocation, const in uint invocations) {
  // Compilers see how many trips it makes, and that what all invocations write needs no question.
  uint trips = SHARED_WORDS / (4u * invocations);
  for (uint n = 0u; n < trips; ++n) {
    uint i = 4u * (n * invocations + invocation);
    shared_words[i] = 0u;
    shared_words[i + 1u] = 0u;
    shared_words[i + 2u] = 0u;
    shared_words[i + 3u] = 0u;
  }
  uint rest = SHARED_WORDS - 4u * trips * invocations;
  uint last = SHARED_WORDS - rest + invocation;
  if (rest >= invocations) shared_words[last] = 0u;
  if (rest >= 2u * invocations) shared_words[last + invocations] = 0u;
  if (rest >= 3u * invocations) shared_words[last + 2u * invocations] = 0u;
  uint few = rest % invocations;
  if (invocation < few) shared_words[SHARED_WORDS - few + invocation] = 0u;
  if (invocations > 1u) lw_barrier();
}

/// The local memory of all lanes that the invocation carries, where it is an array of its own.
void lw_clear_local() {
  for (uint i = 0u; i < LOCAL_TOTAL; i += 4u) {
    local_words[i] = 0u;
    local_words[i + 1u] = 0u;
    local_words[i + 2u] = 0u;
    local_words[i + 3u] = 0u;
  }
}
