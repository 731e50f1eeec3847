// Objects that are made on the device, with virtual functions; a pointer to a device function.
#include <new>

#include "check.h"
struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
};
struct Square : Shape {
  float side;
  __device__ explicit Square(float s) : side(s) {}
  __device__ float area() const override { return side * side; }
};
struct Ring : Shape {
  float outer, inner;
  __device__ Ring(float o, float i) : outer(o), inner(i) {}
  __device__ float area() const override { return 3 * (outer * outer - inner * inner); }
};
__global__ void make(char* memory, Shape** shapes, int n) {
  const int i = threadIdx.x;
  if (i >= n) return;
  void* at = memory + i * 32;
  if (i % 2)
    shapes[i] = new (at) Square(i);
  else
    shapes[i] = new (at) Ring(i + 1, i);
}
__global__ void measure(Shape* const* shapes, float* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = shapes[threadIdx.x]->area();
}
typedef float (*Function)(float);
__device__ float twice(float x) { return 2 * x; }
__device__ float square(float x) { return x * x; }
__device__ Function functions[2] = {twice, square};
__global__ void call(float* out, Function const* table) { out[threadIdx.x] = table[threadIdx.x % 2](threadIdx.x); }
int main() {
  const int n = 32;
  char* memory;
  Shape** shapes;
  float* out;
  MUST(cudaMalloc(&memory, n * 32));
  MUST(cudaMalloc(&shapes, n * sizeof(Shape*)));
  MUST(cudaMallocManaged(&out, n * 4));
  make<<<1, n>>>(memory, shapes, n);
  measure<<<1, n>>>(shapes, out, n);
  MUST(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) expect("area", out[i], i % 2 ? i * i : 3 * (2 * i + 1));
  void* table;
  MUST(cudaGetSymbolAddress(&table, functions));
  call<<<1, n>>>(out, static_cast<Function const*>(table));
  MUST(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) expect("function", out[i], i % 2 ? i * i : 2 * i);
  return done("virtual_functions");
}
