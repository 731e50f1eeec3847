// Lanes that wait for lanes: spin locks, flags and barriers with counts. What cannot end must end
// in a report, never in a hang and never in a wrong value, on every engine and in both wave modes.
#include "tests/differential/ptx_kernel.hpp"

namespace forward_progress {

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr uint64_t kFewSteps = 20000;

ir::Program kernel(const std::string& body) {
  return ptx_kernel(".reg .b32 %r<12>; .reg .b64 %rd<6>; .reg .pred %p<6>;",
                    "mov.u32 %r1, %tid.x;\nmad.wide.u32 %rd3, %r1, 4, %rd2;\n" + body);
}

/// Takes the lock at [out], adds one to [out+128], does `inside`, and gives the lock back.
std::string locked(const std::string& inside) {
  return "SPIN: atom.global.cas.b32 %r2, [%rd2], 0, 1; setp.ne.u32 %p1, %r2, 0; @%p1 bra SPIN;\n"
         "ld.volatile.global.u32 %r3, [%rd2+128]; add.u32 %r3, %r3, 1;\n"
         "st.volatile.global.u32 [%rd2+128], %r3; membar.gl;\n" +
         inside + "atom.global.exch.b32 %r2, [%rd2], 0;\n";
}

struct Wait {
  const char* name;
  std::string body;
  bool can_end;    ///< lanes that run one after the other get to the end
  uint32_t word;   ///< of the output
  uint32_t value;  ///< what it holds then, with 64 lanes
};

std::vector<Wait> waits() {
  const std::string flag =
      "SPIN: ld.volatile.global.u32 %r2, [%rd2]; setp.eq.u32 %p2, %r2, 0; @%p2 bra SPIN;\n";
  return {
      {"a lock", locked(""), true, 32, 64},
      {"a lock held while the wave meets", locked("bar.warp.sync 0xffffffff;\n"), false, 0, 0},
      {"a lock held while the group meets", locked("bar.sync 0;\n"), false, 0, 0},
      {"a lane's flag",
       "setp.ne.u32 %p1, %r1, 0; @%p1 bra OTHER;\n" + flag +
           "bra DONE;\nOTHER: st.volatile.global.u32 [%rd2], 1;\n"
           "DONE: bar.warp.sync 0xffffffff; st.global.u32 [%rd3+256], 5;\n",
       true, 64 + 63, 5},
      {"a flag that is set after the wave has met",
       "and.b32 %r4, %r1, 31; setp.ne.u32 %p1, %r4, 0; @%p1 bra OTHER;\n" + flag +
           "OTHER: bar.warp.sync 0xffffffff; st.volatile.global.u32 [%rd2], 1;\n",
       false, 0, 0},
  };
}

Outcome launch(Engine& engine, const ir::Program& program, WaveMode mode, uint32_t lanes,
               const std::vector<uint32_t>& input, size_t words) {
  return run_on(engine, program, {1, 1, 1}, {lanes, 1, 1}, input, words,
                [&](LaunchRequest& request) {
                  request.wave = mode;
                  request.step_budget = kFewSteps;
                });
}

/// What a wave does at a barrier, as often as `rounds` says.
enum Deed : uint32_t { sync, arrive, popc };
struct Role {
  uint32_t deed = sync, id = 0, count = 0, rounds = 1;
};
struct Meeting {
  const char* name;
  uint32_t lanes;
  Role waves[4];
  uint32_t faults;  ///< lanes that are left waiting
};

const std::vector<Meeting>& meetings() {
  static const std::vector<Meeting> list = {
      {"two pairs, an id each",
       128,
       {{sync, 1, 64, 5}, {sync, 15, 64, 3}, {sync, 15, 64, 3}, {sync, 1, 64, 5}},
       0},
      {"two pairs, one id", 128, {{sync, 2, 64}, {sync, 2, 64}, {sync, 2, 64}, {sync, 2, 64}}, 0},
      {"producers and a consumer",
       128,
       {{arrive, 4, 128, 3}, {arrive, 4, 128, 3}, {arrive, 4, 128, 3}, {sync, 4, 128, 3}},
       0},
      {"a producer and what it adds up", 64, {{arrive, 7, 64}, {popc, 7, 64}}, 0},
      {"votes of three waves", 96, {{popc, 3, 96, 2}, {popc, 3, 96, 2}, {popc, 3, 96, 2}}, 0},
      {"votes of pairs",
       128,
       {{popc, 0, 64, 2}, {popc, 1, 64, 2}, {popc, 0, 64, 2}, {popc, 1, 64, 2}},
       0},
      {"votes of a partial group", 85, {{popc, 0, 0, 4}, {popc, 0, 0, 4}, {popc, 0, 0, 4}}, 0},
      {"full sets only", 80, {{sync, 0, 32}, {sync, 0, 32}, {sync, 0, 32}}, 16},
      {"one round more than the others",
       128,
       {{sync, 5, 128, 2}, {sync, 5, 128, 2}, {sync, 5, 128, 2}, {sync, 5, 128, 3}},
       32},
      {"other counts at one barrier",
       128,
       {{sync, 6, 64}, {sync, 6, 64}, {sync, 6, 128}, {sync, 6, 128}},
       128},
      {"the whole group, announced and not", 64, {{sync, 6, 64, 2}, {sync, 6, 0, 2}}, 0},
      {"two sets at one reduction",
       128,
       {{popc, 8, 64}, {popc, 8, 64}, {popc, 8, 64}, {popc, 8, 64}},
       128},
      {"a barrier that does not exist", 96, {{sync, 16, 32}, {sync, 2, 64}, {sync, 2, 64}}, 32},
      {"nobody else comes", 64, {{sync, 9, 96}, {arrive, 9, 96}}, 32},
  };
  return list;
}

ir::Program meeting_kernel() {
  return kernel(R"(
    shr.u32 %r2, %r1, 5; mad.wide.u32 %rd4, %r2, 16, %rd1;
    ld.global.u32 %r3, [%rd4]; ld.global.u32 %r4, [%rd4+4];
    ld.global.u32 %r5, [%rd4+8]; ld.global.u32 %r6, [%rd4+12];
    mov.u32 %r7, 0;
    setp.eq.u32 %p1, %r3, 1; setp.eq.u32 %p2, %r3, 2;
    LOOP:
    add.u32 %r8, %r1, %r7; and.b32 %r8, %r8, 3; setp.eq.u32 %p3, %r8, 0;
    setp.ne.u32 %p4, %r5, 0;
    @%p1 bra ARRIVE;
    @%p2 bra REDUCE;
    @%p4 bra COUNTED;
    bar.sync %r4; bra NEXT;
    COUNTED: bar.sync %r4, %r5; bra NEXT;
    ARRIVE: bar.arrive %r4, %r5; bra NEXT;
    REDUCE:
    @%p4 bra REDUCE_COUNTED;
    bar.red.popc.u32 %r9, %r4, %p3; bra SUM;
    REDUCE_COUNTED: bar.red.popc.u32 %r9, %r4, %r5, %p3;
    SUM: mad.lo.u32 %r7, %r7, 100, %r9;
    NEXT: add.u32 %r7, %r7, 1000;
    st.global.u32 [%rd3], %r7;
    sub.u32 %r6, %r6, 1; setp.ne.u32 %p5, %r6, 0;
    @%p5 bra LOOP;
)");
}

std::vector<uint32_t> words_of(const Meeting& meeting) {
  std::vector<uint32_t> words;
  for (const Role& r : meeting.waves) words.insert(words.end(), {r.deed, r.id, r.count, r.rounds});
  return words;
}

}  // namespace

TEST_CASE("forward progress: lanes of a wave that wait for each other end in a report") {
  for (const Wait& wait : waits()) {
    CAPTURE(std::string(wait.name));
    const ir::Program program = kernel(wait.body);
    for (const TestEngine& engine : engines_in_turn()) {
      for (const WaveMode mode : {WaveMode::automatic, WaveMode::serial}) {
        CAPTURE(engine.label);
        CAPTURE(static_cast<int>(mode));
        const Outcome got = launch(*engine.engine, program, mode, 64, {0}, 160);
        const bool over = got.fault_count != 0;
        CHECK((over || wait.can_end));
        if (engine.label == "reference") CHECK(over == !wait.can_end);
        if (!over) CHECK(got.words[wait.word] == wait.value);
        for (const Fault& f : got.faults) {
          CHECK(f.kind == FaultKind::step_budget);
          if (f.address == 1) continue;  // the driver cut the loop around the lanes
          REQUIRE(f.site < program.sites.size());
          CHECK(program.sites[f.site].text.find("bra SPIN") != std::string::npos);
        }
      }
    }
  }
  CHECK(validation_messages() == 0);
}

TEST_CASE("forward progress: barriers with ids and counts in groups of several waves") {
  const ir::Program program = meeting_kernel();
  for (const WaveMode mode : {WaveMode::automatic, WaveMode::serial}) {
    for (const Meeting& meeting : meetings()) {
      CAPTURE(std::string(meeting.name));
      CAPTURE(static_cast<int>(mode));
      Outcome expected;
      for (const TestEngine& engine : test_engines()) {
        CAPTURE(engine.label);
        const Outcome got =
            launch(*engine.engine, program, mode, meeting.lanes, words_of(meeting), 128);
        CHECK_MESSAGE(got.fault_count == meeting.faults, describe(got));
        if (engine.label == "reference") expected = got;
        // Which lanes of a wave make up a full set is a matter of order, and so is which of many
        // faults are reported.
        if (meeting.faults % 32 != 0 || meeting.faults > kMaxFaults) continue;
        CHECK(got.words == expected.words);
        REQUIRE(got.faults.size() == expected.faults.size());
        for (size_t i = 0; i < got.faults.size(); ++i) {
          CHECK(got.faults[i].kind == expected.faults[i].kind);
          CHECK(got.faults[i].lane == expected.faults[i].lane);
          CHECK(got.faults[i].site == expected.faults[i].site);
        }
      }
    }
  }
  CHECK(validation_messages() == 0);
}

TEST_CASE("forward progress: the barrier of a cluster of one group") {
  // Lanes from 80 on have ended, those of odd waves meet at a barrier of their own in between.
  const ir::Program program = ptx_kernel(
      ".reg .b32 %r<12>; .reg .b64 %rd<6>; .reg .pred %p<6>; .shared .align 4 .b8 s[512];",
      "mov.u32 %r1, %tid.x; setp.ge.u32 %p1, %r1, 80; @%p1 ret;\n"
      "mad.wide.u32 %rd3, %r1, 4, %rd2; shl.b32 %r2, %r1, 2; mov.u32 %r3, s; mov.u32 %r8, 2;\n"
      "and.b32 %r5, %r1, 32; setp.ne.u32 %p2, %r5, 0; mapa.shared::cluster.u32 %r3, %r3, 0;\n"
      "add.u32 %r4, %r3, %r2; mul.lo.u32 %r6, %r1, 7;\n"
      "AGAIN: st.shared::cluster.u32 [%r4], %r6; barrier.cluster.arrive.release;\n"
      "@!%p2 bra WAIT; barrier.sync 3, 32; add.u32 %r6, %r6, 1;\n"
      "WAIT: barrier.cluster.wait.acquire; sub.u32 %r7, 316, %r2; add.u32 %r7, %r3, %r7;\n"
      "ld.shared::cluster.u32 %r7, [%r7]; add.u32 %r6, %r6, %r7; barrier.cluster.arrive.relaxed;\n"
      "barrier.cluster.wait; sub.u32 %r8, %r8, 1; setp.ne.u32 %p3, %r8, 0; @%p3 bra AGAIN;\n"
      "st.global.u32 [%rd3], %r6;\n");
  std::vector<uint32_t> expected(96);
  for (uint32_t i = 0; i < 80; ++i) expected[i] = 7 * i;
  for (int round = 0; round < 2; ++round) {
    const std::vector<uint32_t> shared = expected;
    for (uint32_t i = 0; i < 80; ++i) expected[i] += shared[79 - i] + (i / 32 % 2);
  }
  for (const WaveMode mode : {WaveMode::automatic, WaveMode::serial}) {
    for (const TestEngine& engine : test_engines()) {
      CAPTURE(engine.label);
      const Outcome got = launch(*engine.engine, program, mode, 96, {0}, 96);
      CHECK_MESSAGE(got.fault_count == 0, describe(got));
      CHECK(got.words == expected);
    }
  }
}

}  // namespace forward_progress
