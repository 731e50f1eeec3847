// Search with a stack of one's own: queens, subset sums; binary search; a filter of primes.
extern "C" __global__ void queens(int n, int* solutions) {
  // One thread for each column of the first row.
  const int full = (1 << n) - 1, first = threadIdx.x;
  int free_[12], columns[12], left[12], right[12], count = 0, row = 1;
  columns[1] = 1 << first;
  left[1] = 1 << first << 1;
  right[1] = 1 << first >> 1;
  free_[1] = full & ~(columns[1] | left[1] | right[1]);
  while (row > 0) {
    if (free_[row] == 0) {
      --row;
      continue;
    }
    const int bit = free_[row] & -free_[row];
    free_[row] ^= bit;
    if (row == n - 1) {
      ++count;
      continue;
    }
    columns[row + 1] = columns[row] | bit;
    left[row + 1] = (left[row] | bit) << 1;
    right[row + 1] = (right[row] | bit) >> 1;
    ++row;
    free_[row] = full & ~(columns[row] | left[row] | right[row]);
  }
  solutions[first] = count;
}
extern "C" __global__ void subsets(const int* numbers, int n, const int* wanted, unsigned* masks) {
  const int want = wanted[threadIdx.x];
  unsigned found = 0;
  for (unsigned m = 1; m < 1u << n && found == 0; ++m) {
    int sum = 0;
    for (unsigned rest = m; rest != 0; rest &= rest - 1) sum += numbers[__ffs((int)rest) - 1];
    if (sum == want) found = m;
  }
  masks[threadIdx.x] = found;
}
extern "C" __global__ void lower(const double* sorted, int n, const double* keys, int* out) {
  const double key = keys[threadIdx.x];
  int low = 0, size = n;
  while (size > 0) {
    const int step = size / 2;
    if (sorted[low + step] < key) {
      low += step + 1;
      size -= step + 1;
    } else {
      size = step;
    }
  }
  out[threadIdx.x] = low;
}
extern "C" __global__ void sieve(unsigned* bits, int n) {
  __shared__ unsigned s[128];
  const int t = threadIdx.x;
  if (t < 128) s[t] = ~0u;
  __syncthreads();
  for (int p = 2; p * p < n; ++p) {
    if (s[p >> 5] >> (p & 31) & 1)
      for (int m = p * p + t * p; m < n; m += p * (int)blockDim.x)
        atomicAnd(&s[m >> 5], ~(1u << (m & 31)));
    __syncthreads();
  }
  if (t < 128) bits[t] = s[t];
}
