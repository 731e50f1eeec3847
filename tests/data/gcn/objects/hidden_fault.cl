// Reads past the end of `in`, which gives 0, for ever.
kernel void waits(global int *out, global const int *in) {
  const int i = __builtin_amdgcn_workitem_id_x();
  while (((volatile global const int *)in)[1000 + i] == 0)
    ;
  out[i] = 1;
}
