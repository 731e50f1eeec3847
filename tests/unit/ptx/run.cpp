// What instructions compute, run on the reference engine against plain C++.
#include <bit>
#include <cmath>
#include <functional>
#include <random>

#include "tests/unit/ptx/lower_support.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;
using ptx::test::lower_text;

namespace {

struct Inputs {
  uint64_t a, b, c;
};

std::vector<Inputs> samples() {
  static constexpr uint64_t kCorners[] = {
      0,          1,          0x7f,       0x80,       0xff,        0x7fff,       0x8000,
      0xffff,     0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, ~uint64_t{0}, uint64_t{1} << 63,
      0x3f800000, 0xbf800000, 31,         33};
  std::mt19937_64 rng(7);
  std::vector<Inputs> all;
  for (uint64_t a : kCorners)
    for (uint64_t b : kCorners) all.push_back({a, b, rng()});
  while (all.size() < 512) all.push_back({rng() >> (rng() % 60), rng() >> (rng() % 60), rng()});
  return all;
}

/// Runs `line` once per sample: inputs 1..3 in %rd, %r, %h, %f, %fd and %p (lowest bit); the result
/// is what the line leaves in register 0 of class `result`.
std::vector<uint64_t> evaluate(const std::string& line, const std::string& result,
                               const std::vector<Inputs>& inputs, const std::string& module_level) {
  std::string source = ".version 8.3\n.target sm_90\n.address_size 64\n" + module_level +
                       "\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
                       ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>;\n"
                       ".reg .f32 %f<8>; .reg .f64 %fd<8>;\n"
                       ".local .align 16 .b8 lbuf[32]; .shared .align 16 .b8 sbuf[32];\n"
                       "ld.param.u64 %rd10, [in]; ld.param.u64 %rd11, [out];\n"
                       "mov.u32 %r10, %ctaid.x; mad.lo.u32 %r10, %r10, 64, 0;\n"
                       "mov.u32 %r11, %tid.x; add.u32 %r10, %r10, %r11;\n"
                       "mad.wide.u32 %rd10, %r10, 24, %rd10; mad.wide.u32 %rd11, %r10, 8, %rd11;\n";
  for (int i = 1; i <= 3; ++i) {
    const std::string n = std::to_string(i);
    source += "ld.global.u64 %rd" + n + ", [%rd10+" + std::to_string(8 * (i - 1)) + "];\n";
    source += "cvt.u32.u64 %r" + n + ", %rd" + n + "; cvt.u16.u64 %h" + n + ", %rd" + n + ";\n";
    source += "mov.b32 %f" + n + ", %r" + n + "; mov.b64 %fd" + n + ", %rd" + n + ";\n";
    source += "and.b32 %r0, %r" + n + ", 1; setp.ne.u32 %p" + n + ", %r0, 0;\n";
  }
  source += line + "\n";
  if (result == "r") source += "cvt.u64.u32 %rd0, %r0;\n";
  if (result == "h") source += "cvt.u64.u16 %rd0, %h0;\n";
  if (result == "f") source += "mov.b32 %r0, %f0; cvt.u64.u32 %rd0, %r0;\n";
  if (result == "fd") source += "mov.b64 %rd0, %fd0;\n";
  if (result == "p") source += "selp.b64 %rd0, 1, 0, %p0;\n";
  source += "st.global.u64 [%rd11], %rd0;\nret;\n}\n";
  const ptx::LowerResult lowered = lower_text(source);
  REQUIRE_MESSAGE(lowered.diagnostics.empty(), line, "\n", ptx::test::text(lowered.diagnostics));
  test::Bench bench;
  const uint64_t in = bench.put(inputs);
  const uint64_t out = bench.put(std::vector<uint64_t>(inputs.size(), 0xdeadbeef));
  bench.arg(in).arg(out);
  const auto run =
      bench.run(lowered.module.kernels.at(0), static_cast<uint32_t>(inputs.size() / 64), 64);
  REQUIRE_MESSAGE(run.faults.empty(), line);
  return bench.get<uint64_t>(out, inputs.size());
}

void same(const std::string& line, const std::string& result,
          const std::function<uint64_t(const Inputs&)>& expected,
          const std::string& module_level = {}) {
  const std::vector<Inputs> inputs = samples();
  const std::vector<uint64_t> got = evaluate(line, result, inputs, module_level);
  for (size_t i = 0; i < inputs.size(); ++i) {
    const uint64_t want = expected(inputs[i]);
    if (got[i] == want) continue;
    FAIL_CHECK(line, " a=", std::hex, inputs[i].a, " b=", inputs[i].b, " c=", inputs[i].c, ": got ",
               got[i], ", want ", want);
    return;
  }
}

uint32_t u32(uint64_t v) {
  return static_cast<uint32_t>(v);
}
int32_t s32(uint64_t v) {
  return static_cast<int32_t>(v);
}
uint16_t u16(uint64_t v) {
  return static_cast<uint16_t>(v);
}
int16_t s16(uint64_t v) {
  return static_cast<int16_t>(v);
}
int64_t s64(uint64_t v) {
  return static_cast<int64_t>(v);
}
__extension__ using u128 = unsigned __int128;

}  // namespace

TEST_CASE("run: 16-bit integers") {
  same("add.s16 %h0, %h1, %h2;", "h", [](auto& i) { return u16(i.a + i.b); });
  same("mul.hi.s16 %h0, %h1, %h2;", "h", [](auto& i) { return u16((s16(i.a) * s16(i.b)) >> 16); });
  same("mul.wide.u16 %r0, %h1, %h2;", "r",
       [](auto& i) { return u32(uint32_t{u16(i.a)} * u16(i.b)); });
  same("shr.s16 %h0, %h1, 3;", "h", [](auto& i) { return u16(s16(i.a) >> 3); });
  same("min.s16 %h0, %h1, %h2;", "h", [](auto& i) { return u16(std::min(s16(i.a), s16(i.b))); });
  same("setp.lt.s16 %p0, %h1, %h2;", "p", [](auto& i) { return s16(i.a) < s16(i.b); });
  same("not.b16 %h0, %h1;", "h", [](auto& i) { return u16(~i.a); });
  same("neg.s16 %h0, %h1;", "h", [](auto& i) { return u16(0 - i.a); });
  same("mad.lo.u16 %h0, %h1, %h2, %h3;", "h", [](auto& i) { return u16(i.a * i.b + i.c); });
}

TEST_CASE("run: 32- and 64-bit integers") {
  same("mad.hi.u32 %r0, %r1, %r2, %r3;", "r",
       [](auto& i) { return u32((uint64_t{u32(i.a)} * u32(i.b) >> 32) + i.c); });
  same("mul.hi.u64 %rd0, %rd1, %rd2;", "rd",
       [](auto& i) { return static_cast<uint64_t>(u128{i.a} * i.b >> 64); });
  same("add.sat.s32 %r0, %r1, %r2;", "r", [](auto& i) {
    return u32(static_cast<uint64_t>(
        std::clamp<int64_t>(int64_t{s32(i.a)} + s32(i.b), INT32_MIN, INT32_MAX)));
  });
  same("sad.s32 %r0, %r1, %r2, %r3;", "r", [](auto& i) {
    const int64_t d = int64_t{s32(i.a)} - s32(i.b);
    return u32(i.c + static_cast<uint64_t>(d < 0 ? -d : d));
  });
  same("mul24.lo.s32 %r0, %r1, %r2;", "r", [](auto& i) {
    const auto low = [](uint64_t v) { return int64_t{s32(v << 8) >> 8}; };
    return u32(static_cast<uint64_t>(low(i.a) * low(i.b)));
  });
  same("dp4a.s32.u32 %r0, %r1, %r2, %r3;", "r", [](auto& i) {
    int64_t sum = s32(i.c);
    for (int k = 0; k < 32; k += 8)
      sum += int64_t{static_cast<int8_t>(i.a >> k)} * static_cast<uint8_t>(i.b >> k);
    return u32(static_cast<uint64_t>(sum));
  });
  same("rem.s64 %rd0, %rd1, %rd2;", "rd", [](auto& i) -> uint64_t {
    if (i.b == 0) return ~uint64_t{0};
    if (s64(i.b) == -1) return 0;
    return static_cast<uint64_t>(s64(i.a) % s64(i.b));
  });
}

TEST_CASE("run: carry chains") {
  same(
      "{ .reg .u32 %a<4>; mov.b64 {%a0, %a1}, %rd1; mov.b64 {%a2, %a3}, %rd2;\n"
      "add.cc.u32 %a0, %a0, %a2; addc.u32 %a1, %a1, %a3; mov.b64 %rd0, {%a0, %a1}; }",
      "rd", [](auto& i) { return i.a + i.b; });
  same(
      "{ .reg .u32 %a<4>; mov.b64 {%a0, %a1}, %rd1; mov.b64 {%a2, %a3}, %rd2;\n"
      "sub.cc.u32 %a0, %a0, %a2; subc.u32 %a1, %a1, %a3; mov.b64 %rd0, {%a0, %a1}; }",
      "rd", [](auto& i) { return i.a - i.b; });
  same(
      "{ .reg .u32 %a<2>; mad.lo.cc.u32 %a0, %r1, %r2, %r3; madc.hi.u32 %a1, %r1, %r2, 0;\n"
      "mov.b64 %rd0, {%a0, %a1}; }",
      "rd", [](auto& i) { return uint64_t{u32(i.a)} * u32(i.b) + u32(i.c); });
  // One flag serves both kinds; after a difference it is set where nothing was borrowed.
  same("{ .reg .u32 %a; sub.cc.u32 %a, %r1, %r2; addc.u32 %r0, 0, 0; }", "r",
       [](auto& i) { return u32(i.a) >= u32(i.b) ? 1U : 0U; });
  same("{ .reg .u32 %a; add.cc.u32 %a, %r1, %r2; subc.u32 %r0, 0, 0; }", "r",
       [](auto& i) { return u32(i.a) + u32(i.b) < u32(i.a) ? 0U : 0xffffffffU; });
  same("{ .reg .u32 %a; sub.cc.u32 %a, %r1, %r2; addc.cc.u32 %a, %r1, 0; subc.u32 %r0, %r3, %a; }",
       "r", [](auto& i) {
         const uint64_t sum = uint64_t{u32(i.a)} + (u32(i.a) >= u32(i.b) ? 1 : 0);
         return u32(i.c) - static_cast<uint32_t>(sum) - (sum >> 32 != 0 ? 0U : 1U);
       });
}

TEST_CASE("run: bits") {
  same("bfind.shiftamt.s32 %r0, %r1;", "r", [](auto& i) {
    const uint32_t v = s32(i.a) < 0 ? ~u32(i.a) : u32(i.a);
    return v == 0 ? 0xffffffffU : static_cast<uint32_t>(std::countl_zero(v));
  });
  same("bmsk.clamp.b32 %r0, %r1, %r2;", "r", [](auto& i) -> uint64_t {
    const uint64_t ones = u32(i.b) >= 32 ? 0xffffffff : (uint64_t{1} << u32(i.b)) - 1;
    return u32(i.a) >= 32 ? 0 : u32(ones << u32(i.a));
  });
  same("shf.r.clamp.b32 %r0, %r1, %r2, %r3;", "r", [](auto& i) {
    const uint64_t both = uint64_t{u32(i.b)} << 32 | u32(i.a);
    return u32(both >> std::min(u32(i.c), 32U));
  });
  same("cnot.b32 %r0, %r1;", "r", [](auto& i) { return u32(i.a) == 0; });
  same("mov.b32 {%h0, %h4}, %r1; mov.b32 %r0, {%h4, %h0};", "r",
       [](auto& i) { return std::rotl(u32(i.a), 16); });
  same("mov.b64 {%h0, %h4, %h5, %h6}, %rd1; mov.b64 %rd0, {%h6, %h5, %h4, %h0};", "rd",
       [](auto& i) {
         uint64_t out = 0;
         for (int k = 0; k < 64; k += 16) out |= uint64_t{u16(i.a >> k)} << (48 - k);
         return out;
       });
}

TEST_CASE("run: predicates and guards") {
  same(
      "setp.lt.and.s32 %p0|%p4, %r1, %r2, %p3;\nselp.b32 %r4, 1, 0, %p0; selp.b32 %r5, 2, 0, %p4;\n"
      "or.b32 %r0, %r4, %r5;",
      "r", [](auto& i) -> uint64_t {
        if ((i.c & 1) == 0) return 0;
        return s32(i.a) < s32(i.b) ? 1 : 2;
      });
  // The guard is one of the destinations.
  same(
      "mov.u32 %r0, 0; @%p1 setp.gt.s32 %p1|%p2, %r2, %r3; @%p1 or.b32 %r0, %r0, 1;\n"
      "@%p2 or.b32 %r0, %r0, 2;",
      "r", [](auto& i) -> uint64_t {
        const bool guard = i.a & 1, gt = s32(i.b) > s32(i.c);
        const bool p = guard ? gt : guard, q = guard ? !gt : (i.b & 1);
        return (p ? 1 : 0) | (q ? 2 : 0);
      });
  same("set.leu.u32.f32 %r0, %f1, %f2;", "r", [](auto& i) {
    const float a = std::bit_cast<float>(u32(i.a)), b = std::bit_cast<float>(u32(i.b));
    return !(a > b) ? 0xffffffffU : 0U;
  });
  same("mov.b32 %r0, %r2; @!%p3 mov.b32 %r0, %r1;", "r",
       [](auto& i) { return u32(i.c & 1 ? i.b : i.a); });
}

TEST_CASE("run: conversions") {
  same("cvt.s32.s8 %r0, %r1;", "r", [](auto& i) { return u32(static_cast<int8_t>(i.a)); });
  same("cvt.s64.s16 %rd0, %h1;", "rd", [](auto& i) { return static_cast<uint64_t>(s16(i.a)); });
  same("cvt.u16.u8 %h0, %h1;", "h", [](auto& i) { return i.a & 0xff; });
  same("cvt.sat.s8.s32 %r0, %r1;", "r",
       [](auto& i) { return u32(std::clamp(s32(i.a), -128, 127)); });
  same("cvt.sat.u32.s64 %r0, %rd1;", "r",
       [](auto& i) { return static_cast<uint64_t>(std::clamp<int64_t>(s64(i.a), 0, 0xffffffff)); });
  same("cvt.sat.s32.u32 %r0, %r1;", "r", [](auto& i) { return std::min(u32(i.a), 0x7fffffffU); });
  same("cvt.rn.f32.u16 %f0, %h1;", "f",
       [](auto& i) { return std::bit_cast<uint32_t>(static_cast<float>(u16(i.a))); });
  same("cvt.rn.f64.s64 %fd0, %rd1;", "fd",
       [](auto& i) { return std::bit_cast<uint64_t>(static_cast<double>(s64(i.a))); });
  same("cvt.rn.f32.s32 %f0, %r1; cvt.rzi.s16.f32 %h0, %f0;", "h", [](auto& i) {
    return u16(static_cast<uint64_t>(
        std::clamp<int64_t>(static_cast<int64_t>(static_cast<float>(s32(i.a))), -32768, 32767)));
  });
  same("copysign.f32 %f0, %f1, %f2;", "f",
       [](auto& i) { return u32((i.a & 0x80000000) | (i.b & 0x7fffffff)); });
  same("testp.normal.f32 %p0, %f1;", "p",
       [](auto& i) {  // zeros count as normal
         const auto f = std::bit_cast<float>(u32(i.a));
         return std::isnormal(f) || f == 0;
       });
}

TEST_CASE("run: memory of every space") {
  same("st.local.u64 [lbuf+8], %rd1; ld.local.s8 %r0, [lbuf+9];", "r",
       [](auto& i) { return u32(static_cast<int8_t>(i.a >> 8)); });
  same(
      "mov.u64 %rd4, lbuf; cvta.local.u64 %rd4, %rd4; st.v2.u32 [%rd4+16], {%r1, %r2};\n"
      "ld.local.u64 %rd0, [lbuf+16];",
      "rd", [](auto& i) { return uint64_t{u32(i.b)} << 32 | u32(i.a); });
}

TEST_CASE("run: parameters of calls at odd offsets") {
  const char* swap =
      ".func (.param .align 4 .b8 out[8]) f(.param .align 4 .b8 in[12]) {\n"
      ".reg .b32 %a<4>; .reg .b64 %l<2>; .reg .b16 %s<2>;\n"
      "ld.param.u8 %a0, [in+3]; ld.param.u16 %s0, [in+5]; ld.param.u64 %l0, [in+4];\n"
      "cvt.u32.u16 %a1, %s0; shl.b32 %a1, %a1, 8; or.b32 %a0, %a0, %a1;\n"
      "shr.u64 %l0, %l0, 48; cvt.u32.u64 %a2, %l0;\n"
      "st.param.b32 [out], %a0; st.param.b16 [out+6], %l0; st.param.b16 [out+4], 0; ret; }\n";
  same(
      "{ .param .align 4 .b8 p[12]; st.param.b64 [p], %rd1; st.param.b32 [p+8], %r2;\n"
      ".param .align 4 .b8 q[8]; call (q), f, (p); ld.param.b64 %rd0, [q]; }",
      "rd",
      [](auto& i) {
        const uint64_t low = (i.a >> 24 & 0xff) | uint64_t{u16(i.a >> 40)} << 8;
        return low | (uint64_t{u32(i.b)} >> 16) << 48;
      },
      swap);
}

TEST_CASE("run: an addressed parameter of two bytes is the last thing in local memory") {
  same(
      "{ .param .align 4 .b8 p[2]; st.param.b16 [p], %h1; .param .b32 q; call (q), g, (p);\n"
      "ld.param.b32 %r0, [q]; }",
      "r", [](auto& i) { return uint64_t{u16(i.a)}; },
      ".func (.param .b32 out) g(.param .align 4 .b8 in[2]) {\n"
      ".reg .b64 %l; .reg .b32 %a; mov.b64 %l, in; ld.param.u16 %a, [in];\n"
      "st.param.b32 [out], %a; ret; }\n");
}

TEST_CASE("run: loops, jump tables and early returns in functions") {
  const char* collatz =
      ".func (.reg .b32 %o) steps(.reg .b32 %i) {\n"
      ".reg .pred %q; .reg .b32 %t; mov.u32 %o, 0;\n"
      "LOOP: setp.ge.u32 %q, %o, 20; @%q ret; setp.le.u32 %q, %i, 1; @%q bra OUT;\n"
      "add.u32 %o, %o, 1; and.b32 %t, %i, 1; setp.eq.u32 %q, %t, 0; @%q bra EVEN;\n"
      "mad.lo.u32 %i, %i, 3, 1; bra LOOP; EVEN: shr.u32 %i, %i, 1; bra LOOP; OUT: ret; }\n";
  const auto steps = [](uint32_t i) {
    uint32_t o = 0;
    while (o < 20 && i > 1) {
      ++o;
      i = (i & 1) != 0 ? 3 * i + 1 : i / 2;
    }
    return o;
  };
  same(
      "call (%r0), steps, (%r1);", "r", [&](auto& i) { return steps(u32(i.a)); }, collatz);
  same(
      "and.b32 %r4, %r1, 3; T: .branchtargets A, B, C, D; brx.idx %r4, T;\n"
      "A: mov.u32 %r0, 10; bra E; B: mov.u32 %r0, 11; bra E; C: mov.u32 %r0, 12; bra E;\n"
      "D: mov.u32 %r0, 13; E:",
      "r", [](auto& i) { return 10 + (i.a & 3); });
}

TEST_CASE("an assertion's site says what the program says of it, and no more") {
  const auto site_of = [](const std::string& condition, const std::string& line) {
    const std::string source =
        ".version 8.3\n.target sm_90\n.address_size 64\n"
        ".extern .func __assertfail(.param .b64 c, .param .b64 f, .param .b32 l, .param .b64 n,\n"
        ".param .b64 s);\n"
        ".global .b8 texts[12] = {105, 60, 110, 0, 97, 46, 99, 117, 0, 102, 40, 41};\n"
        ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %rd<9>;\nmov.u64 %rd1, texts;\n"
        "cvta.global.u64 %rd2, %rd1; mov.u64 %rd3, texts+4; cvta.global.u64 %rd4, %rd3;\n"
        "mov.u64 %rd5, texts+9; cvta.global.u64 %rd6, %rd5; ld.param.u64 %rd7, [p];\n"
        "{\n.param .b64 c; st.param.b64 [c], " +
        condition +
        ";\n"
        ".param .b64 f; st.param.b64 [f], %rd4;\n.param .b32 l; st.param.b32 [l], " +
        line +
        ";\n"
        ".param .b64 n; st.param.b64 [n], %rd6;\n.param .b64 s; st.param.b64 [s], 1;\n"
        "call.uni __assertfail, (c, f, l, n, s);\n}\nret;\n}\n";
    const ptx::LowerResult lowered = lower_text(source);
    REQUIRE(lowered.diagnostics.empty());
    for (const ir::Block& block : lowered.module.kernels.at(0).blocks)
      for (const ir::Inst& i : block.insts)
        if (i.op == ir::Op::trap) return lowered.module.kernels[0].sites.at(i.site);
    FAIL("there is no trap");
    return ir::Site();
  };
  const ir::Site all = site_of("%rd2", "7");
  CHECK(all.assertion == "i<n");
  CHECK(all.function == "f()");  // the text ends where its variable does
  CHECK(all.source_file == "a.cu");
  CHECK(all.source_line == 7);
  const ir::Site late = site_of("%rd7", "7");
  CHECK(late.assertion.empty());
  CHECK(late.source_file == "a.cu");
  CHECK(site_of("0", "7").assertion.empty());
  // What a register holds later is not what was moved out of it.
  CHECK(site_of("%rd2;\nmov.u64 %rd1, texts+9", "7").assertion == "i<n");
  CHECK(site_of("%rd2", "7;\nmov.u64 %rd5, texts").function == "f()");
}

TEST_CASE("run: a thread that comes to malloc traps, the others do not") {
  const std::string source =
      ".version 8.3\n.target sm_90\n.address_size 64\n"
      ".extern .func (.param .b64 r) malloc(.param .b64 bytes);\n"
      ".visible .entry k(.param .u64 out)\n{\n.reg .pred %p<2>; .reg .b32 %r<4>;\n"
      ".reg .b64 %rd<4>;\nld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n"
      "mad.wide.u32 %rd1, %r1, 4, %rd1; setp.ne.u32 %p1, %r1, 3;\n@%p1 bra $quiet;\n"
      "{\n.param .b64 a; .param .b64 c;\nst.param.b64 [a], 64;\n"
      "call.uni (c), malloc, (a);\nld.param.b64 %rd2, [c];\n}\n"
      "$quiet:\nst.global.u32 [%rd1], 7;\nret;\n}\n";
  const ptx::LowerResult lowered = lower_text(source);
  REQUIRE(lowered.diagnostics.size() == 1);
  CHECK(lowered.diagnostics[0].warning);
  CHECK(lowered.diagnostics[0].message.find("'malloc' is not supported") != std::string::npos);
  test::Bench bench;
  const uint64_t out = bench.put(std::vector<uint32_t>(8, 0));
  bench.arg(out);
  const auto run = bench.run(lowered.module.kernels.at(0), 1, 8);
  REQUIRE(run.faults.size() == 1);
  CHECK(run.faults[0].kind == FaultKind::trap);
  CHECK(run.faults[0].lane == 3);
  const auto& site = lowered.module.kernels[0].sites.at(run.faults[0].site);
  CHECK(site.text.find("malloc") != std::string::npos);
  CHECK(bench.get<uint32_t>(out, 8) == std::vector<uint32_t>{7, 7, 7, 0, 7, 7, 7, 7});
}
