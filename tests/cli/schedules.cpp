// --schedule: kernels whose result depends on the order of lanes, which a search finds and its
// seeds repeat, and near misses, which it does not accuse; three instruction sets.
#include <nlohmann/json.hpp>

#include "tests/cli/ptx_kernels.hpp"
#include "tests/cli/support.hpp"

namespace schedules_test {
using namespace cli_test;
using nlohmann::json;

namespace {

struct Planted {
  const char* name;
  std::string body;
  bool depends;
};

/// Results begin at the 64th word.
std::string ptx(const std::string& body, const std::string& target = "sm_70") {
  return ptx_two_groups(target, 256, body);
}

const std::string kBarrier = "bar.sync 0;\n", kOut = "st.global.u32 [%rd3], %r10;\n";

std::string twice(const std::string& end) {
  return "mov.u32 %r10, 0;\nmov.u32 %r12, 0;\nagain:\nadd.u32 %r13, %r12, %r1;\n"
         "st.shared.u32 [%r4], %r13;\nbar.sync 0;\nld.shared.u32 %r11, [%r5];\nadd.u32 %r10, %r10, "
         "%r11;\n" +
         end + "add.u32 %r12, %r12, 7;\nsetp.lt.u32 %p3, %r12, 21;\n@%p3 bra again;\n" + kOut;
}
/// The group that comes last adds up what both have left.
std::string last_group(const std::string& before, const std::string& behind) {
  return "@!%p2 bra end;\nadd.u32 %r9, %r2, 3;\n" + before +
         "membar.gl;\natom.global.add.u32 %r10, [%rd1], 1;\nmembar.gl;\n" + behind +
         "setp.ne.u32 %p3, %r10, 1;\n@%p3 bra end;\nld.global.u32 %r11, [%rd1+256];\n"
         "ld.global.u32 %r12, [%rd1+512];\nadd.u32 %r11, %r11, %r12;\n"
         "st.global.u32 [%rd1+800], %r11;\nend:\n";
}
std::string locked(const std::string& inside, const std::string& behind) {
  return "@!%p2 bra end;\nspin:\natom.global.cas.b32 %r10, [%rd1], 0, 1;\nsetp.ne.u32 %p3, %r10, "
         "0;\n@%p3 bra spin;\nmembar.gl;\n" +
         inside + "membar.gl;\natom.global.exch.b32 %r10, [%rd1], 0;\n" + behind + "end:\n";
}
const std::string kAdd =
    "ld.global.u32 %r11, [%rd1+256];\nadd.u32 %r11, %r11, 5;\n"
    "st.global.u32 [%rd1+256], %r11;\n";
std::string sum(const std::string& value) {
  return "cvt.rn.f32.u32 %f1, %r9;\n" + value + "red.global.add.f32 [%rd1+256], %f1;\n";
}

std::vector<Planted> of_ptx() {
  const std::string store = "st.global.u32 [%rd3], %r9;\n";
  return {
      {"a lost update",
       "ld.global.u32 %r10, [%rd1+256];\nadd.u32 %r10, %r10, 1;\nst.global.u32 [%rd1+256], %r10;\n",
       true},
      {"atomic updates", "red.global.add.u32 [%rd1+256], 1;\n", false},
      {"the last store wins", "st.global.u32 [%rd1+256], %r9;\n", true},
      {"all store one value", "st.global.u32 [%rd1+256], 9;\n", false},
      {"no barrier", kStore + kPartner + kOut, true},
      {"a barrier", kStore + kBarrier + kPartner + kOut, false},
      {"no __syncwarp", kStore + kNeighbour + kOut, true},
      {"__syncwarp", kStore + "bar.warp.sync -1;\n" + kNeighbour + kOut, false},
      {"a loop with a barrier too few", twice(""), true},
      {"a loop with both barriers", twice(kBarrier), false},
      {"results in the order of tickets",
       "atom.global.add.u32 %r10, [%rd1], 4;\ncvt.u64.u32 %rd5, %r10;\nadd.u64 %rd5, %rd5, %rd1;\n"
       "st.global.u32 [%rd5+256], %r9;\n",
       true},
      {"one value by tickets",
       "atom.global.add.u32 %r10, [%rd1], 4;\ncvt.u64.u32 %rd5, %r10;\nadd.u64 %rd5, %rd5, %rd1;\n"
       "st.global.u32 [%rd5+256], 1;\n",
       false},
      {"a sum of floats that rounds", sum("rcp.rn.f32 %f1, %f1;\n"), true},
      {"a sum of floats that is exact", sum(""), false},
      {"another group's word", "st.global.u32 [%rd3], %r9;\nld.global.u32 %r10, [%rd4];\n" + kOut,
       true},
      {"the own word", store + "ld.global.u32 %r10, [%rd3];\nadd.u32 %r10, %r10, 1;\n" + kOut,
       false},
      {"the last group adds up what may be missing", last_group("", "st.global.u32 [%rd3], %r9;\n"),
       true},
      {"the last group adds up", last_group("st.global.u32 [%rd3], %r9;\n", ""), false},
      {"an update behind the lock", locked("", kAdd), true},
      {"an update under the lock", locked(kAdd, ""), false},
      {"a sum read early", "red.shared.add.u32 [s], %r9;\nld.shared.u32 %r10, [s];\n" + kOut, true},
      {"a sum read behind a barrier",
       "red.shared.add.u32 [s], %r9;\n" + kBarrier + "ld.shared.u32 %r10, [s];\n" + kOut, false},
      {"one lane is interrupted while all others go by",
       "ld.shared.u32 %r10, [s];\natom.shared.add.u32 %r11, [s], 1;\nsetp.ne.u32 %p3, %r10, 0;\n"
       "@%p3 bra end;\nsetp.ne.u32 %p3, %r11, 63;\n@%p3 bra end;\nst.global.u32 [%rd1+256], 1;\n"
       "end:\n",
       true},
      {"a minimum by compare-and-swap",
       "mov.u32 %r10, 0;\nagain:\nmax.u32 %r11, %r10, %r9;\natom.global.cas.b32 %r12, [%rd1+256], "
       "%r10, %r11;\nsetp.ne.u32 %p3, %r12, %r10;\nmov.u32 %r10, %r12;\n@%p3 bra again;\n",
       false},
  };
}

/// R0 the lane of 64, R2 its word of shared memory, R3 that of the other warp, R6:R7 its word of
/// global memory.
std::string sass(const std::string& body) {
  return R"(k:
S2R R0, SR_TID.X ;
S2R R1, SR_CTAID.X ;
SHL R2, R0, 0x2 ;
LOP32I.XOR R3, R2, 0x80 ;
SHL R5, R1, 0x8 ;
IADD R5, R5, R2 ;
IADD R6.CC, R5, c[0x0][0x140] ;
IADD.X R7, RZ, c[0x0][0x144] ;
IADD32I R10, R0, 0x1 ;
)" + body +
         "\nSTG.E [R6], R11 ;\nEXIT ;\n";
}
std::vector<Planted> of_sass() {
  const std::string store = "STS [R2], R10 ;\n", partner = "LDS R11, [R3] ;\n";
  return {
      {"no barrier", store + partner, true},
      {"a barrier", store + "BAR.SYNC 0x0 ;\n" + partner, false},
      {"two warps store in one place", "STS [RZ], R10 ;\nBAR.SYNC 0x0 ;\nLDS R11, [RZ] ;\n", true}};
}

/// v0 the lane of 128, v1 its word of LDS, v2 that of the other wave, v3 that of its neighbour,
/// v[4:5] its word of memory.
std::string gcn(const std::string& body) {
  return R"(.text
.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
.globl k
.p2align 8
.type k,@function
k:
  s_mov_b32 m0, -1
  s_load_dwordx2 s[0:1], s[4:5], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_xor_b32 v2, 0x100, v1
  v_xor_b32 v3, 4, v1
  s_lshl_b32 s2, s6, 9
  v_add_u32 v8, vcc, s2, v1
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v5, s1
  v_add_u32 v4, vcc, s0, v8
  v_addc_u32 v5, vcc, 0, v5, vcc
  v_add_u32 v10, vcc, 1, v0
  v_mov_b32 v11, 0
)" + body +
         R"(
  s_waitcnt lgkmcnt(0)
  flat_store_dword v[4:5], v12
  s_endpgm
.section .rodata,#alloc
.p2align 6
.amdhsa_kernel k
  .amdhsa_group_segment_fixed_size 1024
  .amdhsa_kernarg_size 8
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 16
.end_amdhsa_kernel
)";
}
std::vector<Planted> of_gcn() {
  const std::string store = "ds_write_b32 v1, v10\ns_waitcnt lgkmcnt(0)\n";
  return {
      {"no barrier", store + "ds_read_b32 v12, v2\n", true},
      {"a barrier", store + "s_barrier\nds_read_b32 v12, v2\n", false},
      {"a neighbour's word: the wave runs in step", store + "ds_read_b32 v12, v3\n", false},
      {"old values of a sum", "ds_add_rtn_u32 v12, v11, v10\n", true},
  };
}

std::string bytes_of(const std::string& how, const std::string& schedule) {
  const std::string file = scratch() + "/result.npy";
  const Output o = program_as_is("run --device reference --grid 2 " + how + " --arg out:" + file +
                                 ":u32[256] --schedule " + schedule);
  CAPTURE(o.err);
  CHECK(o.code == 0);
  return slurp(file);
}

void check_all_of(const std::vector<Planted>& planted, const std::string& suffix,
                  std::string (*kernel)(const std::string&), const std::string& sizes) {
  for (const Planted& p : planted) {
    CAPTURE(std::string(p.name));
    const std::string how = write("order" + suffix, kernel(p.body)) + " " + sizes;
    const Output o = program_as_is(
        "run --device reference --grid 2 " + how +
        " --arg zero:u32[256] --json --schedule search:" + (p.depends ? "1000" : "100"));
    CAPTURE(o.err);
    REQUIRE(!o.out.empty());
    const json j = json::parse(o.out);
    CAPTURE(j.dump(1));
    CHECK(o.code == (p.depends ? 1 : 0));
    CHECK((j["fault_count"] == 1) == p.depends);
    if (!p.depends || j["fault_count"] != 1) continue;
    const json f = j["faults"][0];
    CHECK(f["kind"] == "order_dependent");
    CHECK(f["rule"] == "order");
    const std::string first = f["other"]["schedule"], second = f["schedule"];
    const std::string result = bytes_of(how, second);
    CHECK(bytes_of(how, first) != result);
    CHECK(bytes_of(how, second) == result);
  }
}

std::string of_sm_70(const std::string& body) {
  return ptx(body);
}

}  // namespace

TEST_CASE("schedules: results that depend on the order are found and repeated" * kHostCase) {
  check_all_of(of_ptx(), ".ptx", of_sm_70, "--block 64");
  check_all_of(of_sass(), ".sass", sass, "--block 64 --dyn-shared 1024");
  check_all_of(of_gcn(), ".s", gcn, "--block 128");
}

TEST_CASE("schedules: lanes of a warp run in step before sm_70" * kHostCase) {
  const auto code = [](const std::string& target, const std::string& how) {
    const std::string file = write("step.ptx", ptx(kStore + kNeighbour + kOut, target));
    return program_as_is("run " + file +
                         " --device reference --grid 2 --block 64 --arg "
                         "zero:u32[256] --schedule search:200 " +
                         how)
        .code;
  };
  CHECK(code("sm_60", "") == 0);
  CHECK(code("sm_60", "--policy race.wave=independent") == 1);
  CHECK(code("sm_70", "") == 1);
  CHECK(code("sm_70", "--policy race.wave=lockstep") == 0);
}

TEST_CASE("schedules: the finding in each format" * kHostCase) {
  const std::string file =
      write("lost.ptx", ptx("mov.u32 %r10, 0;\n@!%p2 bra end;\n"
                            "ld.global.u32 %r10, [%rd1+256];\nadd.u32 %r10, "
                            "%r10, 1;\nst.global.u32 [%rd1+256], %r10;\nend:\n"));
  const std::string at = scratch() + "/found";
  const std::string how = "run " + file +
                          " --device reference --grid 2 --block 64 --arg zero:u32[256]"
                          " --schedule search:1000 ";
  const Output o =
      program_as_is(how + "--findings " + at + ".sarif --findings " + at + ".xml --findings " + at +
                    ".txt --write-baseline " + at + ".known");
  CHECK(o.code == 1);
  // One of the two increments is lost: the second lane stores 1 in place of 2.
  CHECK(contains(o.err, "the result depends on the order of lanes: store of 4 bytes"));
  CHECK(contains(o.err, "which leaves 0x1 there in the order random:"));
  CHECK(contains(o.err, "In the order random:0 it is 0x2"));
  CHECK(contains(o.err, "memory differs in 1 byte at the end"));
  const json sarif = json::parse(slurp(at + ".sarif"));
  CHECK(sarif["runs"][0]["results"][0]["ruleId"] == "order");
  CHECK(sarif["runs"][0]["results"][0]["codeFlows"].size() == 1);
  CHECK(contains(slurp(at + ".xml"), "<failure"));
  CHECK(contains(slurp(at + ".txt"), "order"));
  CHECK(program_as_is(how + "--baseline " + at + ".known").code == 0);
}

TEST_CASE("schedules: faults of one order, and what is refused" * kHostCase) {
  // A lane that comes before its partner finds 0 and loads from the null page.
  const std::string file =
      write("null.ptx", ptx("@%p2 st.shared.u64 [s+512], %rd1;\n@%p2 bra end;\nld.shared.u64 %rd5, "
                            "[s+512];\nld.global.u32 %r10, [%rd5];\nend:\n"));
  const std::string how =
      "run " + file + " --device reference --grid 1 --block 64 --arg zero:u32[256] ";
  const Output o = program_as_is(how + "--schedule search:100 --json");
  CHECK(o.code == 1);
  const json j = json::parse(o.out);
  REQUIRE(j["fault_count"] > 0);
  CHECK(j["faults"][0]["kind"] == "null");
  const std::string schedule = j["faults"][0]["schedule"];
  CHECK(program_as_is(how + "--schedule random:0").code == 0);
  CHECK(program_as_is(how + "--schedule " + schedule).code == 1);
  for (const char* wrong :
       {"random", "random:x", "search:0", "search:-1", "fast", "random:1,strong"})
    CHECK(program_as_is(how + "--schedule " + wrong).code == 2);
  CHECK(program_as_is(how + "--schedule search:2 --trace " + scratch() + "/t.lwt").code == 2);
  CHECK(program_as_is(how + "--schedule random:9,weak --check race").code == 2);
}

TEST_CASE("schedules: other checks look at the order" * kHostCase) {
  // The race is on a path that the first order does not take.
  const std::string file =
      write("path.ptx",
            ptx("st.shared.u32 [%r4], 1;\n@!%p2 bra end;\nld.relaxed.cta.shared.u32 %r10, [s+4];\n"
                "setp.eq.u32 %p3, %r10, 0;\n@!%p3 bra end;\nst.shared.u32 [s+8], 5;\nend:\n"));
  const std::string how = "run " + file +
                          " --device reference --grid 1 --block 64 --arg zero:u32[256] "
                          "--check race --json --schedule ";
  const auto races = [&](const std::string& order) {
    const json j = json::parse(program_as_is(how + order).out);
    return j["fault_count"].get<int>();
  };
  CHECK(races("random:1") < races("random:0"));
}

}  // namespace schedules_test
