// Programs of several files (tests/kernels/data/linked), by the command line and by the C++ API.
#include <algorithm>
#include <array>

#include "lanewise/lanewise.hpp"
#include "runtime/support/npy.hpp"
#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

const std::string kFolder = LANEWISE_TEST_DATA "/kernels/data/linked/";

std::string files(const std::string& ending) {
  return kFolder + "main" + ending + " " + kFolder + "pick" + ending + " " + kFolder + "scale" +
         ending + " ";
}

/// What the sources say, in the host's words.
int32_t expected(int32_t i) {
  constexpr std::array<int32_t, 4> kFactors = {100, 200, 300, 400};
  const int32_t weight = 10 * i + 1, step = 2 * i + 7, scaled = (i - 1) * kFactors[1];
  const int32_t picked = (i % 2 != 0 ? 3 * i : 2 * i) + weight;
  return weight + step + scaled + picked + kFactors[static_cast<size_t>(i % 4)];
}

const std::string kHead = ".version 7.8\n.target sm_52\n.address_size 64\n";
const std::string kUser = kHead +
                          ".extern .func (.param .b32 r) value(.param .b32 x);\n"
                          ".visible .entry k(.param .u64 p)\n{\n  .reg .b64 %rd<2>;\n  .reg "
                          ".b32 %r<2>;\n  ld.param.u64 %rd1, [p];\n  {\n  .param .b32 x;\n  "
                          ".param .b32 r;\n  st.param.b32 [x], 3;\n  call.uni (r), value, "
                          "(x);\n  ld.param.b32 %r1, [r];\n  }\n  st.global.u32 [%rd1], "
                          "%r1;\n  ret;\n}\n";
std::string definition(const std::string& linkage, int of) {
  return kHead + linkage + " .func (.param .b32 r) value(.param .b32 x)\n{\n  st.param.b32 [r], " +
         std::to_string(of) + ";\n  ret;\n}\n";
}

}  // namespace

TEST_CASE("linking: PTX texts, cubins and fat binaries of three files give the host's values") {
  for (const std::string ending : {".ptx", ".cubin", ".fatbin"}) {
    CAPTURE(ending);
    const std::string out = scratch() + "/linked.npy";
    const Output done = run(
        files(ending) + "--kernel program --block 64 --arg i32:50 --arg out:" + out + ":i32[50]");
    CHECK(done.err == "");
    REQUIRE(done.code == 0);
    const lanewise::npy::Array made = lanewise::npy::parse_npy(slurp(out), out);
    REQUIRE(made.bytes.size() == 200);
    for (int32_t i = 0; i < 50; ++i) {
      int32_t value = 0;
      std::memcpy(&value, made.bytes.data() + 4 * static_cast<size_t>(i), 4);
      CAPTURE(i);
      CHECK(value == expected(i));
    }
    // A function that another file defines, through a pointer in a variable of a third one.
    const Output second = run(files(ending) + "--kernel second --arg out:" + out + ":i32[1]");
    CHECK(second.code == 0);
    const lanewise::npy::Array one = lanewise::npy::parse_npy(slurp(out), out);
    int32_t value = 0;
    std::memcpy(&value, one.bytes.data(), 4);
    CHECK(value == 51 + 400 + 6);
  }
}

TEST_CASE("linking: each way to fail has its message" * kHostCase) {
  const std::string user = write("user.ptx", kUser);
  const std::string one = write("one.ptx", definition(".visible", 1));
  const std::string two = write("two.ptx", "\n\n" + definition(".visible", 2));
  const std::string weak = write("weak.ptx", definition(".weak", 9));
  const std::string cubins = kFolder + "main.cubin " + kFolder + "pick.cubin";
  const auto fails = [](const std::string& arguments, int code, const std::string& message) {
    const Output o = program("run --device reference " + arguments + " --arg zero:i32[1]");
    CAPTURE(o.err);
    CHECK(o.code == code);
    CHECK(contains(o.err, message));
  };
  CHECK(program("run --device reference " + user + " " + weak + " " + one + " --arg zero:i32[1]")
            .code == 0);
  fails(user + " " + one + " " + two, 1, two + ":6:");
  fails(user + " " + one + " " + two, 1, "'value' is defined in " + one + ", line 4, already");
  fails(user, 1, "'value'");
  fails(user + " " + kFolder + "main.cubin", 2, "files of one language can be linked");
  fails(cubins + " " + kFolder + "pick.cubin", 1,
        "'table' is defined in " + kFolder + "pick.cubin and in " + kFolder + "pick.cubin");
  fails(cubins + " --kernel program", 1, "'counts', which no file here defines");
  fails(kFolder + "pick.cubin " + kFolder + "scale.cubin " +
            LANEWISE_TEST_DATA "/conformance/ptx_loops.lw",
        2, "scripts cannot");
  fails(kFolder + "pick.cubin " + kFolder + "pick.cu", 2, "cannot determine what language");
}

TEST_CASE("linking: parts that say different things of a name are refused where nvlink does" *
          kHostCase) {
  struct Row {
    std::string part, subject, ptx_says, ptx_line, user_line;
  };
  const Row kRows[] = {
      {"prototype", "value", "is a function (.b64) (.b64) here, but is a function (.b32) (.b32)",
       "4", "4"},
      {"float", "value", "is a function (.f32) (.f32) here, but is a function (.b32) (.b32)", "4",
       "4"},
      {"size", "table", "has 8 bytes here, but has 16 bytes", "9", "5"},
      {"space", "table", "is .const here, but is .global", "9", "5"},
      {"function", "table", "is .func here, but is .global", "9", "5"}};
  const auto runs = [](const std::string& files, const std::string& kernel) {
    return program("run --device reference " + files + " --kernel " + kernel +
                   " --grid 1 --block 1 --arg print:i32[1]");
  };
  const std::string wrong = kFolder + "wrong/";
  for (const std::string ending : {".ptx", ".cubin"}) {
    const std::string user = wrong + "user" + ending;
    const auto with = [&](const std::string& part) { return user + " " + wrong + part + ending; };
    for (const Row& r : kRows) {
      CAPTURE(r.part + ending);
      const Output o = runs(with(r.part), "k");
      CHECK(o.code == 1);
      const bool ptx = ending == ".ptx";
      CHECK(contains(o.err, wrong + r.part + ending + (ptx ? ":" + r.ptx_line + ":" : ":")));
      CHECK(contains(o.err, "'" + r.subject + "' " + r.ptx_says + " in " + user +
                                (ptx ? ", line " + r.user_line : "")));
      CHECK(std::ranges::count(o.err, '\n') == 1);
    }
    for (const auto& [part, name] : {std::pair("again", "value"), std::pair("kernel", "k")}) {
      CAPTURE(part + ending);
      const Output o = runs(with("right") + " " + wrong + part + ending, "k");
      CHECK(o.code == 1);
      CHECK(contains(o.err, "'" + std::string(name) + "' is defined in"));
      CHECK(std::ranges::count(o.err, '\n') == 1);
    }
    const Output missing = runs(user, "k");
    CHECK(missing.code == 1);
    CHECK(contains(missing.err, "'table'"));
    // Both count in one variable: the larger one.
    const Output right = runs(with("right"), "k");
    CAPTURE(right.err);
    CHECK(right.code == 0);
    CHECK(contains(right.out, "6"));
    CHECK(runs(with("right"), "last").code == 0);
    CHECK(runs(wrong + "right" + ending + " " + user, "last").code == 0);
  }
  const std::string other = runs(wrong + "user.cubin " + wrong + "other.cubin", "k").err;
  CHECK(contains(other, "it is for sm_60, but " + wrong + "user.cubin is for sm_52"));
  // PTX is compiled for one target, whatever its parts name.
  CHECK(runs(wrong + "user.ptx " + wrong + "other.ptx", "k").code == 0);
  const std::string narrow = write("narrow.ptx", ".version 7.8\n.target sm_52\n.address_size 32\n");
  CHECK(contains(runs(wrong + "user.ptx " + wrong + "right.ptx " + narrow, "k").err,
                 "addresses have 32 bits here, but have 64 bits in " + wrong + "user.ptx, line 3"));
}

TEST_CASE("linking: a kernel that launches a kernel is named as such, beside others that run" *
          kHostCase) {
  for (const std::string ending : {".ptx", ".cubin"}) {
    const auto linked = [&](const std::string& kernel) {
      return program("run --device reference " + kFolder + "launches" + ending + " " + kFolder +
                     "scale" + ending + " --grid 1 --block 1 --arg zero:i32[1] --kernel " + kernel);
    };
    CHECK(linked("child").code == 0);
    const Output refused = linked("parent");
    CAPTURE(refused.err);
    CHECK(refused.code == 1);
    CHECK(contains(refused.err, "the address of kernel 'child'"));
    CHECK(contains(refused.err,
                   "(dynamic parallelism), which is not supported: launch it from the host"));
    CHECK(!contains(refused.err, "relocation type"));
  }
}

TEST_CASE("linking: a fault names the file and the line of it" * kHostCase) {
  const std::string user = write("user.ptx", kUser);
  const std::string bad =
      write("bad.ptx",
            kHead +
                ".visible .func (.param .b32 r) value(.param .b32 x)\n{\n  .reg .b64 %rd<2>;\n  "
                "mov.u64 %rd1, 64;\n  st.global.u32 [%rd1], 1;\n  ret;\n}\n");
  const Output o = program("run --device reference " + user + " " + bad + " --arg zero:i32[1]");
  CHECK(o.code == 1);
  CHECK(contains(o.err, bad + ":8"));
}

TEST_CASE("linking: the C++ API" * kHostCase) {
  lanewise::Device device = lanewise::Device::open("reference");
  const std::array<lanewise::ModuleInput, 2> files = {
      lanewise::ModuleInput{kUser, "user.ptx"},
      lanewise::ModuleInput{definition(".visible", 41), "value.ptx"}};
  const lanewise::Buffer out = device.allocate(4, "out");
  device.link(files).kernel("k").launch({}, out).check();
  CHECK(out.read<int32_t>().at(0) == 41);
  CHECK_THROWS_AS(device.link({}), lanewise::Error);
}
