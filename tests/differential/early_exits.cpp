// Control flow that drivers nest deeper than it is written: rows of early exits, of which each puts
// what follows it into the other side of an if. Some keep masks of 80 levels and lose count beyond.
#include <fmt/format.h>

#include "tests/differential/ptx_kernel.hpp"

namespace early_exits {

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr uint32_t kLanes = 128, kWays = 100;

/// %r1 is the lane, %r2 what it stores at %rd2 in the end; %c0 and so on count what a body likes.
ir::Program kernel(const std::string& body) {
  return ptx_kernel(".reg .b32 %r<4>; .reg .b32 %c<200>; .reg .b64 %rd<4>; .reg .pred %p<4>;",
                    "mov.u32 %r1, %tid.x; mov.u32 %r2, 1; mul.wide.u32 %rd3, %r1, 4; "
                    "add.u64 %rd2, %rd2, %rd3;\n" +
                        body + "END: st.global.u32 [%rd2], %r2;\n");
}

/// `line` with {0} = 0, 1 ... kWays - 1, or the other way round.
std::string rows(fmt::format_string<uint32_t> line, bool backwards = false) {
  std::string text;
  for (uint32_t i = 0; i < kWays; ++i)
    text += fmt::format(line, backwards ? kWays - 1 - i : i) + "\n";
  return text;
}

/// On every device in each run, since each driver has limits of its own.
void everywhere(const std::string& body,
                const std::vector<WaveMode>& modes = {WaveMode::lane, WaveMode::serial}) {
  const ir::Program program = kernel(body);
  std::vector<uint32_t> expected;
  for (const TestEngine& engine : test_engines()) {
    CAPTURE(engine.label);
    for (const WaveMode mode : modes) {
      CAPTURE(static_cast<int>(mode));
      const Outcome got = run_on(*engine.engine, program, {2, 1, 1}, {kLanes, 1, 1}, {0}, kLanes,
                                 [&](LaunchRequest& request) { request.wave = mode; });
      CHECK_MESSAGE(got.fault_count == 0, describe(got));
      if (expected.empty()) expected = got.words;
      CHECK(got.words == expected);
      if (engine.label == "reference") break;
    }
  }
}

}  // namespace

TEST_CASE("early exits: a row of branches to the end") {
  everywhere(rows("setp.eq.u32 %p1, %r1, {0}; @%p1 bra END; mad.lo.u32 %r2, %r2, 3, {0};"));
}

TEST_CASE("early exits: a ladder of cases") {
  everywhere(
      rows("setp.gt.u32 %p1, %r1, {0}; @%p1 bra N{0}; mad.lo.u32 %r2, %r2, 5, {0}; bra END; "
           "N{0}: add.u32 %r2, %r2, {0};"));
}

TEST_CASE("early exits: a row of returns") {
  everywhere(
      rows("mad.lo.u32 %r2, %r2, 3, {0}; setp.ne.u32 %p1, %r1, {0}; @%p1 bra N{0}; "
           "st.global.u32 [%rd2], %r2; ret; N{0}:"));
}

TEST_CASE("early exits: to eight places that lie behind each other") {
  std::string text = "mov.u32 %r3, 0;\n";
  for (uint32_t i = 0; i < 8; ++i)
    text += fmt::format("and.b32 %r3, %r1, {0}; setp.eq.u32 %p1, %r3, {0}; @%p1 bra X{1};\n",
                        1U << i, i);
  for (uint32_t i = 0; i < kWays; ++i)
    text += fmt::format("mad.lo.u32 %r2, %r2, 3, {0}; setp.eq.u32 %p1, %r1, {0}; @%p1 bra X{1};\n",
                        i, i % 8);
  for (uint32_t i = 0; i < 8; ++i) text += fmt::format("X{0}: mad.lo.u32 %r2, %r2, 7, {0};\n", i);
  everywhere(text);
}

TEST_CASE("early exits: a row of them in a loop, round again and out of it") {
  everywhere("mov.u32 %c0, 0; L: add.u32 %c0, %c0, 1; setp.gt.u32 %p1, %c0, 3; @%p1 bra END;\n" +
             rows("mad.lo.u32 %r2, %r2, 3, {0}; setp.eq.u32 %p1, %r1, {0}; @%p1 bra L;") +
             "bra L;\n");
  everywhere("mov.u32 %c0, 0; L: add.u32 %c0, %c0, 1; setp.gt.u32 %p1, %c0, 3; @%p1 bra END;\n" +
             rows("mad.lo.u32 %r2, %r2, 3, {0}; setp.eq.u32 %p1, %r1, {0}; @%p1 bra END;") +
             "bra L;\n");
}

TEST_CASE("early exits: ifs in each other, and no loop whose steps count") {
  // Too deep for a tree, it becomes a loop around a dispatch, though it has no jump backwards.
  everywhere(rows("setp.lt.u32 %p1, %r1, {0}; @%p1 bra E{0}; add.u32 %r2, %r2, {0};") +
             rows("mad.lo.u32 %r2, %r2, 3, {0}; E{0}: add.u32 %r2, %r2, 7;", true));
}

TEST_CASE(
    "early exits: lanes that left a loop apart are together behind it, however deep the rest is") {
  const std::string loop =
      "mov.u32 %c0, 0; and.b32 %r3, %r1, 7;\nL: add.u32 %c0, %c0, 1; mad.lo.u32 %r2, %r2, 5, %c0; "
      "setp.lt.u32 %p1, %c0, %r3; @%p1 bra L;\n";
  const std::string deep =
      rows("setp.lt.u32 %p1, %r1, {0}; @%p1 bra E{0}; add.u32 %r2, %r2, {0};") +
      rows("mad.lo.u32 %r2, %r2, 3, {0}; E{0}: add.u32 %r2, %r2, 7;", true);
  everywhere(loop + "activemask.b32 %r3; add.u32 %r2, %r2, %r3;\n" + deep,
             {WaveMode::automatic, WaveMode::serial});
  // A neighbour's number, through shared memory.
  everywhere(".shared .b32 s[128]; mov.u32 %c1, s; shl.b32 %c2, %r1, 2; add.u32 %c1, %c1, %c2;\n" +
                 loop + "st.shared.u32 [%c1], %r2; bar.sync 0; xor.b32 %c1, %c1, 4;\n" +
                 "ld.shared.u32 %r3, [%c1]; add.u32 %r2, %r2, %r3;\n" + deep,
             {WaveMode::automatic, WaveMode::serial});
}

TEST_CASE("early exits: loops in each other") {
  // Four of them make up to three iterations.
  everywhere(
      rows("mov.u32 %c{0}, 0; L{0}: add.u32 %r2, %r2, {0};") +
      rows("add.u32 %c{0}, %c{0}, 1; and.b32 %r3, {0}, 31; setp.eq.u32 %p2, %r3, 3; and.b32 %r3, "
           "%r1, 3; selp.b32 %r3, %r3, 0, %p2; setp.lt.u32 %p1, %c{0}, %r3; mad.lo.u32 %r2, %r2, "
           "3, {0}; @%p1 bra L{0};",
           true));
}

}  // namespace early_exits
