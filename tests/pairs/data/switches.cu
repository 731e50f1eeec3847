// Switches: dense, with fall-through, sparse, and a machine of states.
extern "C" __global__ void dense(const int* op, const int* x, const int* y, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, a = x[i], b = y[i];
  int r;
  switch (op[i]) {
    case 0: r = a + b; break;
    case 1: r = a - b; break;
    case 2: r = a * b; break;
    case 3: r = b != 0 ? a / b : 0; break;
    case 4: r = a & b; break;
    case 5: r = a | b; break;
    case 6: r = a ^ b; break;
    case 7: r = a << (b & 31); break;
    case 8: r = a >> (b & 31); break;
    case 9: r = a < b; break;
    case 10: r = __popc(a) + b; break;
    case 11: r = abs(a) % 97; break;
    default: r = -1;
  }
  out[i] = r;
}
extern "C" __global__ void falls(const int* n, int* out) {
  const int i = threadIdx.x;
  int r = 0, k = n[i];
  switch (k & 7) {
    case 7: r += 7;
    case 6: r = r * 3 + k;
    case 5: r ^= 55; break;
    case 4: r = 1;
    case 3:
    case 2: r += 1000; break;
    case 1: r = k;
    default: r -= 9;
  }
  switch (k) {
    case -1000000: r += 1; break;
    case 17: r += 2; break;
    case 4096: r += 4; break;
    case 123456789: r += 8; break;
  }
  out[i] = r;
}
/// Tokens of a line: 1 numbers, 2 names, 3 strings, 4 signs; counted in four bytes.
extern "C" __global__ void tokens(const char* text, int stride, unsigned* out) {
  const char* p = text + threadIdx.x * stride;
  unsigned counts = 0;
  int state = 0;
  for (int i = 0; i < stride; ++i) {
    const char c = p[i];
    const bool digit = c >= '0' && c <= '9';
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    switch (state) {
      case 1:
        if (digit) continue;
        break;
      case 2:
        if (digit || letter) continue;
        break;
      case 3:
        if (c == '"') state = 0;
        continue;
    }
    if (digit) state = 1;
    else if (letter) state = 2;
    else if (c == '"') state = 3;
    else state = c == ' ' ? 0 : 4;
    if (state != 0) counts += 1u << (8 * (state - 1));
    if (state == 4) state = 0;
  }
  out[threadIdx.x] = counts;
}
