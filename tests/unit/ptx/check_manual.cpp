// The manual's page about st, sentence by sentence: what its notes say came with which version and
// target, its examples, and what its text excludes.
#include "tests/unit/ptx/check_support.hpp"

using namespace lanewise;
using namespace check_test;

namespace {

/// The first thing wrong with a line in a kernel, for a target and a version; empty = legal.
std::string judge(const std::string& line, const std::string& version, const std::string& target,
                  bool manual) {
  const bool b128 = line.find("%q") != std::string::npos;
  const std::string text =
      ".version " + version + "\n.target " + target +
      "\n.address_size 64\n.global .align 32 .b8 gbuf[1024];\n.global .b32 gbl, gbl2;\n"
      ".const .align 32 .b8 cbuf[64];\n.shared .align 32 .b8 sbuf[1024];\n"
      ".visible .entry k(.param .b64 kp0)\n{\n.reg .b32 %r<9>; .reg .b64 %rd<8>; .reg .f32 %f<9>;\n"
      ".reg .f64 %fd<9>; .reg .pred %p<3>; .reg .b16 %h<4>; .reg .v4 .b32 %q4;\n" +
      (b128 ? ".reg .b128 %q<4>;\n" : "") +
      ".local .align 32 .b8 lbuf[64];\n.param .align 32 .b8 pbuf[64];\n"
      "ld.param.u64 %rd1, [kp0];\n" +
      line + "\nret;\n}\n";
  const ptx::ParseResult parsed = ptx::parse(text, 0);
  if (!parsed.ok()) return "parser: " + parsed.diagnostics[0].message;
  ptx::CheckOptions options;
  options.target = target;
  if (manual) options.strict = ptx::CheckOptions::Strict::manual;
  const auto wrong = errors_of(ptx::check(parsed.module, options));
  return wrong.empty() ? std::string() : wrong[0];
}

struct Since {
  const char* line;
  const char *before, *version;  ///< the last version without it and the first with it
  const char *older, *target;    ///< the same of targets; "" = every target has it
};

constexpr Since kNotes[] = {
    {"st.weak.global.u32 [%rd1], %r1;", "5.0", "6.0", "sm_62", "sm_70"},
    {"st.relaxed.gpu.global.u32 [%rd1], %r1;", "5.0", "6.0", "sm_62", "sm_70"},
    {"st.release.cta.shared.u32 [sbuf], %r1;", "5.0", "6.0", "sm_62", "sm_70"},
    {"st.global.L1::evict_last.u32 [%rd1], %r1;", "7.3", "7.4", "sm_62", "sm_70"},
    {"st.global.L1::no_allocate.f32 [%rd1], %f1;", "7.3", "7.4", "sm_62", "sm_70"},
    {"st.global.L2::cache_hint.u32 [%rd1], %r1, %rd2;", "7.3", "7.4", "sm_75", "sm_80"},
    {"st.relaxed.cluster.global.u32 [%rd1], %r1;", "7.7", "7.8", "sm_80", "sm_90"},
    {"st.shared::cta.u32 [sbuf], %r1;", "7.7", "7.8", "", "sm_70"},
    {"st.shared::cluster.u32 [sbuf], %r1;", "7.7", "7.8", "sm_80", "sm_90"},
    {"st.mmio.relaxed.sys.global.u32 [%rd1], %r1;", "8.1", "8.2", "sm_62", "sm_70"},
    {"st.param::func.b64 [pbuf], %rd1;", "8.2", "8.3", "", "sm_70"},
    {"st.global.b128 [%rd1], %q1;", "8.2", "8.3", "sm_62", "sm_70"},
    {"st.relaxed.sys.global.b128 [%rd1], %q1;", "8.3", "8.4", "sm_62", "sm_70"},
    {"st.global.v8.b32 [%rd1], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8};", "8.7", "8.8", "sm_90",
     "sm_100"},
    {"st.global.v4.b64 [%rd1], {%rd1, %rd2, %rd3, %rd4};", "8.7", "8.8", "sm_90", "sm_100"},
    {"st.global.L2::evict_last.v4.f64 [%rd1], {%fd1, %fd2, %fd3, %fd4};", "8.7", "8.8", "sm_90",
     "sm_100"},
    {"st.volatile.local.u32 [lbuf], %r1;", "9.0", "9.1", "", "sm_75"},
};

/// The page's examples with the module's names, and whether they keep the order of its own grammar.
struct Example {
  const char* line;
  bool in_order;
};
constexpr Example kExamples[] = {
    {"st.global.f32    [%rd1],%f1;", true},
    {"st.local.b32     [lbuf+4],%r1;", true},
    {"st.global.v4.s32 [%rd1],%q4;", true},
    {"st.local.b32     [lbuf+-8],%r1;", true},
    {"st.local.s32     [100],%r7;", true},
    {"st.b16           [%rd1],%r1;", true},
    {"st.global.relaxed.sys.u32 [gbl], %r0;", false},
    {"st.shared.release.cta.u32 [sbuf], %r1;", false},
    {"st.global.relaxed.cluster.u32 [gbl], %r2;", false},
    {"st.shared::cta.release.cta.u32 [sbuf + 4], %r1;", false},
    {"st.shared::cluster.u32 [sbuf + 8], %r1;", true},
    {"st.global.mmio.relaxed.sys.u32 [gbl], %r1;", false},
    {"st.local.volatile.u32 [lbuf], %r2;", false},
    {"st.global.L1::no_allocate.f32 [%rd1], %f1;", true},
    {"createpolicy.fractional.L2::evict_last.b64 %rd3, 0.25;", true},
    {"st.global.L2::cache_hint.b32  [%rd1], %r1, %rd3;", true},
    {"st.param::func.b64 [pbuf], %rd1;", true},
    {"st.global.L2::evict_last.v8.f32 [%rd1], { %f0, _, %f2, %f3, %f4, %f5, %f6, %f7};", true},
};

/// What the page rules out, whatever the reading.
constexpr const char* kExcluded[] = {
    "st.const.u32 [cbuf], %r1;",                       // stores to const memory
    "@%p1 st.param.b32 [pbuf], %r1;",                  // predicated arguments
    "@%p1 st.param::func.b32 [pbuf], %r1;",            //
    "st.mmio.relaxed.gpu.global.u32 [%rd1], %r1;",     // .mmio is .sys
    "st.mmio.global.u32 [%rd1], %r1;",                 // and .relaxed
    "st.mmio.relaxed.sys.shared.u32 [sbuf], %r1;",     // and .global
    "st.mmio.relaxed.sys.local.u32 [lbuf], %r1;",      //
    "st.weak.volatile.global.u32 [%rd1], %r1;",        // one of four
    "st.relaxed.gpu.release.global.u32 [%rd1], %r1;",  //
    "st.relaxed.global.u32 [%rd1], %r1;",              // a scope belongs to it
    "st.weak.gpu.global.u32 [%rd1], %r1;",             //
    "st.relaxed.gpu.local.u32 [lbuf], %r1;",           // .global, .shared, generic
    "st.release.gpu.param.u32 [pbuf], %r1;",           //
    "st.relaxed.gpu.global.cg.u32 [%rd1], %r1;",       // no cache operations
    "st.release.sys.wt.u32 [%rd1], %r1;",              //
    "st.volatile.global.cs.u32 [%rd1], %r1;",          //
    "st.volatile.param.u32 [pbuf], %r1;",              //
    "st.shared.v8.b32 [sbuf], {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8};",
    "st.local.v4.b64 [lbuf], {%rd1, %rd2, %rd3, %rd4};",  // 256 bits are global
    "st.global.v8.b64 [%rd1], {%rd1, %rd2, %rd3, %rd4, %rd1, %rd2, %rd3, %rd4};",
    "st.global.L2::evict_last.u32 [%rd1], %r1;",  // L2 priorities: 256 bits
    "st.global.L2::evict_first.v4.b32 [%rd1], {%r1, %r2, %r3, %r4};",
    "st.global.L2::evict_unchanged.v4.b64 [%rd1], {%rd1, %rd2, %rd3, %rd4};",
    "st.global.v2.b32 [%rd1], {%r1, _};",               // sinks: 256 bits
    "st.global.v4.b32 [%rd1], {%r1, _, %r2, %r3};",     //
    "st.global.u32 [%rd1], %r1, %rd2;",                 // a policy needs the qualifier
    "st.global.L2::cache_hint.u32 [%rd1], %r1;",        // and the other way round
    "st.global.L2::cache_hint.u32 [%rd1], %r1, %r2;",   // 64 bits
    "st.shared.L2::cache_hint.u32 [sbuf], %r1, %rd2;",  // .global or generic
    "st.local.L2::cache_hint.u32 [lbuf], %r1, %rd2;",   //
    "st.global.f32 [%rd1], %fd1;",                      // no conversion on the way
    "st.global.u64 [%rd1], %r1;",                       // narrower than the type
    "st.global.f16 [%rd1], %h1;",                       // .f16 goes by .b16
    "st.global.ca.u32 [%rd1], %r1;",                    // operators of loads
    "st.global.acquire.gpu.u32 [%rd1], %r1;",           //
};

}  // namespace

TEST_CASE("the manual on st: what came with which version and target") {
  for (const Since& s : kNotes) {
    for (const bool manual : {false, true}) {
      CAPTURE(s.line);
      CAPTURE(manual);
      CHECK(judge(s.line, s.version, s.target, manual) == "");
      CHECK(judge(s.line, s.before, s.target, manual) != "");
      if (*s.older != 0) CHECK(judge(s.line, "9.1", s.older, manual) != "");
    }
  }
}

TEST_CASE("the manual on st: its examples") {
  for (const Example& e : kExamples) {
    CAPTURE(e.line);
    CHECK(judge(e.line, "9.1", "sm_100", false) == "");
    CHECK((judge(e.line, "9.1", "sm_100", true) == "") == e.in_order);
  }
}

TEST_CASE("the manual on st: what it excludes") {
  for (const char* line : kExcluded) {
    CAPTURE(line);
    CHECK(judge(line, "9.1", "sm_100", false) != "");
    CHECK(judge(line, "9.1", "sm_100", true) != "");
  }
  // Only the text asks for registers.
  for (const char* line : {"st.global.u32 [%rd1], 5;", "st.global.f32 [%rd1], 1.0;",
                           "st.global.L2::cache_hint.u32 [%rd1], %r1, 0;"}) {
    CAPTURE(line);
    CHECK(judge(line, "9.1", "sm_100", false) == "");
    CHECK(judge(line, "9.1", "sm_100", true) != "");
  }
}
