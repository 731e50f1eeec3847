// Instructions of all families: the same verdict and the same words from the checker and from
// lowering.
#include <filesystem>

#include "runtime/isa/ptx/lower.hpp"
#include "tests/unit/ptx/check_support.hpp"

using namespace lanewise;
using namespace check_test;

namespace {

ptx::Module module_of(const std::string& line, const std::string& target,
                      const std::string& before = {}) {
  const std::string text = ".version 9.0\n.target " + target +
                           "\n.address_size 64\n.global .texref tex0;\n" + before +
                           ".visible .entry k(.param .u64 p)\n{\n  .reg .b64 %rd<9>;\n"
                           "  .reg .f32 %f<9>;\n  .reg .b32 %r<9>;\n  .reg .b16 %h<9>;\n"
                           "  .reg .f64 %fd<9>;\n"
                           "  .reg .pred %p<4>;\n  .shared .align 8 .b64 bar;\n" +
                           line + "\n  ret;\n}\n";
  CAPTURE(text);
  ptx::ParseResult parsed = ptx::parse(text);
  REQUIRE(parsed.diagnostics.empty());
  return std::move(parsed.module);
}

std::vector<std::string> verdict(const std::string& line, const std::string& target,
                                 const std::string& before = {}) {
  return errors_of(ptx::check(module_of(line, target, before)));
}

}  // namespace

TEST_CASE("one fault has one message, whoever finds it") {
  const char* lines[] = {"add.s32.u32 %r1, %r1, %r1;",
                         "mul.lo.f32 %f1, %f1, %f1;",
                         "min.cc.s32 %r1, %r1, %r1;",
                         "add.u32 %r1;",
                         "add.u32 %undeclared, %r1, %r1;",
                         "bfe.u16 %h1, %h2, 2, %r1;",
                         "setp.hi.s32 %p1, %r1, %r2;",
                         "add.u32 %r1, %f1, %r1;",
                         "mul.wide.u32 %r1, %r1, %r1;",
                         "fma.rn.f32x2 %rd1, %rd2, %rd3, %rd4;",
                         "cp.async.bulk.wait_group 0;",
                         "redux.sync.min.abs.NaN.f32 %f1, %f2, 0xffffffff;",
                         "call missing;",
                         "bra nowhere;",
                         "st.shared.v8.b8 [bar], {%h1, %h2, %h1, %h2, %h1, %h2, %h1, _};",
                         "mov.u32 %r1, -%r2;",
                         "mul.u16.wide %r1, %h1, %h2;"};
  for (const char* line : lines) {
    CAPTURE(line);
    const ptx::Module module = module_of(line, "sm_80");
    const auto found = errors_of(ptx::check(module));
    REQUIRE(!found.empty());
    const auto lowered = errors_of(ptx::lower(module).diagnostics);
    REQUIRE(lowered.size() == 1);
    CHECK(lowered[0] == found[0]);
  }
}

TEST_CASE("vectors of eight have one gate") {
  const std::string eight = "{%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}";
  const std::string load = "ld.global.v8.b32 " + eight + ", [%rd1];";
  CHECK(verdict(load, "sm_100").empty());
  const ptx::Module old = module_of(load, "sm_90");
  const auto found = errors_of(ptx::check(old));
  REQUIRE(!found.empty());
  CHECK(found[0] == "`ld`: an access of 256 bits needs .target sm_100 or higher, found sm_90");
  CHECK(errors_of(ptx::lower(old).diagnostics) == std::vector<std::string>{found[0]});
}

TEST_CASE("what is legal and does not run is unsupported, not illegal") {
  const char* rows[][2] = {
      {"sm_90a", "wgmma.fence.sync.aligned;"},
      {"sm_90a", "wgmma.commit_group.sync;"},  // ptxas 13.0 does not miss .aligned
      {"sm_100a", "cvt.rs.satfinite.e4m3x4.f32 %r1, {%f1, %f2, %f3, %f4}, %r2;"},
      {"sm_100a", "cvt.rz.ue8m0x2.f32 %h1, %f1, %f2;"},
      {"sm_100a", "add.rn.f32x2 %rd1, %rd2, %rd3;"},
      {"sm_100a", "min.f32 %f1, %f2, %f3, %f4;"},
      {"sm_100a", "redux.sync.min.abs.NaN.f32 %f1, %f2, 0xffffffff;"},
      {"sm_120a",
       "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e3m2.e2m1.f32 "
       "{%f1, %f2, "
       "%f3, %f4}, {%r1, %r2, %r3, %r4}, {%r1, %r2, %r3, %r4}, {%f1, %f2, %f3, %f4}, %r5, 0;"}};
  for (const auto& row : rows) {
    CAPTURE(std::string(row[1]));
    const ptx::Module module = module_of(row[1], row[0]);
    CHECK(errors_of(ptx::check(module)).empty());
    CHECK(!errors_of(ptx::lower(module).diagnostics).empty());
  }
}

TEST_CASE("what lowering takes is legal, and so are compiled kernels") {
  for (const char* line :
       {"add.u32 %r1, %r2, 7;", "mad.lo.s32 %r1, %r2, %r3, %r4;", "setp.hi.u32 %p1, %r1, %r2;",
        "fma.rn.f32 %f1, %f2, %f3, %f4;", "bar.sync 0;", "st.shared.u64 [bar], %rd1;",
        "add.u32 %r1, %r2+4, %r3;", "shl.b32 %r1, %r2, %r3+1;"}) {
    CAPTURE(line);
    const ptx::Module module = module_of(line, "sm_80");
    CHECK(errors_of(ptx::check(module)).empty());
    CHECK(errors_of(ptx::lower(module).diagnostics).empty());
  }
  // Sums are of the operand's kind, of whatever width.
  for (const char* line : {"add.u32 %r1, %rd2+1, %r3;", "add.f32 %f1, %f2+1, %f3;"})
    CHECK(verdict(line, "sm_80").empty());
  for (const char* line : {"add.u32 %r1, %f2+1, %r3;", "add.u32 %r1, %p1+1, %r3;",
                           "add.f32 %f1, bar+4, %f2;", "add.u32 %r1, -%r2, %r3;"})
    CHECK(!verdict(line, "sm_80").empty());
  for (const auto& entry :
       std::filesystem::directory_iterator(LANEWISE_TEST_DATA "/kernels/data/ptx")) {
    if (entry.path().extension() != ".ptx") continue;
    CAPTURE(entry.path().string());
    const ptx::ParseResult parsed = ptx::parse(read(entry.path().string()));
    CHECK(errors_of(ptx::check(parsed.module)).empty());
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
  CHECK(verdict(call, "sm_75", twice + impl + ".alias twice, impl;\n").empty());
  for (const std::string& wrong :
       {impl + ".alias twice, impl;\n", twice + ".alias twice, impl;\n",
        twice + impl + ".alias impl, twice;\n", twice + impl + ".alias twice, k;\n"}) {
    const auto found = verdict("", "sm_75", wrong);
    REQUIRE(found.size() == 1);
    CHECK(found[0].starts_with("`.alias "));
  }
}

TEST_CASE("addresses of 32 bits convert to themselves, up to the version that has them") {
  const auto lowered = [](const std::string& version, const std::string& line) {
    const ptx::ParseResult parsed =
        ptx::parse(".version " + version + "\n.target sm_80\n.address_size 64\n.entry k()\n{\n" +
                   "  .reg .b32 %r<3>;\n  " + line + "\n  ret;\n}\n");
    REQUIRE(parsed.ok());
    return ptx::lower(parsed.module);
  };
  for (const std::string to : {"cvta.", "cvta.to."})
    for (const std::string space : {"global", "const", "local", "shared"}) {
      const std::string line = to + space + ".u32 %r1, %r2;";
      CAPTURE(line);
      const ptx::LowerResult r = lowered("7.8", line);
      CHECK(errors_of(r.diagnostics).empty());
      REQUIRE(r.module.kernels.size() == 1);
      CHECK(errors_of(lowered("9.0", line).diagnostics).size() == 1);
    }
}

TEST_CASE("votes and shuffles without a mask end before sm_70") {
  for (const std::string line :
       {"shfl.idx.b32 %r1, %r2, 0, 31;", "vote.any.pred %p1, %p2;", "vote.ballot.b32 %r1, %p2;"})
    for (const bool early : {true, false}) {
      CAPTURE(line);
      const std::string head =
          early ? ".version 6.0\n.target sm_60" : ".version 7.8\n.target sm_80";
      const ptx::ParseResult parsed =
          ptx::parse(head + "\n.address_size 64\n.entry k()\n{\n  .reg .b32 %r<3>;\n" +
                     "  .reg .pred %p<3>;\n  " + line + "\n  ret;\n}\n");
      REQUIRE(parsed.ok());
      CHECK(errors_of(ptx::lower(parsed.module).diagnostics).empty() == early);
    }
}

TEST_CASE("rounding of mad.f32 before sm_20 and .version 3.2; map_f64_to_f32") {
  // As ptxas 11.8 takes and refuses them.
  const auto error = [](const std::string& head, const std::string& line) {
    const ptx::ParseResult parsed =
        ptx::parse(head + "\n.entry k()\n{\n.reg .f32 %f<4>;\n" + line + "\nexit;\n}\n");
    std::vector<std::string> all = errors_of(parsed.diagnostics);
    for (std::string& e : errors_of(ptx::check(parsed.module))) all.push_back(std::move(e));
    return all.empty() ? std::string() : all.front();
  };
  const std::string bare = "mad.f32 %f1, %f2, %f3, %f1;",
                    rounded = "mad.rn.f32 %f1, %f2, %f3, %f1;";
  for (const char* head :
       {".version 1.4\n.target sm_10, map_f64_to_f32", ".version 7.8\n.target sm_13"}) {
    CAPTURE(std::string(head));
    CHECK(error(head, bare).empty());
    CHECK(error(head, rounded).find("sm_20") != std::string::npos);
  }
  CHECK(error(".version 3.1\n.target sm_30", bare).empty());
  CHECK(error(".version 3.1\n.target sm_30", rounded).empty());
  CHECK(error(".version 3.2\n.target sm_30", bare).find(".rn") != std::string::npos);
  CHECK(error(".version 3.2\n.target sm_30", rounded).empty());
  CHECK(error(".version 1.4\n.target sm_13, map_f64_to_f32", bare).find("sm_13") !=
        std::string::npos);
}
