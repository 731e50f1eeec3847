// Control flow that lanes walk in different ways.
kernel void collatz(global const uint* in, global uint* out, uint cap) {
  const uint i = get_global_id(0);
  uint x = in[i], s = 0, most = x;
  while (x != 1) {
    if (s >= cap) {
      s = ~0u;
      break;
    }
    if (x & 1) {
      if (x > 0x55555554u) {
        s |= 0x80000000u;
        break;
      }
      x = 3 * x + 1;
    } else {
      x >>= 1;
    }
    most = max(most, x);
    ++s;
  }
  out[2 * i] = s;
  out[2 * i + 1] = most;
}

kernel void factors(global const uint* in, global uint* out) {
  const uint i = get_global_id(0);
  uint n = in[i], count = 0, sum = 0;
  for (uint p = 2; p * p <= n; ++p) {
    if (p > 2 && (p & 1) == 0) continue;
    uint power = 0;
    while (n % p == 0) {
      n /= p;
      ++power;
    }
    if (power == 0) continue;
    sum += p * power;
    if (++count == 6) break;
  }
  if (n > 1) sum += n;
  out[i] = sum + (count << 24);
}

kernel void find(global const uchar* text, uint length, global const uchar* words, global int* places) {
  const uint i = get_global_id(0);
  global const uchar* word = words + 8 * i;
  for (uint at = 0; at < length; ++at) {
    uint k = 0;
    while (k < 8 && word[k] != 0) {
      if (at + k >= length || text[at + k] != word[k]) break;
      ++k;
    }
    if (k == 8 || word[k] == 0) {
      places[i] = at;
      return;
    }
  }
  places[i] = -1;
}

// A small machine: each lane has its own program.
kernel void machine(global const uint* code, global uint* out, uint most) {
  const uint i = get_global_id(0);
  uint a = i, b = 1, pc = 0, steps = 0;
  while (steps++ < most) {
    const uint word = code[(i % 4) * 16 + (pc & 15)];
    pc++;
    switch (word & 7) {
      case 0: a += word >> 3; break;
      case 1: b ^= a; break;
      case 2: a = a * 5 + b; break;
      case 3:
        if (a & 1) pc += word >> 3;
        break;
      case 4: b = (b << 3) | (b >> 29);  // and on
      case 5: a -= b; break;
      case 6:
        if (b > a) goto done;
        break;
      default: pc = word >> 3; break;
    }
  }
done:
  out[i] = a ^ b * 3 ^ pc << 20 ^ steps << 8;
}
