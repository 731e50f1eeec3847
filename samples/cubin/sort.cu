// A block sorts 256 keys, one bit a pass, by ballots.
extern "C" __global__ void radix(unsigned* keys, unsigned short* order) {
  __shared__ unsigned k[256], zeros[8];
  __shared__ unsigned short id[256];
  const unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5;
  k[t] = keys[blockIdx.x * 256 + t];
  id[t] = (unsigned short)t;
  __syncthreads();
  for (int bit = 0; bit < 32; ++bit) {
    const unsigned key = k[t];
    const unsigned short mine = id[t];
    const bool one = key >> bit & 1;
    const unsigned zero_lanes = __ballot_sync(~0u, !one);
    if (lane == 0) zeros[warp] = __popc(zero_lanes);
    __syncthreads();
    unsigned before = 0, all = 0;
    for (unsigned w = 0; w < 8; ++w) {
      if (w < warp) before += zeros[w];
      all += zeros[w];
    }
    const unsigned rank = before + __popc(zero_lanes & ((1u << lane) - 1));
    const unsigned to = one ? all + t - rank : rank;
    k[to] = key;
    id[to] = mine;
    __syncthreads();
  }
  keys[blockIdx.x * 256 + t] = k[t];
  order[blockIdx.x * 256 + t] = id[t];
}
