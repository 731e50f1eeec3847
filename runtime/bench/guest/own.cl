// clang -x cl -cl-std=CL2.0 -target amdgcn-amd-amdhsa -mcpu=gfx600 -nogpulib -O2 -fno-verbose-asm -S -o own.gfx600.s own.cl
typedef unsigned u32;
typedef u32 descriptor __attribute__((ext_vector_type(4)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
#define TID(d) __builtin_amdgcn_workitem_id_##d()
#define GROUP(d) __builtin_amdgcn_workgroup_id_##d()
#define GLOBAL(d, size) (int)(GROUP(d) * size + TID(d))

static inline void barrier_of_group(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void saxpy(global const float *x, global float *y, int n, float s) {
  const int i = GLOBAL(x, 256);
  if (i < n) y[i] = s * x[i] + y[i];
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void gather(global const u32 *index, global const float *a, global float *b, int n) {
  const int i = GLOBAL(x, 256);
  if (i < n) b[i] = a[index[i]];
}

kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void transpose(global const float *a, global float *b, int w, int h) {
  local float t[16][17];
  int x = GLOBAL(x, 16), y = GLOBAL(y, 16);
  if (x < w && y < h) t[TID(y)][TID(x)] = a[y * w + x];
  barrier_of_group();
  x = GROUP(y) * 16 + TID(x);
  y = GROUP(x) * 16 + TID(y);
  if (x < h && y < w) b[y * h + x] = t[TID(x)][TID(y)];
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void reduce(global const float *a, global float *out, u32 n) {
  local float s[256];
  const u32 t = TID(x), i = GROUP(x) * 512 + t;
  float v = 0;
  if (i < n) v = a[i];
  if (i + 256 < n) v += a[i + 256];
  s[t] = v;
  barrier_of_group();
#pragma nounroll
  for (u32 k = 128; k > 0; k >>= 1) {
    if (t < k) s[t] += s[t + k];
    barrier_of_group();
  }
  if (t == 0) out[GROUP(x)] = s[0];
}

kernel __attribute__((reqd_work_group_size(16, 16, 1)))
void stencil(global const float *a, global float *b, int w, int h) {
  const int x = GLOBAL(x, 16), y = GLOBAL(y, 16);
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const int i = y * w + x;
  b[i] = 0.5f * a[i] + 0.125f * (a[i - 1] + a[i + 1] + a[i - w] + a[i + w]);
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void scan(global const u32 *a, global u32 *b) {
  local u32 s[256];
  const u32 t = TID(x), i = GROUP(x) * 256 + t;
  u32 v = a[i];
  s[t] = v;
  barrier_of_group();
#pragma nounroll
  for (u32 k = 1; k < 256; k *= 2) {
    const u32 left = t >= k ? s[t - k] : 0;
    barrier_of_group();
    v += left;
    s[t] = v;
    barrier_of_group();
  }
  b[i] = v;
}

// Descriptors come as parameters, so that nothing about them is known when the kernel is translated.
kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void unpack(descriptor texels, global f32x4 *out, int n, float weight) {
  const int i = GLOBAL(x, 256);
  if (i >= n) return;
  f32x4 c;
  __asm__("buffer_load_format_xyzw %0, %1, %2, 0 idxen\n s_waitcnt vmcnt(0)"
          : "=v"(c) : "v"(i), "s"(texels));
  out[i] = c * weight;
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void table(descriptor index, descriptor words, descriptor out, int n) {
  const int i = GLOBAL(x, 256);
  if (i >= n) return;
  u32 at, v;
  __asm__("buffer_load_dword %0, %1, %2, 0 idxen\n s_waitcnt vmcnt(0)"
          : "=v"(at) : "v"(i), "s"(index));
  __asm__("buffer_load_dword %0, %1, %2, 0 idxen\n s_waitcnt vmcnt(0)"
          : "=v"(v) : "v"(at), "s"(words));
  __asm__ volatile("buffer_store_dword %0, %1, %2, 0 idxen" : : "v"(v), "v"(i), "s"(out));
}

kernel __attribute__((reqd_work_group_size(256, 1, 1)))
void hist(global const u32 *a, global u32 *h, int n, u32 groups) {
  local u32 s[256];
  const u32 t = TID(x);
  s[t] = 0;
  barrier_of_group();
  for (int i = GLOBAL(x, 256); i < n; i += groups * 256)
    __atomic_fetch_add(&s[a[i] & 255], 1u, __ATOMIC_RELAXED);
  barrier_of_group();
  __atomic_fetch_add(&h[t], s[t], __ATOMIC_RELAXED);
}
