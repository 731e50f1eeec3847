// Open addressing with 64-bit compare-and-swap.
#include "check.h"
typedef unsigned long long u64;
const u64 empty = ~0ull;
__device__ unsigned hash(unsigned key) {
  key ^= key >> 16, key *= 0x85ebca6b, key ^= key >> 13, key *= 0xc2b2ae35;
  return key ^ key >> 16;
}
__global__ void insert(u64* table, unsigned slots, const unsigned* keys, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (unsigned at = hash(keys[i]) & (slots - 1);; at = (at + 1) & (slots - 1)) {
    const u64 old = atomicCAS(&table[at], empty, u64(keys[i]) << 32 | 1);
    if (old == empty) return;
    if (old >> 32 == keys[i]) {
      atomicAdd(&table[at], 1ull);
      return;
    }
  }
}
__global__ void count(const u64* table, unsigned slots, const unsigned* keys, unsigned* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned at = hash(keys[i]) & (slots - 1);
  while (table[at] != empty && table[at] >> 32 != keys[i]) at = (at + 1) & (slots - 1);
  counts[i] = table[at] == empty ? 0 : unsigned(table[at]);
}
int main() {
  const int n = 3000;
  const unsigned slots = 2048;
  std::vector<unsigned> keys(n), counts(n), wanted(1000);
  for (auto& k : keys) ++wanted[k = random_number() >> 8 & 1023 % 1000 ? (random_number() >> 8) % 1000 : 7];
  u64* table;
  unsigned *d_keys, *d_counts;
  MUST(cudaMalloc(&table, slots * 8));
  MUST(cudaMalloc(&d_keys, n * 4));
  MUST(cudaMalloc(&d_counts, n * 4));
  MUST(cudaMemset(table, 0xff, slots * 8));
  MUST(cudaMemcpy(d_keys, keys.data(), n * 4, cudaMemcpyHostToDevice));
  insert<<<(n + 127) / 128, 128>>>(table, slots, d_keys, n);
  count<<<(n + 127) / 128, 128>>>(table, slots, d_keys, d_counts, n);
  MUST(cudaMemcpy(counts.data(), d_counts, n * 4, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) expect("count", counts[i], wanted[keys[i]]);
  return done("hash_table");
}
