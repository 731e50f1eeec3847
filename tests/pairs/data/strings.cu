// Text: search in constant and global memory, folding of case, counting words, reversal, atoi.
__constant__ char pattern[16];
extern "C" __global__ void find(const char* text, int n, int length, int* first, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + length > n) return;
  int k = 0;
  while (k < length && text[i + k] == pattern[k]) ++k;
  if (k == length) {
    atomicMin(first, i);
    atomicAdd(count, 1);
  }
}
extern "C" __global__ void kmp(const char* text, int stride, const char* word, int length,
                               int* hits) {
  int fail[16];
  fail[0] = 0;
  for (int i = 1, k = 0; i < length; ++i) {
    while (k > 0 && word[i] != word[k]) k = fail[k - 1];
    if (word[i] == word[k]) ++k;
    fail[i] = k;
  }
  const char* mine = text + threadIdx.x * stride;
  int found = 0;
  for (int i = 0, k = 0; i < stride; ++i) {
    while (k > 0 && mine[i] != word[k]) k = fail[k - 1];
    if (mine[i] == word[k]) ++k;
    if (k == length) {
      ++found;
      k = fail[k - 1];
    }
  }
  hits[threadIdx.x] = found;
}
extern "C" __global__ void upper(char* text, int n, int* words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  bool start = false;
  if (i < n) {
    const char c = text[i];
    start = c != ' ' && (i == 0 || text[i - 1] == ' ');
  }
  const int starts = __syncthreads_count(start);
  if (i < n && text[i] >= 'a' && text[i] <= 'z') text[i] -= 'a' - 'A';
  if (threadIdx.x == 0) words[blockIdx.x] = starts;
}
extern "C" __global__ void parse(const char* text, const int* starts, long long* out) {
  const char* p = text + starts[threadIdx.x];
  bool negative = false;
  if (*p == '-' || *p == '+') negative = *p++ == '-';
  long long v = 0;
  for (; *p >= '0' && *p <= '9'; ++p) v = v * 10 + (*p - '0');
  out[threadIdx.x] = negative ? -v : v;
}
