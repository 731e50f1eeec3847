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
        "21:3: unknown instruction 'frob'\n");
  CHECK(error_of("add.s32 %r1, %r2, %nope;").starts_with("20:19: "));
}

TEST_CASE("a register as index is legal PTX that is not lowered") {
  CHECK(message("ld.global.u32 %r1, data[%r2];", ".global .u32 data[4];") ==
        "a register as index of 'data' is not supported, an integer constant was expected");
}

TEST_CASE("unknown and unsupported forms") {
  CHECK(message("add.q32 %r1, %r2, %r3;") ==
        "unsupported form 'add.q32': qualifier '.q32' does not belong here");
  CHECK(message("fma.f32 %f1, %f2, %f3, %f4;") ==
        "unsupported form 'fma.f32': a qualifier is missing, expected one of .rn, .rz, .rm, .rp");
  CHECK(message("ld.global.shared.u32 %r1, [%rd1];") ==
        "unsupported form 'ld.global.shared.u32': qualifier '.shared' clashes with another one of "
        "its kind");
  CHECK(message("cvt.rzi.f32.s32 %f1, %r1;").find("wrong order") != std::string::npos);
  CHECK(message("cvt.f16.f32 %h1, %f1;").find("rounding qualifier is missing") !=
        std::string::npos);
  CHECK(message("tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [t, {%f5,%f6}];") ==
        "'tex' is not supported: textures are not supported");
  CHECK(message("ld.shared.v4.f64 {%fd1,%fd2,%fd3,%fd4}, [sbuf];").find("128 bits") !=
        std::string::npos);
}

TEST_CASE("operands are checked") {
  CHECK(message("add.s32 %r1, %r2;") == "'add' takes 3 operands, found 2");
  CHECK(message("add.s32 %r1, %r2, %nope;") ==
        "undeclared register '%nope', and no supported special register");
  CHECK(message("add.s32 %r1, %r2, %r16;") ==
        "undeclared register '%r16', and no supported special register");
  CHECK(message("add.s32 %r1, %r2, %rd3;") == "register '%rd3' is .b64, the operand must be .s32");
  CHECK(message("add.s32 %r1, %r2, %f3;") == "register '%f3' is .f32, the operand must be .s32");
  CHECK(message("add.f32 %f1, %u1, %f3;") == "register '%u1' is .u32, the operand must be .f32");
  CHECK(message("add.f32 %f1, %r1, %f3;") == "accepted");
  CHECK(message("add.f32 %f1, %f2, 1;") == "expected a floating-point constant for .f32");
  CHECK(message("add.s32 %r1, %r2, 1.0;") == "a floating-point constant cannot be a .s32 operand");
  CHECK(message("mov.u32 %tid.x, %r1;") == "'%tid.x' is not a register that can be written");
  CHECK(message("mov.u16 %h1, %laneid;") == "special register '%laneid' cannot be read as .u16");
  CHECK(message("add.s32 %r1|%p1, %r2, %r3;") == "'add' has no second destination");
  CHECK(message("add.s32 _, %r2, %r3;") == "the result of 'add' cannot be discarded with '_'");
  CHECK(message("setp.eq.and.s32 %p1, %r1, %r2;").find("takes 4 operands") != std::string::npos);
  CHECK(message("@%r1 add.s32 %r1, %r2, %r3;") == "guard '%r1' is not a predicate register");
  CHECK(message("lop3.b32 %r1, %r2, %r3, %r4, 256;").find("0 to 255") != std::string::npos);
}

TEST_CASE("addresses are checked") {
  CHECK(message("ld.global.u32 %r1, [%h2];") ==
        "address register '%h2' is .b16, expected a 64-bit register");
  CHECK(message("ld.global.u32 %r1, [%r2];") == "accepted");  // up to .version 7.8
  CHECK(message("ld.shared.u32 %r1, [%r2];") == "accepted");
  CHECK(message("ld.global.u32 %r1, [sbuf];") ==
        "state space mismatch: 'sbuf' is a variable of space shared, the instruction accesses "
        "space global");
  CHECK(message("ld.u32 %r1, [cbuf];").find("state space mismatch") != std::string::npos);
  CHECK(message("ld.global.u32 %r1, [100];") == "immediate addresses are allowed only for .local");
  CHECK(message("ld.local.u32 %r1, [16];") == "accepted");
  CHECK(message("ld.param.u64 %rd1, [kp0+4];") ==
        "the access covers bytes 4 to 11 of a parameter of 8 bytes");
  CHECK(message("st.param.u64 [kp0], %rd1;") ==
        "parameters cannot be written by the function they belong to");
  CHECK(message("ld.global.u32 %r1, [nothing];") == "undeclared name 'nothing' in an address");
  CHECK(message("st.shared.L1::evict_last.u32 [sbuf], %r1;").find("global or generic") !=
        std::string::npos);
  CHECK(
      message("ld.global.u32 %r1, [tbl];", ".extern .global .u32 tbl;").find("has no definition") !=
      std::string::npos);
}

TEST_CASE("declarations, labels and targets") {
  CHECK(message(".reg .b32 %r3; .reg .b32 %r3;").find("duplicate declaration of '%r3'") == 0);
  CHECK(message("bra nowhere;") == "undeclared label 'nowhere'");
  CHECK(message("bra %r1;") == "'%r1' is not a label");
  CHECK(message("L: bra L;\nL: ret;").find("duplicate declaration of 'L'") == 0);
  CHECK(message("ld.global.v4.f64 {%fd1,%fd2,%fd3,%fd4}, [%rd1];").find("sm_100") !=
        std::string::npos);
  CHECK(message("st.relaxed.cluster.global.u32 [%rd1], %r1;").find("needs .target sm_90") !=
        std::string::npos);
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
  CHECK(r.diagnostics[0].message.find("'%z'") != std::string::npos);
}
