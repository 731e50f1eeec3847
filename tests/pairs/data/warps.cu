// What lanes of a warp tell each other: votes, shuffles of every kind, in branches, too.
extern "C" __global__ void votes(const int* in, unsigned* out) {
  const int t = threadIdx.x, lane = t & 31, v = in[t];
  unsigned r = __ballot_sync(~0u, v & 1);
  r += __all_sync(~0u, v > -100) ? 3 : 0;
  r ^= __any_sync(~0u, v == 17) ? 0x10000 : 0;
  if (v & 2) {
    const unsigned here = __activemask();
    const int leader = __ffs(here) - 1;
    const int from = __shfl_sync(here, v, leader);
    r += __popc(here) * 5 + from;
  } else {
    r ^= __popc(__activemask()) << 8;
  }
  out[t] = r + __popc(r & ((1u << lane) - 1));
}
extern "C" __global__ void shuffles(const int* in, int* out) {
  const int t = threadIdx.x, n = blockDim.x, v = in[t];
  out[t] = __shfl_sync(~0u, v, v & 31);
  out[n + t] = __shfl_up_sync(~0u, v, 3, 8);
  out[2 * n + t] = __shfl_down_sync(~0u, v, 5, 16);
  out[3 * n + t] = __shfl_xor_sync(~0u, v, 21);
  out[4 * n + t] = __shfl_sync(~0u, v, t * 7, 4);
  const long long w = __shfl_xor_sync(~0u, (long long)v << 20, 1);
  out[5 * n + t] = (int)(w >> 16);
  const double d = __shfl_down_sync(~0u, (double)v, 2);
  out[6 * n + t] = (int)d;
}
extern "C" __global__ void counts(const unsigned* in, int* out) {
  const int t = threadIdx.x, n = blockDim.x;
  const unsigned v = in[t];
  out[t] = __popc(v) + __ffs((int)v) * 64 + __clz((int)v) * 4096;
  out[n + t] = (int)__brev(v);
  const unsigned long long w = (unsigned long long)v * 0x123456789ull;
  out[2 * n + t] = __popcll(w) + __ffsll((long long)w) * 128 + __clzll((long long)w) * 16384;
  out[3 * n + t] = (int)(__brevll(w) >> 32);
  // Compaction: the odd ones first, in order.
  const unsigned odd = __ballot_sync(~0u, v & 1), below = (1u << (t & 31)) - 1;
  const int to = v & 1 ? __popc(odd & below) : __popc(odd) + __popc(~odd & below);
  out[4 * n + (t & ~31) + to] = (int)v;
}
