// What stands around instructions: macros, repetitions, conditions, included files, symbols and
// data. Each text must be the bytes of the plain one beside it.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "runtime/isa/gcn/gcn.hpp"
#include "tests/support/sanitized.hpp"

using namespace lanewise;

namespace {

std::vector<std::byte> assembled(const std::string& text) {
  const gcn::Listing l = gcn::parse(text, gcn::Gen::gfx8);
  for (const Diagnostic& d : l.diagnostics) FAIL_CHECK(d.line << ": " << d.message << "\n" << text);
  return l.image ? l.image->init : std::vector<std::byte>();
}

void same(const std::string& text, const std::string& plain) {
  const std::string around = "k:\n{}\ns_endpgm\n";
  CHECK_MESSAGE(assembled(fmt::format(fmt::runtime(around), text)) ==
                    assembled(fmt::format(fmt::runtime(around), plain)),
                text);
}

std::string complaint_about(const std::string& text) {
  const gcn::Listing l = gcn::parse(text, gcn::Gen::gfx8);
  for (const Diagnostic& d : l.diagnostics)
    if (!d.warning) return fmt::format("{}: {}", d.line, d.message);
  return "";
}

void ends_quickly(const std::string& text, const std::string& message) {
  const std::clock_t start = std::clock();  // of the processor: others may work beside the test
  CHECK(complaint_about(text).find(message) != std::string::npos);
  CHECK(std::clock() - start < 10 * CLOCKS_PER_SEC);
}

}  // namespace

TEST_CASE("gcn source: macros and their arguments") {
  const std::string add = ".macro add dst, src:req, n=1\nv_add_u32 \\dst, vcc, \\n, \\src\n.endm\n";
  same(add + "add v1, v2\nadd v3 v4 7\nadd src=v5, dst=v6\nadd v7, v8, 2 + 3 * 1",
       "v_add_u32 v1, vcc, 1, v2\nv_add_u32 v3, vcc, 7, v4\nv_add_u32 v6, vcc, 1, v5\n"
       "v_add_u32 v7, vcc, 5, v8");
  // All that is left, a number for each call, and names that end where the next character fits.
  same(
      ".macro each first, rest:vararg\ns_mov_b32 s0, \\first\n.ifnb \\rest\neach \\rest\n.endif\n"
      ".endm\neach 1, 2, 3",
      "s_mov_b32 s0, 1\ns_mov_b32 s0, 2\ns_mov_b32 s0, 3");
  same(".macro here r\n.Lx\\@: s_branch .Lx\\@\ns_mov_b32 s\\r\\()1, 0\n.endm\nhere 1\nhere 2",
       ".La: s_branch .La\ns_mov_b32 s11, 0\n.Lb: s_branch .Lb\ns_mov_b32 s21, 0");
  same(
      ".macro outer a\n.macro inner b\ns_mov_b32 s\\a, \\b\n.endm\n.endm\nouter 3\ninner 7\n"
      ".purgem inner\n.macro inner\ns_nop 5\n.exitm\ns_nop 6\n.endm\ninner",
      "s_mov_b32 s3, 7\ns_nop 5");
  same(
      ".altmacro\n.macro m a, b\ns_mov_b32 s0, a\ns_mov_b32 s1, b\n.endm\nm %2*3, <7>\n.noaltmacro",
      "s_mov_b32 s0, 6\ns_mov_b32 s1, 7");
  same(
      ".altmacro\na = 3\nb = 4\n.macro m x, y\ns_mov_b32 s\\x, \\y\n.endm\n.macro w p, q\nm %\\p, "
      "%\\q\n"
      ".endm\nw a, b\nw (a >= b || a != b), b",
      "s_mov_b32 s3, 4\ns_mov_b32 s1, 4");
  CHECK(complaint_about(add + "k:\nadd v1\n") == "5: macro 'add' needs a value for 'src'");
  CHECK(complaint_about(add + "k:\nadd v1, v2, 3, 4\n") ==
        "5: macro 'add' takes 3 arguments, and more are here");
  CHECK(complaint_about(".macro m\n.endm\nk:\nm 1\n") ==
        "4: macro 'm' takes 0 arguments, and more are here");
  CHECK(complaint_about("k:\n.previous\n") == "2: .previous without another section in front");
  CHECK(complaint_about(add + "k:\nadd dst=v1, v2\n") ==
        "5: arguments stand in order or by name, not both");
  CHECK(complaint_about(add + "k:\nadd of=v1\n") == "5: macro 'add' has no parameter 'of'");
  CHECK(complaint_about(add + add).starts_with("4: macro 'add' is defined already"));
  CHECK(complaint_about(".macro m\ns_nop 0\n") == "1: .macro without .endm");
  CHECK(complaint_about("s_nop 0\n.endm\n") == "2: .endm without what it ends");
}

TEST_CASE("gcn source: an error says the line in the macro, and who called it") {
  CHECK(complaint_about(
            ".macro bad r\ns_nop 0\ns_mov_b32 \\r, 0\n.endm\n.macro calls\nbad x9\n.endm\nk:\n"
            "s_nop 1\ncalls\ns_endpgm\n")
            .find("(in macro 'bad', called at line 6) (in macro 'calls', called at line 10)") !=
        std::string::npos);
  CHECK(complaint_about("k:\n.rept 2\nnone\n.endr\n")
            .starts_with("3: unknown instruction 'none' (in .rept, which is at line 2)"));
}

TEST_CASE("gcn source: repetitions") {
  same(".rept 3\ns_nop 1\n.endr\n.rept 0\nnothing\n.endr", "s_nop 1\ns_nop 1\ns_nop 1");
  same(".rept 3\ns_nop 1\n.exitm\ns_nop 2\n.endr", "s_nop 1");
  same(".irp r, v1, v2, v3\nv_mov_b32 \\r, 0\n.endr",
       "v_mov_b32 v1, 0\nv_mov_b32 v2, 0\nv_mov_b32 v3, 0");
  same(".irpc c, 120\ns_mov_b32 s\\c, \\c\n.endr",
       "s_mov_b32 s1, 1\ns_mov_b32 s2, 2\ns_mov_b32 s0, 0");
  same(".set n, 0\n.rept 2\n.rept 2\ns_mov_b32 s0, n\n.set n, n + 1\n.endr\n.endr",
       "s_mov_b32 s0, 0\ns_mov_b32 s0, 1\ns_mov_b32 s0, 2\ns_mov_b32 s0, 3");
  CHECK(complaint_about(".rept -1\ns_nop 0\n.endr\n") == "1: expected a count of 0 or more");
  CHECK(complaint_about(".irpc a, 1, 2\n.endr\n") ==
        "1: expected one text, whose characters are the values");
}

TEST_CASE("gcn source: conditions") {
  const auto taken = [](const std::string& condition) {
    const auto two =
        assembled("N = 5\nk:\n" + condition + "\ns_nop 1\n.else\ns_nop 2\n.endif\ns_endpgm\n");
    return two.at(0) == std::byte{1};
  };
  for (const char* c :
       {".if 1", ".if N == 5 && N < 6", ".ifeq N-5", ".ifne N", ".ifgt N", ".ifle -N", ".ifb",
        ".ifnb x", ".ifc a b , a b", ".ifnc a,b", ".ifeqs \"a\", \"a\"", ".ifdef N", ".ifndef M",
        ".ifnotdef M", ".IF 1", ".if(N==5)", ".ifdef k", ".if .amdgcn.gfx_generation_number == 8",
        ".if (. - k) == 0"})
    CHECK_MESSAGE(taken(c), c);
  for (const char* c : {".if 0", ".if N > 5 || N < 5", ".ifb x", ".ifnes \"a\", \"a\"", ".ifdef M",
                        ".ifge -N", ".iflt N"})
    CHECK_MESSAGE(!taken(c), c);
  same(".if 0\ns_nop 1\n.elseif 1\ns_nop 2\n.elseif 1\ns_nop 3\n.else\ns_nop 4\n.endif", "s_nop 2");
  same(".if 0\nbroken\n.if 1\nbroken\n.else\n.endif\n.else\ns_nop 1\n.endif", "s_nop 1");
  CHECK(complaint_about("k:\n.if 1\ns_endpgm\n") ==
        "2: the condition that begins here has no .endif");
  CHECK(complaint_about("k:\n.if x\ns_endpgm\n.endif\n").starts_with("2: expected a number"));
  CHECK(complaint_about("k:\n.endif\n") == "2: .endif without an .if in front of it");
  CHECK(complaint_about("k:\n.if 1\n.else\n.else\n.endif\n") ==
        "4: .else without an .if in front of it");
  CHECK(complaint_about("k:\n.if 1 2\n.endif\n").find("unexpected text") != std::string::npos);
  CHECK(complaint_about("k:\n.error \"not here\"\n") == "2: .error: not here");
}

TEST_CASE("gcn source: symbols") {
  same(
      ".set a, 3\nb = a * 2\n.equ c, (b | 1) << 4\nv_mov_b32 v[a], c\nv_mov_b32 v[a+1], b-a\n"
      "s_load_dwordx2 s[a+1:b-1], s[0:1], a",
      "v_mov_b32 v3, 0x70\nv_mov_b32 v4, 3\ns_load_dwordx2 s[4:5], s[0:1], 3");
  same("1:\ns_cbranch_scc0 1f\ns_branch 1b\n1:\ns_branch 1b",
       ".La:\ns_cbranch_scc0 .Lb\ns_branch .La\n.Lb:\ns_branch .Lb");
  // A modifier's name is none of the file's, and what is computed may lie behind.
  same("offset = 8\nds_read_b32 v0, v1 offset:offset", "ds_read_b32 v0, v1 offset:8");
  same(".La:\ns_mov_b32 s0, (.Lb-.La)/4\ns_nop 0\n.Lb:",
       ".La:\ns_mov_b32 s0, .Lb-.La-9\ns_nop 0\n.Lb:");
  CHECK(complaint_about("k:\ns_nop 0\nk:\ns_endpgm\n") == "3: label 'k' is defined twice");
  CHECK(complaint_about(".equiv a, 1\n.equiv a, 2\n") == "2: 'a' is defined already");
  CHECK(complaint_about("k:\n.set k, 1\n") == "2: 'k' is defined already");
  CHECK(complaint_about("k:\ns_branch 1b\n").find("no label 1 in front") != std::string::npos);
}

TEST_CASE("gcn source: data between instructions and behind them") {
  same(".byte 1, 2\n.short 0x403\n.ascii \"P`p\\0\"\n.string \"ijk\\x6c\"\n.p2align 2",
       ".long 0x04030201, 0x706050, 0x6c6b6a69, 0");
  same(".fill 2, 2, 0x1234\n.zero 3\n.byte -1\n.float 1.5\n.double -2\n.quad 0x123456789\n.octa 5",
       ".long 0x12341234, 0xff000000, 0x3fc00000, 0, 0xc0000000, 0x23456789, 1, 5, 0, 0, 0");
  same(
      "s_branch .Lover\ntable:\n.byte 1\nodd: .byte 2, odd - table\n.byte 0\n.long .Lover - ., . - "
      "table\n"
      ".Lover:",
      "s_branch .Lover\n.long 0x10201, 8, 8\n.Lover:");
  same(".ascii \"a;b//c\" ; comment\n.byte 'x', 0", ".long 0x2f623b61, 0x78632f");
  // A comment that begins the line, and one over several lines.
  same("# 1 \"x.c\"\ns_nop 1 /* a\n b */\n// s_nop 2", "s_nop 1");
  CHECK(complaint_about("k:\n.byte 1\ns_endpgm\n").find("multiples of 4 bytes") !=
        std::string::npos);
  CHECK(complaint_about("k:\ns_endpgm\n.byte 256\n") == "3: number does not fit in 8 bits");
  CHECK(complaint_about("k:\ns_endpgm\n.long nowhere\n") ==
        "3: 'nowhere' is not defined in this file");
  CHECK(complaint_about("k:\ns_endpgm\n.long k\n").find("needs 8 bytes") != std::string::npos);
  CHECK(complaint_about("k:\ns_endpgm\n.ascii \"\\q\"\n").find("behind '\\'") != std::string::npos);
}

TEST_CASE("gcn source: addresses in data are those that the loader chooses") {
  const gcn::Listing l = gcn::parse(
      "k:\ns_endpgm\n.section .rodata\n.quad k\ntable: .quad table+4\n.long table - .\n"
      ".section .other,\"a\"\n.byte 7\n.previous\n.byte 9\n",
      gcn::Gen::gfx8);
  REQUIRE_MESSAGE(l.ok(), l.diagnostics[0].message);
  REQUIRE(l.image->relocs.size() == 2);
  CHECK(l.image->relocs[0].offset == 256);
  CHECK(l.image->relocs[0].addend == 0);
  CHECK(l.image->relocs[1].offset == 264);
  CHECK(l.image->relocs[1].addend == 268);
  CHECK(l.image->init[272] == std::byte{0xf8});
  CHECK(l.image->init[276] == std::byte{9});  // the section goes on where it was left
}

TEST_CASE("gcn source: included files") {
  const auto folder = std::filesystem::temp_directory_path() /
                      fmt::format("lanewise-include-{}",
                                  std::chrono::steady_clock::now().time_since_epoch().count());
  std::filesystem::create_directories(folder / "inner");
  const auto write = [&](const char* name, const std::string& text) {
    std::ofstream(folder / name) << text;
  };
  write("a.inc", ".include \"inner/b.inc\"\ns_nop 1\n");
  write("inner/b.inc", ".include \"c.inc\"\n.globl later\n");
  write("inner/c.inc", ".macro two\ns_nop 2\n.endm\n");
  write("loop.inc", ".include \"loop.inc\"\n");
  write("bad.inc", "s_nop 0\nnone\n");
  write("table.bin", "abcd");
  gcn::ParseOptions options{gcn::Gen::gfx8, 100, folder.string()};
  const auto parsed = [&](const std::string& text) { return gcn::parse(text, options); };
  const auto first = [&](const std::string& text) {
    const gcn::Listing l = parsed(text);
    return l.diagnostics.empty()
               ? std::string()
               : fmt::format("{}: {}", l.diagnostics[0].line, l.diagnostics[0].message);
  };
  const gcn::Listing l = parsed(
      "k:\n.include \"a.inc\"\ntwo\ns_branch later\nlater:\ns_endpgm\n.incbin \"table.bin\"\n");
  REQUIRE_MESSAGE(l.ok(), l.diagnostics[0].message);
  CHECK(l.kernels.size() == 2);  // the declaration is another file's
  CHECK(l.image->init[0] == std::byte{1});
  CHECK(l.image->init[4] == std::byte{2});
  CHECK(l.image->init[16] == std::byte{'a'});
  CHECK(first("k:\n.include \"bad.inc\"\ns_endpgm\n").find("bad.inc:2: unknown instruction") !=
        std::string::npos);
  CHECK(first("k:\n.include \"bad.inc\"\ns_endpgm\n").starts_with("2: "));
  CHECK(first("k:\n.include \"no.inc\"\ns_endpgm\n").find("no.inc") != std::string::npos);
  CHECK(first("k:\n.include \"loop.inc\"\ns_endpgm\n").find("in each other") != std::string::npos);
  CHECK(complaint_about("k:\n.include \"a.inc\"\ns_endpgm\n")
            .find("given without the folder that its files lie in") != std::string::npos);
  std::filesystem::remove_all(folder);
}

TEST_CASE("gcn source: bombs end in an error, and soon") {
  ends_quickly(".macro m\nm\nm\n.endm\nk:\nm\n", "in each other");
  if (!test::kSanitized) {  // each makes all lines that are allowed
    ends_quickly(
        ".macro m a\n.if \\a\nm \\a-1\nm \\a-1\nm \\a-1\nm \\a-1\n.endif\n.endm\nk:\nm 18\n",
        "macros and repetitions make more than");
    ends_quickly("k:\n.rept 1000000000\n.endr\n", "macros and repetitions make more than");
    ends_quickly("k:\n.rept 100000\n.rept 100000\ns_nop 0\n.endr\n.endr\n",
                 "macros and repetitions make more than");
  }
  ends_quickly("k:\n.fill 0x7fffffffffffffff, 8, 1\n", "64 MiB");
  ends_quickly("k:\n.fill 10000000, 4, 1\n", "2 MiB of data between instructions");
  ends_quickly("k:\ns_endpgm\n.rodata\n.rept 100000\n.fill 1000000, 8\n.endr\n", "64 MiB");
  ends_quickly("k:\ns_endpgm\n.rodata\n.org 0x7fffffffffffffff\n", "64 MiB");
  std::string doubling = ".set a0, (b+b)\n";
  for (int n = 1; n < 40; ++n) doubling += fmt::format(".set a{0}, (a{1}+a{1})\n", n, n - 1);
  ends_quickly(doubling + "k:\ns_mov_b32 s0, a39\ns_endpgm\n", "");
  ends_quickly("k:\n.set x, y\n.set y, x\ns_mov_b32 s0, x\ns_endpgm\n", "");
  ends_quickly("k:\n.if " + std::string(100000, '(') + "1\n.endif\n", "nests too deep");
}
