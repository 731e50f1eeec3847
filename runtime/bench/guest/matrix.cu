// nvcc -arch=sm_80 -ptx -o matrix.ptx matrix.cu
//
// C = A B by tiles of 16 x 8, one a warp: A is row major, B column major, both pairs of f16 in words.
extern "C" __global__ void mma_tiles(const unsigned* a, const unsigned* b, float* c, int n) {
  const int lane = threadIdx.x % 32, group = lane / 4, place = lane % 4;
  const int row = blockIdx.y * 16, column = (blockIdx.x * 8 + threadIdx.x / 32) * 8;
  const unsigned* top = a + (row + group) * (n / 2) + place;
  const unsigned* bottom = top + 8 * (n / 2);
  const unsigned* right = b + (column + group) * (n / 2) + place;
  float s0 = 0, s1 = 0, s2 = 0, s3 = 0;
#pragma unroll 1
  for (int k = 0; k < n / 2; k += 8)
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+f"(s0), "+f"(s1), "+f"(s2), "+f"(s3)
        : "r"(top[k]), "r"(bottom[k]), "r"(top[k + 4]), "r"(bottom[k + 4]), "r"(right[k]),
          "r"(right[k + 4]));
  float* out = c + (row + group) * n + column + 2 * place;
  out[0] = s0;
  out[1] = s1;
  out[8 * n] = s2;
  out[8 * n + 1] = s3;
}
