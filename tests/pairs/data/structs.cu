// Structures: copied, passed by value, returned, in arrays, with holes between their members.
struct Item {
  char tag;
  short size;
  int count;
  double weight;
  unsigned char name[5];
  long long key;
};
struct Range {
  int low, high;
};
struct Box {
  float3 a, b;
  Range r[3];
};
extern "C" __global__ void copy(const Item* in, Item* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[n - 1 - i] = in[i];
}
__device__ __noinline__ Item changed(Item x, int by) {
  x.count += by;
  x.weight *= 2;
  x.name[by % 5] = (unsigned char)(x.tag + by);
  x.size = (short)(x.size - by * 3);
  return x;
}
extern "C" __global__ void change(Item* items, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Item x = changed(items[i], i);
  items[i] = x.key < 0 ? changed(x, 2) : x;
}
extern "C" __global__ void by_value(Box box, Item item, int* out) {
  const int t = threadIdx.x;
  const Range r = box.r[t % 3];
  out[t] = r.low + r.high * t + (int)box.a.y + (int)box.b.z + item.name[t % 5] + item.size +
           (int)(item.key >> 20) + item.tag;
}
extern "C" __global__ void best(const Item* items, int n, Item* out) {
  __shared__ Item s[32];
  const int t = threadIdx.x;
  Item mine = items[t];
  for (int i = t + 32; i < n; i += 32)
    if (items[i].key > mine.key) mine = items[i];
  s[t] = mine;
  __syncthreads();
  for (int k = 16; k > 0; k /= 2) {
    if (t < k && s[t + k].key > s[t].key) s[t] = s[t + k];
    __syncthreads();
  }
  if (t == 0) *out = s[0];
}
