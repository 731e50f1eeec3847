// What the checker says: the rule, what was found, and what was expected.
#include <filesystem>

#include "tests/unit/ptx/check_support.hpp"

using namespace lanewise;
using namespace check_test;

namespace {

struct Case {
  const char *line, *target, *error;
};

void expect(const Case& c, const std::string& version) {
  CAPTURE(std::string(c.line));
  ptx::CheckOptions options;
  options.target = c.target;
  const auto found = errors(c.line, options, version);
  REQUIRE(!found.empty());
  CHECK(found[0] == c.error);
}

std::vector<std::string> manual_errors(const std::string& line) {
  ptx::CheckOptions options;
  options.strict = ptx::CheckOptions::Strict::manual;
  return errors(line, options);
}

}  // namespace

TEST_CASE("gates name the target that is needed and the one that was found") {
  const Case cases[] = {
      {"st.global.L2::cache_hint.u32 [%rd1], %r1, %rd9;", "sm_75",
       "`st`: `.L2::cache_hint` needs .target sm_80 or higher, found sm_75"},
      {"st.relaxed.cluster.global.u32 [%rd1], %r1;", "sm_80",
       "`st`: `.cluster` needs .target sm_90 or higher, found sm_80"},
      {"st.global.v8.b32 [%rd1], {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8};", "sm_90",
       "`st`: an access of 256 bits needs .target sm_100 or higher, found sm_90"},
      {"createpolicy.fractional.L2::evict_last.b64 %rd2, 1.0;", "sm_75",
       "`createpolicy`: this form needs .target sm_80 or higher, found sm_75"},
      {"st.volatile.local.u32 [lbuf], %r1;", "sm_90",
       "`st`: `.local` needs .version 9.1 or higher, found 9.0"},
      {"mov.u32 %r1, %clusterid.x;", "sm_80",
       "`mov`: `%clusterid.x` needs .target sm_90 or higher, found sm_80"},
  };
  for (const Case& c : cases) expect(c, "9.0");
  expect({"st.mmio.relaxed.sys.global.u32 [%rd1], %r1;", "sm_80",
          "`st`: `.mmio` needs .version 8.2 or higher, found 7.8"},
         "7.8");
}

TEST_CASE("cp.async names shared memory of the group at every version") {
  ptx::CheckOptions options;
  options.target = "sm_80";
  CHECK(errors("cp.async.ca.shared::cta.global [%r1], [%rd1], 8;", options, "7.0").empty());
}

TEST_CASE("cp.async.wait_group counts in constants") {
  ptx::CheckOptions options;
  options.target = "sm_80";
  CHECK(errors("cp.async.wait_group 0;", options, "7.8").empty());
  CHECK(errors("cp.async.wait_group -1;", options, "7.8").empty());
  expect({"cp.async.wait_group %r1;", "sm_80",
          "`cp`: the .b32 register `%r1`, a constant was expected"},
         "7.8");
  CHECK(!errors("cp.async.wait_group 1.0;", options, "7.8").empty());
}

TEST_CASE("a target that is newer than the file's version") {
  expect({"ret;", "sm_100", "`.target sm_100` needs .version 8.6 or higher, found 7.8"}, "7.8");
}

TEST_CASE("rules name what clashes and what was expected") {
  const Case cases[] = {
      {"st.relaxed.gpu.cg.u32 [%rd1], %r1;", "sm_90",
       "`st`: `.cg` does not belong to this form of `st`, it was expected without"},
      {"st.relaxed.u32 [%rd1], %r1;", "sm_90",
       "`st`: a qualifier is missing, one of `.cta` `.cluster` `.gpu` `.sys` was expected"},
      {"st.gpu.u32 [%rd1], %r1;", "sm_90",
       "`st`: a qualifier is missing, one of `.relaxed` `.release` was expected"},
      {"st.ca.u32 [%rd1], %r1;", "sm_90",
       "`st`: `.ca` does not go with this form of `st`, one of `.wb` `.cg` `.cs` `.wt` was "
       "expected"},
      {"st.sat.u32 [%rd1], %r1;", "sm_90",
       "`st`: `.sat` is no qualifier of `st`, it was expected without"},
      {"atom.add.noftz.f32 %f1, [%rd1], %f2;", "sm_90",
       "`atom`: `.noftz` does not belong to this form of `atom`, it was expected without"},
      {"atom.cas.f32 %f1, [%rd1], %f2, %f3;", "sm_90",
       "`atom`: `.f32` does not go with this form of `atom`, one of `.b32` `.b64` `.b16` `.b128` "
       "was expected"},
      {"st.global.cg.cs.u32 [%rd1], %r1;", "sm_90",
       "`st`: a second qualifier `.cs` of its kind, one was expected"},
      {"st.global [%rd1], %r1;", "sm_90",
       "`st`: a qualifier is missing, one of `.b8` `.b16` `.b32` `.b64` `.b128` `.u8` `.u16` "
       "`.u32` `.u64` `.s8` `.s16` `.s32` `.s64` `.f32` `.f64` was expected"},
      {"st.global.L2::evict_last.u32 [%rd1], %r1;", "sm_100",
       "`st`: `.L2::evict_last` in an access of 32 bits, `.v8` of 32-bit or `.v4` of 64-bit "
       "elements was expected"},
      {"st.global.u32 [%rd1], %r1, %rd9;", "sm_90",
       "`st`: found 3 operands, 2 were expected (3 with `.L2::cache_hint`)"},
      {"st.global.L2::cache_hint.u32 [%rd1], %r1, %r2;", "sm_90",
       "`st`: the .b32 register `%r2` as cache policy, a 64-bit integer register or constant was "
       "expected"},
      {"st.global.u32 [sbuf], %r1;", "sm_90",
       "`st`: the .shared variable `sbuf` in an instruction of .global, a .global variable was "
       "expected"},
      {"st.global.u32 [100], %r1;", "sm_90",
       "`st`: a constant address in .global space, a register or a variable was expected (only "
       ".local takes constants)"},
      {"st.global.u32 [%r1], %r1;", "sm_90",
       "`st`: an address of 32 bits, 64 bits were expected (32-bit programs end with .version 7.8 "
       "and sm_89)"},
      {"st.global.u64 [%rd1], %r1;", "sm_90",
       "`st`: the .b32 register `%r1`, .u64 or a wider register was expected"},
      {"st.param.u64 [kp0], %rd1;", "sm_90",
       "`st`: a store into the kernel parameter `kp0`, a parameter of a call was expected"},
      {"@%p1 st.param.u32 [pbuf], %r1;", "sm_90",
       "`st`: a predicate on an access to the call parameter `pbuf`, none was expected"},
      {"ld.nc.u32 %r1, [%rd1];", "sm_90", "`ld`: a qualifier is missing, `.global` was expected"},
      {"createpolicy.fractional.L2::evict_last.b64 %rd2, 2.0;", "sm_90",
       "`createpolicy`: a fraction of 2.000000, more than 0 and at most 1 was expected"},
      {"discard.global.L2 [%rd1], 64;", "sm_90", "`discard`: the constant 64, 128 was expected"},
      {"cvt.f16.f32 %h1, %f1;", "sm_90",
       "`cvt`: a rounding is missing, one of `.rn` `.rz` `.rm` `.rp` was expected"},
      {"mov.u32 %r1, pbuf;", "sm_90",
       "`mov`: the address of the call parameter `pbuf`, a variable of another space was expected"},
      {"sto.global.u32 [%rd1], %r1;", "sm_90",
       "`sto` is no instruction of PTX, a known one was expected"},
      {"@%r1 st.global.u32 [%rd1], %r1;", "sm_90",
       "`@%r1`: not a predicate register, a .pred register was expected"},
  };
  for (const Case& c : cases) expect(c, "9.0");
}

TEST_CASE("an error stands at the operand it is about") {
  const ptx::ParseResult parsed = ptx::parse(module_with("st.global.u64 [%rd1], %r1;"), 0);
  const auto found = ptx::check(parsed.module);
  REQUIRE(found.size() == 1);
  CHECK(found[0].line == 31);
  CHECK(found[0].column == 23);
}

TEST_CASE("parameters of functions, and 32-bit programs") {
  const auto messages = [](const std::string& text, const char* target) {
    const ptx::ParseResult parsed = ptx::parse(text, 0);
    REQUIRE(parsed.ok());
    ptx::CheckOptions options;
    options.target = target;
    std::vector<std::string> all;
    for (const Diagnostic& d : ptx::check(parsed.module, options)) all.push_back(d.message);
    return all;
  };
  const std::string function =
      ".func (.param .b32 result) f(.param .b32 x)\n{\n  .reg .b32 %r<2>;\n"
      "  ld.param.u32 %r1, [x];\n  st.param.u32 [result], %r1;\n";
  const std::string header = ".version 7.8\n.target sm_80\n.address_size ";
  CHECK(messages(header + "64\n" + function + "  ret;\n}\n", "sm_80").empty());
  const auto stored =
      messages(header + "64\n" + function + "  st.param.u32 [x], %r1;\n  ret;\n}\n", "sm_80");
  REQUIRE(stored.size() == 1);
  CHECK(stored[0] ==
        "`st`: a store into the function's parameter `x`, a parameter of a call was expected");
  const std::string narrow =
      header + "32\n" + function + "  st.global.u32 [%r1], %r1;\n  ret;\n}\n";
  CHECK(messages(narrow, "sm_80").empty());
  CHECK(messages(narrow, "sm_90").size() == 2);
}

TEST_CASE("the manual's order and text") {
  CHECK(manual_errors("st.relaxed.gpu.global.L1::evict_last.L2::cache_hint.v4.f32 [%rd1], "
                      "{%f1, %f2, %f3, %f1}, %rd9;")
            .empty());
  CHECK(manual_errors("st.weak.global.cg.u32 [%rd1], %r1;").empty());
  CHECK(manual_errors("st.mmio.relaxed.sys.global.u32 [%rd1], %r1;").empty());
  CHECK(manual_errors("ld.global.nc.L1::no_allocate.v4.s32 {%r1,%r2,%r3,%r4}, [%rd1];").empty());
  const auto late = manual_errors("st.global.relaxed.sys.u32 [%rd1], %r1;");
  REQUIRE(late.size() == 1);
  CHECK(late[0] == "`st`: `.relaxed` stands too late, it was expected before `.global`");
  CHECK_FALSE(manual_errors("st.global.u32 [%rd1], 5;").empty());
  CHECK_FALSE(manual_errors("st.global.v8.b16 [%rd1], "
                            "{%h1,%h2,%h3,%h4,%h5,%h6,%h7,%h8};")
                  .empty());
  CHECK_FALSE(manual_errors("st.global.cg.L2::evict_first.v8.b32 [%rd1], "
                            "{%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8};")
                  .empty());
  // The assembler takes all four.
  for (const char* line :
       {"st.global.relaxed.sys.u32 [%rd1], %r1;", "st.global.u32 [%rd1], 5;",
        "st.global.v8.b16 [%rd1], {%h1,%h2,%h3,%h4,%h5,%h6,%h7,%h8};",
        "st.global.cg.L2::evict_first.v8.b32 [%rd1], {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8};"}) {
    CAPTURE(std::string(line));
    CHECK(errors(line, {}).empty());
  }
}

TEST_CASE("compiled kernels are legal") {
  size_t files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(LANEWISE_TEST_DATA "/kernels/data/ptx")) {
    if (entry.path().extension() != ".ptx") continue;
    CAPTURE(entry.path().filename().string());
    ++files;
    const ptx::ParseResult parsed = ptx::parse(read(entry.path().string()));
    for (const Diagnostic& d : ptx::check(parsed.module)) FAIL_CHECK(d.line, ": ", d.message);
    ptx::CheckOptions newer;
    newer.target = "sm_90";
    newer.version = 90;
    for (const std::string& e : errors_of(ptx::check(parsed.module, newer))) FAIL_CHECK(e);
  }
  CHECK(files >= 33);
}
