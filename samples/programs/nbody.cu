// Forces of all bodies on all others by tiles in shared memory, against the host's sums.
#include "check.h"
const int tile = 64;
__global__ void step(const float4* at, float4* velocity, float4* next, int n, float dt) {
  extern __shared__ float4 shared[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4 own = at[i];
  float3 a = make_float3(0, 0, 0);
  for (int base = 0; base < n; base += tile) {
    shared[threadIdx.x] = at[base + threadIdx.x];
    __syncthreads();
    for (int j = 0; j < tile; ++j) {
      const float4 o = shared[j];
      const float dx = o.x - own.x, dy = o.y - own.y, dz = o.z - own.z;
      const float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
      const float f = o.w * inverse * inverse * inverse;
      a.x += dx * f, a.y += dy * f, a.z += dz * f;
    }
    __syncthreads();
  }
  float4 v = velocity[i];
  v.x += a.x * dt, v.y += a.y * dt, v.z += a.z * dt;
  velocity[i] = v;
  next[i] = make_float4(own.x + v.x * dt, own.y + v.y * dt, own.z + v.z * dt, own.w);
}
int main() {
  const int n = 128, steps = 3;
  std::vector<float4> at(n), velocity(n, make_float4(0, 0, 0, 0)), next(n);
  const auto number = [] { return static_cast<float>(random_number() >> 8) / (1 << 24) - 0.5f; };
  for (auto& b : at) b = make_float4(number(), number(), number(), 0.01f);
  float4 *d_at, *d_velocity, *d_next;
  for (float4** p : {&d_at, &d_velocity, &d_next}) MUST(cudaMalloc(p, n * sizeof(float4)));
  MUST(cudaMemcpy(d_at, at.data(), n * sizeof(float4), cudaMemcpyHostToDevice));
  MUST(cudaMemset(d_velocity, 0, n * sizeof(float4)));
  for (int s = 0; s < steps; ++s) {
    step<<<n / tile, tile, tile * sizeof(float4)>>>(d_at, d_velocity, d_next, n, 0.01f);
    std::swap(d_at, d_next);
    for (int i = 0; i < n; ++i) {
      double a[3] = {};
      for (int j = 0; j < n; ++j) {
        const double dx = at[j].x - at[i].x, dy = at[j].y - at[i].y, dz = at[j].z - at[i].z;
        const double d = dx * dx + dy * dy + dz * dz + 0.01, f = at[j].w / (d * std::sqrt(d));
        a[0] += dx * f, a[1] += dy * f, a[2] += dz * f;
      }
      velocity[i].x += a[0] * 0.01, velocity[i].y += a[1] * 0.01, velocity[i].z += a[2] * 0.01;
      next[i] = make_float4(at[i].x + velocity[i].x * 0.01f, at[i].y + velocity[i].y * 0.01f, at[i].z + velocity[i].z * 0.01f, at[i].w);
    }
    std::swap(at, next);
  }
  MUST(cudaMemcpy(next.data(), d_at, n * sizeof(float4), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) {
    expect_near("x", next[i].x, at[i].x, 1e-5);
    expect_near("y", next[i].y, at[i].y, 1e-5);
    expect_near("z", next[i].z, at[i].z, 1e-5);
  }
  return done("nbody");
}
