// Pointers whose space only the running program knows, lists, trees, and arrays of pointers.
struct Link {
  int value;
  int pad;
  Link* next;
};
__device__ int global_cell[32];
extern "C" __global__ void generic(const int* which, int* out, int n) {
  __shared__ int shared_cell[32];
  int local_cell[4];
  const int t = threadIdx.x;
  shared_cell[t] = t * 10;
  global_cell[t] = t * 100;
  for (int i = 0; i < 4; ++i) local_cell[i] = t + i * 1000;
  __syncthreads();
  int* p;
  switch (which[t] & 3) {
    case 0: p = &shared_cell[which[t] >> 2 & 31]; break;
    case 1: p = &global_cell[t]; break;
    case 2: p = &local_cell[which[t] >> 2 & 3]; break;
    default: p = out + n + t;
  }
  *p += 7;
  __threadfence_block();
  out[t] = *p + local_cell[which[t] >> 4 & 3];
}
extern "C" __global__ void link(Link* links, const int* next, const int* values, int n) {
  const int i = threadIdx.x;
  links[i].value = values[i];
  links[i].next = next[i] < 0 ? nullptr : links + next[i];
}
extern "C" __global__ void walk(Link* links, int* out) {
  int sum = 0, steps = 0;
  for (const Link* l = links + threadIdx.x; l != nullptr && steps < 100; l = l->next) {
    sum = sum * 3 + l->value;
    ++steps;
  }
  out[2 * threadIdx.x] = sum;
  out[2 * threadIdx.x + 1] = steps;
}
extern "C" __global__ void rows(short* base, int* offsets, short** table, long long* out) {
  const int t = threadIdx.x;
  table[t] = base + offsets[t];
  __syncthreads();
  const short* mine = table[blockDim.x - 1 - t];
  out[t] = *mine + (long long)(table[(t + 1) % blockDim.x] - table[t]) * 1000;
}
extern "C" __global__ void unions(const unsigned long long* in, unsigned* out) {
  union {
    unsigned long long all;
    struct {
      unsigned short low;
      unsigned char b[2];
      float real;
    } parts;
  } u;
  u.all = in[threadIdx.x];
  u.parts.low += 3;
  u.parts.b[1] ^= u.parts.b[0];
  u.parts.real = -u.parts.real;
  out[2 * threadIdx.x] = (unsigned)u.all;
  out[2 * threadIdx.x + 1] = (unsigned)(u.all >> 32);
}
