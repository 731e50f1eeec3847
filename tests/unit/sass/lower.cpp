// What SASS kernels become: well-formed programs, and explicit errors for what cannot run.
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "runtime/ir/passes/memory/pointers.hpp"
#include "runtime/isa/sass/sass.hpp"

using namespace lanewise;

namespace {

sass::LowerResult lower(std::string_view text) {
  const sass::Listing listing = sass::parse(text);
  for (const Diagnostic& d : listing.diagnostics) MESSAGE(d.line, ":", d.column, ": ", d.message);
  REQUIRE(listing.ok());
  return sass::lower(listing);
}

const ir::Inst* find(const ir::Program& p, ir::Op op) {
  for (const ir::Block& b : p.blocks)
    for (const ir::Inst& i : b.insts)
      if (i.op == op && !(i.mem && i.mem->space == ir::Space::param)) return &i;
  return nullptr;
}

void check_verified(const ir::Program& p) {
  for (const std::string& defect : ir::verify(p)) FAIL_CHECK(defect);
}

}  // namespace

TEST_CASE("compiled saxpy lowers to well-formed programs") {
  std::ifstream file(std::string(LANEWISE_TEST_DATA) + "/kernels/data/sass/k01_saxpy.sass");
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  const sass::LowerResult r = lower(text.str());
  CHECK(r.diagnostics.empty());
  REQUIRE(r.module.kernels.size() == 2);
  CHECK(r.module.target == "sm_50");
  for (const ir::Program& p : r.module.kernels) {
    check_verified(p);
    CHECK(p.param_bytes == 24);
    CHECK(p.wave_lanes == 32);
    CHECK(p.isa == ir::Isa::sass);
  }
}

TEST_CASE("memory instructions carry size, cache policy, alignment and site") {
  const auto r = lower("LDG.E.CV.64 R2, [R4+-0x8] ;\n@!P1 STG.CG.U16 [R0+0x2], R3 ;\nEXIT ;\n");
  REQUIRE(r.diagnostics.empty());
  const ir::Program& p = r.module.kernels[0];
  check_verified(p);
  const ir::Inst* load = find(p, ir::Op::load);
  REQUIRE(load != nullptr);
  CHECK(load->mem->count == 2);
  CHECK(load->mem->offset == -8);
  CHECK(load->mem->cache.op == ir::CacheOp::cv);
  CHECK(load->mem->align == ir::AlignRule::force);
  CHECK(p.sites[load->site].line == 1);
  const ir::Inst* store = find(p, ir::Op::store);
  REQUIRE(store != nullptr);
  CHECK(store->mem->elem == ir::Type::u16);
  CHECK(store->guard.negate);
  CHECK(store->mem->cache.op == ir::CacheOp::cg);
  CHECK(p.sites[store->site].text == "@!P1 STG.CG.U16 [R0+0x2], R3");
}

TEST_CASE("an address in a window stays one on its way through LEA") {
  const sass::LowerResult r = lower(
      "MOV R2, c[0x0][0x140] ;\nMOV R3, c[0x0][0x144] ;\nLDG.E R6, [R2] ;\n"
      "S2R R0, SR_TID.X ;\nISETP.GT.AND P0, PT, R0, 0x3, PT ;\n"
      "@P0 LEA R4.CC, R0, c[0x0][0x0], 0x3 ;\n@P0 LEA.HI.X R5, R0, RZ, RZ, 0x3 ;\n"
      "@P0 LEA R2.CC, R4, RZ ;\n@P0 LEA.HI.X P1, R3, R4, RZ, R5 ;\n"
      "@P0 ST.E [R2], R0, P1 ;\nEXIT ;\n");
  REQUIRE(r.module.kernels.size() == 1);
  ir::Program p = r.module.kernels[0];
  ir::find_pointers(p);
  CHECK(find(p, ir::Op::store)->mem->pointer == ir::kNone);
}

TEST_CASE("what cannot run is an error at its place") {
  const auto r = lower(
      "  MOV R0, c[0x0][0x24] ;\n  MOV R0, c[0x3][0x0] ;\n  LDG.E.128 R1, [R2] ;\n"
      "  XMAD.CSFU R0, R1, R2, R3 ;\n  S2R R0, SR_AFFINITY ;\n  LDG.E R0, [R3] ;\n  EXIT ;\n");
  REQUIRE(r.diagnostics.size() == 6);
  for (uint32_t n = 0; n < 6; ++n) {
    CHECK(r.diagnostics[n].line == n + 1);
    CHECK(r.diagnostics[n].column == 3);
  }
  CHECK(r.diagnostics[0].message == "c[0x0][0x24] holds nothing that is known");
  CHECK(r.diagnostics[2].message.find("R1 cannot start 4 registers") == 0);
  CHECK(sass::lower(sass::parse("BRA 0x400 ;\nEXIT ;\n")).diagnostics.size() == 1);
  // Upper words of the windows' addresses, which code for Pascal reads.
  CHECK(lower("  MOV R0, c[0x0][0x100] ;\n  MOV R0, c[0x0][0x104] ;\n  EXIT ;\n")
            .diagnostics.empty());
}
