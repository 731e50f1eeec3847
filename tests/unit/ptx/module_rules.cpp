// Declarations, functions and directives as the two assemblers judge them, each alone in a module
// (what was asked: tests/data/oracle/ptx_module.tsv), and rules that no single line shows.
#include <array>
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
