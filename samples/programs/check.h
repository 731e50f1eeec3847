// What the programs share: each prints what it found and ends with 0 if all was right.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cuda_runtime.h>

#define MUST(call)                                                                                \
  do {                                                                                            \
    const cudaError_t found_error = (call);                                                       \
    if (found_error != cudaSuccess) {                                                             \
      std::printf("%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(found_error)); \
      std::exit(1);                                                                               \
    }                                                                                             \
  } while (0)

inline int failures = 0;
template <typename A, typename B>
void expect(const char* what, A found, B wanted) {
  if (found == static_cast<A>(wanted)) return;
  ++failures;
  std::printf("%s: %g, %g was expected\n", what, static_cast<double>(found),
              static_cast<double>(wanted));
}
inline void expect_near(const char* what, double found, double wanted, double within) {
  if (std::fabs(found - wanted) <= within) return;
  ++failures;
  std::printf("%s: %.12g, %.12g was expected\n", what, found, wanted);
}
inline int done(const char* name) {
  std::printf("%s: %s\n", name, failures == 0 ? "ok" : "WRONG");
  return failures == 0 ? 0 : 1;
}
inline unsigned random_state = 12345;
inline unsigned random_number() {
  return random_state = random_state * 1664525u + 1013904223u;
}
