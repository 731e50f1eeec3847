__attribute__((noinline)) int callee(global int *p, int i) { return p[i * 1000000]; }
kernel void calls(global int *out) { out[__builtin_amdgcn_workitem_id_x()] = callee(out, 1); }
