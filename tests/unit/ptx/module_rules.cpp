// Declarations, functions and directives as the two assemblers judge them, each alone in a module
// (what was asked: tests/data/oracle/ptx_module.tsv), and rules that no single line shows.
#include <array>
#include <ctime>
#include <sstream>

#include "tests/unit/ptx/check_support.hpp"

using namespace lanewise;
using namespace check_test;

namespace {

constexpr std::array<std::pair<const char*, const char*>, 8> kPairs = {{{"7.8", "sm_50"},
                                                                        {"7.8", "sm_70"},
                                                                        {"7.8", "sm_80"},
                                                                        {"7.8", "sm_90"},
                                                                        {"9.0", "sm_80"},
                                                                        {"9.0", "sm_90a"},
                                                                        {"9.0", "sm_100a"},
                                                                        {"9.0", "sm_120a"}}};

std::string header(const std::string& version, const std::string& target) {
  return ".version " + version + "\n.target " + target + "\n.address_size 64\n";
}

/// The names that the rows use, around the row.
std::string around(const std::string& row) {
  return ".global .align 32 .b8 gbuf[1024];\n.global .b32 gvar;\n.global .texref tex0;\n"
         ".global .surfref surf0;\n.const .align 64 .b8 cbuf[1024];\n"
         ".shared .align 128 .b8 sbuf[4096];\n.shared .align 8 .b64 mbar;\n"
         ".func (.param .b32 fr) f1(.param .b32 fa) { ret; }\n.func f0() { ret; }\n"
         ".func (.param .b32 er) fext(.param .b32 ea, .param .b64 eb) { ret; }\n" +
         row + "\n.visible .entry k() { ret; }\n";
}

std::vector<std::string> found(const std::string& text, const ptx::CheckOptions& options = {}) {
  const ptx::ParseResult parsed = ptx::parse(text, 0);
  std::vector<std::string> all = errors_of(parsed.diagnostics);
  for (std::string& e : errors_of(ptx::check(parsed.module, options))) all.push_back(std::move(e));
  return all;
}

/// One complaint that has this text.
void refused(const std::string& text, const std::string& part,
             const ptx::CheckOptions& options = {}) {
  CAPTURE(text);
  const std::vector<std::string> all = found(text, options);
  REQUIRE(all.size() == 1);
  CAPTURE(all[0]);
  CHECK(all[0].find(part) != std::string::npos);
}

ptx::CheckOptions compiled_for(const std::string& arch) {
  ptx::CheckOptions options;
  options.arch = arch;
  return options;
}

}  // namespace

TEST_CASE("declarations and functions are judged as the assemblers judge them") {
  std::istringstream in(read(LANEWISE_TEST_DATA "/data/oracle/ptx_module.tsv"));
  std::string line;
  std::getline(in, line);
  size_t scored = 0, agreed = 0;
  std::string different;
  while (std::getline(in, line)) {
    const size_t tab = line.find('\t');
    const std::string row = line.substr(0, tab), verdicts = line.substr(tab + 1);
    for (size_t i = 0; i < kPairs.size(); ++i) {
      if (verdicts[i] == '?') continue;
      const bool legal = found(header(kPairs[i].first, kPairs[i].second) + around(row)).empty();
      ++scored;
      if (legal == (verdicts[i] == 'A')) {
        ++agreed;
      } else {
        different += row + " (" + kPairs[i].second + ")\n";
      }
    }
  }
  INFO(different);
  MESSAGE(agreed, " of ", scored, " verdicts on declarations agree");
  CHECK(scored > 4000);
  // The rest: shifts of constants by more than 63, alignments above 1 MiB, constants of 65 bits.
  CHECK(static_cast<double>(agreed) >= 0.99 * static_cast<double>(scored));
}

TEST_CASE("the header: versions, targets and what a file is compiled for") {
  const auto module = [](const char* version, const char* target) {
    return header(version, target) + ".visible .entry k() { ret; }\n";
  };
  for (const auto& [version, target] :
       {std::pair("7.8", "sm_90a"), std::pair("7.8", "sm_75a"), std::pair("8.0", "sm_90a"),
        std::pair("8.6", "sm_100a"), std::pair("8.8", "sm_100f"), std::pair("9.1", "sm_80")})
    CHECK(found(module(version, target)).empty());
  refused(module("6.2", "sm_75"), "needs .version 6.3");
  refused(module("8.6", "sm_100f"), "needs .version 8.8");
  refused(module("9.0", "sm_80a"), "there is no `.target sm_80a`");
  refused(module("7.9", "sm_80"), "there is no .version 7.9");

  const std::string text = module("9.0", "sm_90");
  CHECK(found(text, compiled_for("sm_100")).empty());
  CHECK(found(text, compiled_for("sm_90a")).empty());
  refused(text, "a later target than sm_89", compiled_for("sm_89"));
  // Code for one target, and for a family of them.
  refused(module("9.0", "sm_90a"), "for one target alone", compiled_for("sm_100"));
  refused(module("9.0", "sm_100a"), "for one target alone", compiled_for("sm_100f"));
  CHECK(found(module("9.0", "sm_100f"), compiled_for("sm_103")).empty());
  refused(module("9.0", "sm_100f"), "of another family", compiled_for("sm_120"));
  // What is compiled for a later target is still gated by its own.
  refused(header("9.0", "sm_80") + ".entry k() .maxclusterrank 2 { ret; }\n", "needs .target sm_90",
          compiled_for("sm_90"));

  ptx::CheckOptions old, recent;
  old.assembler = ptx::CheckOptions::Assembler::cuda_11_8;
  recent.assembler = ptx::CheckOptions::Assembler::cuda_13_0;
  refused(text, "later than the assembler of CUDA 11.8", old);
  const std::string twice = ".extern .global .b32 a;\n.extern .global .b32 a;\n";
  refused(header("7.8", "sm_80") + twice, "`.extern` in line 4");
  CHECK(found(header("7.8", "sm_80") + twice, recent).empty());
}

TEST_CASE("a syntax error hides nothing, and what follows from it is not reported") {
  const std::string text = header("7.8", "sm_80") +
                           ".visible .entry k() .maxnreg 0\n{\n.reg .b32 %r<4>\n.reg .b33 %x<4>;\n"
                           "mov.b32 %x1, 1;\nst.global.b32 [%x2], %r1;\n.local .pred p;\n"
                           "st.global.b16 [%rx], 1.0;\nret;\n}\n.global .u8 v = 1.0;\n";
  const ptx::ParseResult parsed = ptx::parse(text, 0);
  std::vector<uint32_t> lines;
  for (const Diagnostic& d : parsed.diagnostics) lines.push_back(d.line);
  CHECK(lines == std::vector<uint32_t>{6, 7, 10});
  lines.clear();
  for (const Diagnostic& d :
       ptx::without_consequences(parsed.module, ptx::check(parsed.module, {})))
    if (!d.warning && (lines.empty() || lines.back() != d.line)) lines.push_back(d.line);
  CHECK(lines == std::vector<uint32_t>{4, 11, 14});
}

TEST_CASE("texts as compilers write them are legal") {
  CHECK(
      found(
          "//\n// Generated by a compiler\n//\n.version 8.4\n.target sm_80, texmode_independent\n"
          ".address_size 64\n\n\t// .globl\tkernel\n.extern .func  (.param .b32 func_retval0) "
          "vprintf\n(\n\t.param .b64 vprintf_param_0,\n\t.param .b64 vprintf_param_1\n)\n;\n"
          ".extern .shared .align 16 .b8 smem[];\n.global .align 1 .b8 $str[4] = {37, 0x64, 012};\n"
          ".visible .entry kernel(\n\t.param .u64 .ptr .global .align 16 kernel_param_0,\n"
          "\t.param .u32 kernel_param_1\n)\n.maxntid 128, 1, 1\n.minnctapersm 1\n{\n"
          "\t.local .align 8 .b8 \t__local_depot0[8];\n\t.reg .b64 \t%SP;\n\t.reg .b64 \t%SPL;\n"
          "\t.reg .pred \t%p<3>;\n\t.reg .b32 \t%r<5>;\n\t.reg .f32 \t%f<3>;\n"
          "\t.reg .b64 \t%rd<4>;\n\t.loc\t1 7 0\n$L__func_begin0:\n\t.loc\t1 7 0\n\n"
          "\tmov.u64 \t%SPL, __local_depot0;\n\tcvta.local.u64 \t%SP, %SPL;\n"
          "\tld.param.u64 \t%rd1, [kernel_param_0];\n\tld.param.u32 \t%r1, [kernel_param_1];\n"
          "\t.loc\t1 9 5, function_name $L__info_string0, inlined_at 1 7 0\n"
          "\tsetp.eq.s32 \t%p1, %r1, 0b101;\n\t@!%p1 ld.global.b32 %r2, [%rd1+0x10];\n"
          "\t@%p1 bra.uni \t$L__BB0_2;\n\t{ // callseq 0, 0\n\t.param .b64 param0;\n"
          "\tst.param.b64 \t[param0+0], %rd1;\n\t.param .b64 param1;\n"
          "\tst.param.b64 \t[param1+0], %SP;\n\t.param .b32 retval0;\n"
          "\tcall.uni (retval0), vprintf, (param0, param1);\n"
          "\tld.param.b32 \t%r3, [retval0+0];\n\t} // callseq 0\n$L__BB0_2:\n"
          "\t.pragma \"nounroll\";\n\tmov.f32 %f1, 0f3F800000;\n\tret;\n$L__tmp0:\n"
          "$L__func_end0:\n}\n\t.file\t1 \"/src/kernel.py\"\n\t.section\t.debug_abbrev\n\t{\n"
          ".b8 1                                   // Abbreviation Code\n.b8 17\n.b8 0\n\t}\n"
          "\t.section\t.debug_info\n\t{\n.b32 76\n.b8 2\n.b8 0\n.b32 .debug_abbrev\n.b8 8\n"
          ".b64 $L__func_begin0\n.b64 $L__func_end0\n$L__info_string0:\n.b8 116,114,105,0\n\t}\n"
          "\t.section\t.debug_macinfo\t{\t}\n")
          .empty());
}

TEST_CASE("the time of a module grows as its size does") {
  // One body, and many functions that know each other.
  const auto seconds = [](size_t count, bool many) {
    std::string text = header("8.0", "sm_80");
    const std::string open = "{\n.reg .b32 %r<5>;\n.reg .b64 %rd<3>;\n.reg .pred %p<2>;\n";
    if (!many) text += ".visible .entry k()\n" + open;
    for (size_t i = 0; i < count; ++i) {
      const std::string n = std::to_string(i);
      if (many) text += ".global .u64 v" + n + " = generic(v0);\n.func f" + n + "()\n" + open;
      if (many && i == 0) text.replace(text.find(" = generic(v0)"), 14, "");
      text += ".loc 1 " + n + " 4\nL" + n + ":\n.shared .b32 s" + n +
              ";\nld.global.v2.b32 {%r1, %r2}, [%rd1+8];\n@!%p1 bra L" + n + ";\n";
      if (many) text += "ret;\n}\n";
    }
    if (!many) text += "ret;\n}\n";
    const std::clock_t start = std::clock();
    CHECK(found(text).empty());
    return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  };
  for (const bool many : {false, true}) {
    const double small = seconds(1000, many), large = seconds(8000, many);
    CAPTURE(small);
    CAPTURE(large);
    CHECK(large < 24 * small + 0.05);
  }
}

TEST_CASE("qualifiers that the assemblers ignore are warnings") {
  const ptx::ParseResult parsed = ptx::parse(
      ".version 7.8\n.target sm_90\n.address_size 64\n.visible .entry k() { .reg .f32 %f<4>;\n"
      "fma.rn.oob.f32 %f1, %f1, %f2, %f3;\nadd.finite.f32 %f1, %f2, %f3;\nadd.f32 %f1, %f2, %f3; "
      "ret; }\n",
      0);
  REQUIRE(parsed.ok());
  const std::vector<Diagnostic> found = ptx::check(parsed.module, {});
  REQUIRE(found.size() == 2);
  CHECK(found[0].warning);
  CHECK(found[0].message == "`fma`: `.oob` has no effect here, as for the assembler");
  CHECK(found[1].line == 6);
  CHECK(found[1].warning);
}
