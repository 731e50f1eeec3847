// SHA-256 of short messages: rotations, a table in constant memory, bytes in the other order.
__constant__ unsigned round_constants[64];
__device__ __forceinline__ unsigned rotated(unsigned x, int n) { return x >> n | x << (32 - n); }
extern "C" __global__ void sha256(const unsigned char* messages, int length, unsigned* digests) {
  unsigned w[64];
  const unsigned char* m = messages + threadIdx.x * length;
  for (int i = 0; i < 16; ++i) {
    unsigned v = 0;
    for (int k = 0; k < 4; ++k) {
      const int at = 4 * i + k;
      v = v << 8 | (at < length ? m[at] : at == length ? 0x80 : 0);
    }
    w[i] = v;
  }
  w[15] = 8 * length;
  for (int i = 16; i < 64; ++i) {
    const unsigned a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (rotated(a, 7) ^ rotated(a, 18) ^ a >> 3) + w[i - 7] +
           (rotated(b, 17) ^ rotated(b, 19) ^ b >> 10);
  }
  unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned s[8];
#pragma unroll
  for (int i = 0; i < 8; ++i) s[i] = h[i];
  for (int i = 0; i < 64; ++i) {
    const unsigned t1 = s[7] + (rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)) +
                        ((s[4] & s[5]) ^ (~s[4] & s[6])) + round_constants[i] + w[i];
    const unsigned t2 = (rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)) +
                        ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
#pragma unroll
    for (int k = 7; k > 0; --k) s[k] = s[k - 1];
    s[4] += t1;
    s[0] = t1 + t2;
  }
  for (int i = 0; i < 8; ++i) digests[threadIdx.x * 8 + i] = h[i] + s[i];
}
