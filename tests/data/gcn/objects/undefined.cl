#ifdef HIDDEN
#define SEEN
#else
#define SEEN __attribute__((visibility("default")))
#endif
SEEN extern int not_there(int x);
kernel void calls(global int *out) { out[0] = not_there(1); }
kernel void stands_alone(global int *out) { out[__builtin_amdgcn_workitem_id_x()] = 12; }
