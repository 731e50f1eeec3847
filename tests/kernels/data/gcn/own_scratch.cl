// Private arrays that stay in memory: dynamic indices of words, bytes and 64-bit values.
kernel void words(global uint *out, global const uint *in) {
  uint local_copy[24];
  uint i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
#pragma nounroll
  for (uint k = 0; k < 24; k++) local_copy[(k * 7 + i) % 24] = in[(i + k) & 255] + k;
  uint at = i % 24, sum = 0;
#pragma nounroll
  for (uint k = 0; k < 24; k++) { sum = sum * 31 + local_copy[at]; local_copy[(at + 5) % 24] ^= sum; at = (at + in[k]) % 24; }
  out[i] = sum;
}
kernel void bytes(global uint *out, global const uint *in) {
  volatile uchar box[40];
  volatile ulong wide[6];
  uint i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() + __builtin_amdgcn_workitem_id_x();
#pragma nounroll
  for (uint k = 0; k < 40; k++) box[(k * 3 + i) % 40] = (uchar)(in[k] + i);
#pragma nounroll
  for (uint k = 0; k < 6; k++) wide[(k + i) % 6] = (ulong)box[k] << (8 * k) | in[k];
  uint sum = 0;
#pragma nounroll
  for (uint k = 0; k < 6; k++) sum = sum * 17 + (uint)(wide[(i + 5 * k) % 6] >> 3) + box[(in[k] + k) % 40];
  out[i] = sum;
}
