// clang-14 -target amdgcn-amd-amdhsa -mcpu=TARGET -mcode-object-version=2 -O2, libclc-14 as own/build.sh links it.
kernel void saxpy(global float* y, global const float* x, float a, uint n) {
  size_t i = get_global_id(0);
  if (i < n) y[i] = a * x[i] + y[i];
}
kernel void locals(global int* out, local int* tmp, char3 v) {
  int l = get_local_id(0);
  tmp[l] = l * 3 + v.y;
  barrier(CLK_LOCAL_MEM_FENCE);
  out[get_global_id(0)] = tmp[get_local_size(0) - 1 - l] + (int)get_num_groups(0) + (int)get_global_offset(0);
}
