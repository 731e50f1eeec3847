// Tables that depend on their neighbours: edit distance by diagonals, knapsack, longest increasing.
extern "C" __global__ void edit(const char* a, const char* b, int n, int* out) {
  extern __shared__ int rows[];
  int *before = rows, *last = rows + n + 1, *now = rows + 2 * (n + 1);
  a += blockIdx.x * n;
  b += blockIdx.x * n;
  for (int d = 0; d <= 2 * n; ++d) {
    for (int i = threadIdx.x; i <= n; i += blockDim.x) {
      const int j = d - i;
      if (j < 0 || j > n) continue;
      if (i == 0 || j == 0) {
        now[i] = i + j;
      } else {
        const int change = before[i - 1] + (a[i - 1] != b[j - 1]);
        now[i] = min(change, min(last[i - 1], last[i]) + 1);
      }
    }
    __syncthreads();
    int* t = before;
    before = last;
    last = now;
    now = t;
  }
  if (threadIdx.x == 0) out[blockIdx.x] = last[n];
}
extern "C" __global__ void knapsack(const int* weights, const int* values, int items, int room,
                                    long long* out) {
  __shared__ long long best[2][129];
  const int t = threadIdx.x;
  int cur = 0;
  best[0][t] = 0;
  if (t == 0) best[0][128] = 0;
  __syncthreads();
  for (int i = 0; i < items; ++i) {
    for (int w = t; w <= room; w += blockDim.x) {
      long long v = best[cur][w];
      if (w >= weights[i]) v = max(v, best[cur][w - weights[i]] + values[i]);
      best[cur ^ 1][w] = v;
    }
    cur ^= 1;
    __syncthreads();
  }
  for (int w = t; w <= room; w += blockDim.x) out[w] = best[cur][w];
}
extern "C" __global__ void increasing(const short* in, int n, unsigned char* out) {
  short tails[40];
  int length = 0;
  const short* a = in + threadIdx.x * n;
  for (int i = 0; i < n; ++i) {
    int low = 0, high = length;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (tails[middle] < a[i]) low = middle + 1;
      else high = middle;
    }
    tails[low] = a[i];
    if (low == length) ++length;
  }
  out[threadIdx.x] = (unsigned char)length;
}
