// Atomics whose result does not depend on the order of the lanes.
extern "C" __global__ void integers(const int* in, int* cells, unsigned* cells_u, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int v = in[i];
  atomicAdd(&cells[0], v);
  atomicSub(&cells[1], v);
  atomicMin(&cells[2], v);
  atomicMax(&cells[3], v);
  atomicAnd(&cells[4], v | 0xff);
  atomicOr(&cells[5], v & 0xf0f0);
  atomicXor(&cells[6], v);
  atomicMin(&cells_u[0], (unsigned)v);
  atomicMax(&cells_u[1], (unsigned)v);
  atomicInc(&cells_u[2], 99);
  atomicDec(&cells_u[3], 77);
}
extern "C" __global__ void wide(const long long* in, unsigned long long* cells, long long* cells_s,
                                int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const long long v = in[i];
  atomicAdd(&cells[0], (unsigned long long)v);
  atomicMin(&cells[1], (unsigned long long)v);
  atomicMax(&cells[2], (unsigned long long)v);
  atomicAnd(&cells[3], (unsigned long long)v | 0xffffull);
  atomicOr(&cells[4], (unsigned long long)v);
  atomicXor(&cells[5], (unsigned long long)v);
  atomicMin(&cells_s[0], v);
  atomicMax(&cells_s[1], v);
}
extern "C" __global__ void floats(const float* in, float* sum, double* sum64, int n) {
  // Small whole numbers: every order gives the same sum.
  __shared__ float s;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) s = 0;
  __syncthreads();
  if (i < n) {
    atomicAdd(&s, in[i]);
    unsigned long long* p = (unsigned long long*)sum64;
    unsigned long long old = *p, assumed;
    do {
      assumed = old;
      old = atomicCAS(p, assumed,
                      __double_as_longlong(__longlong_as_double(assumed) + (double)in[i]));
    } while (assumed != old);
  }
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(sum, s);
}
extern "C" __global__ void tickets(int* taken, int* order, int n) {
  __shared__ int next;
  if (threadIdx.x == 0) next = 0;
  __syncthreads();
  const int mine = atomicAdd(&next, 1);
  atomicAdd(&taken[mine % n], 1);
  const int old = atomicExch(&order[mine], (int)threadIdx.x);
  if (old != -1) atomicAdd(&taken[0], 1000000);
}
extern "C" __global__ void shared_ones(const int* in, int* out) {
  __shared__ int s[8];
  __shared__ unsigned long long w[2];
  if (threadIdx.x < 8) s[threadIdx.x] = threadIdx.x == 4 ? -1 : 0;
  if (threadIdx.x < 2) w[threadIdx.x] = 0;
  __syncthreads();
  const int v = in[threadIdx.x];
  atomicAdd(&s[0], v);
  atomicMin(&s[1], v);
  atomicMax(&s[2], v);
  atomicOr(&s[3], v);
  atomicAnd(&s[4], v);
  atomicXor(&s[5], v);
  atomicInc((unsigned*)&s[6], 1000);
  atomicAdd(&w[0], (unsigned long long)(long long)v << 16);
  atomicMax(&w[1], (unsigned long long)(unsigned)v << 8);
  __syncthreads();
  if (threadIdx.x < 8) out[threadIdx.x] = s[threadIdx.x];
  if (threadIdx.x < 2) {
    out[8 + 2 * threadIdx.x] = (int)w[threadIdx.x];
    out[9 + 2 * threadIdx.x] = (int)(w[threadIdx.x] >> 32);
  }
}
