// Prices of options in single and double precision, and their average.
#include "check.h"
template <typename T>
__host__ __device__ T normal(T d) {
  return T(0.5) * erfc(-d * T(0.70710678118654752440));
}
template <typename T>
__host__ __device__ T price(T spot, T strike, T years, T rate, T volatility, bool call) {
  const T root = volatility * sqrt(years);
  const T d1 = (log(spot / strike) + (rate + T(0.5) * volatility * volatility) * years) / root, d2 = d1 - root;
  const T later = strike * exp(-rate * years);
  return call ? spot * normal(d1) - later * normal(d2) : later * normal(-d2) - spot * normal(-d1);
}
template <typename T>
__global__ void prices(const T* spot, const T* strike, const T* years, T* call, T* put, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    call[i] = price(spot[i], strike[i], years[i], T(0.02), T(0.3), true);
    put[i] = price(spot[i], strike[i], years[i], T(0.02), T(0.3), false);
  }
}
template <typename T>
void run(double within) {
  const int n = 500;
  T* data[5];
  for (T*& d : data) MUST(cudaMallocManaged(&d, n * sizeof(T)));
  for (int i = 0; i < n; ++i) {
    data[0][i] = T(5 + (random_number() >> 16) % 2500 / 100.0);
    data[1][i] = T(1 + (random_number() >> 16) % 9900 / 100.0);
    data[2][i] = T(0.25 + (random_number() >> 16) % 975 / 100.0);
  }
  prices<T><<<3, 128>>>(data[0], data[1], data[2], data[3], data[4], n);
  MUST(cudaDeviceSynchronize());
  for (int i = 0; i < n; ++i) {
    const double s = data[0][i], k = data[1][i], t = data[2][i];
    expect_near("call", data[3][i], price<double>(s, k, t, T(0.02), T(0.3), true), within);
    expect_near("put", data[4][i], price<double>(s, k, t, T(0.02), T(0.3), false), within);
    expect_near("parity", double(data[3][i]) - data[4][i], s - k * std::exp(-double(T(0.02)) * t), 2 * within);
  }
}
int main() {
  run<float>(1e-4);
  run<double>(1e-12);
  return done("black_scholes");
}
