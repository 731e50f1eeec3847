// Textures, surfaces and graphics: nvdisasm's text of random words, what they read and write, and
// that nothing executes them.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "runtime/isa/sass/rules/touched.hpp"
#include "runtime/isa/sass/sass.hpp"

using namespace lanewise;

namespace {

struct Golden {
  uint32_t control = 0;
  uint64_t word = 0;
  std::string text;
};

std::vector<Golden> golden() {
  std::ifstream file(std::string(LANEWISE_TEST_DATA) + "/data/sass_graphics.tsv");
  std::vector<Golden> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream in(line);
    std::string pc, control, word, text;
    in >> pc >> control >> word >> std::ws;
    std::getline(in, text);
    rows.push_back({static_cast<uint32_t>(std::stoul(control, nullptr, 16)),
                    std::stoull(word, nullptr, 16), text});
  }
  return rows;
}

std::string places(const sass::Places& set) {
  std::string out;
  for (size_t n = 0; n < set.size(); ++n)
    if (set.test(n)) out += (out.empty() ? "" : " ") + sass::place_name(n);
  return out;
}
/// "written <- read"
std::string effects(std::string_view text) {
  const sass::Parsed p = sass::parse_instruction(text);
  REQUIRE_MESSAGE(p.instruction.has_value(), text, ": ", p.error.message);
  const sass::Touched t = sass::touched(*p.instruction);
  return places(t.writes) + " <- " + places(t.reads);
}

}  // namespace

TEST_CASE("words of textures, surfaces and graphics have nvdisasm's text, and text their words") {
  size_t rows = 0;
  for (const Golden& g : golden()) {
    CAPTURE(g.text);
    ++rows;
    const std::optional<sass::Instruction> i = sass::decode(g.word, sass::Control{g.control});
    REQUIRE(i.has_value());
    CHECK(sass::print(*i) == g.text);
    const sass::Parsed bare = sass::parse_instruction(g.text);
    REQUIRE_MESSAGE(bare.instruction.has_value(), bare.error.message);
    CHECK(sass::print(*bare.instruction) == g.text);
    // Bits that nobody looks at come with the annotation.
    const sass::Parsed whole = sass::parse_instruction(sass::print(*i, sass::Style::annotated));
    REQUIRE_MESSAGE(whole.instruction.has_value(), whole.error.message);
    CHECK(whole.instruction->word == g.word);
    CHECK(whole.instruction->control == i->control);
  }
  CHECK(rows > 150);
}

TEST_CASE("textures, surfaces and graphics say which registers they read and write") {
  // Four channels; two coordinates.
  CHECK(effects("TEX R4, R2, 0x1, 2D, 0xf") == "R4 R5 R6 R7 <- R2 R3");
  // A level and a reference value; two channels; an index and two coordinates.
  CHECK(effects("@P1 TEX.LL.DC R4, R8, R2, 0x1, ARRAY_2D, 0x5") == "R4 R5 <- R2 R3 R8 R9 R10 P1");
  CHECK(effects("TEX.B.LL R4, R8, R2, 0x0, 1D, 0x1") == "R4 <- R2 R3 R8");
  CHECK(effects("TLD4.G.PTP R0, R8, R12, 0x3, 2D, 0xf") == "R0 R1 R2 R3 <- R8 R9 R12 R13");
  // Short forms: two registers in each of two places, or one place alone.
  CHECK(effects("TEXS R6, R4, R0, R1, 0x2, 2D, RGBA") == "R4 R5 R6 R7 <- R0 R1");
  CHECK(effects("TEXS.LZ RZ, R4, R0, R8, 0x2, 3D, R") == "R4 <- R0 R1 R8");
  CHECK(effects("TLDS.LZ RZ, R4, R0, R8, 0x2, ARRAY_2D, RG") == "R4 R5 <- R0 R8 R9");
  CHECK(effects("TXQ R0, R4, TEX_HEADER_DIMENSION, 0x2, 0x3") == "R0 R1 <- R4");
  CHECK(effects("SULD.D.BA.2D.64.TRAP R0, [R4], 0x3") == "R0 R1 <- R4 R5");
  CHECK(effects("SULD.P.3D.RB R0, [R4], R9") == "R0 R1 <- R4 R5 R6 R9");
  CHECK(effects("SUST.D.BA.1D.128.TRAP [R4], R0, 0x3") == " <- R0 R1 R2 R3 R4");
  CHECK(effects("SUATOM.D.1D.CAS.U64 R0, [R2], R4, 0x1") == "R0 R1 <- R2 R4 R5 R6 R7");
  CHECK(effects("SURED.D.2D.ADD.S64 [R2], R4, R8") == " <- R2 R3 R4 R5 R8");
  CHECK(effects("ALD.96 R0, a[0x80], R7") == "R0 R1 R2 <- R7");
  CHECK(effects("AST.64 a[0x80], R0, R7") == " <- R0 R1 R7");
  CHECK(effects("AL2P P2, R0, R3, 0x4") == "R0 P2 <- R3");
  CHECK(effects("IPA.SC R0, a[0x80], R1, R2, !P3") == "R0 <- R1 R2 P3");
  CHECK(effects("IPA.IDX R0, a[R4], R1, PT") == "R0 <- R1 R4");
  CHECK(effects("PIXLD.MY_INDEX R0, P1, [R2]") == "R0 P1 <- R2");
  CHECK(effects("OUT.EMIT R0, R1, c[0x0][0x4]") == "R0 <- R1");
}

TEST_CASE("nothing executes graphics and what compares lanes, and errors say so") {
  const auto refusal = [](const std::string& text) {
    const sass::LowerResult r = sass::lower(sass::parse(text + " ;\nEXIT ;\n"));
    return r.diagnostics.empty() ? std::string() : r.diagnostics[0].message;
  };
  CHECK(refusal("TMML.LOD R0, R2, 0x54, 2D, 0x3")
            .ends_with("TMML is not executed: its level of detail comes from the differences "
                       "between lanes"));
  CHECK(refusal("TEX.NDV R0, R2, 0x54, 2D, 0xf").find("(NDV) are not supported") !=
        std::string::npos);
  CHECK(refusal("TLD.LZ.MS R0, R4, R8, 0x54, 2D, 0xf")
            .ends_with("textures of several samples are not supported"));
  CHECK(refusal("IPA.PASS R9, a[0x7c], RZ")
            .ends_with("IPA is not executed: it belongs to a graphics pipeline"));
  for (const sass::Form& f : sass::forms())
    if (f.is(sass::kGraphics)) CHECK(static_cast<bool>(f.lower) == false);
  CHECK(sass::coverage_of("TEXS.NODEP.P").state == sass::FormState::approximate);
  CHECK(sass::coverage_of("SUST.D.BA.2D_ARRAY.128.TRAP").state == sass::FormState::exact);
}
