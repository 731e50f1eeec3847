// Conjugate gradients on the five-point Laplacian in CSR form, double precision.
#include "check.h"
__global__ void multiply(const int* rows, const int* columns, const double* values, const double* x, double* y, int n) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  double sum = 0;
  for (int k = rows[row]; k < rows[row + 1]; ++k) sum += values[k] * x[columns[k]];
  y[row] = sum;
}
__global__ void dot(const double* a, const double* b, double* out, int n) {
  __shared__ double part[128];
  double sum = 0;
  for (int i = threadIdx.x; i < n; i += 128) sum += a[i] * b[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) *out = part[0];
}
__global__ void combine(double* y, const double* x, double a, double b, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + b * y[i];
}
int main() {
  const int side = 16, n = side * side;
  std::vector<int> rows(n + 1), columns;
  std::vector<double> values, right(n), solution(n);
  for (int i = 0; i < n; ++i) {
    rows[i] = static_cast<int>(columns.size());
    const auto put = [&](int j, double v) { columns.push_back(j), values.push_back(v); };
    if (i >= side) put(i - side, -1);
    if (i % side != 0) put(i - 1, -1);
    put(i, 4);
    if (i % side != side - 1) put(i + 1, -1);
    if (i + side < n) put(i + side, -1);
    solution[i] = (i * 7 % 13) - 6;
  }
  rows[n] = static_cast<int>(columns.size());
  for (int i = 0; i < n; ++i)
    for (int k = rows[i]; k < rows[i + 1]; ++k) right[i] += values[k] * solution[columns[k]];
  int *d_rows, *d_columns;
  double *d_values, *x, *r, *p, *q, *scalar;
  MUST(cudaMalloc(&d_rows, rows.size() * 4));
  MUST(cudaMalloc(&d_columns, columns.size() * 4));
  MUST(cudaMalloc(&d_values, values.size() * 8));
  for (double** v : {&x, &r, &p, &q}) MUST(cudaMalloc(v, n * 8));
  MUST(cudaMallocManaged(&scalar, 8));
  MUST(cudaMemcpy(d_rows, rows.data(), rows.size() * 4, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(d_columns, columns.data(), columns.size() * 4, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(d_values, values.data(), values.size() * 8, cudaMemcpyHostToDevice));
  MUST(cudaMemset(x, 0, n * 8));
  MUST(cudaMemcpy(r, right.data(), n * 8, cudaMemcpyHostToDevice));
  MUST(cudaMemcpy(p, r, n * 8, cudaMemcpyDeviceToDevice));
  const int blocks = (n + 63) / 64;
  const auto product = [&](const double* a, const double* b) {
    dot<<<1, 128>>>(a, b, scalar, n);
    MUST(cudaDeviceSynchronize());
    return *scalar;
  };
  double rr = product(r, r);
  int steps = 0;
  for (; steps < 200 && rr > 1e-20; ++steps) {
    multiply<<<blocks, 64>>>(d_rows, d_columns, d_values, p, q, n);
    const double alpha = rr / product(p, q);
    combine<<<blocks, 64>>>(x, p, alpha, 1, n);
    combine<<<blocks, 64>>>(r, q, -alpha, 1, n);
    const double next = product(r, r);
    combine<<<blocks, 64>>>(p, r, 1, next / rr, n);
    rr = next;
  }
  std::vector<double> found(n);
  MUST(cudaMemcpy(found.data(), x, n * 8, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) expect_near("x", found[i], solution[i], 1e-8);
  expect("converged", steps < 100, true);
  return done("conjugate_gradient");
}
