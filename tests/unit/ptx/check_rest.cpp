// Verdicts on instructions that the grammar has no rows for: from lowering, or none.
#include <filesystem>

#include "tests/unit/ptx/check_support.hpp"

using namespace lanewise;
using namespace check_test;

namespace {

struct Verdict {
  std::vector<std::string> errors, not_judged;
};

Verdict verdict(const std::string& line, const std::string& target,
                const std::string& before = {}) {
  const std::string text = ".version 9.0\n.target " + target +
                           "\n.address_size 64\n.global .texref tex0;\n" + before +
                           ".visible .entry k(.param .u64 p)\n{\n  .reg .b64 %rd<9>;\n"
                           "  .reg .f32 %f<9>;\n  .reg .b32 %r<9>;\n  .reg .b16 %h<9>;\n"
                           "  .reg .pred %p<4>;\n  .shared .align 8 .b64 bar;\n" +
                           line + "\n  ret;\n}\n";
  CAPTURE(text);
  const ptx::ParseResult parsed = ptx::parse(text);
  REQUIRE(parsed.diagnostics.empty());
  Verdict out;
  for (const Diagnostic& d : ptx::judge(parsed.module)) {
    if (!d.warning)
      out.errors.push_back(d.message);
    else if (d.message.starts_with(ptx::kNotJudged))
      out.not_judged.push_back(d.message);
  }
  return out;
}

}  // namespace

TEST_CASE("illegal instructions beyond the grammar are no legal ones") {
  for (const char* line :
       {"add.s32.u32 %r1, %r1, %r1;", "mul.lo.f32 %f1, %f1, %f1;", "min.cc.s32 %r1, %r1, %r1;",
        "add.u32 %r1;", "add.u32 %undeclared, %r1, %r1;", "bfe.u16 %h1, %h2, 2, %r1;",
        "setp.hi.s32 %p1, %r1, %r2;", "add.u32 %r1, %f1, %r1;", "mul.wide.u32 %r1, %r1, %r1;",
        "fma.rn.f32x2 %rd1, %rd2, %rd3, %rd4;", "cp.async.bulk.wait_group 0;",
        "redux.sync.min.abs.NaN.f32 %f1, %f2, 0xffffffff;"}) {
    CAPTURE(line);
    const Verdict v = verdict(line, "sm_80");
    CHECK(v.errors.size() == 1);
    CHECK(v.not_judged.empty());
  }
}

TEST_CASE("what is not known is neither legal nor illegal") {
  const char* rows[][2] = {
      {"sm_80", "cp.async.mbarrier.arrive.noinc.shared.b64 [%r1];"},
      {"sm_90a",
       "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1], 512, "
       "[%r2];"},
      {"sm_90a",
       "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.s32 "
       "[%r1], [bar], %r2, [bar];"},
      {"sm_100a", "cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2;"},
      {"sm_100a", "cvt.rz.ue8m0x2.f32 %h1, %f1, %f2;"},
      {"sm_100a", "add.rn.f32x2 %rd1, %rd2, %rd3;"},
      {"sm_100a", "min.f32 %f1, %f2, %f3, %f4;"},
      {"sm_100a", "redux.sync.min.abs.NaN.f32 %f1, %f2, 0xffffffff;"},
      {"sm_80", "tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p2, [tex0, {%f5, %f6}], %f7;"},
      {"sm_80",
       "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%rd1, %rd2}, {%rd3}, {%rd4}, "
       "{%rd1, %rd2};"}};
  for (const auto& row : rows) {
    const char *const target = row[0], *const line = row[1];
    CAPTURE(line);
    const Verdict v = verdict(line, target);
    CHECK(v.errors.empty());
    REQUIRE(v.not_judged.size() == 1);
    const std::string opcode = std::string(line).substr(0, std::string(line).find(' '));
    CHECK(v.not_judged[0].starts_with("not judged: `" + opcode + "`: "));
  }
}

TEST_CASE("what lowering takes is legal, and so are compiled kernels") {
  for (const char* line :
       {"add.u32 %r1, %r2, 7;", "mad.lo.s32 %r1, %r2, %r3, %r4;", "setp.hi.u32 %p1, %r1, %r2;",
        "fma.rn.f32 %f1, %f2, %f3, %f4;", "bar.sync 0;", "st.shared.u64 [bar], %rd1;"}) {
    CAPTURE(line);
    const Verdict v = verdict(line, "sm_80");
    CHECK(v.errors.empty());
    CHECK(v.not_judged.empty());
  }
  for (const auto& entry :
       std::filesystem::directory_iterator(LANEWISE_TEST_DATA "/kernels/data/ptx")) {
    if (entry.path().extension() != ".ptx") continue;
    CAPTURE(entry.path().string());
    const ptx::ParseResult parsed = ptx::parse(read(entry.path().string()));
    CHECK(ptx::judge(parsed.module).empty());
  }
}

TEST_CASE("an alias stands for a function with a body") {
  const std::string twice = ".func (.param .b32 r) twice(.param .b32 a);\n";
  const std::string impl =
      ".func (.param .b32 r) impl(.param .b32 a)\n{\n  .reg .b32 %x<3>;\n"
      "  ld.param.b32 %x1, [a];\n  add.s32 %x2, %x1, %x1;\n  st.param.b32 [r], %x2;\n  ret;\n}\n";
  const std::string call =
      "{ .param .b32 a; .param .b32 b; st.param.b32 [a], 21; call.uni (b), twice, (a); "
      "ld.param.b32 %r1, [b]; }";
  const Verdict good = verdict(call, "sm_75", twice + impl + ".alias twice, impl;\n");
  CHECK(good.errors.empty());
  CHECK(good.not_judged.empty());
  for (const std::string& wrong :
       {impl + ".alias twice, impl;\n", twice + ".alias twice, impl;\n",
        twice + impl + ".alias impl, twice;\n", twice + impl + ".alias twice, k;\n"}) {
    const Verdict v = verdict("", "sm_75", wrong);
    REQUIRE(v.errors.size() == 1);
    CHECK(v.errors[0].starts_with("`.alias "));
  }
}
