// Small kernels and the device under test, for the tests of the API.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "lanewise/error_detail.hpp"
#include "lanewise/lanewise.hpp"

namespace api_test {

inline std::string selector() {
  const char* wanted = std::getenv("LANEWISE_TEST_DEVICE");
  return wanted != nullptr ? wanted : "reference";
}

inline const std::string kHeader = ".version 7.5\n.target sm_75\n.address_size 64\n";

/// p[i] = p[i] * a + i for every thread i below n.
inline const std::string kScale = kHeader + R"(
.visible .entry scale(.param .u64 p, .param .f32 a, .param .u32 n)
{
  .reg .pred %q; .reg .b32 %r<6>; .reg .f32 %f<5>; .reg .b64 %d<4>;
  ld.param.u64 %d1, [p];
  ld.param.f32 %f1, [a];
  ld.param.u32 %r1, [n];
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mov.u32 %r4, %tid.x;
  mad.lo.u32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %q, %r5, %r1;
  @%q bra done;
  mul.wide.u32 %d2, %r5, 4;
  add.u64 %d3, %d1, %d2;
  ld.global.f32 %f2, [%d3];
  cvt.rn.f32.u32 %f3, %r5;
  fma.rn.f32 %f4, %f2, %f1, %f3;
  st.global.f32 [%d3], %f4;
done:
  ret;
}
)";

/// Adds one to the word at p until somebody ends it.
inline const std::string kEndless = kHeader + R"(
.visible .entry endless(.param .u64 p)
{
  .reg .b32 %r; .reg .b64 %d; .reg .pred %q;
  ld.param.u64 %d, [p];
again:
  ld.volatile.global.u32 %r, [%d];
  add.u32 %r, %r, 1;
  st.volatile.global.u32 [%d], %r;
  setp.ne.u32 %q, %r, 0;
  @%q bra again;
  ret;
}
)";

/// What the work was refused with; none when it was not.
template <typename Work>
lanewise::ErrorDetail refused(const Work& work, std::string* message = nullptr) {
  try {
    work();
  } catch (const lanewise::Error& e) {
    if (message != nullptr) *message = e.what();
    return lanewise::detail_of(e);
  }
  return lanewise::ErrorDetail::none;
}

}  // namespace api_test
