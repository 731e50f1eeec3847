// Breadth first: one level a launch over a frontier, and all levels in one block.
extern "C" __global__ void level(const int* rows, const int* columns, int* depth,
                                 const int* frontier, int size, int* next, int* next_size, int d) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const int v = frontier[i];
  for (int e = rows[v]; e < rows[v + 1]; ++e) {
    const int w = columns[e];
    if (atomicCAS(&depth[w], -1, d) == -1) next[atomicAdd(next_size, 1)] = w;
  }
}
extern "C" __global__ void whole(const int* rows, const int* columns, int* depth, int n) {
  __shared__ bool more;
  for (int d = 0;; ++d) {
    __syncthreads();
    if (threadIdx.x == 0) more = false;
    __syncthreads();
    for (int v = threadIdx.x; v < n; v += blockDim.x) {
      if (depth[v] != d) continue;
      for (int e = rows[v]; e < rows[v + 1]; ++e)
        if (depth[columns[e]] < 0) {
          depth[columns[e]] = d + 1;
          more = true;
        }
    }
    __syncthreads();
    if (!more) break;
  }
}
