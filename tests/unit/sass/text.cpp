// Text, words and the table: vendor-made words decode to their text and assemble back.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "runtime/isa/sass/sass.hpp"

using namespace lanewise;

namespace {

std::vector<std::vector<std::string>> read_tsv(const std::string& name) {
  std::ifstream file(std::string(LANEWISE_TEST_DATA) + "/data/" + name);
  REQUIRE_MESSAGE(file.good(), name);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::vector<std::string> cells;
    std::stringstream cut(line);
    for (std::string cell; std::getline(cut, cell, '\t');) cells.push_back(cell);
    rows.push_back(cells);
  }
  return rows;
}

uint64_t hex(const std::string& s) {
  return std::stoull(s, nullptr, 16);
}

std::string mnemonic(std::string text) {
  if (text[0] == '@') text = text.substr(text.find(' ') + 1);
  return text.substr(0, text.find_first_of(". "));
}

std::string error_of(std::string_view text, unsigned arch = 50) {
  const sass::Parsed p = sass::parse_instruction(text, arch);
  if (p.instruction) return "";
  return std::to_string(p.error.column) + ": " + p.error.message;
}

uint64_t word_of(std::string_view text, unsigned arch = 50) {
  const sass::Parsed p = sass::parse_instruction(text, arch);
  REQUIRE_MESSAGE(p.instruction.has_value(), text, ": ", p.error.message);
  return p.instruction->word;
}

}  // namespace

TEST_CASE("golden words decode to their text and re-encode; what the vendor refuses is refused") {
  size_t checked = 0, rejected = 0;
  for (const auto& row : read_tsv("sass_golden.tsv")) {
    const uint64_t word = hex(row[0]);
    const unsigned arch = static_cast<unsigned>(std::stoul(row[1].substr(2)));
    auto decoded = sass::decode(word, {}, arch);
    if (row[2] == "REJECT") {
      CHECK_MESSAGE(!decoded.has_value(), row[0]);
      ++rejected;
      continue;
    }
    REQUIRE_MESSAGE(decoded.has_value(), row[0], " ", row[2]);
    ++checked;
    if (decoded->operand(sass::Role::target) != nullptr) {
      decoded->pc = 0x798;  // where the vendor's tool found this one
      CHECK(sass::print(*decoded) == row[2]);
      continue;
    }
    CHECK(sass::print(*decoded) == row[2]);
    const uint64_t meaningful = ~decoded->form->ignored;
    if (!decoded->form->decode_only)
      CHECK_MESSAGE(word_of(row[2], arch) == (word & meaningful), row[2]);
  }
  CHECK(checked == 216);
  CHECK(rejected == 26);
}

TEST_CASE("from sm_60 on what works on doubles has operands in the operand cache") {
  for (const char* text :
       {"DSETP.GT.AND P0, PT, R2.reuse, R4, PT", "DMNMX R0, R2.reuse, R4, PT",
        "F2F.F64.F32 R0, R2.reuse", "I2F.F32.U64 R0, R2.reuse", "F2I.S64.F32.TRUNC R0, R2.reuse"}) {
    CAPTURE(text);
    const auto earlier = sass::parse_instruction(text, 52).instruction;
    if (earlier) CHECK(sass::print(*earlier).find("reuse") == std::string::npos);
    const auto later = sass::parse_instruction(text, 60).instruction;
    REQUIRE(later);
    CHECK(sass::print(*later) == text);
  }
  for (const char* text : {"F2F.F32.F32 R0, R2.reuse", "F2I.S64.F16 R0, R2.reuse"})
    CHECK(sass::print(*sass::parse_instruction(text, 60).instruction) != text);
}

TEST_CASE(
    "random words of the memory family and its neighbours read as the vendor's tool reads them") {
  size_t checked = 0, rejected = 0;
  for (const auto& row : read_tsv("sass_random_words.tsv")) {
    const uint64_t word = hex(row[0]);
    const auto decoded = sass::decode(word, {static_cast<uint32_t>(hex(row[1]))});
    const bool refused = row[2] == "REJECT";
    CHECK_MESSAGE(decoded.has_value() == !refused, row[0], " ", row[1], " ", row[2]);
    rejected += refused ? 1 : 0;
    if (refused) continue;
    if (!decoded) continue;
    CHECK(sass::print(*decoded) == row[2]);
    // Bits that the hardware does not look at are written as 0.
    CHECK_MESSAGE(word_of(row[2]) == (word & ~decoded->form->ignored), row[2]);
    ++checked;
  }
  CHECK(checked > 1000);
  CHECK(rejected > 100);
}

TEST_CASE("annotated text gives every word back, with the bits that the vendor's text leaves out") {
  size_t hidden = 0;
  for (const char* name : {"sass_golden.tsv", "sass_random_words.tsv"})
    for (const auto& row : read_tsv(name)) {
      const unsigned arch =
          row[1].starts_with("SM") ? static_cast<unsigned>(std::stoul(row[1].substr(2))) : 50;
      const auto decoded = sass::decode(hex(row[0]), {}, arch);
      if (!decoded || decoded->operand(sass::Role::target) != nullptr) continue;
      const std::string text = sass::print(*decoded, sass::Style::annotated);
      hidden += text.find("&word=") != std::string::npos ? 1 : 0;
      CHECK_MESSAGE(word_of(text, arch) == decoded->word, text);
    }
  CHECK(hidden > 80);
  CHECK(error_of("LDG.E R0, [R2] &word=0xeed4300001070200") ==
        "17: the word 0xeed4300001070200 is another instruction");
  CHECK(error_of("NOP &word=0x1") == "6: the word 0x1 is another instruction");
  CHECK(sass::parse_instruction("LDG.E R0, [R2+0x10] &word=0xeed4300001070200")
            .instruction->has_control == false);
  CHECK(word_of("IADD3 R4, R2.???3, R3, R3") == (word_of("IADD3 R4, R2, R3, R3") | 3ULL << 35));
  const auto twin = sass::decode(0xeef467ffdfe72200);
  REQUIRE(twin.has_value());
  CHECK(word_of(sass::print(*twin, sass::Style::annotated)) == twin->word);
  const sass::Listing back = sass::parse("BRA -0x18 ;\n");
  REQUIRE(back.ok());
  CHECK(sass::print(back.kernels[0].code[0]) == "BRA -0x18");
  // Where a branch goes is named by its label.
  const sass::Listing l = sass::parse("BRA `(.L_1) &word=0xe2400fffff07330f ;\n.L_1:\nEXIT ;\n");
  REQUIRE(l.ok());
  CHECK(l.kernels[0].code[0].word == 0xe24000000007330f);
}

TEST_CASE("words of compiled kernels decode to nvdisasm's text and assemble back") {
  size_t checked = 0;
  std::set<std::string> missing;
  for (const auto& row : read_tsv("sass_words.tsv")) {
    const uint64_t word = hex(row[2]);
    sass::Control control{static_cast<uint32_t>(hex(row[1]))};
    auto decoded = sass::decode(word, control);
    if (!decoded) {
      missing.insert(mnemonic(row[3]));
      continue;
    }
    ++checked;
    if (row[3].find("32@") != std::string::npos) continue;  // a relocated address
    const bool branch = decoded->operand(sass::Role::target) != nullptr;
    if (branch) continue;  // labels need a listing, see below
    const std::string text = row[3].substr(0, row[3].find(" (*"));
    CHECK(sass::print(*decoded) == text);
    const sass::Parsed p = sass::parse_instruction(row[3]);
    CHECK_MESSAGE(p.instruction.has_value(), row[3], ": ", p.error.message);
    if (!p.instruction) continue;
    CHECK_MESSAGE(p.instruction->word == word, row[3]);
    CHECK_MESSAGE((p.instruction->control.bits >> 17) == (control.bits >> 17 & 7), row[3]);
  }
  for (const char* m : {"LDG", "STG", "LD", "ST", "LDL", "STL", "LDS", "STS", "LDC", "ATOM", "RED",
                        "ATOMS", "CCTL", "CCTLL", "MEMBAR", "BAR", "SHFL", "DEPBAR", "S2R"})
    CHECK_MESSAGE(missing.count(m) == 0, m);
  std::string all;
  for (const std::string& m : missing) all += m + " ";
  MESSAGE("no row yet: ", all);
  CHECK(checked > 2300);
}

TEST_CASE("the listing of a compiled kernel reproduces its words") {
  std::ifstream file(std::string(LANEWISE_TEST_DATA) + "/kernels/data/sass/k01_saxpy.sass");
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  const sass::Listing listing = sass::parse(text.str());
  REQUIRE(listing.ok());
  REQUIRE(listing.kernels.size() == 2);
  CHECK(listing.arch == 50);
  CHECK(listing.kernels[0].name == "saxpy_gs");
  CHECK(listing.kernels[0].registers == 10);
  CHECK(listing.kernels[1].registers == 7);
  // The encodings stand in comments behind each instruction: read them independently.
  std::vector<uint64_t> words;
  std::stringstream again(text.str());
  bool brace = false;
  for (std::string line; std::getline(again, line);) {
    const size_t at = line.rfind("/* 0x");
    const bool instruction = line.find("/*0") != std::string::npos;
    const bool closes = line.find('}') != std::string::npos;
    if (at != std::string::npos && (instruction || brace))
      words.push_back(hex(line.substr(at + 5, 16)));
    brace = instruction && closes && at == std::string::npos;
  }
  std::vector<uint64_t> ours;
  for (const auto& k : listing.kernels)
    for (const auto& i : k.code) ours.push_back(i.word);
  CHECK(ours == words);
}

TEST_CASE("both spellings give the same word") {
  CHECK(word_of("LDG.E.CA.32 R0, [R2 + 16]") == word_of("LDG.E R0, [R2+0x10]"));
  CHECK(word_of("LDG.E.LU R0, [R2]") == word_of("LDG.E.CG R0, [R2]"));
  CHECK(word_of("LDG.E.CS R0, [R2]") == word_of("LDG.E R0, [R2]"));
  CHECK(word_of("STG.8 [R1 + 24], R4") == 0xeed8000001870104);
  CHECK(word_of("STG.E [R2 - 4], R0") == word_of("STG.E [R2+-0x4], R0"));
  CHECK(word_of("STG.E [R2 + -0x4], R0") == word_of("STG.E [R2+-0x4], R0"));
  CHECK(word_of("LDG.E R0, [R2 + 0]") == word_of("LDG.E R0, [R2]"));
  CHECK(word_of("LDG.E R0, [RZ+0x10]") == word_of("LDG.E R0, [0x10]"));
  CHECK((word_of("LDG.E R0, [0x10]") >> 8 & 0xff) == 255);
  CHECK(word_of("LDG.E P0, R0, [R2+0x10]", 52) == 0xeecc2e0001070200);
  CHECK(word_of("LOP.AND R0, R1, ~0x5") == word_of("LOP.AND R0, R1, 0x5.INV"));
  CHECK(word_of("MOV R0, c[0x3][0xfffc]") == word_of("MOV R0, c[0x3][-0x4]"));
  CHECK(word_of("LEA R0, R1, R2, 0x0") == word_of("LEA R0, R1, R2"));
  CHECK(word_of("S2R R0, SR222") == word_of("S2R R0, SR_LANEID") + (222ULL << 20));
}

TEST_CASE("annotations are kept as control fields") {
  const auto p =
      sass::parse_instruction("LDG.E.CG R0, [R2+0x10] {&req={1,2}} {&rd=0} {&wr=1} {?WAIT5}");
  REQUIRE(p.instruction.has_value());
  const sass::Control c = p.instruction->control;
  CHECK(c.wait_mask() == 6);
  CHECK(c.read_sb() == 0);
  CHECK(c.write_sb() == 1);
  CHECK(c.sched() == 0x15);
  const std::string text = sass::print(*p.instruction, sass::Style::annotated);
  CHECK(text == "LDG.E.CG R0, [R2+0x10] &req={1,2} &rd=0 &wr=1 ?WAIT5");
  CHECK(sass::parse_instruction(text).instruction->control == c);
  for (const char* sched : {"?WAIT15", "?YIELD3", "?DUAL"}) {
    const auto q = sass::parse_instruction(std::string("NOP ") + sched);
    REQUIRE(q.instruction.has_value());
    CHECK(sass::print(*q.instruction, sass::Style::annotated) == std::string("NOP ") + sched);
  }
}

TEST_CASE("what the vendor's disassembler prints, found by random words") {
  const auto text = [](uint64_t word, uint32_t control = sass::Control::kBlank) {
    const auto i = sass::decode(word, sass::Control{control});
    return i ? sass::print(*i) : "refused";
  };
  // The second source of FADD and DADD has the third flag of the operand cache.
  CHECK(text(0x5c58000001b70914, 0x7e0 | 1 << 19) == "FADD R20, R9, R27.reuse");
  CHECK(text(0x5c58000001b70914, 0x7e0 | 1 << 18) == "FADD R20, R9, R27");
  CHECK(text(0x5c70028000370900, 0x7e0 | 1 << 19) == "DADD.RM R0, R9, R3.reuse");
  CHECK(text(0x5180028000070900, 0x7e0 | 1 << 18) == "FFMA R0, R9, R5.reuse, c[0x0][0x0]");
  CHECK(text(0x5100028000370900) == "XMAD R0, R9, R5, c[0x0][0xc]");
  CHECK(text(0x5ba4030000070500) == "FCMP R0, R5, R0, R6");
  CHECK(text(0x36f802400847091d) == "SHF.L.U64 R29, R9, 0x4, R4");
  CHECK(text(0x4ca8000000370a00) == "F2F.F32.F32 R0, c[0x0][0xc]");
  CHECK(text(0x4ca8000000370600) == "F2F.F32.F16 R0, c[0x0] [0xc]");
  CHECK(text(0x5ce0000000371b00) == "I2I.???7.U32 R0, R3");
  CHECK(text(0x5cb0000000370800) == "F2I.INVALID0.F32 R0, R3");
  CHECK(text(0x3870007ff0170900) == "DADD R0, R9, +SNAN");
  CHECK(text(0x372a66ca7bd54a35) == "@P5 XMAD.U16.S16.CHI.X R53, R74.H1, -0x5843, R205");
  // Compare and swap of pairs: register 255 is none where the second value is the next register.
  CHECK(text(0xee59005b4fe7eee3) == "ATOMS.CAS.64 R227, [R238+-0x6ffa4c], R254, ???255");
  CHECK(text(0xee59005b4ff7eee3) == "ATOMS.CAS.64 R227, [R238+-0x6ffa4c], ???255, ???255");
  CHECK(text(0xeef500000ff70404) == "ATOM.E.CAS R4, [R4], RZ, RZ");
  CHECK(text(0x50152002fc04399d) == "@P4 VABSDIFF4.S8.U8.SAT.Y R157, R57.2222, 0xc0, R64");
  CHECK(text(0x50162002fc04399d) == "@P4 VABSDIFF4.U8.S8.SAT.Y R157, R57.2222, -0x40, R64");
  CHECK(text(0x50032092fea67c96, 0x607e0) == "@P6 VABSDIFF4.Z R150, R124.2222.reuse, -0x16, R65");
  CHECK(text(0xf0a943c800170502) == "BAR.SYNC R5, R1");
  CHECK(text(0x56b46a0bf0f7fdb4, 0xc07e0) ==
        "VSHR.UD.U8.INVALIDSEL7.SAT.MAX R180, R253, R15.reuse, R212.reuse");
  CHECK(text(0x37b0030000081400, 0x607e0) == "@!P0 FSETP.F.AND P0, P0, R20.reuse, -0.0 , P6");
  CHECK(word_of("FCMP.GT R0, R5, R0, R6") == word_of("FCMP R0, R5, R0, R6"));
  CHECK(error_of("SHF.L R0, R1, 0x40, R2").find("does not fit") != std::string::npos);
}

TEST_CASE("the documents' spelling of scoreboards, and what they forbid") {
  const auto p =
      sass::parse_instruction("LDG.E.CG R0, [R2 + 16] {&req={1,2}} {&rd0} {&wr1} {?WAIT5}");
  REQUIRE(p.instruction.has_value());
  CHECK(p.instruction->control.read_sb() == 0);
  CHECK(p.instruction->control.write_sb() == 1);
  const auto waits = [](const std::string& annotation) {
    const auto i = sass::parse_instruction("LDG.E R0, [R2] " + annotation).instruction;
    return i ? i->control.wait_mask() : ~0U;
  };
  CHECK(waits("{&req_6}") == 6);  // six bits, one for each scoreboard
  CHECK(waits("&req_63") == 63);
  CHECK(waits("&req_1") == 1);
  CHECK(waits("&req=1") == 2);
  CHECK(waits("&req=5") == 32);
  CHECK(waits("&req=6") == 6);  // there is no scoreboard 6
  CHECK(error_of("LDG.E R0, [R2] &req_64").find("has 6 bits") != std::string::npos);
  CHECK(error_of("LDG.E R0, [R2] &req=64").find("has 6 bits") != std::string::npos);
  CHECK(error_of("LDG.E R0, [R2] &rd6").find("0 to 5") != std::string::npos);
  CHECK(error_of("LDG.E R0, [R2] &rd=6").find("0 to 5") != std::string::npos);
  CHECK(error_of("LDG.E R0, [R2] {&rdN}").find("expected &req") != std::string::npos);
  CHECK(error_of("LDG.64.CG R0, [R2]").find("'.CG' is not a modifier") != std::string::npos);
  CHECK(error_of("CCTL [R2]").find("needs an operation") != std::string::npos);
  for (const char* query : {"CCTLL.QRY1 [R2]", "CCTLL.C.QRY1 [R2]"})
    CHECK(error_of(query).find(".QRY1 is reserved: an illegal encoding") != std::string::npos);
  CHECK(error_of("CCTLL.C.IV [R2]").find("no cache type") != std::string::npos);
  const sass::LowerResult r = sass::lower(sass::parse("LDG.64 R254, [R2] ;\nEXIT ;\n"));
  REQUIRE(r.diagnostics.size() == 1);
  CHECK(r.diagnostics[0].message == "2 registers from R254 on reach RZ");
}

TEST_CASE("what an instruction is, is asked of its row") {
  // Lowering and analyses must not compare mnemonics or lowering functions.
  const std::filesystem::path folder =
      std::filesystem::path(LANEWISE_TEST_DATA).parent_path() / "runtime/isa/sass";
  size_t files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const std::string folder = entry.path().parent_path().filename().string();
    if ((folder != "lowering" && folder != "rules") || !name.ends_with(".cpp")) continue;
    if (name == "cache_control.cpp") continue;  // it judges text
    ++files;
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);)
      for (const char* old : {"mnemonic ==", "mnemonic !=", "mnemonic.starts", "mnemonic.ends",
                              "lower == lower", "lower != lower", "f == lower_"})
        CHECK_MESSAGE(line.find(old) == std::string::npos, name, ": ", line);
  }
  CHECK(files > 15);
}

TEST_CASE("errors say what is wrong and where") {
  CHECK(error_of("FROB R0, R1") == "1: unknown instruction 'FROB'");
  CHECK(error_of("TEX R0, R1, 0x0, 4D, 0x1") == "18: '4D' cannot stand here");
  CHECK(error_of("TEXS R9, R2, R3, R4, 0x0, 1D, RGB") == "27: '1D' cannot stand here");
  CHECK(error_of("@P9 EXIT").substr(0, 24) == "2: expected a guard pred");
  CHECK(error_of("LDG.E.Q R0, [R2]").substr(0, 32) == "6: '.Q' is not a modifier of LDG");
  CHECK(error_of("LDG.E R0, [R2+0x800000]").substr(0, 31) == "14: offset 8388608 does not fit");
  CHECK(error_of("LDG.E R0, [-0x4]").find("absolute address") != std::string::npos);
  CHECK(error_of("IADD R0, R1, -0x80001").find("does not fit") != std::string::npos);
  CHECK(error_of("IADD R0, -R1, -R2") == "18: this combination is encoded as IADD.PO");
  CHECK(error_of("MOV R255, R0").substr(0, 31) == "5: expected a register R0..R254");
  CHECK(error_of("MOV R0, c[0x0][0x3]").find("multiples of 4") != std::string::npos);
  CHECK(error_of("ISETP.GE P0, PT, R0, R1").find("2 operand") == std::string::npos);
  CHECK(error_of("FADD R0, R1, 1.2345678").find("low 12 bits") != std::string::npos);
  CHECK(error_of("MOV R0, R1 R2").find("unexpected text") != std::string::npos);
  CHECK(error_of("NOP &req={7}").find("0 to 5") != std::string::npos);
}

TEST_CASE("a listing reports all its errors with line and column") {
  const sass::Listing l = sass::parse("  MOV R0, R1 ;\n\tFROB R1 ;\n  BRA `(.L_none) ;\n}\n");
  REQUIRE(l.diagnostics.size() == 3);
  CHECK(l.diagnostics[0].line == 2);
  CHECK(l.diagnostics[0].column == 2);
  CHECK(l.diagnostics[1].line == 4);
  CHECK(l.diagnostics[2].line == 3);
  CHECK(l.diagnostics[2].message == "label '.L_none' is not defined in 'stream'");
  CHECK(sass::parse(std::string_view("\x7f"
                                     "ELF\0\1",
                                     6))
            .diagnostics.size() == 1);
  CHECK(!sass::parse("").ok());
  CHECK(sass::parse("FROB\nFROB\nFROB\n", 50, 2).diagnostics.size() == 2);
}

TEST_CASE("every form in the table survives encode, print, parse and decode") {
  for (const sass::Form& f : sass::forms()) {
    sass::Instruction i;
    i.form = &f;
    i.word = f.match;
    if (f.has_guard) sass::kGuard.set(i.word, sass::kPT);
    for (const sass::Mod& m : f.mods) m.set(i.word, m.codes.back().value);
    for (const auto& o : f.operands)
      if (o.kind == sass::OperandSpec::Kind::sreg) o.field.set(i.word, 0x21);
    for (const auto& o : f.operands)  // 0 is no query of TXQ
      while (o.names != nullptr && o.names[o.field.get(i.word)].empty())
        o.field.set(i.word, o.field.get(i.word) + 1);
    if (f.operand(sass::Role::target) != nullptr || f.decode_only) continue;
    const std::string text = sass::print(i);
    const auto p = sass::parse_instruction(text, std::min<unsigned>(f.max_arch, 62));
    REQUIRE_MESSAGE(p.instruction.has_value(), text, ": ", p.error.column, " ", p.error.message);
    CHECK_MESSAGE(p.instruction->word == i.word, text);
    CHECK(mnemonic(text) == f.mnemonic.substr(0, f.mnemonic.find('.')));
  }
}

TEST_CASE("coverage comes from the table") {
  CHECK(sass::coverage_of("LDG.E.CI.128").state == sass::FormState::exact);
  CHECK(sass::coverage_of("XMAD.PSL.CBCC").state == sass::FormState::exact);
  CHECK(sass::coverage_of("IADD.X").state == sass::FormState::exact);
  CHECK(sass::coverage_of("ISETP.GE.X.AND").state == sass::FormState::exact);
  CHECK(sass::coverage_of("SHR.X").state == sass::FormState::unsupported);
  CHECK(sass::coverage_of("TMML.LOD").state == sass::FormState::unsupported);
  CHECK(sass::coverage_of("TEX.NDV").state == sass::FormState::unsupported);
  CHECK(sass::coverage_of("TEX.B.LL.P").state == sass::FormState::approximate);
  CHECK(sass::coverage_of("SURED.D.BA.2D.ADD.F32.FTZ.RN.TRAP").state == sass::FormState::exact);
  CHECK(sass::coverage_of("TEX.TRAP").note == "no row of the table has this form of TEX");
  CHECK(sass::coverage().size() > 300);
  CHECK(sass::coverage_of("MUFU.RCP").state == sass::FormState::approximate);
  // Names are for what runs; operands that do not are distinguished.
  CHECK(sass::coverage_of("FADD.RZ").state == sass::FormState::exact);
  CHECK(sass::coverage_of("FADD R.CC, R, R").note ==
        "decodes; floating point with .CC is not supported yet");
  CHECK(sass::coverage_of("BRA CC.T, c[]").note == "decodes; not supported in this form");
}

TEST_CASE(
    "coverage has every form of the memory family as exact, and every form of public kernels") {
  const std::set<std::string> family = {"LDG", "STG",  "CCTL",   "CCTLL", "LD",  "ST",    "LDL",
                                        "STL", "LDS",  "STS",    "LDC",   "RED", "ATOM",  "ATOMS",
                                        "KIL", "EXIT", "MOV32I", "NOP",   "S2R", "DEPBAR"};
  // What the document forbids or no document explains.
  const std::vector<std::string> refused = {
      ".QRY1", "CCTL.E.IVALL", "CCTL.E.U.IVALL", "CCTL.E.C.IVALL", "CCTL.E.I.IVALL", ".CRS.",
      "CAST",  ".PF1.5",       ".RSLB",          "SAFEADD",        ".U128",          "S2R R, name"};
  std::map<std::string, sass::FormState> states;
  size_t exact = 0;
  for (const sass::Coverage& c : sass::coverage()) {
    CHECK_MESSAGE(states.emplace(c.form, c.state).second, c.form, " twice");
    CHECK_MESSAGE(c.form.find("INVALID") == std::string::npos, c.form);
    if (family.count(mnemonic(c.form)) == 0) continue;
    const bool may_be_refused = std::ranges::any_of(refused,
                                                    [&](const std::string& part) {
                                                      return c.form.find(part) != std::string::npos;
                                                    }) ||
                                c.note.find("an atomic ") != std::string::npos;
    if (c.form == "CCTLL.CRS.WBALL") CHECK(c.state == sass::FormState::exact);
    exact += c.state == sass::FormState::exact ? 1 : 0;
    if (!may_be_refused) CHECK_MESSAGE(c.state == sass::FormState::exact, c.form, ": ", c.note);
  }
  CHECK(exact > 400);
  // Nothing is missing.
  size_t listed = 0;
  for (const auto& row : read_tsv("opcodes/sm50.tsv")) {
    if (row[0] == "rank") continue;
    ++listed;
    const sass::Coverage known = sass::coverage_of(row[1]);
    CHECK_MESSAGE(known.note.find("no row of the table") == std::string::npos, row[1]);
    CHECK_MESSAGE(known.state != sass::FormState::unsupported, row[1]);
  }
  CHECK(listed == 496);
}
