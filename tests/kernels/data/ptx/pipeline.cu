// Copies that overlap with work: cuda::pipeline of four stages, cuda::barrier between warps.
#include <cuda/barrier>
#include <cuda/pipeline>

// Each group adds up `chunks` chunks of 64 numbers, each number by its own thread.
extern "C" __global__ void four_stages(const int* in, int* out, int chunks) {
  constexpr int kStages = 4;
  __shared__ int stage[kStages][64];
  auto pipe = cuda::make_pipeline();
  const int* mine = in + blockIdx.x * chunks * 64 + threadIdx.x;
  int sum = 0;
  for (int compute = 0, fetch = 0; compute < chunks; ++compute) {
    for (; fetch < chunks && fetch < compute + kStages; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stage[fetch % kStages][threadIdx.x], mine + fetch * 64, sizeof(int),
                         pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum = sum * 3 + stage[compute % kStages][threadIdx.x];
    pipe.consumer_release();
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}

// The same with state in shared memory: the first warp fetches, the second computes.
extern "C" __global__ void warp_roles(const int* in, int* out, int chunks) {
  constexpr int kStages = 2;
  __shared__ int stage[kStages][32];
  using barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ barrier ready[kStages], filled[kStages];
  if (threadIdx.x < kStages) {
    init(&ready[threadIdx.x], 64);
    init(&filled[threadIdx.x], 64);
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  const int* mine = in + blockIdx.x * chunks * 32;
  if (threadIdx.x < 32) {
    for (int i = 0; i < chunks; ++i) {
      ready[i % kStages].arrive_and_wait();
      stage[i % kStages][lane] = mine[i * 32 + lane];
      barrier::arrival_token token = filled[i % kStages].arrive();
      (void)token;
    }
  } else {
    for (int i = 0; i < kStages; ++i) (void)ready[i].arrive();
    int sum = 0;
    for (int i = 0; i < chunks; ++i) {
      filled[i % kStages].arrive_and_wait();
      sum = sum * 3 + stage[i % kStages][31 - lane];
      (void)ready[i % kStages].arrive();
    }
    out[blockIdx.x * 32 + lane] = sum;
  }
}

// Block-wide copies that report to a barrier (bulk copies from sm_90 on).
extern "C" __global__ void barrier_copy(const int* in, int* out) {
  __shared__ alignas(16) int tile[128];
  __shared__ cuda::barrier<cuda::thread_scope_block> bar;
  if (threadIdx.x == 0) init(&bar, blockDim.x);
  __syncthreads();
  cuda::barrier<cuda::thread_scope_block>::arrival_token token;
  if (threadIdx.x == 0)
    cuda::memcpy_async(tile, in + blockIdx.x * 128, cuda::aligned_size_t<16>(sizeof(tile)), bar);
  token = bar.arrive();
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < 128; i += blockDim.x) out[blockIdx.x * 128 + i] = tile[127 - i];
}
