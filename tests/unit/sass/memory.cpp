// The memory family on the reference engine, and what the checker refuses or warns about.
#include <doctest/doctest.h>

#include <functional>

#include "runtime/ir/passes/passes.hpp"
#include "runtime/isa/sass/sass.hpp"
#include "runtime/layout/residency.hpp"
#include "tests/support/contains.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;
using test::Bench;

namespace {

sass::LowerResult lowered(const std::string& text, unsigned arch = 50,
                          const std::function<void(sass::Kernel&)>& change = {}) {
  sass::Listing listing = sass::parse(text, arch);
  for (const Diagnostic& d : listing.diagnostics) FAIL_CHECK(d.line << ": " << d.message);
  REQUIRE(listing.kernels.size() == 1);
  if (change) change(listing.kernels[0]);
  return sass::lower(listing);
}

ir::Program program(const std::string& text, unsigned arch = 50,
                    const std::function<void(sass::Kernel&)>& change = {}) {
  sass::LowerResult r = lowered(text, arch, change);
  for (const Diagnostic& d : r.diagnostics)
    if (!d.warning) FAIL_CHECK(d.line << ": " << d.message);
  for (const std::string& defect : ir::verify(r.module.kernels[0])) FAIL_CHECK(defect);
  return std::move(r.module.kernels[0]);
}

/// R20:R21 = out + 4 * lane, R22:R23 = out; the body leaves its result in R0.
ir::Program with_output(const std::string& body, unsigned arch = 50) {
  return program(
      "S2R R19, SR_TID.X ;\nISCADD R20.CC, R19, c[0x0][0x140], 0x2 ;\n"
      "IADD.X R21, RZ, c[0x0][0x144] ;\nMOV R22, c[0x0][0x140] ;\n"
      "MOV R23, c[0x0][0x144] ;\n" +
          body + "STG.E [R20], R0 ;\nEXIT ;\n",
      arch, [](sass::Kernel& k) { k.shared_bytes = 1024; });
}

struct Run {
  std::vector<uint32_t> out;
  LaunchResult result;
};
Run run(const ir::Program& p, std::vector<uint32_t> initial, uint32_t lanes = 32) {
  Bench bench;
  const uint64_t out = bench.put(initial);
  const uint64_t all_resident = bench.put(std::vector<uint32_t>(guest::kSparsePages / 32));
  bench.arg(out);
  ir::Program bound = p;
  ir::bind_symbols(bound, [&](const ir::Symbol& symbol) {
    CHECK(symbol.name == sass::kSparseMap);
    return all_resident;
  });
  Run r;
  r.result = bench.run(bound, 1, lanes);
  r.out = bench.get<uint32_t>(out, initial.size());
  return r;
}
std::vector<uint32_t> outputs(const std::string& body, unsigned arch = 50) {
  const Run r = run(with_output(body, arch), std::vector<uint32_t>(64, 100));
  CHECK(r.result.fault_count == 0);
  return r.out;
}

std::vector<Diagnostic> judged(const std::string& line, unsigned arch = 50) {
  const sass::Parsed p = sass::parse_instruction(line, arch);
  REQUIRE_MESSAGE(p.instruction.has_value(), line, ": ", p.error.message);
  return sass::check(*p.instruction);
}
std::string refusal(const std::string& line) {
  const auto found = judged(line);
  return found.size() == 1 && !found[0].warning ? found[0].message : "";
}
std::string warning(const std::string& line) {
  const auto found = judged(line);
  return found.size() == 1 && found[0].warning ? found[0].message : "";
}
std::string parse_error(const std::string& line) {
  const sass::Parsed p = sass::parse_instruction(line);
  return p.instruction ? "" : p.error.message;
}
std::vector<ir::Inst> memory_events(const ir::Program& p) {
  std::vector<ir::Inst> out;
  for (const ir::Block& b : p.blocks)
    for (const ir::Inst& i : b.insts)
      if (i.op == ir::Op::cachectl) out.push_back(i);
  return out;
}

}  // namespace

TEST_CASE("shared, local and generic accesses reach the same bytes") {
  const auto neighbour = outputs(
      "SHL R4, R19, 0x2 ;\nSTS [R4], R19 ;\nBAR.SYNC 0x0 ;\nLOP32I.XOR R5, R4, 0x4 ;\n"
      "LDS.U.32 R0, [R5] ;\n");
  for (uint32_t lane = 0; lane < 32; ++lane) CHECK(neighbour[lane] == (lane ^ 1));
  // Generic address of shared memory: window base in c[0][0].
  CHECK(outputs("MOV32I R4, 0x1234 ;\nSTS.U16 [0x10], R4 ;\nMOV R6, c[0x0][0x0] ;\nMOV R7, RZ ;\n"
                "LD.E.U16 R0, [R6+0x11], P0 ;\n")[3] == 0x1234);
  CHECK(outputs("MOV R4, c[0x0][0x20] ;\nIADD32I R4, R4, -0x10 ;\nSTL [R4], R19 ;\n"
                "LOP.OR R6, R4, c[0x0][0x4] ;\nMOV R7, RZ ;\nLD.E R0, [R6] ;\n")[9] == 9);
  CHECK(outputs("MOV32I R8, 0x1 ;\nMOV32I R9, 0x2 ;\nMOV32I R10, 0x3 ;\nMOV32I R11, 0x4 ;\n"
                "STL.128 [0x20], R8 ;\nLDL.LU.64 R4, [0x28] ;\nMOV R0, R5 ;\n")[0] == 4);
  CHECK(outputs("STL.U8 [0x20], R19 ;\nLDL.S8 R0, [0x20] ;\n")[31] == 31);
}

TEST_CASE("constants by register") {
  const ir::Program p = program(
      "S2R R19, SR_TID.X ;\nISCADD R20.CC, R19, c[0x0][0x140], 0x2 ;\nIADD.X R21, RZ, "
      "c[0x0][0x144] ;\nSHL R4, R19, 0x2 ;\nLDC R0, c[0x0][R4+0x148] ;\nSTG.E [R20], R0 ;\nEXIT "
      ";\n");
  Bench bench;
  const uint64_t out = bench.put(std::vector<uint32_t>(8, 0));
  bench.arg(out);
  for (uint32_t n = 0; n < 8; ++n) bench.arg(n * 11);
  CHECK(bench.run(p, 1, 8).fault_count == 0);
  CHECK(bench.get<uint32_t>(out, 8)[7] == 77);
}

TEST_CASE("LDC.IS chooses among the constant banks by the upper half of its register") {
  const ir::Program p = program(
      "S2R R19, SR_TID.X ;\nISCADD R20.CC, R19, c[0x0][0x140], 0x2 ;\nIADD.X R21, RZ, "
      "c[0x0][0x144] ;\nLOP32I.AND R5, R19, 0x1 ;\nXMAD R4, R5, 0x3, RZ ;\nSHL R4, R4, 0x10 ;\n"
      "ISCADD R4, R19, R4, 0x2 ;\n@P1 MOV R4, RZ ;\nLDC.IS R0, c[0x0][R4+0x148] ;\n"
      "STG.E [R20], R0 ;\nEXIT ;\n",
      50, [](sass::Kernel& k) {
        sass::ConstantBank bank;
        bank.number = 3;
        bank.bytes.resize(0x400);
        bank.symbol = "constants";
        k.banks.push_back(bank);
      });
  Bench bench;
  const uint64_t out = bench.put(std::vector<uint32_t>(8, 0));
  std::vector<uint32_t> bank(0x100);
  for (uint32_t n = 0; n < bank.size(); ++n) bank[n] = 0x300 + n;
  const uint64_t constants = bench.put(bank);
  bench.arg(out);
  for (uint32_t n = 0; n < 8; ++n) bench.arg(n * 11);
  ir::Program bound = p;
  ir::bind_symbols(bound, [&](const ir::Symbol& symbol) {
    CHECK(symbol.name == "constants");
    return constants;
  });
  CHECK(bench.run(bound, 1, 8).fault_count == 0);
  for (uint32_t lane = 0; lane < 8; ++lane)
    CHECK(bench.get<uint32_t>(out, 8)[lane] ==
          (lane % 2 == 1 ? 0x300 + 0x148 / 4 + lane : lane * 11));
}

TEST_CASE("every atomic operation on global and shared memory") {
  struct Row {
    const char* op;
    uint32_t start, value, expected;
  };
  const Row rows[] = {{"ADD", 100, 7, 107},
                      {"MIN", 100, 7, 7},
                      {"MAX", 100, 7, 100},
                      {"MIN.S32", 100, 0xfffffff0, 0xfffffff0},
                      {"MAX.S32", 100, 0xfffffff0, 100},
                      {"INC", 100, 100, 0},
                      {"INC", 99, 100, 100},
                      {"DEC", 0, 55, 55},
                      {"AND", 0xff0, 0x3c, 0x30},
                      {"OR", 0xff0, 0xf, 0xfff},
                      {"XOR", 0xff0, 0xff, 0xf0f},
                      {"EXCH", 1, 2, 2}};
  for (const Row& row : rows) {
    CAPTURE(row.op);
    const std::string value = "MOV32I R8, " + std::to_string(row.value) + " ;\n";
    const std::string op = row.op;
    const auto global = run(with_output(value + "ATOM.E." + op + " R0, [R20+0x80], R8 ;\n"),
                            std::vector<uint32_t>(64, row.start));
    CHECK(global.out[5] == row.start);
    CHECK(global.out[37] == row.expected);
    const auto shared =
        run(with_output(value + "SHL R4, R19, 0x2 ;\nLDG.E R9, [R20] ;\nSTS [R4], R9 ;\nATOMS." +
                        op + " R9, [R4], R8 ;\nLDS R0, [R4] ;\nSTG.E [R20+0x80], R9 ;\n"),
            std::vector<uint32_t>(64, row.start));
    CHECK(shared.out[5] == row.expected);
    CHECK(shared.out[37] == row.start);
    if (op == "EXCH") continue;
    const auto red = run(with_output(value + "RED.E." + op + " [R20+0x80], R8 ;\n"),
                         std::vector<uint32_t>(64, row.start));
    CHECK(red.out[37] == row.expected);
  }
}

TEST_CASE("all lanes add to one word; wide and floating-point atomics; compare and swap") {
  CHECK(outputs("MOV32I R8, 0x2 ;\nRED.E.ADD [R22+0xfc], R8 ;\n")[63] == 164);
  CHECK(outputs("MOV32I R8, 0x3f800000 ;\nMOV32I R9, 0x41200000 ;\nSTG.E [R20+0x80], R9 ;\n"
                "ATOM.E.ADD.F32.FTZ.RN R0, [R20+0x80], R8 ;\nLDG.E R0, [R20+0x80] ;\n")[1] ==
        0x41300000);
  // 0x64'00000064 + 0x1'ffffffff on one pair of words.
  const auto wide = run(
      program(
          "MOV R22, c[0x0][0x140] ;\nMOV R23, c[0x0][0x144] ;\nMOV32I R8, -0x1 ;\n"
          "MOV32I R9, 0x1 ;\nATOM.E.ADD.U64 R4, [R22], R8 ;\nSTG.E.64 [R22+0x8], R4 ;\nEXIT ;\n"),
      std::vector<uint32_t>(4, 100), 1);
  CHECK(wide.out == std::vector<uint32_t>{99, 102, 100, 100});
  CHECK(outputs("MOV32I R8, 0x64 ;\nMOV R9, R19 ;\nATOM.E.CAS R0, [R20+0x80], R8, R9 ;\n")[40] ==
        8);
  CHECK(outputs("MOV32I R8, 0x63 ;\nMOV R9, R19 ;\nATOM.E.CAS R0, [R20+0x80], R8, R9 ;\n")[40] ==
        100);
  CHECK(outputs("MOV32I R8, 0x64 ;\nATOM.E.CAS R0, [R20+0x80], R8, RZ ;\n")[40] == 0);
  // One lane wins; all see its number.
  const auto winner = outputs(
      "STS [0x8], RZ ;\nBAR.SYNC 0x0 ;\nIADD32I R8, R19, 0x5 ;\n"
      "ATOMS.CAS R0, [0x8], RZ, R8 ;\nBAR.SYNC 0x0 ;\nLDS R0, [0x8] ;\n");
  CHECK(winner[3] >= 5);
  CHECK(winner[3] < 37);
  for (uint32_t lane = 0; lane < 32; ++lane) CHECK(winner[lane] == winner[0]);
  // Atomics force their alignment, too.
  CHECK(outputs("MOV32I R8, 0x1 ;\nRED.E.ADD [R20+0x83], R8 ;\n")[33] == 101);
}

TEST_CASE("atomic sums of two halves, from sm_52 on; none is flushed from sm_60 on") {
  struct Row {
    const char *value, *start;
    uint32_t expected, unflushed;
  };
  const Row rows[] = {{"0xc0003e00", "0x42003400", 0x3c003f00, 0x3c003f00},   // -2 + 3, 1.5 + 0.25
                      {"0x3c000001", "0x10001", 0x3c000000, 0x3c000002},      // subnormal numbers
                      {"0x7bff7c00", "0x7bfffc00", 0x7c007fff, 0x7c007fff}};  // overflow, a NaN
  for (const Row& row : rows)
    for (const unsigned arch : {52U, 53U, 60U, 61U}) {
      CAPTURE(row.value);
      CAPTURE(arch);
      const std::string before = std::string("MOV32I R8, ") + row.value + " ;\nMOV32I R9, " +
                                 row.start + " ;\nSTG.E [R20+0x80], R9 ;\n";
      const std::string type = arch < 60 ? ".ADD.F16x2.FTZ.RN" : ".ADD.F16x2.RN";
      for (const std::string& op : {"ATOM.E" + type + " R0, [R20+0x80], R8 ;\n",
                                    "RED.E" + type + " [R20+0x80], R8 ;\nMOV R0, R9 ;\n"}) {
        CAPTURE(op);
        const auto out = run(with_output(before + op, arch), std::vector<uint32_t>(64, 0)).out;
        CHECK(out[3] == static_cast<uint32_t>(std::stoul(row.start, nullptr, 16)));
        CHECK(out[35] == (arch < 60 ? row.expected : row.unflushed));
      }
    }
}

TEST_CASE("atomic sums of doubles, from sm_60 on") {
  // 1.5 + 2^-1074 rounds to 1.5; two of the smallest numbers make the next one.
  struct Row {
    const char *high, *low, *start_high, *start_low;
    uint32_t sum_high, sum_low;
  };
  for (const Row& row : {Row{"0x3ff80000", "0x0", "0x40020000", "0x1", 0x400e0000, 1},
                         Row{"0x0", "0x1", "0x0", "0x1", 0, 2},
                         Row{"0xbff00000", "0x0", "0x3ff00000", "0x0", 0, 0}}) {
    const std::string before =
        std::string("MOV32I R8, ") + row.low + " ;\nMOV32I R9, " + row.high + " ;\nMOV32I R10, " +
        row.start_low + " ;\nMOV32I R11, " + row.start_high +
        " ;\nLOP32I.AND R12, R20, 0x4 ;\nISETP.EQ.AND P0, PT, R12, RZ, PT ;\n"
        "@P0 STG.E.64 [R20+0x80], R10 ;\n";
    for (const char* op : {"@P0 ATOM.E.ADD.F64.RN R0, [R20+0x80], R8 ;\n",
                           "@P0 RED.E.ADD.F64.RN [R20+0x80], R8 ;\n@P0 MOV R0, R10 ;\n"}) {
      CAPTURE(op);
      const auto out = run(with_output(before + op, 60), std::vector<uint32_t>(64, 0)).out;
      CHECK(out[2] == static_cast<uint32_t>(std::stoul(row.start_low, nullptr, 16)));
      CHECK(out[34] == row.sum_low);
      CHECK(out[35] == row.sum_high);
    }
  }
  CHECK(!sass::parse_instruction("ATOM.E.ADD.F64.RN R0, [R2], R4", 53).instruction);
}

TEST_CASE("a sparse load says whether its page is there") {
  const ir::Program p =
      with_output("LDG.E P2, R4, [R20+0x80] ;\nSEL R5, RZ, 0x1, P2 ;\nIADD R0, R4, R5 ;\n", 52);
  CHECK(run(p, std::vector<uint32_t>(64, 40)).out[3] == 41);
  ir::Program absent = p;
  bool found = false;
  for (ir::Inst& i : absent.blocks[0].insts)
    if (i.op == ir::Op::mov && i.mode == static_cast<uint8_t>(ir::Choice::sparse_absent)) {
      i.src[0] = ir::Operand::immediate(1);
      found = true;
    }
  REQUIRE(found);
  CHECK(run(absent, std::vector<uint32_t>(64, 40)).out[3] == 0);
  // Under a false guard neither the register nor the predicate changes.
  const ir::Program guarded = with_output(
      "MOV32I R4, 0x7 ;\nISETP.EQ.AND P2, PT, RZ, RZ, PT ;\n@!PT LDG.E P2, R4, [RZ] ;\n"
      "SEL R0, R4, RZ, P2 ;\n",
      53);
  CHECK(run(guarded, std::vector<uint32_t>(64, 40)).out[3] == 7);
}

TEST_CASE("killed lanes load and compute but store nothing; a loop does not wake them") {
  // Every lane below 8 dies in the second turn of a loop that begins with the first instruction.
  const std::string loop =
      "IADD32I R18, R18, 0x1 ;\nISETP.GT.AND P0, PT, R18, 0x1, PT ;\nS2R R19, SR_TID.X ;\n"
      "ISETP.LT.AND P1, PT, R19, 0x8, P0 ;\n@P1 KIL ;\n@!P0 BRA 0x8 ;\n"
      "ISCADD R20.CC, R19, c[0x0][0x140], 0x2 ;\nIADD.X R21, RZ, c[0x0][0x144] ;\n"
      "LDG.E R4, [R20] ;\nVOTE.ALL R5, PT, PT ;\nPOPC R5, R5 ;\nIADD R0, R4, R5 ;\n"
      "STG.E [R20], R0 ;\nRED.E.ADD [R20+0x80], R4 ;\nEXIT ;\n";
  const Run r = run(program(loop), std::vector<uint32_t>(64, 100));
  CHECK(r.result.fault_count == 0);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    CHECK(r.out[lane] == (lane < 8 ? 100 : 132));
    CHECK(r.out[lane + 32] == (lane < 8 ? 100 : 200));
  }
  // Nothing is tracked where no lane can die.
  for (const ir::RegInfo& reg : program("STG.E [R2], R0 ;\nEXIT ;\n").regs)
    CHECK(reg.name != sass::kStoresEnabled);
}

TEST_CASE("cache control becomes events in the right space, with an address per lane") {
  const ir::Program p = program(
      "CCTL.E.PF1 [R2+0x10] ;\nCCTL.PF2 [R2+0x10] ;\nCCTL.U.WB [R3] ;\nCCTL.C.PF1 [R3+0x4] ;\n"
      "CCTL.I.IVALL ;\nCCTL.IVALL ;\nCCTL.U.IVALL ;\nCCTLL.RS [R1-0x4] ;\nCCTLL.IVALL ;\n"
      "CCTLL.CRS.WBALL ;\n@!P0 CCTL.E.IV [0x80000000] ;\nEXIT ;\n",
      50, {});
  const auto list = memory_events(p);
  REQUIRE(list.size() == 11);
  using ir::CacheCtl;
  using ir::Space;
  const std::pair<CacheCtl, Space> expected[] = {
      {CacheCtl::prefetch_l1, Space::generic},    {CacheCtl::prefetch_l2, Space::generic},
      {CacheCtl::write_back, Space::generic},     {CacheCtl::prefetch_l1, Space::constant},
      {CacheCtl::invalidate_all, Space::code},    {CacheCtl::invalidate_all, Space::generic},
      {CacheCtl::invalidate_all, Space::generic}, {CacheCtl::reset, Space::local},
      {CacheCtl::invalidate_all, Space::local},   {CacheCtl::write_back_all, Space::local},
      {CacheCtl::invalidate, Space::generic}};
  for (size_t n = 0; n < list.size(); ++n) {
    CAPTURE(n);
    CHECK(list[n].mode == static_cast<uint8_t>(expected[n].first));
    CHECK(list[n].mem->space == expected[n].second);
  }
  CHECK(list[0].mem->offset == 16);
  CHECK(p.regs[list[0].src[0].index].width == ir::Width::b64);
  CHECK(list[5].src.empty());
  CHECK(list[6].mem->cache.op == ir::CacheOp::ci);
  CHECK(p.regs[list[7].src[0].index].width == ir::Width::b32);
  CHECK(list[7].mem->offset == -4);
  CHECK(list[10].src[0].imm == 0x80000000);
  CHECK(list[10].guard.negate);
}

TEST_CASE("registers that the shader does not have make the address absolute") {
  const ir::Program p =
      program("LDG.E R0, [R8-0x10] ;\nEXIT ;\n", 50, [](sass::Kernel& k) { k.registers = 8; });
  Bench bench;
  const LaunchResult r = bench.run(p, 1, 1);
  REQUIRE(r.faults.size() == 1);
  CHECK(r.faults[0].address == 0xfffff0);
}

TEST_CASE("the checker names the rule") {
  CHECK(has(refusal("CCTL.E.QRY1[R2]"), "illegal encoding"));
  CHECK(has(refusal("CCTL.E.IVALL"), "cannot have .E"));
  CHECK(has(refusal("CCTL.CRS.PF1 [R2]"), "only valid in CCTLL.CRS.WBALL"));
  CHECK(has(refusal("CCTL.CRS.IVALL"), "only valid in CCTLL.CRS.WBALL"));
  CHECK(has(refusal("CCTLL.???0.WBALL"), "only valid in CCTLL.CRS.WBALL"));
  CHECK(has(refusal("CCTLL.???1.PF1 [R2]"), "only valid in CCTLL.CRS.WBALL"));
  CHECK(has(refusal("CCTL.PF1.5 [R2]"), "not supported"));
  CHECK(has(refusal("CCTL.INVALIDCCTLOP12 [R2]"), "does not exist"));
  CHECK(has(refusal("CCTL.INVALIDCACHETYPE6.PF1 [R2]"), "does not exist"));
  CHECK(has(refusal("CCTLT.IVALL"), "not supported"));
  CHECK(has(refusal("STG.E.INVALIDSIZE7 [R2], R0"), "no size"));
  CHECK(has(refusal("LDS.U.INVALIDSIZE7 R0, [R2]"), "no size"));
  CHECK(has(refusal("LDC.INVALIDSIZE6 R0, c[0x0][R2]"), "no size"));
  CHECK(has(refusal("ATOM.E.INVALIDATOMOP12 R0, [R2], R4"), "does not exist"));
  CHECK(has(refusal("ISETP.EQ.INVALIDBOP3 P0, PT, R0, R1, PT"), "code 3 does not exist"));
  CHECK(has(refusal("VOTE.INVALIDVMODE3 R0, PT, PT"), "code 3 does not exist"));
  CHECK(has(refusal("BAR.RED.INVALIDBARMODE3 0x0, PT"), "code 3 does not exist"));
  CHECK(has(refusal("SHR.INVALIDSHRXMODE1 R0, R1, R2"), "code 1 does not exist"));
  CHECK(has(refusal("IADD3.???3 R0, R1, R2, R3"), "code 3 does not exist"));
  CHECK(has(refusal("ATOMS.INVALIDATOMSOP10 R0, [R2], R4"), "does not exist"));
  CHECK(has(refusal("RED.E.ADD.INVALIDATOMICSIZE6 [R2], R4"), "does not exist"));
  CHECK(has(warning("CCTL.C.IVALL {?WAIT4}"), "?WAIT5"));
  CHECK(has(warning("CCTLL.CRS.WBALL ?WAIT1"), "?WAIT5"));
  CHECK(has(warning("STG.E [R2], R0 &wr=1"), "no &wr"));
  CHECK(has(warning("CCTL.I.PF1 [R2]"), "only .IVALL"));
  for (const char* fine : {"CCTL.C.IVALL {?WAIT5}", "CCTL.C.IVALL", "CCTLL.CRS.WBALL ?WAIT15",
                           "CCTL.D.PF1 [R3 + 4]", "STG.E [R2], R0 &rd=1"})
    CHECK_MESSAGE(judged(fine).empty(), fine);
}

TEST_CASE("what has no encoding is refused with the reason") {
  CHECK(has(parse_error("CCTL.C.IVALL {&rd=0}"), "run in dispatch"));
  CHECK(has(parse_error("CCTL.I.IVALL &wr=2"), "run in dispatch"));
  CHECK(has(parse_error("IADD R0, R1, R2 &wr=0"), "fixed latency"));
  CHECK(has(parse_error("CCTL.PF1 [R2+0x2]"), "expected a multiple of 4"));
  CHECK(has(parse_error("ATOMS.ADD R0, [R2+0x3], R4"), "expected a multiple of 4"));
  CHECK(has(parse_error("LDG.E P0, R0, [R2]"), "expected a register"));
  CHECK(has(parse_error("CCTLL.PF1 [R2+0x800000]"), "does not fit"));
  CHECK(has(parse_error("ATOM.E.CAS R0, [R2], R4, R6"), "expected R5"));
  CHECK(!parse_error("CCTL.IVALL [R2]").empty());
  CHECK(!parse_error("CCTL.CRS.WBALL").empty());
  CHECK(!parse_error("CCTLL.E.PF1 [R2]").empty());
  CHECK(!sass::decode(0xef6000000007ff26, sass::Control{0x700 | 0x5 << 5}).has_value());
  CHECK(sass::decode(0xef6000000007ff26, sass::Control{}).has_value());
}

TEST_CASE("what cannot run is refused when lowered") {
  const auto message = [](const std::string& line) {
    const auto d = lowered(line + " ;\nEXIT ;\n").diagnostics;
    return d.size() == 1 ? d[0].message : "";
  };
  CHECK(has(message("ATOM.E.INC.S32 R0, [R2], R4"), "has no type s32"));
  CHECK(has(message("ATOM.E.AND.F32.FTZ.RN R0, [R2], R4"), "has no type f32"));
  CHECK(has(message("ATOM.E.SAFEADD R0, [R2], R4"), "not documented"));
  CHECK(has(message("ATOMS.CAST R0, [R2], R4, R5"), "not supported"));
  CHECK(has(message("LDC R0, c[0x3][R2]"), "nothing says what constant bank 3 holds"));
  CHECK(has(message("MEMBAR.VC"), "not documented"));
  CHECK(has(message("SHL.X R0, R1, R2"), "not documented"));
  CHECK(has(message("SHR.XHI R0, R1, R2"), "not documented"));
  CHECK(has(message("SHF.L.U64.XHI R0, R1, R2, R3"), "not documented"));
  CHECK(has(message("IADD3.RS R0, -R1, R2, R3"), "not documented"));
  CHECK(has(message("IADD3 R0.CC, -R1, -R2, -R3"), "not documented"));
  CHECK(has(message("XMAD.MRG R0.CC, R1, R2, R3"), "not documented"));
  CHECK(has(message("XMAD.S16.S16.CSFU R0, R1, R2.H1, R3"), "two signed upper halves"));
  CHECK(has(message("LEA.HI R0, -R1, R2, R3, 0x1"), "not documented"));
  CHECK(has(message("LEA.HI P0, R0, R1, R2, R3, 0x1"), "expected .X"));
  CHECK(has(message("EXIT CC.CSM_TA"), "clipping"));
  CHECK(has(message("BRA c[0x0][0x140]"), "not supported"));
  CHECK(has(message("BAR.SCAN 0x0, 0x20, PT"), "not supported"));
  CHECK(has(message("RED.E.ADD.U128 [R2], R4"), "not supported"));
  CHECK(has(message("LDG.E.64 R0, [R3]"), "R3 cannot start 2 registers"));
  CHECK(has(message("ATOM.E.CAS.64 R0, [R2], R6, R8"), "R6 cannot start 4"));
}
