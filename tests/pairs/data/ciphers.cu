// XTEA, RC4 with its state in shared memory, and SipHash: adds, xors, swaps, 64-bit rotations.
extern "C" __global__ void xtea(uint2* blocks, uint4 key, int decode) {
  uint2 v = blocks[blockIdx.x * blockDim.x + threadIdx.x];
  const unsigned k[4] = {key.x, key.y, key.z, key.w};
  unsigned sum = decode ? 0x9e3779b9u * 32 : 0;
  for (int i = 0; i < 32; ++i) {
    if (decode) {
      v.y -= (((v.x << 4) ^ (v.x >> 5)) + v.x) ^ (sum + k[sum >> 11 & 3]);
      sum -= 0x9e3779b9u;
      v.x -= (((v.y << 4) ^ (v.y >> 5)) + v.y) ^ (sum + k[sum & 3]);
    } else {
      v.x += (((v.y << 4) ^ (v.y >> 5)) + v.y) ^ (sum + k[sum & 3]);
      sum += 0x9e3779b9u;
      v.y += (((v.x << 4) ^ (v.x >> 5)) + v.x) ^ (sum + k[sum >> 11 & 3]);
    }
  }
  blocks[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
extern "C" __global__ void rc4(const unsigned char* keys, unsigned char* out, int n) {
  __shared__ unsigned char state[32][256];
  unsigned char* s = state[threadIdx.x];
  const unsigned char* key = keys + threadIdx.x * 8;
  for (int i = 0; i < 256; ++i) s[i] = (unsigned char)i;
  for (int i = 0, j = 0; i < 256; ++i) {
    j = (j + s[i] + key[i & 7]) & 255;
    const unsigned char t = s[i];
    s[i] = s[j];
    s[j] = t;
  }
  unsigned char i = 0, j = 0;
  for (int k = 0; k < n; ++k) {
    ++i;
    j += s[i];
    const unsigned char t = s[i];
    s[i] = s[j];
    s[j] = t;
    out[threadIdx.x * n + k] = s[(unsigned char)(s[i] + s[j])];
  }
}
__device__ __forceinline__ unsigned long long turned(unsigned long long x, int n) {
  return x << n | x >> (64 - n);
}
struct Sip {
  unsigned long long a, b, c, d;
  __device__ void round() {
    a += b; b = turned(b, 13); b ^= a; a = turned(a, 32);
    c += d; d = turned(d, 16); d ^= c;
    a += d; d = turned(d, 21); d ^= a;
    c += b; b = turned(b, 17); b ^= c; c = turned(c, 32);
  }
};
extern "C" __global__ void siphash(const unsigned long long* words, int n, ulonglong2 key,
                                   unsigned long long* out) {
  Sip s = {key.x ^ 0x736f6d6570736575ull, key.y ^ 0x646f72616e646f6dull,
           key.x ^ 0x6c7967656e657261ull, key.y ^ 0x7465646279746573ull};
  for (int i = 0; i < n; ++i) {
    const unsigned long long m = words[threadIdx.x * n + i];
    s.d ^= m;
    s.round();
    s.round();
    s.a ^= m;
  }
  s.c ^= 0xff;
  for (int i = 0; i < 4; ++i) s.round();
  out[threadIdx.x] = s.a ^ s.b ^ s.c ^ s.d;
}
