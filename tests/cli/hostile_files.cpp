// Files made to break the program: each is one error that says where and why, soon.
#include <chrono>

#include "tests/cli/support.hpp"

using namespace cli_test;

namespace {

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  all.reserve(text.size() * times);
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

/// One message that names the file and can be read.
void check_refused(const std::string& arguments, int code, const std::string& why) {
  CAPTURE(arguments);
  const auto start = std::chrono::steady_clock::now();
  const Output o = program(arguments);
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CAPTURE(o.err);
  CHECK(o.code == code);
  CHECK(contains(o.err, why));
  CHECK(o.err.size() < 20000);
  CHECK(seconds < 60);
}

const std::string kGcn = ".amdgcn_target \"amdgcn-amd-amdhsa--gfx803\"\nk:\n";

}  // namespace

TEST_CASE("call chains of any depth" * kHostCase) {
  for (const size_t depth : {size_t{300}, size_t{6000}}) {
    std::string text = kHeader + ".func f0() { ret; }\n";
    for (size_t i = 1; i < depth; ++i)
      text += ".func f" + std::to_string(i) + "() { call f" + std::to_string(i - 1) + "; ret; }\n";
    text += ".visible .entry k() { call f" + std::to_string(depth - 1) + "; ret; }\n";
    const std::string file = write("calls.ptx", text);
    if (depth == 300) {
      CHECK(program("check " + file).code == 0);
      continue;
    }
    check_refused("check " + file, 1, "calls are nested deeper than 512");
    check_refused("run --device reference " + file, 1, "calls are nested deeper than 512");
  }
}

TEST_CASE("shared memory beyond its window, whoever uses it" * kHostCase) {
  const std::string own = write("shared_own.ptx", kHeader + R"(
.visible .entry k() {
  .shared .b8 s[20000000]; .shared .b8 t[20000000];
  .reg .b32 %r<2>;
  ld.shared.u32 %r1, [s];
  mov.u32 %r1, t;
  ret;
}
.visible .entry l() { ret; }
)");
  const std::string module = write("shared_module.ptx", kHeader + R"(
.shared .b8 s[20000000];
.shared .b32 t;
.func f() { .reg .b32 %r<2>; ld.shared.u32 %r1, [t]; ld.shared.u32 %r1, [s]; ret; }
.visible .entry k() { .reg .b32 %r<2>; ld.shared.u32 %r1, [t]; call f; ret; }
.visible .entry l() { ret; }
)");
  for (const std::string& file : {own, module}) {
    check_refused("check " + file, 1, "shared variables of kernel 'k' exceed 16 MiB");
    check_refused("run --device reference " + file + " --kernel k", 1, "exceed 16 MiB");
    CHECK(lines_of(program("check " + file).err) == 1);
    CHECK(program("run --device reference " + file + " --kernel l").code == 0);
  }
}

TEST_CASE("tokens of megabytes are cut in messages" * kHostCase) {
  const std::string big = repeated("a", 4 << 20);
  const std::string cut = "... (4194";
  check_refused("check " + write("t1.ptx", kHeader + ".visible .entry k() { " + big + "; }\n"), 1,
                cut);
  check_refused("check " + write("t2.ptx", kHeader + ".visible .entry k() { bra " + big + "; }\n"),
                1, cut);
  check_refused(
      "check " + write("t3.ptx", kHeader + ".visible .entry k() { mov.u32 %" + big + ", 1; }\n"), 1,
      cut);
  check_refused("check " + write("t.s", kGcn + " v_" + big + " v0, v1\n"), 1, cut);
  check_refused("asm --tsv " + write("t.s", kGcn + " v_" + big + " v0, v1\n"), 1, cut);
  check_refused("check " + write("t.sass", ".headerflags @\"EF_CUDA_SM52\"\n.text.k:\n " + big), 1,
                cut);
  check_refused("check " + write("t.lw", "isa " + big), 1, cut);
  check_refused("run " + write("t4.lw", big), 1, cut);
  check_refused("cache --preset gv100 " + write("t.din", "r " + big + " 4\n"), 2,
                "t.din:1: the line is longer than 1048576 bytes");
  check_refused("cache --preset gv100 " + write("t.din", "r " + repeated("a", 1 << 19) + " 4\n"), 2,
                "... (524");
  // As much as a command line takes.
  const std::string word = repeated("b", 100000);
  check_refused("run " + write("t5.ptx", kHeader + ".visible .entry k() { ret; }\n") +
                    " --device reference --kernel " + word,
                2, "... (1000");
  check_refused("run " + word, 2, "File name too long");
}

TEST_CASE("many errors take a time in proportion" * kHostCase) {
  check_refused("check " + write("e1.ptx", kHeader + ".visible .entry k() {\n" +
                                               repeated("what;\n", 100000) + "}\n"),
                1, "e1.ptx:5:1: error: ");
  std::string jumps = kHeader + ".visible .entry k() {\n";
  for (unsigned i = 0; i < 50000; ++i) jumps += "bra L" + std::to_string(i) + ";\n";
  check_refused("check " + write("e2.ptx", jumps + "}\n"), 1,
                "the unknown name `L0`, a label was expected");
  check_refused("check " + write("e3.s", kGcn + repeated(" what v0\n", 200000)), 1,
                "unknown instruction 'what'");
}

TEST_CASE("a straight line of 200,000 GCN instructions takes a time in proportion" * kHostCase) {
  const auto start = std::chrono::steady_clock::now();
  const Output o =
      program("check " + write("long.s", kGcn + repeated(" v_add_u32 v0, vcc, v1, v2\n", 200000) +
                                             " s_endpgm\n"));
  CAPTURE(o.err);
  CHECK(o.code == 0);
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < 60);
}

TEST_CASE("files that never end" * kHostCase) {
  for (const std::string command :
       {"check", "run --device reference", "asm --tsv", "disasm", "disasm --raw --isa sass"}) {
    const std::string zero = device_file("zero", 5);
    if (zero.empty()) return;
    check_refused(command + " " + zero, 2, "it is larger than 268435456 bytes");
  }
  const std::string file =
      write("zero.ptx", kHeader + ".visible .entry k(.param .u64 p) { ret; }\n");
  const std::string zero = device_file("zero", 5);
  check_refused("run --device reference " + file + " --arg in:" + zero, 2,
                "it is larger than 268435456 bytes");
}

TEST_CASE("times that are no times") {
  const std::string file = write("times.ptx", kHeader + ".visible .entry k() { ret; }\n");
  for (const std::string time : {"nan", "-nan", "-1", "inf", "x"})
    check_refused("run --device reference " + file + " --timeout " + time, 2, "--timeout");
  CHECK(program("run --device reference " + file + " --timeout 1e300").code == 0);
}

TEST_CASE("machine code that is none makes a page of warnings, not a book" * kHostCase) {
  const std::string bytes = write("none.bin", repeated("{", 400000));
  const Output o = program("disasm --raw --isa gcn " + bytes);
  CHECK(o.code < 3);
  CHECK(lines_of(o.err) <= 102);
  CHECK(contains(o.err, " more warnings"));
}
