// Matrices on tensor cores: products of tiles, attention, and sums with atomics of narrow floats.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

// One warp a tile of 16 x 16 (8 x 8 for f64); A is row major, B column major.
template <int M, int N, int K, typename In, typename Frag, typename Sum>
__device__ void tile_product(const In* a, const In* b, Sum* c, int n, int k) {
  const int row = blockIdx.y * M, column = blockIdx.x * N;
  wmma::fragment<wmma::matrix_a, M, N, K, Frag, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, M, N, K, Frag, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
  wmma::fill_fragment(fc, Sum(0));
  for (int at = 0; at < k; at += K) {
    wmma::load_matrix_sync(fa, a + row * k + at, k);
    wmma::load_matrix_sync(fb, b + column * k + at, k);
    if constexpr (sizeof(In) == 4 && sizeof(Sum) == 4) {
      for (int i = 0; i < fa.num_elements; ++i) fa.x[i] = wmma::__float_to_tf32(fa.x[i]);
      for (int i = 0; i < fb.num_elements; ++i) fb.x[i] = wmma::__float_to_tf32(fb.x[i]);
    }
    wmma::mma_sync(fc, fa, fb, fc);
  }
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] = fc.x[i] * Sum(2);
  wmma::store_matrix_sync(c + row * n + column, fc, n, wmma::mem_row_major);
}
extern "C" __global__ void gemm_bf16(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c,
                                     int n, int k) {
  tile_product<16, 16, 16, __nv_bfloat16, __nv_bfloat16>(a, b, c, n, k);
}
extern "C" __global__ void gemm_tf32(const float* a, const float* b, float* c, int n, int k) {
  tile_product<16, 16, 8, float, wmma::precision::tf32>(a, b, c, n, k);
}
extern "C" __global__ void gemm_f64(const double* a, const double* b, double* c, int n, int k) {
  tile_product<8, 8, 4, double, double>(a, b, c, n, k);
}
extern "C" __global__ void gemm_s8(const signed char* a, const signed char* b, int* c, int n,
                                   int k) {
  tile_product<16, 16, 16, signed char, signed char>(a, b, c, n, k);
}

// f16: two warps a tile of 32 x 8, through shared memory with two stages of cp.async and ldmatrix.
extern "C" __global__ void gemm_f16(const __half* a, const __half* b, float* c, int n, int k) {
  __shared__ alignas(16) __half as[2][32 * 24], bs[2][8 * 24];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const int row = blockIdx.y * 32, column = blockIdx.x * 8;
  const auto fetch = [&](int stage, int at) {
    const int r = threadIdx.x / 2, h = threadIdx.x % 2 * 8;
    __pipeline_memcpy_async(&as[stage][r * 24 + h], a + (row + r) * k + at + h, 16);
    if (r < 8) __pipeline_memcpy_async(&bs[stage][r * 24 + h], b + (column + r) * k + at + h, 16);
    __pipeline_commit();
  };
  float sum[4] = {};
  fetch(0, 0);
  for (int at = 0, stage = 0; at < k; at += 16, stage ^= 1) {
    if (at + 16 < k) {
      fetch(stage ^ 1, at + 16);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    unsigned fa[4], fb[2];
    const unsigned pa = static_cast<unsigned>(
        __cvta_generic_to_shared(&as[stage][(warp * 16 + lane % 16) * 24 + lane / 16 * 8]));
    const unsigned pb = static_cast<unsigned>(
        __cvta_generic_to_shared(&bs[stage][lane % 8 * 24 + lane / 8 % 2 * 8]));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(pa)
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
                 : "=r"(fb[0]), "=r"(fb[1])
                 : "r"(pb)
                 : "memory");
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]));
    __syncthreads();
  }
  const int g = lane / 4, t = lane % 4;
  float* out = c + (row + warp * 16 + g) * n + column + 2 * t;
  out[0] = sum[0], out[1] = sum[1], out[8 * n] = sum[2], out[8 * n + 1] = sum[3];
}

// softmax(Q K^T / 4) V with an online maximum; one warp, 16 queries of 16 numbers, keys by eights.
extern "C" __global__ void attention(const __half* q, const __half* k, const __half* v, float* out,
                                     int keys) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4;
  const auto pair = [](const __half* p) { return *reinterpret_cast<const unsigned*>(p); };
  const unsigned fq[4] = {pair(q + g * 16 + 2 * t), pair(q + (g + 8) * 16 + 2 * t),
                          pair(q + g * 16 + 2 * t + 8), pair(q + (g + 8) * 16 + 2 * t + 8)};
  float most[2] = {-1e30f, -1e30f}, total[2] = {}, o[2][4] = {};
  for (int at = 0; at < keys; at += 8) {
    const unsigned fk[2] = {pair(k + (at + g) * 16 + 2 * t), pair(k + (at + g) * 16 + 2 * t + 8)};
    float s[4] = {};
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])
        : "r"(fq[0]), "r"(fq[1]), "r"(fq[2]), "r"(fq[3]), "r"(fk[0]), "r"(fk[1]));
    unsigned p[2];
    for (int h = 0; h < 2; ++h) {
      float m = fmaxf(s[2 * h], s[2 * h + 1]) * 0.25f;
      m = fmaxf(m, __shfl_xor_sync(~0u, m, 1));
      m = fmaxf(m, __shfl_xor_sync(~0u, m, 2));
      m = fmaxf(m, most[h]);
      const float scale = exp2f((most[h] - m) * 1.44269504f);
      const float x = exp2f((s[2 * h] * 0.25f - m) * 1.44269504f),
                  y = exp2f((s[2 * h + 1] * 0.25f - m) * 1.44269504f);
      float both = x + y;
      both += __shfl_xor_sync(~0u, both, 1);
      both += __shfl_xor_sync(~0u, both, 2);
      total[h] = total[h] * scale + both;
      for (int n = 0; n < 2; ++n) o[n][2 * h] *= scale, o[n][2 * h + 1] *= scale;
      most[h] = m;
      const __half2 packed = __floats2half2_rn(x, y);
      p[h] = *reinterpret_cast<const unsigned*>(&packed);
    }
    for (int n = 0; n < 2; ++n) {
      const __half* column = v + (at + 2 * t) * 16 + n * 8 + g;
      const __half2 two = __halves2half2(column[0], column[16]);
      asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, "
          "%1, %2, %3};"
          : "+f"(o[n][0]), "+f"(o[n][1]), "+f"(o[n][2]), "+f"(o[n][3])
          : "r"(p[0]), "r"(p[1]), "r"(*reinterpret_cast<const unsigned*>(&two)));
    }
  }
  for (int n = 0; n < 2; ++n)
    for (int i = 0; i < 4; ++i)
      out[(g + i / 2 * 8) * 16 + n * 8 + 2 * t + i % 2] = o[n][i] / total[i / 2];
}

// Sums of whole numbers small enough that every order gives the same.
extern "C" __global__ void reduce_narrow(const float* in, __half* h, __nv_bfloat16* b, __half2* h2,
                                         __nv_bfloat162* b2, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(h + i % 4, __float2half(in[i]));
  atomicAdd(b + i % 4, __float2bfloat16(in[i]));
  atomicAdd(h2 + i % 2, __floats2half2_rn(in[i], 1));
  atomicAdd(b2 + i % 2, __floats2bfloat162_rn(1, in[i]));
}
