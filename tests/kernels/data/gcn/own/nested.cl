// Built without optimisation as well: loops in conditions in loops, left by break and continue, over
// arrays in private memory. Lanes leave them one by one, and nothing else depends on who is where.
#define ID __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x()

kernel void bfs(global const int2 *nodes, global const int *edges, global char *mask,
                global char *updating, global char *visited, global int *cost, int n,
                global char *over) {
  const int i = ID;
  if (i < n && mask[i]) {
    mask[i] = 0;
    for (int e = nodes[i].x; e < nodes[i].x + nodes[i].y; e++) {
      const int id = edges[e];
      if (!visited[id]) {
        cost[id] = cost[i] + 1;
        updating[id] = 1;
      }
    }
  }
  if (i < n && updating[i]) {
    *over = 1;
    updating[i] = 0;
  }
}

kernel void array(global const int *in, global int *out, int n) {
  const int i = ID;
  int a[200];
  for (int k = 0; k < 200; k++) a[k] = in[k] + i;
  for (int k = 0; k < n + (i & 3); k++) {
    const int at = (a[k % 200] & 0x7fffffff) % 200;
    if (at == 7) continue;
    if (at > 190 + (i & 7)) break;
    a[at] += k;
  }
  int s = 0;
  for (int k = 0; k < 200; k++) s = s * 31 + a[k];
  out[i] = s;
}

// As a Fourier transform is built, in integers: loops over private arrays, with more masks than there are scalar
// registers; in one piece, and with functions that are called.
inline __attribute__((always_inline)) uint twiddle(uint k) { return (k * 2654435761u ^ k >> 3) | 1; }

inline __attribute__((always_inline)) void transform(uint *a) {
  uint e[4], o[4];
  for (int i = 0; i < 4; i++) {
    e[i] = a[2 * i];
    o[i] = a[2 * i + 1];
  }
  for (int step = 2; step > 0; step /= 2)
    for (int i = 0; i < 4; i++) {
      if ((i & step) != 0) continue;
      const uint x = e[i], y = o[i];
      e[i] = x + e[i + step];
      e[i + step] = (x - e[i + step]) * twiddle(i);
      o[i] = y + o[i + step];
      if (y & 1) o[i + step] = (y - o[i + step]) * twiddle(i + 4);
    }
  for (int i = 0; i < 4; i++) {
    const uint t = o[i] * twiddle(i + 8);
    a[i] = e[i] + t;
    a[i + 4] = e[i] - t;
  }
}
__attribute__((noinline)) void transform_called(uint *a) { transform(a); }

#define TRANSPOSED(name, transform)                                                     \
  kernel void name(global uint *data) {                                                 \
    local uint words[8 * 66];                                                           \
    const uint t = __builtin_amdgcn_workitem_id_x();                                    \
    const uint first = __builtin_amdgcn_workgroup_id_x() * 512 + t, high = t >> 3, low = t & 7; \
    uint d[8];                                                                          \
    for (uint i = 0; i < 8; i++) d[i] = data[first + i * 64];                           \
    transform(d);                                                                       \
    for (uint i = 1; i < 8; i++) d[i] *= twiddle(i * t);                                \
    for (uint i = 0; i < 8; i++) words[high * 8 + low + i * 66] = d[i];                 \
    barrier(CLK_LOCAL_MEM_FENCE);                                                       \
    for (uint i = 0; i < 8; i++) d[i] = words[low * 66 + high + i * 8];                 \
    transform(d);                                                                       \
    for (uint i = 0; i < 8; i++) data[first + i * 64] = d[i];                           \
  }
TRANSPOSED(butterflies, transform)
TRANSPOSED(butterflies_called, transform_called)
