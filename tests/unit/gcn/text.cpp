// Text and bytes: vendor-made encodings assemble, decode and print back.
#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "runtime/isa/gcn/encoding/formats.hpp"

using namespace lanewise;

namespace {

std::string data(const std::string& name) {
  return std::string(LANEWISE_TEST_DATA) + "/" + name;
}

std::string bytes_of(const std::vector<uint32_t>& words) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (uint32_t w : words)
    for (int b = 0; b < 4; ++b, w >>= 8) {
      out += kDigits[w >> 4 & 15];
      out += kDigits[w & 15];
    }
  return out;
}

std::string error_of(std::string_view text, gcn::Gen gen = gcn::Gen::gfx6) {
  const gcn::Parsed p = gcn::parse_instruction(text, gen);
  if (p.instruction) return "";
  return std::to_string(p.error.column) + ": " + p.error.message;
}

void check_round_trip(const gcn::Instruction& i, gcn::Gen gen) {
  const std::vector<uint32_t> words = gcn::encode(i, gen);
  const auto back = gcn::decode(words, gen);
  REQUIRE_MESSAGE(back.has_value(), i.text);
  CHECK(gcn::encode(*back, gen) == words);
  const std::string text = gcn::print(*back, gen);
  const auto again = gcn::parse_instruction(text, gen);
  REQUIRE_MESSAGE(again.instruction.has_value(), text, ": ", again.error.message);
  CHECK_MESSAGE(gcn::encode(*again.instruction, gen) == words, text);
  CHECK(gcn::print(*again.instruction, gen) == text);
}

}  // namespace

TEST_CASE("scalar and vector instructions have LLVM's encodings") {
  std::ifstream file(data("data/gcn_gfx600_words.tsv"));
  REQUIRE(file.good());
  size_t checked = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t tab = line.find('\t');
    const std::string text = line.substr(0, tab);
    const auto p = gcn::parse_instruction(text);
    CHECK_MESSAGE(p.instruction.has_value(), text, ": ", p.error.column, " ", p.error.message);
    if (!p.instruction) continue;
    CHECK_MESSAGE(bytes_of(gcn::encode(*p.instruction)) == line.substr(tab + 1), text);
    check_round_trip(*p.instruction, gcn::Gen::gfx6);
    ++checked;
  }
  CHECK(checked > 500);
}

TEST_CASE("golden buffer vectors of three generations") {
  std::ifstream file(data("data/gcn_buffer_golden.json"));
  REQUIRE(file.good());
  const auto rows = nlohmann::json::parse(file);
  const std::pair<const char*, gcn::Gen> targets[] = {
      {"tahiti", gcn::Gen::gfx6}, {"bonaire", gcn::Gen::gfx7}, {"fiji", gcn::Gen::gfx8}};
  size_t checked = 0, refused = 0;
  for (const auto& row : rows) {
    const std::string text = row["asm"];
    for (const auto& [name, gen] : targets) {
      const std::string target = name;  // clang 14 lets no lambda see a structured binding
      if (!row.contains(target) || row[target].is_null()) continue;
      const std::string expected = row[target];
      const auto p = gcn::parse_instruction(text, gen);
      if (expected.rfind("ERR", 0) == 0) {
        // The assembler that made the vectors has no name for RSUB; the hardware has the operation.
        if (text.find("rsub") != std::string::npos) continue;
        // It knows tfe and lds in one of the two spellings only; we read both.
        if (text.find(" tfe") != std::string::npos || text.find(" lds") != std::string::npos)
          continue;
        CHECK_MESSAGE(!p.instruction.has_value(), target, ": ", text);
        ++refused;
        continue;
      }
      // LLVM wraps offset:4096 to 0 without a word; we refuse it.
      if (text.find("offset:4096") != std::string::npos) {
        CHECK(!p.instruction.has_value());
        ++refused;
        continue;
      }
      CHECK_MESSAGE(p.instruction.has_value(), target, ": ", text, ": ", p.error.message);
      if (!p.instruction) continue;
      CHECK_MESSAGE(bytes_of(gcn::encode(*p.instruction, gen)) == expected, target, ": ", text);
      check_round_trip(*p.instruction, gen);
      ++checked;
    }
  }
  CHECK(checked > 390);
  CHECK(refused > 30);
}

namespace {

/// Rows of target, text and bytes: assembled, read back, printed, assembled again; or REFUSED.
size_t check_rows(const std::string& name) {
  std::ifstream file(data(name));
  REQUIRE(file.good());
  size_t checked = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t first = line.find('\t'), second = line.find('\t', first + 1);
    const std::string target = line.substr(0, first);
    const std::string text = line.substr(first + 1, second - first - 1);
    const auto gen = gcn::gen_named(target);
    REQUIRE(gen.has_value());
    const std::string expected = line.substr(second + 1);
    const auto p = gcn::parse_instruction(text, *gen);
    if (expected == "REFUSED") {
      CHECK_MESSAGE(!p.instruction.has_value(), target, ": ", text);
      ++checked;
      continue;
    }
    CHECK_MESSAGE(p.instruction.has_value(), target, ": ", text, ": ", p.error.message);
    if (!p.instruction) continue;
    CHECK_MESSAGE(bytes_of(gcn::encode(*p.instruction, *gen)) == expected, target, ": ", text);
    check_round_trip(*p.instruction, *gen);
    ++checked;
  }
  return checked;
}

}  // namespace

TEST_CASE("buffer instructions of compiled kernels have the bytes of their code objects") {
  CHECK(check_rows("data/gcn_corpus_buffer.tsv") > 600);
}

TEST_CASE("random buffer instructions: bytes and refusals") {
  CHECK(check_rows("data/gcn_buffer_random.tsv") > 500);
}

TEST_CASE("flat, DPP and SDWA forms: bytes and refusals") {
  CHECK(check_rows("data/gcn_lane_forms.tsv") > 700);
  CHECK(error_of("v_mov_b32_dpp v0, v1", gcn::Gen::gfx8).find("choice of lanes") !=
        std::string::npos);
  CHECK(error_of("v_mov_b32_dpp v0, v1 row_shl:1").find("not available for gfx600") !=
        std::string::npos);
  CHECK(error_of("flat_atomic_add v[0:1], v2 glc", gcn::Gen::gfx7).find("old value") !=
        std::string::npos);
  CHECK(error_of("flat_load_dword v0, v[1:2] tfe", gcn::Gen::gfx7).find("glc or slc") !=
        std::string::npos);
}

TEST_CASE("lines of all forms with literals, signs and modifiers: bytes and refusals") {
  CHECK(check_rows("data/gcn_lines.tsv") > 1000);
  const auto gfx8 = gcn::Gen::gfx8;
  CHECK(error_of("s_add_u32 s8, 400000, 1111116").find("only one literal") != std::string::npos);
  CHECK(error_of("ds_read_b32 v3, v2 offset:52 offset:42").find("twice") != std::string::npos);
  CHECK(error_of("s_mov_b64 s[0:1], 1.5").find("64-bit integer") != std::string::npos);
  CHECK(error_of("v_add_f16 v0, 65520.0, v1", gfx8).find("too large") != std::string::npos);
  CHECK(error_of("v_add_f16 v0, 100000, v1", gfx8).find("16 bits") != std::string::npos);
  CHECK(error_of("v_mad_f32 v0, s0, s1, v0").find("one scalar register") != std::string::npos);
  CHECK(error_of("v_madmk_f32 v0, s1, 0x11213, v1").find("not both") != std::string::npos);
  CHECK(error_of("v_add_f32_e64 v0, v1, v2 clamp clamp").find("twice") != std::string::npos);
  CHECK(error_of("v_mqsad_u32_u8 v[0:3], v[1:2], v5, v[8:11]", gfx8).find("apart") !=
        std::string::npos);
}

TEST_CASE("words decode only to what assembles again") {
  // Random fields below the two encodings' leading bits; what decodes must survive its text.
  uint64_t state = 1;
  const auto next = [&] {
    state = state * 6364136223846793005U + 1442695040888963407U;
    return static_cast<uint32_t>(state >> 32);
  };
  size_t decoded = 0;
  for (unsigned n = 0; n < 30000; ++n) {
    const auto gen = static_cast<gcn::Gen>(n % 3);
    const uint32_t head = (next() & 1) != 0 ? 0xe0000000 : 0xe8000000;
    const uint32_t rare = (next() & 3) != 0 ? 0xfdfeffff : 0xffffffff;
    const std::vector<uint32_t> words = {(head | (next() & 0x03ffffff)) & rare,
                                         next() & ((next() & 3) != 0 ? 0xff1fffff : 0xffffffff)};
    auto i = gcn::decode(words, gen);
    if (!i) continue;
    CHECK(gcn::encode(*i, gen) == words);
    // A register that no flag reads has no text.
    for (gcn::Operand& o : i->operands)
      if (o.count == 0) o.code = 0;
    i->text = gcn::print(*i, gen);
    check_round_trip(*i, gen);
    ++decoded;
  }
  CHECK(decoded > 8000);
}

TEST_CASE("the other instructions on three generations") {
  CHECK(check_rows("data/gcn_words.tsv") > 400);
}

TEST_CASE("typed formats: names of both assemblers, numbers, defaults") {
  const auto format = [](std::string_view text, gcn::Gen gen = gcn::Gen::gfx6) {
    const auto p = gcn::parse_instruction(text, gen);
    REQUIRE_MESSAGE(p.instruction.has_value(), p.error.message);
    return std::pair<int, int>{p.instruction->dfmt, p.instruction->nfmt};
  };
  using Pair = std::pair<int, int>;
  const std::string head = "tbuffer_load_format_x v4, v1, s[8:11], ";
  CHECK(format(head + "s3 format:[BUF_DATA_FORMAT_32,BUF_NUM_FORMAT_FLOAT] idxen") == Pair{4, 7});
  CHECK(format(head + "s3 idxen format:[8_8_8_8,unorm] offset:4") == Pair{10, 0});
  CHECK(format(head + "s3 idxen format:[snorm_ogl]") == Pair{1, 6});
  CHECK(format(head + "s3 format:78 idxen") == Pair{14, 4});
  CHECK(format(head + "nfmt:5, s3 idxen") == Pair{1, 5});
  CHECK(format(head + "s3 idxen") == Pair{1, 0});
  CHECK(error_of(head + "s3 idxen format:[SNORM_OGL]", gcn::Gen::gfx8).find("gfx803") !=
        std::string::npos);
  CHECK(error_of(head + "dfmt:16, s3 idxen").find("0 to 15") != std::string::npos);
  CHECK(error_of(head + "s3 idxen lds").find("not possible") != std::string::npos);
  CHECK(error_of("buffer_wbinvl1 glc").find("takes no flags") != std::string::npos);
  CHECK(error_of("buffer_store_lds_dword s[4:7], s0 glc", gcn::Gen::gfx8)
            .find("needs the flag lds") != std::string::npos);
  CHECK(error_of("buffer_load_dword v1, off, s[4:7], 0 lds tfe").find("together") !=
        std::string::npos);
}

TEST_CASE("errors say what is wrong and where") {
  CHECK(error_of("frob v0") == "1: unknown instruction 'frob'");
  CHECK(error_of("v_mov_b32 v256, 0").find("v0 to v255") != std::string::npos);
  CHECK(error_of("s_mov_b64 s[1:2], 0").find("multiple of 2") != std::string::npos);
  CHECK(error_of("s_load_dwordx4 s[2:5], s[0:1], 0x0").find("multiple of 4") != std::string::npos);
  CHECK(error_of("buffer_load_dword v0, v1, s[4:7], 0").find("takes 'off'") != std::string::npos);
  CHECK(error_of("buffer_load_dword v0, off, s[4:7], 0 offset:4096").find("0 to 4095") !=
        std::string::npos);
  CHECK(error_of("buffer_load_dword v0, v1, s[4:7], 0 offen addr64").find("excludes") !=
        std::string::npos);
  CHECK(error_of("v_add_f32 v0, 1.5, 2.5").find("literal constant is not possible") !=
        std::string::npos);
  CHECK(error_of("buffer_load_dword v0, v[1:2], s[4:7], 0 addr64", gcn::Gen::gfx8).find("gfx803") !=
        std::string::npos);
  const gcn::Listing l = gcn::parse("  s_nop 0\n  frob v1\n  s_branch .Lx\n  s_endpgm\n");
  REQUIRE(l.diagnostics.size() == 2);
  CHECK(l.diagnostics[0].line == 2);
  CHECK(l.diagnostics[0].column == 3);
  CHECK(l.diagnostics[1].line == 3);
  CHECK(!gcn::parse("").ok());
  CHECK(!gcn::parse(std::string_view("\x7f"
                                     "ELF\0",
                                     5))
             .ok());
}

TEST_CASE("a compiled file gives its kernel, registers and parameters") {
  std::ifstream file(data("kernels/data/gcn/k01_saxpy.gfx600.s"));
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  const gcn::Listing l = gcn::parse(text.str());
  for (const Diagnostic& d : l.diagnostics) MESSAGE(d.line, ":", d.column, ": ", d.message);
  REQUIRE(l.ok());
  REQUIRE(l.kernels.size() == 1);
  const gcn::Kernel& k = l.kernels[0];
  CHECK(k.name == "saxpy");
  CHECK(k.state.kernarg_ptr == 4);
  CHECK(k.state.workgroup_id[0] == 6);
  CHECK(k.state.workgroup_id[1] == -1);
  CHECK(k.kernarg_bytes == 24);
  REQUIRE(k.params.size() == 4);
  CHECK(k.params[0].pointer);
  CHECK(k.params[2].type == ir::Type::f32);
  CHECK(k.params[3].offset == 20);
  CHECK(gcn::size_of(k.code.back()) + k.code.back().pc == 108);  // the compiler's codeLenInByte
}

TEST_CASE("coverage comes from the table") {
  CHECK(gcn::coverage_of("buffer_load_dwordx2").state == gcn::FormState::exact);
  CHECK(gcn::coverage_of("v_add_i32_e32").state == gcn::FormState::exact);
  CHECK(gcn::coverage_of("buffer_atomic_add").state == gcn::FormState::exact);
  CHECK(gcn::coverage_of("tbuffer_load_format_xyzw").state == gcn::FormState::exact);
  CHECK(gcn::coverage_of("buffer_load_format_d16_x").state == gcn::FormState::unsupported);
  CHECK(gcn::coverage_of("buffer_load_format_d16_x", gcn::Gen::gfx8).state ==
        gcn::FormState::exact);
  CHECK(gcn::coverage_of("v_exp_f32").state == gcn::FormState::approximate);
  CHECK(gcn::coverage_of("v_mullit_f32").state == gcn::FormState::unsupported);
  CHECK(gcn::coverage_of("buffer_load_dword[addr64,glc]").state == gcn::FormState::exact);
  CHECK(gcn::coverage_of("buffer_load_dword[addr64]", gcn::Gen::gfx8).state ==
        gcn::FormState::unsupported);
  CHECK(gcn::coverage_of("v_and_b32.sdwa", gcn::Gen::gfx8).state == gcn::FormState::exact);
  CHECK(gcn::coverage_of("v_and_b32.sdwa").state == gcn::FormState::unsupported);
  CHECK(gcn::coverage_of("v_mov_b32.dpp", gcn::Gen::gfx8).state == gcn::FormState::exact);
  CHECK(gcn::coverage_of("flat_load_dword", gcn::Gen::gfx7).state == gcn::FormState::exact);
  CHECK(gcn::coverage().size() > 150);
  // An instruction with its operands is judged with them.
  const auto state = [](const char* form, gcn::Gen gen) {
    return gcn::coverage_of(form, gen).state;
  };
  CHECK(state("v_add_f32 v0, 0.5, v2", gcn::Gen::gfx6) == gcn::FormState::exact);
  CHECK(state("v_add_f32_e64 v0, v1, v2 mul:2", gcn::Gen::gfx6) == gcn::FormState::exact);
  CHECK(state("v_cvt_i32_f32_e64 v0, v1 mul:2", gcn::Gen::gfx6) == gcn::FormState::unsupported);
  CHECK(state("v_add_f32 v0, src_vccz, v2", gcn::Gen::gfx6) == gcn::FormState::exact);
  CHECK(state("v_cmp_lt_f32_dpp vcc, v0, v1 row_shl:1 row_mask:0xf bank_mask:0xf bound_ctrl:0",
              gcn::Gen::gfx8) == gcn::FormState::exact);
  CHECK(state("v_add_f32 v0, 0.15915494, v2", gcn::Gen::gfx8) == gcn::FormState::exact);
  CHECK(state("s_branch .L1", gcn::Gen::gfx6) == gcn::FormState::exact);
  CHECK(state("v_or_b32_sdwa v0, v1, v2 dst_sel:WORD_1 dst_unused:UNUSED_PAD src0_sel:DWORD "
              "src1_sel:BYTE_2",
              gcn::Gen::gfx8) == gcn::FormState::exact);
  CHECK(gcn::coverage_of("s_mov_b32 s0, ttmp1").note ==
        "registers of the trap handler are not supported");
  // Every form that compilers emit is listed by name, and every buffer form runs.
  for (const gcn::Gen gen : {gcn::Gen::gfx6, gcn::Gen::gfx7, gcn::Gen::gfx8}) {
    std::ifstream file(data("data/gcn_opcodes_" + std::string(gcn::name(gen)) + ".txt"));
    REQUIRE(file.good());
    const auto all = gcn::coverage(gen);
    for (std::string form; std::getline(file, form);) {
      const auto named = [&](const gcn::Coverage& c) { return c.form == form; };
      CHECK_MESSAGE(std::any_of(all.begin(), all.end(), named), form);
    }
    for (const gcn::Coverage& c : all)
      if (c.form.find("buffer_") != std::string::npos)
        CHECK_MESSAGE(c.state == gcn::FormState::exact, c.form);
  }
}

TEST_CASE("what random words decode to is text that assembles to them") {
  std::mt19937 random(11);
  for (const gcn::Gen gen : {gcn::Gen::gfx6, gcn::Gen::gfx7, gcn::Gen::gfx8}) {
    size_t decoded = 0, refused = 0;
    for (int n = 0; n < 40000; ++n) {
      std::vector<uint32_t> words(3);
      for (uint32_t& w : words) {
        w = random();
        for (unsigned less = random() % 4; less != 0; --less) w &= random();
      }
      // Half of them are of the long formats.
      if (n % 2 == 0) words[0] = (words[0] & 0x03ffffff) | (48 + random() % 16) << 26;
      const auto i = gcn::decode(words, gen);
      if (!i) continue;
      ++decoded;
      const std::string text = gcn::print(*i, gen);
      // Words that no machine can carry out have a text, too: two scalar registers and the like.
      const auto again = gcn::parse_instruction(text, gen);
      if (!again.instruction) {
        ++refused;
        continue;
      }
      REQUIRE(gcn::print(*again.instruction, gen) == text);
      const auto back = gcn::decode(gcn::encode(*again.instruction, gen), gen);
      REQUIRE_MESSAGE((back && gcn::print(*back, gen) == text), text);
    }
    CHECK(decoded > 4000);
    CHECK(refused < decoded / 2);
  }
}

TEST_CASE("every operand that has a field and every modifier stands in bits of its own") {
  for (const gcn::Row& row : gcn::rows())
    for (const gcn::Gen gen : {gcn::Gen::gfx6, gcn::Gen::gfx7, gcn::Gen::gfx8}) {
      if (row.opcode[static_cast<int>(gen)] < 0) continue;
      const gcn::InstructionFormat& format = gcn::format_of(row.encoding, gen);
      CAPTURE(row.name);
      uint64_t used = format.mask | ((uint64_t{1} << format.opcode_len) - 1) << format.opcode_pos;
      const auto take = [&](unsigned pos, unsigned len) {
        const uint64_t bits = ((uint64_t{1} << len) - 1) << pos;
        CHECK((used & bits) == 0);
        CHECK(pos + len <= 32U * format.words);
        used |= bits;
      };
      for (const gcn::SlotSpec& s : row.operands) {
        const gcn::OperandField* f = gcn::field_of(format, row, s.slot);
        if (f != nullptr) take(f->pos, f->len);
        const bool elsewhere =
            s.slot == gcn::Slot::vcc || s.slot == gcn::Slot::literal || s.slot == gcn::Slot::esrc;
        CHECK(elsewhere == (f == nullptr));
      }
      for (const gcn::Modifier& m : format.modifiers)
        if (gcn::has_modifier(row, m, gen) && m.needs != gcn::Needs::half) take(m.pos, m.len);
    }
}
