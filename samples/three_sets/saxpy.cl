// clang -target amdgcn-amd-amdhsa -mcpu=gfx600 -O2 -S -nogpulib -Xclang -fdenormal-fp-math-f32=ieee
// makes saxpy.s of this. Without the last option subnormal numbers become zero on this GPU, which
// `lanewise diff` finds.
#pragma OPENCL FP_CONTRACT OFF
__attribute__((reqd_work_group_size(256, 1, 1))) __kernel void saxpy(int n, float a, __global const float* x,
                                                                    __global float* y) {
  const int i = __builtin_amdgcn_workgroup_id_x() * 256 + __builtin_amdgcn_workitem_id_x();
  if (i < n) y[i] = __builtin_fmaf(a, x[i], y[i]);
}
