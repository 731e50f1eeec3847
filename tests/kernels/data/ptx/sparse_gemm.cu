// A product with a sparse A of f16 on sparse tensor cores: two of four elements of a row are
// stored, copies by cp.async in two stages, metadata as mma.sp wants it.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

// One warp a tile of 16 x 8 and steps of 32 along k. `a`: rows of k / 2 stored elements; `e`: for
// each tile of 16 rows and each step 16 words, of which lanes 4 g and 4 g + 1 have one each; `b`:
// column major. C += A B.
extern "C" __global__ void gemm_sparse(const __half* a, const unsigned* e, const __half* b,
                                       float* c, int n, int k) {
  __shared__ alignas(16) __half as[2][16 * 24], bs[2][8 * 40];
  const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
  const int row = blockIdx.y * 16, column = blockIdx.x * 8;
  const auto fetch = [&](int stage, int at) {
    const int r = lane / 2, h = lane % 2 * 8;
    __pipeline_memcpy_async(&as[stage][r * 24 + h], a + (row + r) * (k / 2) + at / 2 + h, 16);
    __pipeline_memcpy_async(&bs[stage][g * 40 + t * 8], b + (column + g) * k + at + t * 8, 16);
    __pipeline_commit();
  };
  float* out = c + (row + g) * n + column + 2 * t;
  float sum[4] = {out[0], out[1], out[8 * n], out[8 * n + 1]};
  fetch(0, 0);
  for (int at = 0, stage = 0; at < k; at += 32, stage ^= 1) {
    if (at + 32 < k) {
      fetch(stage ^ 1, at + 32);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncwarp();
    unsigned fa[4], fb[4];
    const unsigned pa =
        static_cast<unsigned>(__cvta_generic_to_shared(&as[stage][lane % 16 * 24 + lane / 16 * 8]));
    const unsigned pb =
        static_cast<unsigned>(__cvta_generic_to_shared(&bs[stage][lane % 8 * 40 + lane / 8 * 8]));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fa[0]), "=r"(fa[1]), "=r"(fa[2]), "=r"(fa[3])
                 : "r"(pa)
                 : "memory");
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(fb[0]), "=r"(fb[1]), "=r"(fb[2]), "=r"(fb[3])
                 : "r"(pb)
                 : "memory");
    const unsigned* words = e + (blockIdx.y * (k / 32) + at / 32) * 16;
    const unsigned meta = t < 2 ? words[2 * g + t] : 0;
    asm volatile(
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%0, %1, %2, %3}, %12, 0x0;"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "r"(fa[0]), "r"(fa[1]), "r"(fa[2]), "r"(fa[3]), "r"(fb[0]), "r"(fb[1]), "r"(fb[2]),
          "r"(fb[3]), "r"(meta));
    __syncwarp();
  }
  out[0] = sum[0], out[1] = sum[1], out[8 * n] = sum[2], out[8 * n + 1] = sum[3];
}
