// What the HIP programs share.
#pragma once

#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call) check_that((call) == hipSuccess, #call, __LINE__)
#define EXPECT(what) check_that((what), #what, __LINE__)

inline void check_that(bool holds, const char* what, int line) {
  if (holds) return;
  std::printf("line %d: %s failed\n", line, what);
  std::exit(1);
}
