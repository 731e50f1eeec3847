// --check sync: kernels that misuse a barrier or a member mask, which are found by their rule, and
// their near misses, which are not accused; three instruction sets.
#include <functional>
#include <nlohmann/json.hpp>

#include "tests/cli/ptx_kernels.hpp"
#include "tests/cli/support.hpp"

using namespace cli_test;
using nlohmann::json;

namespace {

struct Misuse {
  const char* name;
  std::string body;
  const char* rule;  ///< "" = nothing is wrong
  const char* target = "sm_80";
};

/// One group of 64 lanes, two warps. %r1: the lane, %r2: its number in the warp. %p1: the lower
/// half of each warp, %p2: the lower warp, %p3: lane 0.
std::string ptx_of(const Misuse& m) {
  return ptx_kernel("7.0", m.target, "  .shared .align 8 .b8 s[64];", R"(
  and.b32 %r2, %r1, 31;
  setp.lt.u32 %p1, %r2, 16;
  setp.lt.u32 %p2, %r1, 32;
  setp.eq.u32 %p3, %r1, 0;
)" + m.body);
}

std::string either(const std::string& p, const std::string& one, const std::string& other) {
  return "@!" + p + " bra other;\n" + one + "\nbra both;\nother:\n" + other + "\nboth:\n";
}

std::vector<Misuse> ptx_misuses() {
  const std::string sync = "bar.sync 0;", ends = "@!%p1 exit;\n";
  const std::string shuffle = "shfl.sync.bfly.b32 %r5, %r1, 1, 31, ", full = shuffle + "-1;";
  const std::string made = "@%p3 mbarrier.init.shared.b64 [s], 64;\nbar.sync 0;\n";
  const std::string counted = "@%p3 mbarrier.init.shared.b64 [s], 2;\nbar.sync 0;\n@%p3 ";
  return {
      {"halves of a warp at two barriers", either("%p1", sync, sync), "sync-divergent-barrier"},
      {"warps at two barriers", either("%p2", sync, sync), ""},
      {"halves at a barrier that is not aligned",
       either("%p1", "barrier.sync 0;", "barrier.sync 0;"), ""},
      {"halves at an aligned one",
       either("%p1", "barrier.sync.aligned 0;", "barrier.sync.aligned 0;"),
       "sync-divergent-barrier"},
      {"halves at two reductions",
       either("%p1", "bar.red.popc.u32 %r5, 0, %p2;", "bar.red.popc.u32 %r5, 0, %p2;"),
       "sync-divergent-barrier"},
      {"a barrier too many in one half",
       "@%p1 bra skip;\n" + sync + "\nskip:\n" + sync + ends + sync, "sync-divergent-barrier"},
      {"halves meet again before the barrier",
       either("%p1", "add.u32 %r5, %r1, 1;", "add.u32 %r5, %r1, 2;") + sync, ""},
      {"48 lanes", "mov.u32 %r5, 48;\nbar.sync 1, %r5;", "sync-barrier-count"},
      {"64 lanes", "mov.u32 %r5, 64;\nbar.sync 1, %r5;", ""},
      {"more lanes than there are", "bar.sync 1, 96;", "sync-barrier-count"},
      {"fewer lanes than come", "bar.sync 1, 32;", "sync-barrier-count"},
      {"each warp has its own barrier",
       "shr.u32 %r5, %r1, 5;\nadd.u32 %r5, %r5, 1;\nbar.sync %r5, 32;", ""},
      {"two counts", "selp.u32 %r5, 32, 64, %p2;\nbar.sync 1, %r5;", "sync-barrier-count"},
      {"one count by two selects", "selp.u32 %r5, 64, 64, %p2;\nbar.sync 1, %r5;", ""},
      {"a producer arrives", either("%p2", "bar.arrive 1, 64;", "bar.sync 1, 64;"), ""},
      {"half a warp arrives", either("%p1", "bar.arrive 1, 64;", "bar.sync 1, 64;"),
       "sync-divergent-barrier"},
      {"lanes ended, before Volta", ends + sync, "sync-exited-lanes", "sm_60"},
      {"lanes ended, from Volta on", ends + sync, ""},
      {"a warp ended, before Volta", "@!%p2 exit;\n" + sync, "sync-exited-lanes", "sm_60"},
      {"lanes end behind the barrier, before Volta", sync + "\n" + ends, "", "sm_60"},
      {"lanes that are not in their mask", "bar.warp.sync 0xffff;", "sync-mask-without-lane"},
      {"each half its own mask", "selp.u32 %r5, 0xffff, 0xffff0000, %p1;\nbar.warp.sync %r5;", ""},
      {"each half the other's mask", "selp.u32 %r5, 0xffff0000, 0xffff, %p1;\nbar.warp.sync %r5;",
       "sync-mask-without-lane"},
      {"a shuffle without half of its mask", "@!%p1 bra skip;\n" + full + "\nskip:\n" + sync,
       "sync-lanes-missing"},
      {"the same in step, before Volta", "@!%p1 bra skip;\n" + full + "\nskip:\n" + sync,
       "sync-lanes-missing", "sm_60"},
      {"a shuffle of the lanes that are there", "@!%p1 bra skip;\n" + shuffle + "0xffff;\nskip:\n",
       ""},
      {"the same before Volta", "@!%p1 bra skip;\n" + shuffle + "0xffff;\nskip:\n", "", "sm_60"},
      {"a shuffle that both halves come to, from Volta on", either("%p1", full, full), ""},
      {"a shuffle that both halves come to, before Volta", either("%p1", full, full),
       "sync-lanes-missing", "sm_60"},
      {"a shuffle without .sync, before Volta",
       "@!%p1 bra skip;\nshfl.bfly.b32 %r5, %r1, 1, 31;\nskip:\n", "", "sm_60"},
      {"a vote without half of its mask",
       "@!%p1 bra skip;\nvote.sync.ballot.b32 %r5, %p2, -1;\nskip:\nbar.sync 0;",
       "sync-lanes-missing"},
      {"a vote of the active lanes",
       "@!%p1 bra skip;\nactivemask.b32 %r6;\nvote.sync.ballot.b32 %r5, %p2, %r6;\nskip:\n", ""},
      {"lanes of the mask ended", ends + full, ""},
      {"an mbarrier that nobody made", "mbarrier.arrive.shared.b64 %rd1, [s];", "sync-mbarrier"},
      {"an mbarrier that was made", made + "mbarrier.arrive.shared.b64 %rd1, [s];", ""},
      {"an mbarrier behind its end",
       made + "bar.sync 0;\n@%p3 mbarrier.inval.shared.b64 [s];\nbar.sync 0;\n"
              "mbarrier.arrive.shared.b64 %rd1, [s];",
       "sync-mbarrier"},
      {"too many arrivals", counted + "mbarrier.arrive.noComplete.shared.b64 %rd1, [s], 3;",
       "sync-mbarrier"},
      {"as many arrivals as are wanted",
       counted + "mbarrier.arrive.noComplete.shared.b64 %rd1, [s], 1;", ""},
      {"two barriers wait for each other", either("%p2", "bar.sync 1;", "bar.sync 2;"),
       "sync-deadlock"},
      {"two barriers in turn", "bar.sync 1;\nbar.sync 2;", ""},
      {"a barrier for lanes that ended", ends + "bar.sync 1, 64;", "sync-deadlock"},
  };
}

/// R0: the lane of 64. P0: the lower half of each warp, P1: the lower warp.
std::string sass_of(const Misuse& m) {
  return R"(.target sm_50
.kernel k
S2R R0, SR_TID.X ;
LOP32I.AND R1, R0, 0x1f ;
ISETP.LT.AND P0, PT, R1, 0x10, PT ;
ISETP.LT.AND P1, PT, R0, 0x20, PT ;
)" + m.body +
         "\nEXIT ;\n";
}

std::vector<Misuse> sass_misuses() {
  const auto either = [](const std::string& p, const std::string& one, const std::string& other) {
    return "@!" + p + " BRA `(.L_other) ;\n" + one + "\nBRA `(.L_both) ;\n.L_other:\n" + other +
           "\n.L_both:\nNOP ;\n";
  };
  const std::string sync = "BAR.SYNC 0x0 ;";
  return {
      {"halves of a warp at two barriers", either("P0", sync, sync), "sync-divergent-barrier"},
      {"warps at two barriers", either("P1", sync, sync), ""},
      {"fewer lanes than come", "BAR.SYNC 0x1, 0x20 ;", "sync-barrier-count"},
      {"as many as come", "BAR.SYNC 0x1, 0x40 ;", ""},
      {"lanes ended", "@!P0 EXIT ;\n" + sync, "sync-exited-lanes"},
      {"lanes end behind the barrier", sync + "\n@!P0 EXIT ;", ""},
      {"two barriers wait for each other", either("P1", "BAR.SYNC 0x1 ;", "BAR.SYNC 0x2 ;"),
       "sync-deadlock"},
      {"two barriers in turn", "BAR.SYNC 0x1 ;\nBAR.SYNC 0x2 ;", ""},
      {"a shuffle of the lanes that are there",
       "@!P0 BRA `(.L_skip) ;\nSHFL.BFLY PT, R2, R0, 0x1, 0x1f ;\n.L_skip:\nNOP ;", ""},
  };
}

/// v0: the lane of 128, two waves.
std::string gcn_of(const Misuse& m) {
  return R"(.text
.amdgcn_target "amdgcn-amd-amdhsa--gfx803"
.globl k
.p2align 8
.type k,@function
k:
  v_readfirstlane_b32 s0, v0
  s_cmp_eq_u32 s0, 0
)" + m.body +
         R"(
  s_endpgm
.section .rodata,#alloc
.p2align 6
.amdhsa_kernel k
  .amdhsa_group_segment_fixed_size 64
  .amdhsa_kernarg_size 8
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 16
.end_amdhsa_kernel
)";
}

/// The hardware counts waves, those that ended too: little can go wrong.
std::vector<Misuse> gcn_misuses() {
  return {
      {"a barrier", "s_barrier", ""},
      {"waves at two barriers",
       "s_cbranch_scc1 other\ns_barrier\ns_branch both\nother:\ns_barrier\nboth:\ns_nop 0", ""},
      {"half of a wave is masked",
       "v_cmp_gt_u32 vcc, 16, v0\ns_and_saveexec_b64 s[2:3], vcc\n"
       "s_barrier\ns_mov_b64 exec, s[2:3]",
       ""},
      {"a wave ended", "s_cbranch_scc1 go\ns_endpgm\ngo:\ns_barrier", ""},
  };
}

void check_all_of(const std::vector<Misuse>& all, const std::string& suffix,
                  const std::function<std::string(const Misuse&)>& kernel, const std::string& how) {
  for (const Misuse& m : all) {
    CAPTURE(std::string(m.name));
    const std::string file = write("sync" + suffix, kernel(m));
    const Output o = program_as_is("run " + file +
                                   " --device reference --grid 1 --json --arg zero:u32[16] "
                                   "--check sync " +
                                   how);
    CAPTURE(o.err);
    REQUIRE((o.code == 0 || o.code == 1));
    const json faults = json::parse(o.out)["faults"];
    CAPTURE(faults.dump(1));
    CHECK(faults.empty() == (*m.rule == '\0'));
    if (!faults.empty()) CHECK(faults[0]["rule"] == m.rule);
    for (const json& f : faults) CHECK(f["line"] != 0);
  }
}

}  // namespace

TEST_CASE("--check sync: planted misuse is found by its rule, near misses are not" * kHostCase) {
  check_all_of(ptx_misuses(), ".ptx", ptx_of, "--block 64");
  check_all_of(sass_misuses(), ".sass", sass_of, "--block 64");
  check_all_of(gcn_misuses(), ".s", gcn_of, "--block 128");
}

TEST_CASE("a barrier that never opens: who waits for whom, also without the check" * kHostCase) {
  const Misuse m{"", either("%p2", "bar.sync 1;", "bar.sync 2;"), ""};
  const std::string file = write("deadlock.ptx", ptx_of(m));
  const Output o =
      program_as_is("run " + file + " --device reference --grid 1 --block 64 --arg zero:u32[16]");
  CHECK(o.code == 1);
  CHECK(contains(o.err, "barrier divergence: barrier 1 waits for 64 lanes, 32 have come"));
  CHECK(contains(o.err, "lanes 0-31 are at 'bar.sync 1' (line "));
  CHECK(contains(o.err, "lanes 32-63 are at 'bar.sync 2' (line "));
  const Misuse ended{"", "@!%p1 exit;\nbar.sync 1, 64;", ""};
  const Output e = program_as_is("run " + write("ended.ptx", ptx_of(ended)) +
                                 " --device reference --grid 1 --block 64 --arg zero:u32[16]");
  CHECK(contains(e.err, "lanes 16-31, 48-63 have ended"));
}

TEST_CASE("a phase of an mbarrier that never ends: which arrivals are missing, and who waits" *
          kHostCase) {
  const std::string wait =
      "wait:\nmbarrier.try_wait.parity.shared.b64 %p4, [s], 0;\n@!%p4 bra wait;\n";
  const auto of = [&](const std::string& count, const std::string& arrives,
                      const std::string& behind) {
    const Misuse m{
        "", "@%p3 mbarrier.init.shared.b64 [s], " + count + ";\nbar.sync 0;\n" + arrives + behind,
        "", "sm_90"};
    return program_as_is(
        "run " + write("phase.ptx", ptx_kernel("8.0", "sm_90", "  .shared .align 8 .b8 s[64];", R"(
  and.b32 %r2, %r1, 31;
  setp.lt.u32 %p1, %r2, 16;
  setp.lt.u32 %p2, %r1, 32;
  setp.eq.u32 %p3, %r1, 0;
)" + m.body)) +
        " --device reference --grid 2 --block 64 --arg zero:u32[16] --max-steps "
        "1000000 --check sync");
  };
  const std::string arrive = "mbarrier.arrive.shared.b64 %rd2, [s];\n";
  // Two lanes more are waited for than there are.
  const Output two = of("66", arrive, wait);
  CHECK(two.code == 1);
  CHECK(contains(two.err, "[sync-deadlock]") == contains(two.err, "[sync-"));
  CHECK(contains(two.err,
                 "deadlock: the phase of parity 0 of the mbarrier at 0x0 in shared memory "
                 "never ends: 2 of 66 arrivals are missing"));
  CHECK(contains(two.err, "lanes 0-63 are at 'mbarrier.try_wait.parity"));
  CHECK(of("64", arrive, wait).code == 0);
  // Half of the lanes come; the others wait for them at a barrier.
  const Output half = of("64", "@!%p2 bra other;\n" + arrive, wait + "other:\nbar.sync 0;\n");
  CHECK(half.code == 1);
  CHECK(contains(half.err, "32 of 64 arrivals are missing"));
  CHECK(contains(half.err, "lanes 0-31 are at 'mbarrier.try_wait"));
  CHECK(contains(half.err, "lanes 32-63 are at 'bar.sync 0'"));
  CHECK(of("32", "@!%p2 bra other;\n" + arrive, wait + "other:\nbar.sync 0;\n").code == 0);
  // The others have ended.
  CHECK(contains(of("64", "@!%p2 exit;\n" + arrive, wait).err, "lanes 32-63 have ended"));
  // Bytes of copies that nobody starts.
  CHECK(contains(
      of("64", "@%p3 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [s], 128;\n" + arrive, wait)
          .err,
      "0 of 64 arrivals are missing, and 128 bytes of copies"));
  // Whoever does more than to wait may end the phase later: the steps are what is used up.
  const Output busy = of("66", arrive,
                         "wait:\nmbarrier.try_wait.parity.shared.b64 %p4, [s], 0;\n"
                         "st.shared.u32 [s+32], 1;\n@!%p4 bra wait;\n");
  CHECK(busy.code == 4);
  CHECK(contains(busy.err, "step"));
  CHECK(!contains(busy.err, "deadlock"));
}

TEST_CASE("lanes that wait for a phase see its end before one of them makes the mbarrier anew" *
          kHostCase) {
  const std::string wait =
      "mbarrier.arrive.shared.b64 %rd2, [s];\nWAIT:\n"
      "mbarrier.try_wait.parity.shared.b64 %p4, [s], 0;\n@!%p4 bra WAIT;\n";
  const auto named = [&](const std::string& label) {
    std::string text = wait;
    for (size_t at; (at = text.find("WAIT")) != text.npos;) text.replace(at, 4, label);
    return text;
  };
  // The first lane, the last one, and one in the middle of a wave.
  for (const char* maker : {"0", "63", "37"}) {
    CAPTURE(maker);
    const std::string make = "@%p3 mbarrier.init.shared.b64 [s], 64;\n";
    const std::string body = "setp.eq.u32 %p3, %r1, " + std::string(maker) + ";\n" + make +
                             "bar.sync 0;\n" + named("first") +
                             "@%p3 mbarrier.inval.shared.b64 [s];\n" + make + "bar.sync 0;\n" +
                             named("second") + "st.global.u32 [%rd1], 1;\n";
    const Output o = program_as_is(
        "run " +
        write("anew.ptx", ptx_kernel("8.0", "sm_90", "  .shared .align 8 .b8 s[64];", body)) +
        " --device reference --grid 2 --block 64 --arg print:u32[1] --max-steps 10000000");
    CHECK(o.code == 0);
    CHECK(contains(o.out, "1"));
  }
}

TEST_CASE("a lane that waits until a time of its clock lets the others of its wave go on" *
          kHostCase) {
  // Two seconds at two reads an iteration: lane 0 comes before lane 1, which it waits for.
  const Output o =
      program_as_is(
          "run " + write("until.ptx", ptx_kernel("8.0", "sm_80", "  .shared .align 4 .b8 s[4];", R"(
  setp.ne.u32 %p1, %r1, 0;
  st.shared.u32 [s], 0;
  bar.sync 0;
  @%p1 bra other;
  mov.u64 %rd2, %globaltimer;
wait:
  ld.volatile.shared.u32 %r2, [s];
  setp.ne.u32 %p2, %r2, 0;
  @%p2 bra done;
  mov.u64 %rd3, %globaltimer;
  mov.u64 %rd3, %globaltimer;
  sub.u64 %rd3, %rd3, %rd2;
  setp.lt.u64 %p2, %rd3, 2000000000;
  @%p2 bra wait;
done:
  st.global.u32 [%rd1], %r2;
  bra end;
other:
  st.volatile.shared.u32 [s], 7;
end:)")) + " --device reference --grid 1 --block 2 --arg print:u32[1]");
  CHECK(o.code == 0);
  CHECK(contains(o.out, "7"));
}

TEST_CASE("--check sync: checks can be combined; devices refuse it" * kHostCase) {
  const Misuse m{"", "ld.shared.u32 %r5, [s];\n" + either("%p1", "bar.sync 0;", "bar.sync 0;"), ""};
  const std::string how = "run " + write("two.ptx", ptx_of(m)) +
                          " --device reference --grid 1 --block 64 --arg zero:u32[16] ";
  const json j = json::parse(
      program_as_is(how + "--json --check init,sync --policy init.report=read").out)["faults"];
  CHECK(j[0]["rule"] == "sync-divergent-barrier");
  CHECK(j[1]["rule"] == "init");
  CHECK(program_as_is(how + "--check none,sync").code == 2);
  CHECK(program_as_is(how + "--check sink").code == 2);
}
