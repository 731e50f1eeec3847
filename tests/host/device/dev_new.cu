// new and delete, of single objects and arrays, with constructors and virtual functions; lists that move between threads.
#include "check.h"

struct Shape {
  __device__ virtual ~Shape() {}
  __device__ virtual int area() const = 0;
};
struct Square : Shape {
  int side;
  __device__ explicit Square(int s) : side(s) {}
  __device__ int area() const override { return side * side; }
};
struct Row : Shape {
  int *cells, count;
  __device__ explicit Row(int n) : cells(new int[n]), count(n) {
    for (int i = 0; i < n; ++i) cells[i] = i;
  }
  __device__ ~Row() override { delete[] cells; }
  __device__ int area() const override {
    int sum = 0;
    for (int i = 0; i < count; ++i) sum += cells[i];
    return sum;
  }
};

__global__ void make(Shape** shapes) {
  const int t = threadIdx.x;
  shapes[t] = t % 2 == 0 ? static_cast<Shape*>(new Square(t)) : new Row(t);
}
__global__ void measure(Shape** shapes, int* out) {
  const int t = threadIdx.x, n = blockDim.x;
  Shape* other = shapes[n - 1 - t];  // of another thread
  out[n - 1 - t] = other->area();
  delete other;
}

int main() {
  const int n = 96;
  Shape** shapes;
  int* out;
  CHECK(cudaMalloc(&shapes, n * sizeof(Shape*)));
  CHECK(cudaMallocManaged(&out, n * sizeof(int)));
  for (int round = 0; round < 2; ++round) {
    make<<<1, n>>>(shapes);
    measure<<<1, n>>>(shapes, out);
    CHECK(cudaDeviceSynchronize());
    for (int t = 0; t < n; ++t) REQUIRE(out[t] == (t % 2 == 0 ? t * t : t * (t - 1) / 2));
  }
  std::puts("dev_new: ok");
}
