// Pointers that may mean private, local or global memory, chosen by the work-item.
kernel void flat(global uint *out, global uint *in) {
  uint mine[8];
  local uint shared_words[64];
  uint t = __builtin_amdgcn_workitem_id_x();
  uint i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + t;
#pragma nounroll
  for (uint k = 0; k < 8; k++) mine[(k + i) % 8] = in[k] + i;
  shared_words[t & 63] = in[t & 63] ^ 0x55;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  generic volatile uint *p = in + 64;
  if ((i & 3) == 1) p = mine;
  if ((i & 3) == 2) p = shared_words + (t & 56);
  uint sum = p[i % 8];
  if ((i & 3) == 1) p[(i + 1) % 8] = sum * 5;
  generic volatile uchar *b = (generic volatile uchar *)p;
  out[i] = sum * 3 + p[(i + 1) % 8] + b[i % 13] + mine[(i + 1) & 7];
}
