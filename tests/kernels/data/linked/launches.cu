// A kernel that launches another one (dynamic parallelism), and that one.
extern "C" __global__ void child(int *p) { *p = 3; }
extern "C" __global__ void parent(int *p) { child<<<1, 1>>>(p); }
