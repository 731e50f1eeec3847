// --check race: kernels with a planted race, which are found, and their near misses, which are not
// accused; three instruction sets.
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/ptx_kernels.hpp"
#include "tests/cli/support.hpp"

namespace races_test {
using namespace cli_test;
using nlohmann::json;

namespace {

struct Planted {
  const char* name;
  std::string body;
  bool race;
};

std::string ptx(const std::string& body, const std::string& target) {
  return ptx_two_groups(target, 0, body);
}

/// Group 0's lane 0 publishes a word, group 1's takes it.
std::string message(const std::string& before, const std::string& flag, const std::string& read,
                    const std::string& behind) {
  return "@!%p2 bra end;\n@!%p1 bra take;\nst.global.u32 [%rd1+4], %r9;\n" + before + flag +
         "\nbra end;\ntake:\n" + read + behind + "ld.global.u32 %r11, [%rd1+4];\nend:\n";
}
const std::string kFlag = "st.volatile.global.u32 [%rd1], 1;",
                  kSee = "ld.volatile.global.u32 %r10, [%rd1];\n";
/// Halves of a warp meet, then a lane reads what a lane `apart` from it has stored.
std::string halves(const std::string& apart) {
  return kStore +
         "and.b32 %r10, %r1, 16;\nmov.u32 %r11, 65535;\nshl.b32 %r11, %r11, %r10;\n"
         "bar.warp.sync %r11;\nxor.b32 %r12, %r3, " +
         apart + ";\nadd.u32 %r12, %r12, %r7;\nld.shared.u32 %r13, [%r12];\n";
}
/// The upper warp makes, the lower takes.
std::string producer(const std::string& make, const std::string& take) {
  return "setp.ge.u32 %p3, %r1, 32;\n@!%p3 bra taker;\n" + kStore + make + "\nbra end;\ntaker:\n" +
         take + "\n" + kPartner + "end:\n";
}
std::string twice(const std::string& end) {
  return "mov.u32 %r12, 0;\nagain:\nst.shared.u32 [%r4], %r12;\nbar.sync 0;\n" + kPartner + end +
         "add.u32 %r12, %r12, 1;\nsetp.lt.u32 %p3, %r12, 3;\n@%p3 bra again;\n";
}
std::string locked(const std::string& unlock) {
  return "@!%p2 bra end;\nspin:\natom.global.cas.b32 %r10, [%rd1], 0, 1;\nsetp.ne.u32 %p3, %r10, "
         "0;\n"
         "@%p3 bra spin;\nmembar.gl;\nld.global.u32 %r11, [%rd1+8];\nadd.u32 %r11, %r11, 1;\n"
         "st.global.u32 [%rd1+8], %r11;\n" +
         unlock + "end:\n";
}

/// Even lanes add to the low half of a word of their pair by compare-and-swap of the whole word, as
/// `atomicAdd(__half*)` did; odd ones use one half of it plainly.
std::string beside_swaps(int half) {
  return "and.b32 %r10, %r1, 62;\nshl.b32 %r10, %r10, 1;\nadd.u32 %r10, %r10, %r7;\n"
         "and.b32 %r11, %r1, 1;\nsetp.eq.u32 %p3, %r11, 1;\n@%p3 bra odd;\n"
         "ld.shared.u32 %r12, [%r10];\nagain:\nadd.u32 %r13, %r12, 1;\n"
         "atom.shared.cas.b32 %r14, [%r10], %r12, %r13;\nsetp.ne.u32 %p4, %r14, %r12;\n"
         "mov.u32 %r12, %r14;\n@%p4 bra again;\nbra end;\nodd:\ncvt.u16.u32 %h1, %r9;\n"
         "st.shared.u16 [%r10+" +
         std::to_string(2 * half) + "], %h1;\nend:\n";
}

std::vector<Planted> of_ptx() {
  const std::string sum = "red.shared.add.u32 [s], %r9;\n", look = "ld.shared.u32 %r10, [s];\n";
  return {
      {"no barrier", kStore + kPartner, true},
      {"a barrier", kStore + "bar.sync 0;\n" + kPartner, false},
      {"a barrier that votes", kStore + "bar.red.popc.u32 %r11, 0, %p1;\n" + kPartner, false},
      {"no __syncwarp", kStore + kNeighbour, true},
      {"__syncwarp", kStore + "bar.warp.sync -1;\n" + kNeighbour, false},
      {"__syncwarp for another warp's word", kStore + "bar.warp.sync -1;\n" + kPartner, true},
      {"__syncwarp of the other half", halves("64"), true},
      {"__syncwarp of the own half", halves("4"), false},
      {"every lane stores in one place", "st.shared.u32 [s], %r9;\n", true},
      {"every lane stores the same in one place", "st.shared.u32 [s], 7;\n", false},
      {"all lanes of a warp store one value, the first publishes it",
       "setp.ge.u32 %p3, %r1, 32;\n@%p3 bra end;\n@!%p1 bra take;\nst.global.u32 [%rd1+4], 5;\n"
       "membar.gl;\n@%p2 atom.global.add.u32 %r10, [%rd1], 1;\nbra end;\ntake:\n"
       "@%p2 atom.global.add.u32 %r10, [%rd1], 1;\nmembar.gl;\n@%p2 ld.global.u32 %r11, "
       "[%rd1+4];\nend:\n",
       false},
      {"one lane stores", "@%p2 st.shared.u32 [s], %r9;\nbar.sync 0;\n" + look, false},
      {"a loop with a barrier too few", twice(""), true},
      {"a loop with both barriers", twice("bar.sync 0;\n"), false},
      {"each warp a barrier of its own",
       kStore + "shr.u32 %r11, %r1, 5;\nadd.u32 %r11, %r11, 1;\nbar.sync %r11, 32;\n" + kPartner,
       true},
      {"each warp a barrier of its own, and its own words",
       kStore + "shr.u32 %r11, %r1, 5;\nadd.u32 %r11, %r11, 1;\nbar.sync %r11, 32;\n" + kNeighbour,
       false},
      {"arrives before it stores",
       producer("", "").replace(
           0, 0, "setp.ge.u32 %p4, %r1, 32;\n@%p4 bar.arrive 1, 64;\n@!%p4 bar.sync 1, 64;\n"),
       true},
      {"arrives when it has stored", producer("bar.arrive 1, 64;", "bar.sync 1, 64;"), false},
      {"words of another group",
       "st.global.u32 [%rd3], %r9;\nbar.sync 0;\nld.global.u32 %r10, [%rd4];\n", true},
      {"words of the own group",
       "st.global.u32 [%rd3], %r9;\nbar.sync 0;\nld.global.u32 %r10, [%rd3];\n", false},
      {"atomics of scope cta", "atom.relaxed.cta.global.add.u32 %r10, [%rd1], 1;\n", true},
      {"atomics of scope gpu", "atom.relaxed.gpu.global.add.u32 %r10, [%rd1], 1;\n", false},
      {"a sum read early", sum + look, true},
      {"a sum read behind a barrier", sum + "bar.sync 0;\n" + look, false},
      {"a message without fences", message("", kFlag, kSee, ""), true},
      {"a message with fences", message("membar.gl;\n", kFlag, kSee, "membar.gl;\n"), false},
      {"a message with a fence of the group alone",
       message("membar.cta;\n", kFlag, kSee, "membar.gl;\n"), true},
      {"a message that is released and acquired",
       message("", "st.release.gpu.global.u32 [%rd1], 1;",
               "ld.acquire.gpu.global.u32 %r10, [%rd1];\n", ""),
       false},
      {"a message that is released, not acquired",
       message("", "st.release.gpu.global.u32 [%rd1], 1;",
               "ld.relaxed.gpu.global.u32 %r10, [%rd1];\n", ""),
       true},
      {"a lock given back without a fence", locked("atom.global.exch.b32 %r10, [%rd1], 0;\n"),
       true},
      {"a lock given back by a plain store", locked("membar.gl;\nst.global.u32 [%rd1], 0;\n"),
       true},
      {"a lock", locked("membar.gl;\natom.global.exch.b32 %r10, [%rd1], 0;\n"), false},
      {"an old value loaded plainly and used",
       "ld.global.u32 %r10, [%rd1];\nadd.u32 %r11, %r10, 1;\natom.global.exch.b32 %r12, [%rd1], "
       "%r11;\n",
       true},
      {"an old value loaded plainly for a compare-and-swap",
       "ld.global.u32 %r10, [%rd1];\nagain:\nadd.u32 %r11, %r10, 1;\natom.global.cas.b32 %r12, "
       "[%rd1], %r10, %r11;\n"
       "setp.ne.u32 %p3, %r12, %r10;\nmov.u32 %r10, %r12;\n@%p3 bra again;\n",
       false},
      {"a compare-and-swap that changes nothing",
       "ld.global.u32 %r10, [%rd1];\natom.global.cas.b32 %r12, [%rd1], %r10, %r10;\n"
       "atom.global.add.u32 %r12, [%rd1], 1;\n",
       false},
      {"halves by compare-and-swap of the word beside plain halves", beside_swaps(1), false},
      {"halves by compare-and-swap of the word over plain halves", beside_swaps(0), true},
      {"neighbouring bytes read and written",
       "add.u32 %r10, %r7, %r1;\nld.shared.u8 %h1, [%r10];\nadd.u16 %h1, %h1, 1;\n"
       "st.shared.u8 [%r10], %h1;\nbar.sync 0;\nld.shared.u32 %r11, [%r7];\n",
       false},
      {"neighbouring bytes and the whole word",
       "add.u32 %r10, %r7, %r1;\nst.shared.u8 [%r10], %h1;\nld.shared.u32 %r11, [%r7];\n", true},
      {"elements of four words",
       "shl.b32 %r10, %r1, 4;\nadd.u32 %r10, %r10, %r7;\n"
       "st.shared.v4.u32 [%r10], {%r1, %r1, %r1, %r1};\nld.shared.v4.u32 {%r11, %r12, %r13, %r14}, "
       "[%r10];\n",
       false},
      {"elements of four words, the last another lane's",
       "shl.b32 %r10, %r1, 4;\nadd.u32 %r10, %r10, %r7;\n"
       "st.shared.v4.u32 [%r10], {%r9, %r9, %r9, %r9};\nld.shared.u32 %r11, [%r10+28];\n",
       true},
      {"bytes of one word",
       "cvt.u16.u32 %h1, %r9;\nadd.u32 %r10, %r7, %r1;\nst.shared.u8 [%r10], %h1;\n", false},
      {"halves that overlap",
       "cvt.u16.u32 %h1, %r9;\nadd.u32 %r10, %r7, %r1;\nst.shared.u8 [%r10], %h1;\nand.b32 %r10, "
       "%r10, -2;\nld.shared.u16 %h2, [%r10];\n",
       true},
  };
}

/// Two groups of 64 lanes: R0 the lane, R2 its own word of shared memory, R3 that of the other
/// warp, R4 that of its neighbour, R6:R7 its own word of global memory, R8:R9 that of the other
/// group.
std::string sass(const std::string& body) {
  return R"(k:
S2R R0, SR_TID.X ;
S2R R1, SR_CTAID.X ;
SHL R2, R0, 0x2 ;
LOP32I.XOR R3, R2, 0x80 ;
LOP32I.XOR R4, R2, 0x4 ;
SHL R5, R1, 0x8 ;
IADD R5, R5, R2 ;
IADD R6.CC, R5, c[0x0][0x140] ;
IADD.X R7, RZ, c[0x0][0x144] ;
LOP32I.XOR R5, R5, 0x100 ;
IADD R8.CC, R5, c[0x0][0x140] ;
IADD.X R9, RZ, c[0x0][0x144] ;
IADD32I R10, R0, 0x1 ;
)" + body +
         "\nEXIT ;\n";
}
/// The first lane of each warp takes the lock at [0x10], or goes on without it.
std::string locked_sass(bool takes_lock) {
  return "LOP32I.AND R11, R0, 0x1f ;\nISETP.NE.AND P0, PT, R11, RZ, PT ;\n@P0 BRA `(.L_end) ;\n"
         "MOV32I R13, 0x1 ;\n.L_again:\nMOV R12, RZ ;\n" +
         std::string(!takes_lock ? "" : "ATOMS.CAS R12, [0x10], R12, R13 ;\n") +
         "ISETP.NE.AND P0, PT, R12, RZ, PT ;\n@P0 BRA `(.L_again) ;\nLDS R11, [0x20] ;\n"
         "IADD R11, R11, R10 ;\nSTS [0x20], R11 ;\n" +
         std::string(!takes_lock ? "" : "ATOMS.EXCH RZ, [0x10], RZ ;\n") + ".L_end:\n";
}

std::vector<Planted> of_sass() {
  const std::string store = "STS [R2], R10 ;\n", partner = "LDS R11, [R3] ;\n",
                    barrier = "BAR.SYNC 0x0 ;\n";
  const std::string own = "STG.E [R6], R10 ;\n" + barrier;
  return {
      {"no barrier", store + partner, true},
      {"a barrier", store + barrier + partner, false},
      {"a neighbour's word: the warp runs in step", store + "LDS R11, [R4] ;\n", false},
      {"two warps store in one place", "STS [RZ], R10 ;\n", true},
      {"one lane stores",
       "ISETP.EQ.AND P0, PT, R0, RZ, PT ;\n@P0 STS [RZ], R10 ;\n" + barrier + "LDS R11, [RZ] ;\n",
       false},
      {"another group's word", own + "LDG.E R11, [R8] ;\n", true},
      {"the own word", own + "LDG.E R11, [R6] ;\n", false},
      {"a sum read early", "ATOMS.ADD RZ, [RZ], R10 ;\nLDS R11, [RZ] ;\n", true},
      {"a sum read behind a barrier", "ATOMS.ADD RZ, [RZ], R10 ;\n" + barrier + "LDS R11, [RZ] ;\n",
       false},
      {"a lane of each warp stores in one place by turns, under a lock", locked_sass(true), false},
      {"the same without the lock", locked_sass(false), true},
      {"a warp stores in one place, and looks who was the last",
       "ISETP.LT.AND P0, PT, R0, 0x20, PT ;\n@P0 STS [RZ], R10 ;\n@P0 LDS R11, [RZ] ;\n", false},
      {"a maximum as the assembler makes it of a compare-and-swap",
       "LDS R11, [RZ] ;\nISETP.LT.AND P0, PT, R11, R10, PT ;\nMOV R14, R11 ;\nMOV R15, R10 ;\n@P0 "
       "ATOMS.CAS R12, [RZ], R14, R15 "
       ";\n",
       false}};
}

/// Two groups of 128 lanes, waves of 64: v0 the lane, v1 its own word of LDS, v2 that of the other
/// wave, v3 that of its neighbour, v[4:5] its own word of memory, v[6:7] that of the other group.
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
  v_xor_b32 v9, 0x200, v8
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v5, s1
  v_add_u32 v4, vcc, s0, v8
  v_addc_u32 v5, vcc, 0, v5, vcc
  v_mov_b32 v7, s1
  v_add_u32 v6, vcc, s0, v9
  v_addc_u32 v7, vcc, 0, v7, vcc
  v_add_u32 v10, vcc, 1, v0
  v_mov_b32 v11, 0
)" + body +
         R"(
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
  const std::string store = "ds_write_b32 v1, v10\ns_waitcnt lgkmcnt(0)\n", barrier = "s_barrier\n";
  const std::string own = "flat_store_dword v[4:5], v10\ns_waitcnt vmcnt(0)\n" + barrier;
  const std::string add = "ds_add_u32 v11, v10\ns_waitcnt lgkmcnt(0)\n";
  return {{"no barrier", store + "ds_read_b32 v12, v2\n", true},
          {"a barrier", store + barrier + "ds_read_b32 v12, v2\n", false},
          {"a neighbour's word: the wave runs in step", store + "ds_read_b32 v12, v3\n", false},
          {"two waves store in one place", "ds_write_b32 v11, v10\n", true},
          {"a word each", store + barrier + "ds_write_b32 v2, v11\n", false},
          {"another group's word", own + "flat_load_dword v12, v[6:7]\n", true},
          {"the own word", own + "flat_load_dword v12, v[4:5]\n", false},
          {"a sum read early", add + "ds_read_b32 v12, v11\n", true},
          {"a sum read behind a barrier", add + barrier + "ds_read_b32 v12, v11\n", false}};
}

json checked(const std::string& file, const std::string& how) {
  const Output o = program_as_is("run " + file + " --device reference --grid 2 --json " + how);
  CAPTURE(o.err);
  REQUIRE((o.code == 0 || o.code == 1));
  const json j = json::parse(o.out);
  CHECK(o.code == (j["fault_count"] == 0 ? 0 : 1));
  for (const json& f : j["faults"]) CHECK(f["kind"] == "data_race");
  return j;
}

void check_all_of(const std::vector<Planted>& planted, const std::string& suffix,
                  const std::function<std::string(const std::string&)>& kernel,
                  const std::string& how) {
  for (const Planted& p : planted) {
    CAPTURE(std::string(p.name));
    const json j =
        checked(write("race" + suffix, kernel(p.body)), how + " --arg zero:u32[256] --check race");
    CAPTURE(j.dump(1));
    CHECK((j["fault_count"] != 0) == p.race);
  }
}

}  // namespace

TEST_CASE("races: planted ones are found, near misses are not" * kHostCase) {
  check_all_of(
      of_ptx(), ".ptx", [](const std::string& body) { return ptx(body, "sm_70"); }, "--block 64");
  check_all_of(of_sass(), ".sass", sass, "--block 64 --dyn-shared 1024");
  check_all_of(of_gcn(), ".s", gcn, "--block 128");
}

TEST_CASE("races: lanes of a wave run in step or each by itself" * kHostCase) {
  const auto races = [&](const std::string& body, const std::string& target,
                         const std::string& how) {
    return checked(write("step.ptx", ptx(body, target)),
                   "--block 64 --arg zero:u32[256] --check race " + how)["fault_count"] != 0;
  };
  const std::string near = kStore + kNeighbour;
  CHECK(!races(near, "sm_60", ""));
  CHECK(races(near, "sm_60", "--policy race.wave=independent"));
  CHECK(races(near, "sm_70", ""));
  CHECK(!races(near, "sm_70", "--policy race.wave=lockstep"));
  CHECK(races(kStore + kPartner, "sm_60", ""));
  // Shuffles order nothing by PTX, but compilers rely on it.
  const std::string shuffled = kStore + "shfl.sync.bfly.b32 %r11, %r9, 1, 31, -1;\n" + kNeighbour;
  CHECK(!races(shuffled, "sm_70", ""));
  CHECK(races(shuffled, "sm_70", "--policy race.shuffle=none"));
  CHECK(!races(kStore + "bar.warp.sync -1;\n" + kNeighbour, "sm_70", "--policy race.shuffle=none"));
  // One instruction's stores have no order among them.
  CHECK(races("setp.lt.u32 %p3, %r1, 32;\n@%p3 st.shared.u32 [s], %r9;\n", "sm_60", ""));
  const std::string same = "st.shared.u32 [s], 7;\n";
  CHECK(!races(same, "sm_70", ""));
  CHECK(races(same, "sm_70", "--policy race.same_value=report"));
}

TEST_CASE("races: groups that wait for each other" * kHostCase) {
  const auto races = [&](const std::string& before, const std::string& behind) {
    const std::string body = "st.global.u32 [%rd3+16], %r9;\n" + before + R"(
@!%p2 bra met;
membar.gl;
atom.global.add.u32 %r10, [%rd1], 1;
wait:
ld.volatile.global.u32 %r11, [%rd1];
setp.lt.u32 %p3, %r11, 2;
@%p3 bra wait;
membar.gl;
met:
)" + behind + "ld.global.u32 %r12, [%rd4+16];\n";
    return checked(write("grid.ptx", ptx(body, "sm_70")),
                   "--block 64 --arg zero:u32[256] --check race --policy groups=resident")
               ["fault_count"] != 0;
  };
  CHECK(!races("bar.sync 0;", "bar.sync 0;\n"));
  CHECK(races("", "bar.sync 0;\n"));
  CHECK(races("bar.sync 0;", ""));
}

TEST_CASE("races: an mbarrier orders what arrived before what waited" * kHostCase) {
  const auto races = [&](const std::string& behind) {
    const std::string body = R"(@%p2 mbarrier.init.shared.b64 [s+512], 64;
bar.sync 0;
st.shared.u32 [%r4], %r9;
mbarrier.arrive.shared.b64 %rd5, [s+512];
)" + behind + kPartner;
    return checked(write("mbarrier.ptx", ptx(body, "sm_80")),
                   "--block 64 --arg zero:u32[256] --check race")["fault_count"] != 0;
  };
  CHECK(!races("wait:\nmbarrier.test_wait.shared.b64 %p3, [s+512], %rd5;\n@!%p3 bra wait;\n"));
  CHECK(races(""));
}

TEST_CASE("races: what a report says" * kHostCase) {
  const std::string file = write("report.ptx", ptx(kStore + kPartner, "sm_70"));
  const std::string how = "run " + file + " --grid 2 --block 64 --arg zero:u32[256] --check race ";
  const Output o = program_as_is(how + "--device reference --json");
  const json j = json::parse(o.out);
  REQUIRE(j["fault_count"] == 1);
  const json f = j["faults"][0];
  // The upper warp stores what the lower has read before: in each group 32 words, and the other
  // way round.
  CHECK(f["access"] == "store");
  CHECK(contains(f["text"], "st.shared.u32 [%r4], %r9"));
  CHECK(f["wave"] == 1);
  CHECK(f["space"] == "shared");
  CHECK(f["other"]["access"] == "load");
  CHECK(contains(f["other"]["text"], "ld.shared.u32 %r10, [%r5]"));
  CHECK(f["other"]["line"] == f["line"].get<int>() + 1);
  CHECK(f["other"]["wave"] == 0);
  CHECK(f["value_before"] == 0);
  CHECK(f["value_after"] == 33);
  CHECK(f["times"] == 128);
  CHECK(contains(f["remedy"], "bar.sync"));
  const Output text = program_as_is(how + "--device reference");
  CHECK(text.code == 1);
  CHECK(contains(text.err, "data race: store of 4 bytes at 0x80 in shared memory"));
  CHECK(contains(text.err, "which nothing orders before it"));
}

/// Of recorded events the values that atomics found are not known, nor whose release an acquire has
/// read: what these may order is not judged. Every fourth kernel runs, or all of them where
/// LANEWISE_TEST_EVERY_DEVICE is set; 0.6 s of processor time each on llvmpipe.
TEST_CASE("races: devices judge what their lanes have recorded") {
  if (std::string(device()) == "reference") return;
  const std::set<std::string> unseen = {"a message with a fence of the group alone",
                                        "a message that is released, not acquired",
                                        "a lock given back without a fence",
                                        "halves by compare-and-swap of the word over plain halves"};
  const bool all = std::getenv("LANEWISE_TEST_EVERY_DEVICE") != nullptr;
  const auto judge = [&](const std::vector<Planted>& kernels, const std::string& ending,
                         const std::function<std::string(const std::string&)>& kernel,
                         const std::string& how) {
    for (size_t i = 0; i < kernels.size(); i += all ? 1 : 4) {
      const Planted& p = kernels[i];
      const Output o = run(write("device" + ending, kernel(p.body)) + " --grid 2 " + how +
                           " --arg zero:u32[256] --check race --json");
      CAPTURE(ending);
      CAPTURE(std::string(p.name));
      CAPTURE(o.err);
      REQUIRE((o.code == 0 || o.code == 1));
      const json j = json::parse(o.out);
      // Atomics of SASS and GCN do not say whether they order anything.
      const bool sum = std::string(p.name) == "a sum read early" && ending != ".ptx";
      CHECK((j["fault_count"] != 0) == (p.race && !sum && !unseen.contains(p.name)));
      for (const json& f : j["faults"]) CHECK(f["kind"] == "data_race");
    }
  };
  judge(
      of_ptx(), ".ptx", [](const std::string& body) { return ptx(body, "sm_70"); }, "--block 64");
  judge(of_sass(), ".sass", sass, "--block 64 --dyn-shared 1024");
  judge(of_gcn(), ".s", gcn, "--block 128");
}

TEST_CASE("races: devices refuse other checks and say what to do") {
  if (std::string(device()) == "reference") return;
  const std::string how = write("refused.ptx", ptx(kStore, "sm_70")) +
                          " --grid 2 --block 64 --arg zero:u32[256] --check race";
  const Output o = run(how + ",sync");
  CHECK(o.code == 2);
  CHECK(contains(o.err, "--device reference"));
  const Output traced = run(how + " --trace " + scratch() + "/races.lwt");
  CHECK(traced.code == 2);
  CHECK(contains(traced.err, "records events for one purpose at a time"));
}

}  // namespace races_test
