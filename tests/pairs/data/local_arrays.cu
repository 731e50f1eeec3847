// Arrays of a thread's own: sorting, permutations, a stack, a queue of bytes.
extern "C" __global__ void insertion(const int* in, int* out) {
  int a[24];
  const int base = (blockIdx.x * blockDim.x + threadIdx.x) * 24;
  for (int i = 0; i < 24; ++i) a[i] = in[base + i];
  for (int i = 1; i < 24; ++i) {
    const int v = a[i];
    int k = i;
    for (; k > 0 && a[k - 1] > v; --k) a[k] = a[k - 1];
    a[k] = v;
  }
  for (int i = 0; i < 24; ++i) out[base + i] = a[i];
}
extern "C" __global__ void permutations(const unsigned char* digits, unsigned long long* out) {
  unsigned char a[7];
  for (int i = 0; i < 7; ++i) a[i] = digits[threadIdx.x * 7 + i];
  unsigned long long h = 0;
  for (int round = 0; round < 50; ++round) {
    int i = 5;
    while (i >= 0 && a[i] >= a[i + 1]) --i;
    if (i >= 0) {
      int j = 6;
      while (a[j] <= a[i]) --j;
      const unsigned char t = a[i];
      a[i] = a[j];
      a[j] = t;
    }
    for (int l = i + 1, r = 6; l < r; ++l, --r) {
      const unsigned char t = a[l];
      a[l] = a[r];
      a[r] = t;
    }
    for (int k = 0; k < 7; ++k) h = h * 31 + a[k];
  }
  out[threadIdx.x] = h;
}
/// Postfix: small numbers push themselves, 100 adds, 101 multiplies, 102 swaps, 103 doubles.
extern "C" __global__ void postfix(const unsigned char* code, int length, long long* out) {
  long long stack[16];
  int top = 0;
  const unsigned char* p = code + threadIdx.x * length;
  for (int i = 0; i < length; ++i) {
    const int c = p[i];
    if (c < 100) {
      if (top < 16) stack[top++] = c;
    } else if (c == 103) {
      if (top > 0 && top < 16) stack[top] = stack[top - 1], ++top;
    } else if (top > 1) {
      const long long b = stack[top - 1], a = stack[top - 2];
      if (c == 102) {
        stack[top - 1] = a;
        stack[top - 2] = b;
      } else {
        stack[--top - 1] = c == 100 ? a + b : a * b;
      }
    }
  }
  long long sum = top;
  for (int i = 0; i < top; ++i) sum = sum * 17 + stack[i];
  out[threadIdx.x] = sum;
}
