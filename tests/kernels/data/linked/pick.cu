#include "shared.h"

__device__ __noinline__ int doubled(int x) { return 2 * x; }
__device__ __noinline__ int tripled(int x) { return 3 * x; }
__device__ function table[2] = {doubled, tripled};

__device__ __noinline__ int picked(int x) { return table[x & 1](x) + weight(x); }
