#include "shared.h"

__device__ int counts[2] = {7, 0};
__device__ int factors[4] = {100, 200, 300, 400};
__device__ int* current = &factors[1];

// Another file has one of this name, too.
static __device__ __noinline__ int step(int x) { return x - 1; }

__device__ __noinline__ int scaled(int x) { return step(x) * *current; }

extern "C" __global__ void second(int* out) { *out = weight(5) + scaled(3) + table[1](2); }
