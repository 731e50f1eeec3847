// Constant memory: tables that lanes index each in its own way, structures, and what the host sets.
struct Node {
  int left, right;
  short value;
  unsigned char mark;
};
__constant__ float coefficients[8] = {1.f, -0.5f, 0.25f, 3.f, -2.f, 0.125f, 7.f, -1.f};
__constant__ double scale = 0.75;
__constant__ unsigned char digits[32] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3,
                                         2, 3, 8, 4, 6, 2, 6, 4, 3, 3, 8, 3, 2, 7, 9, 5};
__constant__ Node tree[7] = {{1, 2, 50, 0}, {3, 4, 20, 1},   {5, 6, 80, 2},   {-1, -1, 10, 3},
                             {-1, -1, 30, 4}, {-1, -1, 60, 5}, {-1, -1, 90, 6}};
__constant__ long long wide[4] = {1ll << 40, -5, 12345678901ll, 0};
__device__ int calls_made = 5;
__device__ unsigned long long log_[4];
extern "C" __global__ void polynomial(const float* x, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float r = 0;
  for (int k = 0; k < 8; ++k) r = fmaf(r, x[i], coefficients[(k + i) & 7]);
  out[i] = r + (float)scale;
}
extern "C" __global__ void search(const int* keys, int* marks, long long* sums) {
  int n = 0, mark = -1;
  const int key = keys[threadIdx.x];
  while (n >= 0) {
    const Node x = tree[n];
    mark = x.mark;
    if (x.value == key) break;
    n = key < x.value ? x.left : x.right;
  }
  marks[threadIdx.x] = mark;
  sums[threadIdx.x] = wide[key & 3] + digits[key & 31];
}
extern "C" __global__ void variables(unsigned long long* out) {
  if (threadIdx.x == 0) out[blockDim.x] = calls_made;
  __syncthreads();
  atomicAdd(&calls_made, 2);
  log_[threadIdx.x & 3] = 100 + (threadIdx.x & 3);
  __syncthreads();
  out[threadIdx.x] = log_[(threadIdx.x + 1) & 3];
  if (threadIdx.x == 0) out[blockDim.x + 1] = calls_made;
}
