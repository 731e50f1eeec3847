// --check async: copies that complete later, with a missing wait, which is named, and their near
// misses, which are not accused; copies that complete at once and late ones.
#include <nlohmann/json.hpp>

#include "tests/cli/ptx_kernels.hpp"
#include "tests/cli/support.hpp"

namespace asyncs_test {
using namespace cli_test;
using nlohmann::json;

namespace {

struct Planted {
  const char* name;
  std::string body;
  bool early;
};

/// One group of 64 lanes. %r1: the lane; in shared memory %r4 is the lane's own 16 bytes, %r5 those
/// of its partner in the other warp; in global memory %rd2 is the lane's own 16 bytes, behind them
/// by 1024 others. %p1: lane 0, %p2: the first warp. bar: an mbarrier for lane 0's arrival, all:
/// one for all lanes.
std::string ptx(const std::string& body) {
  return ptx_kernel("8.4", "sm_90a",
                    "  .shared .align 16 .b8 m[2048];\n  .shared .align 8 .b64 bar;\n"
                    "  .shared .align 8 .b64 all;",
                    R"(
  shl.b32 %r2, %r1, 4;
  mov.u32 %r3, m;
  add.u32 %r4, %r3, %r2;
  xor.b32 %r5, %r2, 512;
  add.u32 %r5, %r5, %r3;
  cvt.u64.u32 %rd2, %r2;
  add.u64 %rd2, %rd2, %rd1;
  mov.u32 %r6, bar;
  setp.eq.u32 %p1, %r1, 0;
  setp.lt.u32 %p2, %r1, 32;
  @%p1 mbarrier.init.shared.b64 [bar], 1;
  @%p1 mbarrier.init.shared.b64 [all], 64;
  bar.sync 0;
)" + body);
}

const std::string kCopy = "cp.async.cg.shared.global [%r4], [%rd2], 16;\n",
                  kSecond = "cp.async.ca.shared.global [%r4+1024], [%rd2], 8, 4;\n",
                  kEnd = "cp.async.commit_group;\n", kWait = "cp.async.wait_group 0;\n",
                  kBarrier = "bar.sync 0;\n", kOwn = "ld.shared.u32 %r8, [%r4];\n",
                  kPartner = "ld.shared.u32 %r8, [%r5+4];\n",
                  kStore = "st.shared.u32 [%r4+8], %r1;\n",
                  kSource = "st.global.u32 [%rd2], %r1;\n";
/// Lane 0 copies 1024 bytes to shared memory, or back.
const std::string
    kLoad =
        "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 1024;\n@%p1 "
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [m], [%rd1], 1024, "
        "[bar];\n",
    kBack =
        "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [m], 1024;\n@%p1 "
        "cp.async.bulk.commit_group;\n",
    kAdd = "@%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [m], 1024;\n";

std::string passed(const std::string& who, const std::string& barrier) {
  return (who.empty() ? "" : "@!" + who + " bra skip;\n") +
         "wait:\nmbarrier.try_wait.parity.shared.b64 %p3, [" + barrier +
         "], 0;\n@!%p3 bra wait;\n" + (who.empty() ? "" : "skip:\n");
}

std::vector<Planted> copies_of_lanes() {
  const std::string two = kCopy + kEnd + kSecond + kEnd;
  return {
      {"no wait", kCopy + kOwn, true},
      {"a group that nobody waits for", kCopy + kEnd + kBarrier + kOwn, true},
      {"a wait before the group ends", kCopy + kWait + kEnd + kOwn, true},
      {"a wait", kCopy + kEnd + kWait + kOwn, false},
      {"a wait for all", kCopy + "cp.async.wait_all;\n" + kOwn, false},
      {"a wait for the older group", two + "cp.async.wait_group 1;\n" + kOwn, false},
      {"a wait for the older group, the younger is read",
       two + "cp.async.wait_group 1;\nld.shared.u32 %r8, [%r4+1028];\n", true},
      {"bytes beside the copy", two + "cp.async.wait_group 1;\nld.shared.u32 %r8, [%r4+1032];\n",
       false},
      {"zeros of a copy", two + "cp.async.wait_group 1;\nst.global.u32 [%rd2+4], %r1;\n", false},
      {"a source that is still to be read", two + "cp.async.wait_group 1;\n" + kSource, true},
      {"a source that has been read", two + kWait + kSource, false},
      {"another lane's copy", kCopy + kEnd + kWait + kBarrier + kPartner, false},
      {"another lane's copy, no wait", kCopy + kEnd + kBarrier + kPartner, true},
      {"another lane's copy, one warp waits",
       kCopy + kEnd + "@%p2 cp.async.wait_group 0;\n" + kBarrier + kPartner, true},
      {"another lane's copy, no barrier", kCopy + kEnd + kWait + kPartner, true},
      {"a store to a copy's target", kCopy + kEnd + kStore, true},
      {"a store behind the wait", kCopy + kEnd + kWait + kStore, false},
      {"two copies to one place", kCopy + kEnd + kCopy, true},
      {"two copies, a wait between", kCopy + kEnd + kWait + kCopy, false},
      {"an atomic", kCopy + kEnd + "atom.shared.add.u32 %r8, [%r4], 1;\n", true},
      {"bytes of a word", kCopy + kEnd + "ld.shared.u8 %r8, [%r4+15];\n", true},
      {"a matrix",
       kCopy + kEnd + kBarrier + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r4];\n", true},
      {"a generic address",
       kCopy + kEnd + "cvta.shared.u64 %rd3, %rd2;\ncvt.u64.u32 %rd3, %r4;\n" +
           "cvta.shared.u64 %rd3, %rd3;\nld.u32 %r8, [%rd3];\n",
       true},
      {"an mbarrier that all wait for",
       kCopy + "cp.async.mbarrier.arrive.noinc.shared.b64 [all];\n" + passed("", "all") + kPartner,
       false},
      {"an mbarrier that nobody waits for",
       kCopy + "cp.async.mbarrier.arrive.noinc.shared.b64 [all];\n" + kBarrier + kPartner, true},
      {"an mbarrier that one warp waits for",
       kCopy + "cp.async.mbarrier.arrive.noinc.shared.b64 [all];\n" + passed("%p2", "all") +
           kPartner,
       true},
      {"an mbarrier that one warp waits for, a barrier",
       kCopy + "cp.async.mbarrier.arrive.noinc.shared.b64 [all];\n" + passed("%p2", "all") +
           kBarrier + kPartner,
       false},
  };
}

std::vector<Planted> bulk_copies() {
  const std::string end = "@%p1 cp.async.bulk.commit_group;\n",
                    all = "@%p1 cp.async.bulk.wait_group 0;\n",
                    read = "@%p1 cp.async.bulk.wait_group.read 0;\n", pass = passed("", "bar");
  const std::string send =
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 4;\n@%p1 "
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%r3], 5, [%r6];\n";
  const std::string sums =
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 8;\n@%p1 "
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r3], 5, "
      "[%r6];\n@%p1 "
      "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r3], 5, "
      "[%r6];\n";
  const std::string near =
      "@%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n@%p1 "
      "cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.max.u32 [m], "
      "[m+1024], 64, [bar];\n";
  return {
      {"loaded, no wait", kLoad + kBarrier + kOwn, true},
      {"loaded, all wait", kLoad + pass + kOwn, false},
      {"loaded, one lane waits", kLoad + passed("%p1", "bar") + kOwn, true},
      {"loaded, one lane waits, a barrier", kLoad + passed("%p1", "bar") + kBarrier + kOwn, false},
      {"loaded, one warp waits", kLoad + passed("%p2", "bar") + kOwn, true},
      {"loaded, a wait for another mbarrier",
       kLoad + "mbarrier.arrive.shared.b64 _, [all];\n" + passed("", "all") + kOwn, true},
      {"loaded, the source is overwritten", kLoad + kBarrier + kSource, true},
      {"loaded, the source is overwritten behind the wait", kLoad + pass + kSource, false},
      {"loaded, bytes behind", kLoad + kBarrier + "ld.shared.u32 %r8, [%r4+1024];\n", false},
      {"loaded twice, one phase",
       kLoad +
           "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [m], [%rd1], "
           "16, [bar];\n",
       true},
      {"stored, the source is overwritten", kBack + kBarrier + kStore, true},
      {"stored, a wait behind the barrier", kBack + kBarrier + read + kStore, true},
      {"stored, the source was read", kBack + read + kBarrier + kStore, false},
      {"stored, the source was read and all is written", kBack + all + kBarrier + kStore, false},
      {"stored, no end of the group",
       "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [m], 1024;\n" + all + kBarrier +
           kStore,
       true},
      {"stored, a load of the source", kBack + kBarrier + kOwn, false},
      {"stored, read in global memory", kBack + read + "@%p1 ld.global.u32 %r8, [%rd1+16];\n",
       true},
      {"stored, read in global memory behind the wait",
       kBack + all + "@%p1 ld.global.u32 %r8, [%rd1+16];\n", false},
      {"added twice", kAdd + kAdd + end + all, false},
      {"added, and read", kAdd + end + read + "@%p1 ld.global.u32 %r8, [%rd1+16];\n", true},
      {"added, and an atomic", kAdd + end + read + "@%p1 atom.global.add.u32 %r8, [%rd1+16], 1;\n",
       false},
      {"sent, no wait", send + kBarrier + "ld.shared.u32 %r8, [m];\n", true},
      {"sent, all wait", send + pass + "ld.shared.u32 %r8, [m];\n", false},
      {"reduced, no wait", sums + kBarrier + "ld.shared.u32 %r8, [m];\n", true},
      {"reduced, all wait", sums + pass + "ld.shared.u32 %r8, [m];\n", false},
      {"reduced by a copy, no wait", near + kBarrier + "ld.shared.u32 %r8, [m+60];\n", true},
      {"reduced by a copy, all wait", near + pass + "ld.shared.u32 %r8, [m+60];\n", false},
      {"reduced by a copy, the source is overwritten",
       near + kBarrier + "st.shared.u32 [%r4+1024], %r1;\n", true},
      {"stored what was not loaded yet", kLoad + kBack, true},
      {"stored what was loaded", kLoad + pass + kBack, false},
  };
}

json checked(const std::string& body, const std::string& how) {
  const std::string file = write("async.ptx", ptx(body));
  const Output o = program_as_is("run " + file +
                                 " --device reference --grid 1 --block 64 --json --arg "
                                 "zero:u32[512] --check async " +
                                 how);
  CAPTURE(o.err);
  REQUIRE((o.code == 0 || o.code == 1));
  const json j = json::parse(o.out);
  CHECK(o.code == (j["fault_count"] == 0 ? 0 : 1));
  for (const json& f : j["faults"]) CHECK(f["rule"] == "async");
  return j;
}

}  // namespace

TEST_CASE("asynchronous copies: missing waits are named, near misses are not" * kHostCase) {
  for (const std::vector<Planted>& all : {copies_of_lanes(), bulk_copies()})
    for (const Planted& p : all)
      for (const char* time : {"immediate", "late"}) {
        CAPTURE(std::string(p.name));
        CAPTURE(std::string(time));
        const json j = checked(p.body, std::string("--policy async.copy=") + time);
        CAPTURE(j.dump(1));
        CHECK((j["fault_count"] != 0) == p.early);
      }
}

TEST_CASE("asynchronous copies: what a report says" * kHostCase) {
  const json j = checked(kCopy + kEnd + kBarrier + kPartner, "");
  REQUIRE(j["fault_count"] == 1);
  const json f = j["faults"][0];
  CHECK(f["kind"] == "data_race");
  CHECK(f["access"] == "load");
  CHECK(f["lane"] == 0);
  CHECK(f["wave"] == 0);
  CHECK(f["line"] == 33);
  CHECK(f["times"] == 64);
  CHECK(contains(f["text"], "ld.shared.u32 %r8, [%r5+4]"));
  CHECK(f["other"]["access"] == "asynchronous copy");
  CHECK(f["other"]["wave"] == 1);
  CHECK(f["other"]["lane"] == 0);
  CHECK(f["other"]["line"] == 30);
  CHECK(contains(f["other"]["text"], "cp.async.cg"));
  CHECK(contains(f["remedy"], "cp.async.wait_group"));
}

TEST_CASE("asynchronous copies: scripts expect their findings" * kHostCase) {
  write("async.ptx", ptx(kCopy + kEnd + kOwn));
  const std::string script =
      write("async.lw",
            "case \"early\" {\n  module \"async.ptx\"\n  policy check async\n"
            "  buffer x u32[512] = iota\n"
            "  launch k grid 1 block 64 args x\n"
            "  expect fault data_race lanes 0 text \"ld.shared\"\n}\n");
  const Output o = program_as_is("run " + script + " --device reference");
  CAPTURE(o.err);
  CHECK(o.code == 0);
}
}  // namespace asyncs_test
