// Every mistake gets one message that says where and why.
#include <doctest/doctest.h>

#include "tests/unit/ptx/lower_support.hpp"

using namespace lanewise;
using namespace lanewise::ptx::test;

namespace {

/// The message without its place.
std::string message(const std::string& line, const std::string& module_level = {}) {
  const std::string e = error_of(line, module_level);
  const size_t at = e.find(": ");
  return at == std::string::npos ? e : e.substr(at + 2, e.size() - at - 3);
}

}  // namespace

TEST_CASE("errors name line and column") {
  CHECK(error_of("add.s32 %r1, %r2, %r3;\n  frob.u32 %r1, %r2;") ==
        "21:3: `frob` is no instruction of PTX, a known one was expected\n");
  CHECK(error_of("add.s32 %r1, %r2, %nope;").starts_with("20:19: "));
}

TEST_CASE("a register as index is legal PTX that is not lowered") {
  CHECK(message("ld.global.u32 %r1, data[%r2];", ".global .u32 data[4];") ==
        "a register as index of 'data' is not supported, an integer constant was expected");
}

TEST_CASE("unknown and unsupported forms") {
  CHECK(message("add.q32 %r1, %r2, %r3;") ==
        "`add`: `.q32` is no qualifier of `add`, it was expected without");
  CHECK(message("fma.f32 %f1, %f2, %f3, %f4;") ==
        "`fma`: a qualifier is missing, one of `.rn` `.rz` `.rm` `.rp` was expected");
  CHECK(message("ld.global.shared.u32 %r1, [%rd1];") ==
        "`ld`: a second qualifier `.shared` of its kind, one was expected");
  CHECK(message("cvt.rzi.f32.s32 %f1, %r1;") ==
        "`cvt`: `.rzi` does not go with this form of `cvt`, one of `.rn` `.rz` `.rm` `.rp` was "
        "expected");
  CHECK(message("cvt.rn.f64.f32 %fd1, %f1;") ==
        "`cvt`: `.rn` does not belong to this form of `cvt`, it was expected without");
  CHECK(message("cvt.f16.f32 %h1, %f1;") ==
        "`cvt`: a rounding is missing, one of `.rn` `.rz` `.rm` `.rp` was expected");
  CHECK(message("tex.2dms.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1,%r2,%r1,%r2}];") ==
        "'tex' is not supported: nothing makes textures of several samples");
  CHECK(message("ld.shared.v4.f64 {%fd1,%fd2,%fd3,%fd4}, [sbuf];").find("256 bits") !=
        std::string::npos);
}

TEST_CASE("operands are checked") {
  CHECK(message("add.s32 %r1, %r2;") == "`add`: found 2 operands, 3 were expected");
  CHECK(message("add.s32 %r1, %r2, %nope;") ==
        "`add`: the unknown name `%nope`, a .s32 register was expected");
  CHECK(message("add.s32 %r1, %r2, %r16;") ==
        "`add`: the unknown name `%r16`, a .s32 register was expected");
  CHECK(message("add.s32 %r1, %r2, %rd3;") ==
        "`add`: the .b64 register `%rd3`, a .s32 register was expected");
  CHECK(message("add.s32 %r1, %r2, %f3;") ==
        "`add`: the .f32 register `%f3`, a .s32 register was expected");
  CHECK(message("add.f32 %f1, %u1, %f3;") ==
        "`add`: the .u32 register `%u1`, a .f32 register was expected");
  CHECK(message("add.f32 %f1, %r1, %f3;") == "accepted");
  CHECK(message("add.f32 %f1, %f2, 1;") == "`add`: an integer constant, .f32 was expected");
  CHECK(message("add.s32 %r1, %r2, 1.0;") == "`add`: a floating-point constant, .s32 was expected");
  CHECK(message("mov.u32 %tid.x, %r1;") ==
        "`mov`: the special register `%tid.x` as destination, a .u32 register was expected");
  CHECK(
      message("mov.u16 %h1, %laneid;") ==
      "`mov`: the special register `%laneid` by a move of .u16, one of its own type was expected");
  CHECK(message("add.s32 %r1|%p1, %r2, %r3;") ==
        "`add`: a second destination `%p1`, none was expected");
  CHECK(message("add.s32 _, %r2, %r3;") == "`add`: `_`, a .s32 register was expected");
  CHECK(message("setp.eq.and.s32 %p1, %r1, %r2;").find("found 3 operands, 4 were expected") !=
        std::string::npos);
  CHECK(message("@%r1 add.s32 %r1, %r2, %r3;") ==
        "`@%r1`: not a predicate register, a .pred register was expected");
  CHECK(message("lop3.b32 %r1, %r2, %r3, %r4, 256;").find("0 to 255") != std::string::npos);
}

TEST_CASE("addresses are checked") {
  CHECK(message("ld.global.u32 %r1, [%h2];") ==
        "address register '%h2' is .b16, expected a 64-bit register");
  CHECK(message("ld.global.u32 %r1, [%r2];") == "accepted");  // up to .version 7.8
  CHECK(message("ld.shared.u32 %r1, [%r2];") == "accepted");
  CHECK(message("ld.global.u32 %r1, [sbuf];") ==
        "`ld`: the .shared variable `sbuf` in an instruction of .global, a .global variable was "
        "expected");
  CHECK(message("ld.u32 %r1, [cbuf];").find("a .global, .shared or .local variable was expected") !=
        std::string::npos);
  CHECK(message("ld.global.u32 %r1, [100];") ==
        "`ld`: a constant address in .global space, a register or a variable was expected (only "
        ".local takes constants)");
  CHECK(message("ld.local.u32 %r1, [16];") == "accepted");
  CHECK(message("ld.param.u64 %rd1, [kp0+4];") ==
        "the access covers bytes 4 to 11 of a parameter of 8 bytes");
  CHECK(message("st.param.u64 [kp0], %rd1;") ==
        "`st`: a store into the kernel parameter `kp0`, a parameter of a call was expected");
  CHECK(message("ld.global.u32 %r1, [nothing];") ==
        "`ld`: the unknown name `nothing` as address, a register or variable was expected");
  CHECK(message("st.shared.L1::evict_last.u32 [sbuf], %r1;")
            .find("`.global` or a generic address was expected") != std::string::npos);
  CHECK(
      message("ld.global.u32 %r1, [tbl];", ".extern .global .u32 tbl;").find("has no definition") !=
      std::string::npos);
}

TEST_CASE("declarations, labels and targets") {
  CHECK(message(".reg .b32 %r3; .reg .b32 %r3;").find("duplicate declaration of '%r3'") == 0);
  CHECK(message("bra nowhere;") == "`bra`: the unknown name `nowhere`, a label was expected");
  CHECK(message("bra %r1;") == "`bra`: the .b32 register `%r1`, a label was expected");
  CHECK(message("L: bra L;\nL: ret;").find("duplicate declaration of 'L'") == 0);
  CHECK(message("ld.global.v4.f64 {%fd1,%fd2,%fd3,%fd4}, [%rd1];").find("sm_100") !=
        std::string::npos);
  CHECK(message("st.relaxed.cluster.global.u32 [%rd1], %r1;").find("needs .target sm_90") !=
        std::string::npos);
}

TEST_CASE("a barrier that may be the one that barrier.cluster waits at") {
  const auto errors = [](const std::string& barrier) {
    return lower_text(
               ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n.reg .b32 "
               "%r<2>;\n"
               "mov.u32 %r1, 3;\n" +
               barrier + "\nbarrier.cluster.arrive;\nbarrier.cluster.wait;\nret;\n}\n")
        .diagnostics;
  };
  for (const char* barrier : {"bar.sync 15;", "bar.sync %r1;", "barrier.cta.arrive 15, 64;"}) {
    const auto found = errors(barrier);
    REQUIRE(found.size() == 1);
    CHECK(found[0].line == 9);
    CHECK(found[0].message.find("`barrier.cluster` waits at barrier 15") != std::string::npos);
  }
  CHECK(errors("bar.sync 14;").empty());
}

TEST_CASE("all errors are reported, in line order") {
  const auto r = lower_text(kernel_with("frob;\nadd.s32 %r1, %r2;\nbra nowhere;"));
  REQUIRE(r.diagnostics.size() == 3);
  CHECK(r.diagnostics[0].line == 20);
  CHECK(r.diagnostics[1].line == 21);
  CHECK(r.diagnostics[2].line == 22);
}

TEST_CASE("functions that no kernel calls are checked too") {
  const auto r = lower_text(
      kernel_with("", ".func (.reg .b32 %x) f(.reg .b32 %y) { add.s32 %x, %y, %z; ret; }"));
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].message.find("`%z`") != std::string::npos);
}
