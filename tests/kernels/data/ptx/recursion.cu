// Functions that call themselves: twice in an argument, through another function, with arrays of
// their own whose addresses they pass on, with structures by value.
// nvcc -arch=sm_75 -ptx, and with -G for recursion.debug.ptx, without its lines and sections
__device__ __noinline__ int ack(int m, int n) {
  return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1));
}
extern "C" __global__ void ackermann(const int* a, int* o) {
  int t = threadIdx.x;
  o[t] = ack(a[t] & 1, a[t] >> 1);
}
__device__ __noinline__ void sort_part(int* v, int lo, int hi) {
  if (lo >= hi) return;
  int p = v[(lo + hi) / 2], i = lo, j = hi;
  while (i <= j) {
    while (v[i] < p) i++;
    while (v[j] > p) j--;
    if (i <= j) {
      int x = v[i];
      v[i] = v[j];
      v[j] = x;
      i++;
      j--;
    }
  }
  sort_part(v, lo, j);
  sort_part(v, i, hi);
}
extern "C" __global__ void quick(int* a, int n) { sort_part(a + threadIdx.x * n, 0, n - 1); }
__device__ __noinline__ void merge_sort(int* v, int n) {
  if (n < 2) return;
  int tmp[16];
  int h = n / 2;
  for (int i = 0; i < n; i++) tmp[i] = v[i];
  merge_sort(tmp, h);
  merge_sort(tmp + h, n - h);
  int i = 0, j = h;
  for (int k = 0; k < n; k++)
    v[k] = (j >= n || (i < h && tmp[i] <= tmp[j])) ? tmp[i++] : tmp[j++];
}
extern "C" __global__ void merge(int* a) {
  int own[16];
  for (int i = 0; i < 16; i++) own[i] = a[threadIdx.x * 16 + i];
  merge_sort(own, 16);
  for (int i = 0; i < 16; i++) a[threadIdx.x * 16 + i] = own[i];
}
__device__ __noinline__ bool odd(unsigned n);
__device__ __noinline__ bool even(unsigned n) { return n == 0 ? true : odd(n - 1); }
__device__ __noinline__ bool odd(unsigned n) { return n == 0 ? false : even(n - 1); }
extern "C" __global__ void parity(int* o) { o[threadIdx.x] = even(threadIdx.x) ? 1 : 0; }
__device__ __noinline__ int queens(int n, int row, unsigned c, unsigned d1, unsigned d2) {
  if (row == n) return 1;
  int s = 0;
  for (unsigned f = ~(c | d1 | d2) & ((1u << n) - 1); f; f &= f - 1) {
    unsigned b = f & -f;
    s += queens(n, row + 1, c | b, (d1 | b) << 1, (d2 | b) >> 1);
  }
  return s;
}
extern "C" __global__ void nqueens(int* o) { o[threadIdx.x] = queens(threadIdx.x % 7 + 1, 0, 0, 0, 0); }
struct P {
  double x;
  long long n;
  int k;
};
__device__ __noinline__ P step(P p) {
  if (p.n <= 0) return p;
  P q = p;
  q.x = p.x * 1.5 + p.k;
  q.n--;
  q.k++;
  P r = step(q);
  r.x += p.x;
  return r;
}
extern "C" __global__ void structs(double* o) {
  P p{1.0, threadIdx.x % 9, (int)threadIdx.x};
  P r = step(p);
  o[threadIdx.x] = r.x + r.k;
}
__device__ __noinline__ int tree(const int* l, const int* r, const int* v, int n) {
  if (n < 0) return 0;
  return tree(l, r, v, l[n]) + v[n] + tree(l, r, v, r[n]);
}
extern "C" __global__ void trees(const int* l, const int* r, const int* v, int* o) {
  o[threadIdx.x] = tree(l, r, v, threadIdx.x);
}
__device__ __noinline__ int endless(int n) { return endless(n + 1) * 3 + n; }
extern "C" __global__ void deep(int* o) { o[threadIdx.x] = endless(threadIdx.x); }
