// Open addressing: insertion by compare-and-swap, counting, lookup. Keys of 32 and of 64 bits.
__device__ unsigned mix(unsigned x) {
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  x *= 0xc2b2ae35u;
  return x ^ x >> 16;
}
extern "C" __global__ void insert(const unsigned* keys, unsigned* table, unsigned* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned key = keys[i];
  for (unsigned slot = mix(key) & 511;; slot = (slot + 1) & 511) {
    const unsigned before = atomicCAS(&table[slot], ~0u, key);
    if (before == ~0u || before == key) {
      atomicAdd(&counts[slot], 1);
      return;
    }
  }
}
extern "C" __global__ void lookup(const unsigned* table, const unsigned* counts,
                                  const unsigned* keys, unsigned* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned found = 0;
  for (unsigned slot = mix(keys[i]) & 511; table[slot] != ~0u; slot = (slot + 1) & 511)
    if (table[slot] == keys[i]) {
      found = counts[slot];
      break;
    }
  out[i] = found;
}
struct Entry {
  unsigned long long key;
  long long value;
};
extern "C" __global__ void insert64(const unsigned long long* keys, const long long* values,
                                    Entry* table, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned long long key = keys[i];
  unsigned slot = (unsigned)((key * 0x9e3779b97f4a7c15ull) >> 55);
  while (true) {
    const unsigned long long before = atomicCAS(&table[slot].key, 0ull, key);
    if (before == 0 || before == key) break;
    slot = (slot + 1) & 511;
  }
  atomicMin(&table[slot].value, values[i]);
}
extern "C" __global__ void lookup64(const Entry* table, const unsigned long long* keys,
                                    long long* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned slot = (unsigned)((keys[i] * 0x9e3779b97f4a7c15ull) >> 55);
  Entry e = table[slot];
  while (e.key != 0 && e.key != keys[i]) {
    slot = (slot + 1) & 511;
    e = table[slot];
  }
  out[i] = e.key == keys[i] ? e.value : -1;
}
