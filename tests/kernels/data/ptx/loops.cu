// Loops that lanes leave at different times, with values that were loaded inside.
#ifdef __clang__
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define TID __nvvm_read_ptx_sreg_tid_x()
#define BID __nvvm_read_ptx_sreg_ctaid_x()
#define NTID __nvvm_read_ptx_sreg_ntid_x()
#else
#define TID threadIdx.x
#define BID blockIdx.x
#define NTID blockDim.x
#endif
#define THREAD int(BID * NTID + TID)

// The first word that is not zero from the thread's own place on, and how far it was.
extern "C" __global__ void skip_zeros(const int* in, int* word, int* steps) {
  const int t = THREAD;
  int n = 0, v;
  do {
    v = in[t + n++];
  } while (v == 0);
  word[t] = v;
  steps[t] = n;
}

// Lexicographic order of two rows.
extern "C" __global__ void compare(const int* a, const int* b, int n, int* out) {
  const int t = THREAD;
  for (int i = 0; i < n; i++)
    if (a[t + i] != b[t + i]) {
      if (a[t + i] < b[t + i]) out[t] = 1;
      return;
    }
  out[t] = 2;
}

// One block sorts n words in global memory, n a power of two; each thread looks for its partner.
extern "C" __global__ void bitonic_step(int* d, int n, int k, int j) {
  for (int i = THREAD; i < n; i += 64) {
    const int other = i ^ j;
    if (other <= i) continue;
    const int a = d[i], b = d[other];
    const bool up = (i & k) == 0;
    if (up ? a > b : a < b) {
      d[i] = b;
      d[other] = a;
    }
  }
}

// Where a pattern of m letters first stands in the text from the thread's place on, -1 if nowhere.
extern "C" __global__ void search(const unsigned char* text, int n, const unsigned char* pattern, int m, int* out) {
  const int t = THREAD;
  int found = -1;
  for (int start = t; start + m <= n; start++) {
    int k = 0;
    while (k < m && text[start + k] == pattern[k]) k++;
    if (k == m) {
      found = start;
      break;
    }
  }
  out[t] = found;
}

// The first of the sorted words that is not below the key, and the word there.
extern "C" __global__ void lower_bound(const int* sorted, int n, const int* keys, int* at, int* word) {
  const int t = THREAD;
  int low = 0, high = n, last = 0;
  while (low < high) {
    const int middle = (low + high) / 2;
    last = sorted[middle];
    if (last < keys[t])
      low = middle + 1;
    else
      high = middle;
  }
  at[t] = low;
  word[t] = last;
}

// Open addressing: key and value in turn, key 0 is an empty place. Two probes of different stride.
extern "C" __global__ void probe(const unsigned* table, unsigned mask, const unsigned* keys, unsigned* values, unsigned* looks) {
  const int t = THREAD;
  const unsigned key = keys[t];
  unsigned value = ~0u, total = 0;
  for (unsigned stride = 1; stride <= 3; stride += 2) {
    unsigned at = key * 2654435761u & mask, there;
    for (;;) {
      there = table[2 * at];
      total++;
      if (there == key || there == 0) break;
      at = (at + stride) & mask;
    }
    if (there == key) value = table[2 * at + 1] ^ total;
  }
  values[t] = value;
  looks[t] = total;
}
