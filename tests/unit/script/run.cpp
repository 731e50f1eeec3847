// Scripts on the reference engine: what passes, what fails, and what is reported.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "runtime/reference/reference.hpp"
#include "runtime/script/script.hpp"

using namespace lanewise;

namespace {

struct Outcome {
  std::vector<script::CaseResult> cases;
  std::string text;  ///< every message, "LINE:COLUMN: message" a line
  bool ok() const {
    for (const auto& c : cases)
      if (!c.ok()) return false;
    return !cases.empty();
  }
  bool says(std::string_view part) const { return text.find(part) != std::string::npos; }
};

Outcome run(const std::string& source, const script::RunOptions& options = {}) {
  Outcome out;
  const auto add = [&](const std::vector<Diagnostic>& list) {
    for (const Diagnostic& d : list)
      out.text += std::to_string(d.line) + ":" + std::to_string(d.column) + ": " + d.message + "\n";
  };
  const script::Script s = script::parse(source, 0);
  add(s.diagnostics);
  const auto engine = reference::make_engine();
  for (const script::Case& c : s.cases) {
    // Whatever runs was found right by check, too; what check refuses does not run.
    const script::CaseResult checked = script::check(c, options);
    out.cases.push_back(script::run(c, *engine, options));
    CHECK(checked.diagnostics.size() == out.cases.back().diagnostics.size());
    add(out.cases.back().diagnostics);
    add(out.cases.back().failures);
    out.text += out.cases.back().unsupported;
  }
  return out;
}

/// One PTX case around statements.
std::string ptx(const std::string& statements) {
  return "isa ptx\ncase \"t\" {\n" + statements + "\n}\n";
}

const std::string kAdd = "reg .b32 %r = 10 * lane\ncode \"\"\"\nadd.u32 %r, %r, 1;\n\"\"\"\n";

}  // namespace

TEST_CASE("a case that holds passes, one that does not says which lanes, in hex and as values") {
  CHECK(run(ptx(kAdd + "expect %r == 10 * lane + 1")).ok());
  const Outcome bad = run(ptx(kAdd + "expect %r == (lane < 30 ? 10 * lane + 1 : -1)"));
  CHECK_FALSE(bad.ok());
  CHECK(bad.says("7:1: %r: 2 of 32 lanes differ"));
  CHECK(bad.says("lane 30: expected 0xffffffff (-1), found 0x0000012d (301)"));
  CHECK_FALSE(bad.says("lane 29"));
  const Outcome many = run(ptx(kAdd + "expect %r == 5"));
  CHECK(many.says("lane 7:"));
  CHECK_FALSE(many.says("lane 8:"));
  CHECK(many.says("... and 24 more"));
}

TEST_CASE("floats are compared by bits and shown by value; nan stands for every NaN") {
  const std::string code =
      "reg .f32 %f = lane == 0 ? nan : lane == 1 ? -0.0 : 1.5 * lane\ncode \"\"\"\nmul.f32 %f, %f, "
      "0f40000000;\n\"\"\"\n";
  CHECK(run(ptx(code + "expect %f == lane == 0 ? nan : lane == 1 ? -0.0 : 3.0 * lane")).ok());
  const Outcome zero = run(ptx(code + "expect %f lanes 1 == 0.0"));
  CHECK(zero.says("expected 0x00000000 (0), found 0x80000000 (-0)"));
  CHECK(run(ptx(code + "expect %f lanes 2 == nan")).says("expected a NaN, found 0x40c00000 (6)"));
}

TEST_CASE("inactive lanes keep their values, and only active lanes are compared") {
  const Outcome o = run(ptx("active lanes 0..3, 9\n" + kAdd +
                            "expect %r == 10 * lane + 1\nexpect %r lanes inactive == 10 * lane\n"
                            "expect %r lanes all == 10 * lane + active"));
  CHECK(o.ok());
  CHECK_FALSE(run(ptx("active lanes 0..3\n" + kAdd + "expect %r lanes all == 10 * lane + 1")).ok());
  CHECK(run(ptx("active mask 1 << wave\nwaves 3\n" + kAdd +
                "expect %r lanes all == 10 * lane + (lane == wave ? 1 : 0)"))
            .ok());
}

TEST_CASE("faults: none, the expected ones, others, and where") {
  const std::string load =
      "active lanes 0..7\nreg .b64 %a = lane\nreg .b32 %r\ncode \"\"\"\nld.global.u8 %r, "
      "[%a];\n\"\"\"\n";
  const Outcome none = run(ptx(load));
  CHECK(none.says("faults: 8 of 32 lanes differ"));
  CHECK(
      none.says("lane 0: expected no fault, found null, 1 bytes at 0x0, by 'ld.global.u8 %r, [%a]' "
                "(line 7)"));
  CHECK(run(ptx(load + "expect fault null address lane size 1 text \"u8\"")).ok());
  CHECK(run(ptx(load + "expect fault null lanes 0..6")).says("lane 7: expected no fault"));
  CHECK(run(ptx(load + "expect fault null address 3")).says("expected null at 0x3, found null"));
  CHECK(run(ptx(load + "expect fault trap")).says("expected trap, found null"));
  CHECK(run(ptx(kAdd + "expect fault null lanes 4")).says("lane 4: expected null, found no fault"));
}

TEST_CASE("memory: slices, other types, unchanged") {
  const std::string store =
      "buffer b u32[40] = iota 1\nreg .b64 %a = b + 4 * lane\nreg .b32 %r = lane\ncode "
      "\"\"\"\nst.global.u32 [%a], %r;\n\"\"\"\n";
  CHECK(run(ptx(store + "expect b[0..31] == i\nexpect b[32..39] unchanged\nexpect b as u8[4..7] == "
                        "[1, 0, 0, 0]\nexpect b[3] == 3"))
            .ok());
  CHECK(run(ptx(store + "expect b unchanged"))
            .says("[0]: expected 0x00000001 (1), found 0x00000000"));
  CHECK(run(ptx(store + "expect b[39..40] == 0")).says("elements 39 to 40 are not in 'b'"));
  CHECK(run(ptx(store + "expect b[0..1] == [1, 2, 3]")).says("expected to be a list of 3"));
}

TEST_CASE("a lane that traps has no registers to show") {
  const Outcome o =
      run(ptx("reg .pred %p = lane == 2\nreg .b32 %r = 1\ncode \"\"\"\n@%p trap;\n\"\"\"\nexpect "
              "fault trap "
              "lanes 2\nexpect %r == 1"));
  CHECK(o.says("lane 2: expected 0x00000001 (1), found a lane that never came to its end"));
}

TEST_CASE("rejections must say what is expected, and nothing else") {
  const std::string bad = "code \"\"\"\nld.global.u32 %nope, [%a];\n\"\"\"\nreg .b64 %a\n";
  CHECK(run(ptx(bad + "expect rejected \"%nope\"")).ok());
  CHECK_FALSE(run(ptx(bad + "expect rejected \"something else\"")).ok());
  CHECK_FALSE(run(ptx(kAdd + "expect rejected")).ok());
  CHECK(run(ptx(kAdd + "expect rejected")).says("it was accepted"));
  CHECK(run(ptx(bad)).says("4:15: `ld`"));
}

TEST_CASE("several groups and waves have their own registers and shared memory") {
  const Outcome o =
      run(ptx("grid 2,2\nblock 8,5\nreg .b32 %r = gid, %s\ncode \"\"\"\nadd.u32 %s, %r, "
              "%r;\n\"\"\"\nexpect %s "
              "== 2 * (group * 40 + tid)\nexpect %r where (wave == 1) == group * 40 + 32 + lane"));
  CHECK(o.ok());
}

TEST_CASE("a module's kernels run in order on the same buffers; dumps and files round-trip") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("lanewise-script-" + std::to_string(std::rand()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "k.ptx") << R"(.version 7.5
.target sm_75
.address_size 64
.global .u32 calls = 3;
.visible .entry add(.param .u64 p, .param .f32 by) {
  .reg .b64 %a, %o; .reg .f32 %f, %g; .reg .b32 %t;
  ld.param.u64 %a, [p]; ld.param.f32 %f, [by];
  mov.u32 %t, %tid.x; mul.wide.u32 %o, %t, 4; add.u64 %a, %a, %o;
  ld.global.f32 %g, [%a]; add.f32 %g, %g, %f; st.global.f32 [%a], %g;
  ret;
})";
  const std::string dump = (folder / "x.npy").string();
  const script::RunOptions options{folder.string(), true, 1 << 20};
  const Outcome o =
      run("case \"two\" {\nmodule \"k.ptx\"\nbuffer x f32[16] = iota\nlaunch add block 16 "
          "args x, 2\nexpect x == i + 2\nlaunch add block 8 args x, f32 0.5\nexpect "
          "x[0..7] == i + 2.5\nexpect x[8..15] == i + 2\ndump x \"" +
              dump + "\"\n}",
          options);
  CHECK(o.text == "");
  CHECK(o.ok());
  CHECK(run("case \"file\" {\nisa sass\nbuffer x f32[] = file \"x.npy\"\nreg R2 = x + 4 * "
            "lane\nactive "
            "lanes 0..15\ncode \"\"\"\nLDG R0, [R2] ;\n\"\"\"\nexpect R0 as f32 == lane < 8 ? lane "
            "+ 2.5 "
            ": lane + 2.0\n}",
            options)
            .ok());
  CHECK(run("case \"x\" {\nmodule \"k.ptx\"\nlaunch sub args 1\n}", options)
            .says("no kernel 'sub'; there are: add"));
  CHECK(run("case \"x\" {\nmodule \"k.ptx\"\nlaunch add args 1\n}", options)
            .says("takes 2 arguments, 1 are given"));
  std::filesystem::remove_all(folder);
}

TEST_CASE("every buffer lies where it always lies, and the next case starts from zero") {
  const Outcome o = run(R"(isa ptx
memcheck arena
buffer a u8[3] = iota 1
buffer b u32[2]
case "first" {
  reg .b64 %p = a
  code """
    st.global.u32 [%p+512], 7;
    st.global.u32 [%p+65536], 9;
  """
  expect b[0] == a == 0x10000000 && b == 0x10000200 ? 7 : 0
}
case "second" {
  reg .b64 %p = a
  reg .b32 %x, %y
  code """
    ld.global.u32 %x, [%p+512];
    ld.global.u32 %y, [%p+65536];
  """
  expect %x == 0
  expect %y == 0
}
)");
  CHECK(o.text == "");
}

TEST_CASE("pixel mode and absent pages: what is refused") {
  CHECK(run(ptx("pixel\n" + kAdd)).says("3:1: only SASS has a pixel mode"));
  const auto sass = [](const std::string& statements) {
    return run("isa sass\ntarget sm_52\ncase \"t\" {\n" + statements +
               "\ncode \"\"\"\nLDG.E P0, R0, [R2] ;\n\"\"\"\n}\n");
  };
  CHECK(sass("pixel coverage 5").says("4:16: expected 'coverage lanes 0..3, 8' or 'coverage mask"));
  CHECK(sass("pixel helpers mask lane").says("'lane'"));
  CHECK(sass("buffer b u32[16384] absent pages 0, 1")
            .says("has 1 pages of 65536 bytes, there is no "
                  "page 1"));
  CHECK(sass("buffer b u32[4] absent 0").says("expected 'absent pages 1, 3..4'"));
  CHECK(sass("buffer b u32[4] absent pages active").says("expected page numbers or 'all'"));
  CHECK(sass("pixel helpers lanes 3\nbuffer b u32[] = [1, 2] absent pages all\n"
             "reg R2:R3 = b")
            .ok());
}
