// Built without optimisation: masks and scalars wait in lanes of a vector register, a barrier stands
// in the loop, and the ways that lanes take differ.
__kernel void rounds(__global const uint* in, __global uint* out, int n) {
  const uint i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  uint v = in[i];
  for (int r = 0; r < n; r++) {
    if (v & 1) {
      v = v * 3 + 1;
    } else {
      for (uint q = 0; q < (v & 7); q++) v += q * 3 ^ r;
    }
    __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
    __builtin_amdgcn_s_barrier();
  }
  out[i] = v;
}
