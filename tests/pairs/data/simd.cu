// Words as vectors: bytes and halves, added, compared, chosen, saturated.
extern "C" __global__ void packed(const unsigned* a, const unsigned* b, unsigned* out, int n) {
  const int i = threadIdx.x;
  const unsigned x = a[i], y = b[i];
  out[i] = __byte_perm(x, y, 0x6240 + i % 8);
  out[n + i] = __vadd4(x, y) ^ __vsub2(x, y);
  out[2 * n + i] = __vabsdiffu4(x, y);
  out[3 * n + i] = __vmaxs2(x, y) + __vminu4(x, y);
  out[4 * n + i] = __vsadu4(x, y) + __sad((int)x, (int)y, 5);
  out[5 * n + i] = __vaddss2(x, y) ^ __vcmpgtu4(x, y);
}
