// Sparse rows: one warp a row in doubles, one thread a row in floats, and sums by segments.
extern "C" __global__ void by_warps(const int* rows, const int* columns, const double* values,
                                    const double* x, double* y, int n) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
  if (row >= n) return;
  double sum = 0;
  for (int e = rows[row] + lane; e < rows[row + 1]; e += 32) sum += values[e] * x[columns[e]];
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_down_sync(~0u, sum, o);
  if (lane == 0) y[row] = sum;
}
extern "C" __global__ void by_threads(const int* __restrict__ rows, const int* __restrict__ columns,
                                      const float* __restrict__ values, const float* __restrict__ x,
                                      float* __restrict__ y, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float sum = 0;
  for (int e = rows[row]; e < rows[row + 1]; ++e) sum += values[e] * x[columns[e]];
  y[row] = sum;
}
/// Within each warp: sums of runs of equal keys, written by the last lane of each.
extern "C" __global__ void segments(const int* keys, const int* values, int* out) {
  const int i = threadIdx.x, lane = i & 31, key = keys[i];
  int v = values[i];
  for (int d = 1; d < 32; d <<= 1) {
    const int k = __shfl_up_sync(~0u, key, d), w = __shfl_up_sync(~0u, v, d);
    if (lane >= d && k == key) v += w;
  }
  const int next = __shfl_down_sync(~0u, key, 1);
  out[i] = lane == 31 || next != key ? v : 0;
}
