// Helpers of the kernel tests: the device under test, corpus files, random data, comparisons.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "lanewise/lanewise.hpp"

namespace kernels {

/// LANEWISE_TEST_DEVICE, default the reference engine.
inline lanewise::Device new_device() {
  const char* wanted = std::getenv("LANEWISE_TEST_DEVICE");
  return lanewise::Device::open(wanted != nullptr ? wanted : "reference");
}
/// One for the whole program.
inline lanewise::Device& device() {
  static lanewise::Device d = new_device();
  return d;
}

inline std::string corpus(const std::string& file) {
  return std::string(LANEWISE_TEST_DATA) + "/kernels/data/" + file;
}

/// The corpus holds each kernel as compiled by nvcc 13 ("sm75") and clang ("clang").
inline lanewise::Kernel ptx(const std::string& file, const std::string& variant,
                            const std::string& kernel) {
  return device().load_file(corpus("ptx/" + file + "." + variant + ".ptx")).kernel(kernel);
}

template <typename T>
std::vector<T> random_ints(size_t n, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<T> v(n);
  for (T& x : v) x = static_cast<T>(rng());
  return v;
}

inline std::vector<float> random_floats(size_t n, uint64_t seed, float lo = -10, float hi = 10) {
  std::mt19937_64 rng(seed);
  std::vector<float> v(n);
  for (float& x : v) {
    x = lo + (hi - lo) * static_cast<float>(static_cast<double>(rng() >> 11) * 0x1p-53);
  }
  return v;
}

inline uint32_t bits(float x) {
  uint32_t u = 0;
  std::memcpy(&u, &x, 4);
  return u;
}

/// Bit for bit, except that any NaN equals any NaN.
inline bool same(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || bits(a) == bits(b);
}
template <typename T>
bool same(T a, T b) {
  return a == b;
}

/// Reports the first differing element only: one clear message instead of thousands.
template <typename T>
void check_equal(const std::vector<T>& got, const std::vector<T>& want) {
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    if (same(got[i], want[i])) continue;
    CAPTURE(i);
    CHECK(got[i] == want[i]);
    return;
  }
  CHECK(got.size() == want.size());
}

}  // namespace kernels
