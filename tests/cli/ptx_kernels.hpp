// Kernels of the tests of checks: one parameter, `out`, and registers that say who a lane is.
#pragma once

#include <string>

namespace cli_test {

/// %p<8>, %h<4>, %r<16>, %f<4>, %rd<8>; %rd1: the buffer, %r1: the lane of the group. `shared`:
/// declarations.
inline std::string ptx_kernel(const std::string& version, const std::string& target,
                              const std::string& shared, const std::string& body) {
  return ".version " + version + "\n.target " + target + R"(
.address_size 64
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<8>;
  .reg .b16 %h<4>;
  .reg .b32 %r<16>;
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
)" + shared +
         R"(
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %tid.x;
)" + body +
         "\n  ret;\n}\n";
}

/// Two groups of 64 lanes. %r2 the group; in shared memory (s, 1056 bytes from %r7 on) %r4 is the
/// lane's own word, %r5 that of its partner in the other warp, %r6 that of its neighbour; in global
/// memory, from the byte `results` on, %rd3 is the lane's own word and %rd4 that of the same lane
/// of the other group. %r3: four times the lane, %r9: the lane and 1. %p1: group 0, %p2: lane 0.
inline std::string ptx_two_groups(const std::string& target, int results, const std::string& body) {
  const std::string offset = std::to_string(results);
  return ptx_kernel("7.0", target, "  .shared .align 16 .b8 s[1056];", R"(
  mov.u32 %r2, %ctaid.x;
  shl.b32 %r3, %r1, 2;
  mov.u32 %r7, s;
  add.u32 %r4, %r7, %r3;
  xor.b32 %r5, %r3, 128;
  add.u32 %r5, %r7, %r5;
  xor.b32 %r6, %r3, 4;
  add.u32 %r6, %r7, %r6;
  shl.b32 %r8, %r2, 8;
  add.u32 %r8, %r8, %r3;
  cvt.u64.u32 %rd3, %r8;
  add.u64 %rd3, %rd3, %rd1;
  add.u64 %rd3, %rd3, )" + offset + R"(;
  xor.b32 %r8, %r8, 256;
  cvt.u64.u32 %rd4, %r8;
  add.u64 %rd4, %rd4, %rd1;
  add.u64 %rd4, %rd4, )" + offset + R"(;
  add.u32 %r9, %r1, 1;
  setp.eq.u32 %p1, %r2, 0;
  setp.eq.u32 %p2, %r1, 0;
)" + body);
}

/// Of ptx_two_groups.
inline const std::string kStore = "st.shared.u32 [%r4], %r9;\n",
                         kPartner = "ld.shared.u32 %r10, [%r5];\n",
                         kNeighbour = "ld.shared.u32 %r10, [%r6];\n";

}  // namespace cli_test
