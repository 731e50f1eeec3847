// Programs whose tiles come to shared memory by asynchronous copies: products, attention, a
// convolution, and warps with roles that hand over buffers by bulk copies.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

// One warp a tile, in two stages of cp.async; A is row major, B column major, C = A B.
template <int M, int N, int K, typename In, typename Frag, typename Sum>
__device__ void tile_product(const In* a, const In* b, Sum* c, int n, int k) {
  __shared__ alignas(32) In as[2][M * K], bs[2][N * K];
  const int row = blockIdx.y * M, column = blockIdx.x * N;
  constexpr int kPart = 16 / sizeof(In), kParts = K / kPart;
  const auto fetch = [&](int stage, int at) {
    for (int i = threadIdx.x; i < M * kParts; i += 32)
      __pipeline_memcpy_async(&as[stage][i * kPart],
                              a + (row + i / kParts) * k + at + i % kParts * kPart, 16);
    for (int i = threadIdx.x; i < N * kParts; i += 32)
      __pipeline_memcpy_async(&bs[stage][i * kPart],
                              b + (column + i / kParts) * k + at + i % kParts * kPart, 16);
    __pipeline_commit();
  };
  wmma::fragment<wmma::matrix_a, M, N, K, Frag, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, Frag, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
  wmma::fill_fragment(fc, Sum(0));
  fetch(0, 0);
#pragma unroll 1
  for (int at = 0, stage = 0; at < k; at += K, stage ^= 1) {
    if (at + K < k)
      fetch(stage ^ 1, at + K);
    else
      __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncwarp();
    wmma::load_matrix_sync(fa, as[stage], K);
    wmma::load_matrix_sync(fb, bs[stage], K);
    wmma::mma_sync(fc, fa, fb, fc);
    __syncwarp();
  }
  wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}
extern "C" __global__ void product_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c,
                                        int n, int k) {
  tile_product<16, 16, 16, __nv_bfloat16, __nv_bfloat16>(a, b, c, n, k);
}
extern "C" __global__ void product_tf32(const float* a, const float* b, float* c, int n, int k) {
  tile_product<16, 16, 8, float, wmma::precision::tf32>(a, b, c, n, k);
}
extern "C" __global__ void product_f64(const double* a, const double* b, double* c, int n, int k) {
  tile_product<8, 8, 4, double, double>(a, b, c, n, k);
}
extern "C" __global__ void product_s8(const signed char* a, const signed char* b, int* c, int n,
                                      int k) {
  tile_product<16, 16, 16, signed char, signed char>(a, b, c, n, k);
}

__device__ void multiply(float (&sum)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ unsigned pair(const __half* p) {
  return *reinterpret_cast<const unsigned*>(p);
}

// softmax(Q K^T / 4) V with an online maximum; one warp, 16 queries of 16 numbers, 16 keys at a
// time through two stages.
extern "C" __global__ void attention_stages(const __half* q, const __half* k, const __half* v,
                                            float* out, int keys) {
  __shared__ alignas(16) __half ks[2][16 * 16], vs[2][16 * 16];
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  const auto fetch = [&](int stage, int at) {
    __pipeline_memcpy_async(&ks[stage][lane * 8], k + at * 16 + lane * 8, 16);
    __pipeline_memcpy_async(&vs[stage][lane * 8], v + at * 16 + lane * 8, 16);
    __pipeline_commit();
  };
  const unsigned fq[4] = {pair(q + g * 16 + 2 * t), pair(q + (g + 8) * 16 + 2 * t),
                          pair(q + g * 16 + 2 * t + 8), pair(q + (g + 8) * 16 + 2 * t + 8)};
  float most[2] = {-1e30f, -1e30f}, total[2] = {}, o[2][4] = {};
  fetch(0, 0);
#pragma unroll 1
  for (int at = 0, stage = 0; at < keys; at += 16, stage ^= 1) {
    if (at + 16 < keys)
      fetch(stage ^ 1, at + 16);
    else
      __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncwarp();
    float s[2][4] = {};
    for (int n = 0; n < 2; ++n) {
      const __half* key = &ks[stage][(n * 8 + g) * 16 + 2 * t];
      multiply(s[n], fq, pair(key), pair(key + 8));
    }
    unsigned p[4];
    for (int h = 0; h < 2; ++h) {
      float m = -1e30f;
      for (int n = 0; n < 2; ++n) m = fmaxf(m, fmaxf(s[n][2 * h], s[n][2 * h + 1]) * 0.25f);
      m = fmaxf(m, __shfl_xor_sync(~0u, m, 1));
      m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));
      m = fmaxf(m, most[h]);
      const float scale = exp2f((most[h] - m) * 1.44269504f);
      float both = 0;
      for (int n = 0; n < 2; ++n) {
        const float x = exp2f((s[n][2 * h] * 0.25f - m) * 1.44269504f),
                    y = exp2f((s[n][2 * h + 1] * 0.25f - m) * 1.44269504f);
        both += x + y;
        const __half2 packed = __floats2half2_rn(x, y);
        p[2 * n + h] = *reinterpret_cast<const unsigned*>(&packed);
      }
      both += __shfl_xor_sync(~0u, both, 1);
      both += __shfl_xor_sync(~0u, both, 2);
      total[h] = total[h] * scale + both;
      for (int n = 0; n < 2; ++n) o[n][2 * h] *= scale, o[n][2 * h + 1] *= scale;
      most[h] = m;
    }
    for (int n = 0; n < 2; ++n) {
      unsigned fv[2];
      for (int i = 0; i < 2; ++i) {
        const __half* column = &vs[stage][(8 * i + 2 * t) * 16 + n * 8 + g];
        const __half2 two = __halves2half2(column[0], column[16]);
        fv[i] = *reinterpret_cast<const unsigned*>(&two);
      }
      multiply(o[n], p, fv[0], fv[1]);
    }
    __syncwarp();
  }
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 4; ++i)
      out[(g + i / 2 * 8) * 16 + n * 8 + 2 * t + i % 2] = o[n][i] / total[i / 2];
}

// A convolution of 3 x 3 with 16 channels to 8 as a product of matrices: each row of A is a pixel,
// a step along k one place of the filter, whose channels come by cp.async, or zeros beside the
// picture. One warp 16 pixels of a line; `w` is [filter place][output][channel].
extern "C" __global__ void convolution(const __half* in, const __half* w, float* out, int width,
                                       int height) {
  __shared__ alignas(16) __half pixels[2][16 * 16], filter[2][8 * 16];
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  const int x0 = blockIdx.x * 16, y0 = blockIdx.y;
  const auto fetch = [&](int stage, int place) {
    const int x = x0 + lane / 2 + place % 3 - 1, y = y0 + place / 3 - 1, h = lane % 2 * 8;
    const bool inside = x >= 0 && x < width && y >= 0 && y < height;
    __pipeline_memcpy_async(&pixels[stage][lane * 8], in + (inside ? (y * width + x) * 16 + h : 0),
                            16, inside ? 0 : 16);
    if (lane < 16)
      __pipeline_memcpy_async(&filter[stage][lane * 8], w + place * 128 + lane * 8, 16);
    __pipeline_commit();
  };
  float sum[4] = {};
  fetch(0, 0);
#pragma unroll 1
  for (int place = 0; place < 9; ++place) {
    const int stage = place & 1;
    if (place + 1 < 9)
      fetch(stage ^ 1, place + 1);
    else
      __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncwarp();
    const __half* p = &pixels[stage][g * 16 + 2 * t];
    const unsigned fa[4] = {pair(p), pair(p + 128), pair(p + 8), pair(p + 136)};
    const __half* f = &filter[stage][g * 16 + 2 * t];
    multiply(sum, fa, pair(f), pair(f + 8));
    __syncwarp();
  }
  float* pixel = out + (y0 * width + x0 + g) * 8 + 2 * t;
  pixel[0] = sum[0], pixel[1] = sum[1], pixel[64] = sum[2], pixel[65] = sum[3];
}

#if __CUDA_ARCH__ >= 900
// A warp that fetches chunks of 64 words by bulk copies, two warps that scale them, and bulk copies
// back; `full` and `empty` hand over the buffers.
__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void wait(const void* bar, int parity) {
  asm volatile(
      "{\n.reg .pred p;\nW:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra W;\n}"
      :
      : "r"(shared_address(bar)), "r"(parity)
      : "memory");
}
__device__ void arrive(const void* bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" : : "r"(shared_address(bar)) : "memory");
}
extern "C" __global__ void bulk_roles(const int* in, int* out, int chunks) {
  constexpr int kStages = 2;
  __shared__ alignas(16) int stage[kStages][64], result[64];
  __shared__ alignas(8) unsigned long long full[kStages], empty[kStages];
  if (threadIdx.x < kStages) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;"
                 :
                 : "r"(shared_address(&full[threadIdx.x])));
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 64;"
                 :
                 : "r"(shared_address(&empty[threadIdx.x])));
  }
  __syncthreads();
  const int* mine = in + blockIdx.x * chunks * 64;
  int* to = out + blockIdx.x * chunks * 64;
  if (threadIdx.x >= 64) {
    if (threadIdx.x == 64)
#pragma unroll 1
      for (int i = 0; i < chunks; ++i) {
        const int s = i % kStages;
        if (i >= kStages) wait(&empty[s], (i / kStages + 1) & 1);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;"
                     :
                     : "r"(shared_address(&full[s]))
                     : "memory");
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, "
            "[%2];"
            :
            : "r"(shared_address(stage[s])), "l"(mine + i * 64), "r"(shared_address(&full[s]))
            : "memory");
      }
    return;
  }
#pragma unroll 1
  for (int i = 0; i < chunks; ++i) {
    const int s = i % kStages;
    wait(&full[s], (i / kStages) & 1);
    const int value = stage[s][63 - threadIdx.x] * 3 + 1;
    arrive(&empty[s]);
    if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 0;" : : : "memory");
    asm volatile("bar.sync 1, 64;" : : : "memory");
    result[threadIdx.x] = value;
    asm volatile("fence.proxy.async.shared::cta;" : : : "memory");
    asm volatile("bar.sync 1, 64;" : : : "memory");
    if (threadIdx.x == 0) {
      asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;"
                   :
                   : "l"(to + i * 64), "r"(shared_address(result))
                   : "memory");
      asm volatile("cp.async.bulk.commit_group;" : : : "memory");
    }
  }
  if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" : : : "memory");
}
#endif
