// Litmus tests: what the PTX memory model forbids must not be seen. Each kernel runs all tests of a
// scope once per pair of threads, on cells of its own; threads 0 and 1 of a pair are in one group
// (.cta, and .cluster, as a cluster has one group) or in two (.gpu, .sys). The cells lie in global
// or in shared memory.
#include <fmt/format.h>

#include "runtime/isa/ptx/lower.hpp"
#include "tests/differential/engines.hpp"

namespace ptx_litmus {

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr uint32_t kLanes = 64, kGroups = 64, kRounds = 24;
constexpr uint32_t kPairs = kLanes * kGroups / 2;

/// What a pair saw: r0, r1 of thread 0, r2, r3 of thread 1, and x in the end.
struct Seen {
  uint32_t r[4];
  uint32_t x;
};

/// `X` and `Y` in the code are the cells, `S` the scope, `F` the level of membar.
struct Litmus {
  const char* name;
  const char* thread0;
  const char* thread1;
  bool (*forbidden)(const Seen&);
};

bool stale_payload(const Seen& s) {
  return s.r[2] == 1 && s.r[3] == 0;
}

constexpr Litmus kTests[] = {
    {"message passing, release and acquire",
     "st.global.u32 [X], 1; st.release.S.global.u32 [Y], 1;",
     "ld.acquire.S.global.u32 %r2, [Y]; ld.global.u32 %r3, [X];", stale_payload},
    {"message passing, fences",
     "st.relaxed.S.global.u32 [X], 1; fence.acq_rel.S; st.relaxed.S.global.u32 [Y], 1;",
     "ld.relaxed.S.global.u32 %r2, [Y]; fence.acq_rel.S; ld.relaxed.S.global.u32 %r3, [X];",
     stale_payload},
    {"message passing, volatile and membar",
     "st.volatile.global.u32 [X], 1; membar.F; st.volatile.global.u32 [Y], 1;",
     "ld.volatile.global.u32 %r2, [Y]; membar.F; ld.volatile.global.u32 %r3, [X];", stale_payload},
    {"message passing, atomics",
     "st.global.u32 [X], 1; atom.release.S.global.exch.b32 %r0, [Y], 1;",
     "atom.acquire.S.global.or.b32 %r2, [Y], 0; ld.global.u32 %r3, [X];",
     [](const Seen& s) { return stale_payload(s) || s.r[0] != 0; }},
    {"store buffering, fence.sc",
     "st.relaxed.S.global.u32 [X], 1; fence.sc.S; ld.relaxed.S.global.u32 %r0, [Y];",
     "st.relaxed.S.global.u32 [Y], 1; fence.sc.S; ld.relaxed.S.global.u32 %r2, [X];",
     [](const Seen& s) { return s.r[0] == 0 && s.r[2] == 0; }},
    {"store buffering, membar",
     "st.volatile.global.u32 [X], 1; membar.F; ld.volatile.global.u32 %r0, [Y];",
     "st.volatile.global.u32 [Y], 1; membar.F; ld.volatile.global.u32 %r2, [X];",
     [](const Seen& s) { return s.r[0] == 0 && s.r[2] == 0; }},
    {"load buffering, fences",
     "ld.relaxed.S.global.u32 %r0, [X]; fence.acq_rel.S; st.relaxed.S.global.u32 [Y], 1;",
     "ld.relaxed.S.global.u32 %r2, [Y]; fence.acq_rel.S; st.relaxed.S.global.u32 [X], 1;",
     [](const Seen& s) { return s.r[0] == 1 && s.r[2] == 1; }},
    {"CoRR", "st.relaxed.S.global.u32 [X], 1;",
     "ld.relaxed.S.global.u32 %r2, [X]; ld.relaxed.S.global.u32 %r3, [X];", stale_payload},
    {"CoWW", "st.relaxed.S.global.u32 [X], 1; st.relaxed.S.global.u32 [X], 2;",
     "ld.relaxed.S.global.u32 %r2, [X]; ld.relaxed.S.global.u32 %r3, [X];",
     [](const Seen& s) { return s.x != 2 || s.r[3] < s.r[2]; }},
    {"CoWR", "st.relaxed.S.global.u32 [X], 1; ld.relaxed.S.global.u32 %r0, [X];",
     "st.relaxed.S.global.u32 [X], 2;",
     [](const Seen& s) { return s.r[0] == 0 || (s.r[0] == 2 && s.x == 1); }},
    {"CoRW", "ld.relaxed.S.global.u32 %r0, [X]; st.relaxed.S.global.u32 [X], 1;",
     "st.relaxed.S.global.u32 [X], 2;",
     [](const Seen& s) { return s.r[0] == 1 || (s.r[0] == 2 && s.x == 2); }},
};
constexpr uint32_t kTestCount = std::size(kTests);
/// Words per test: X, Y, then four results, each an array over the pairs.
constexpr uint32_t kArrays = 6, kArrayBytes = kPairs * 4;
constexpr uint32_t kBytes = kTestCount * kArrays * kArrayBytes;

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

/// Where the cells of a kernel lie and which scope its accesses have.
struct Setting {
  std::string scope, space = "global";
  bool shared() const { return space != "global"; }
  /// Both threads of a pair are in one group.
  bool one_group() const { return scope == "cta" || scope == "cluster"; }
};

constexpr uint32_t kHalf = kLanes / 2;
/// In shared memory each test has a word X and a word Y for each pair of the group.
constexpr uint32_t kSharedTest = 2 * kHalf * 4, kSharedBytes = kTestCount * kSharedTest;

std::string cell(const Setting& setting, uint32_t test, bool second) {
  if (setting.shared())
    return fmt::format("[%r7+{}]", test * kSharedTest + (second ? kHalf * 4 : 0));
  return fmt::format("[%rd1+{}]", (test * kArrays + (second ? 1 : 0)) * kArrayBytes);
}

std::string thread_code(uint32_t test, unsigned thread, const Setting& setting) {
  const uint32_t base = test * kArrays * kArrayBytes;
  const bool gl = setting.scope == "gpu" || setting.scope == "cluster";  // membar has no .cluster
  std::string code = thread == 0 ? kTests[test].thread0 : kTests[test].thread1;
  code = replaced(code, "[X]", cell(setting, test, false));
  code = replaced(code, "[Y]", cell(setting, test, true));
  code = replaced(code, ".global", "." + setting.space);
  code = replaced(code, ".S", "." + setting.scope);
  code = replaced(code, ".F", gl ? ".gl" : "." + setting.scope);
  code += "\n";
  for (unsigned r = 2 * thread; r < 2 * thread + 2; ++r)
    if (code.find(fmt::format("%r{},", r)) != std::string::npos)
      code += fmt::format("st.global.u32 [%rd1+{}], %r{};\n", base + (2 + r) * kArrayBytes, r);
  return code;
}

/// Shared cells start as zeros; %r7 becomes the address of the pair's first one, as the cluster's
/// group 0 has it.
std::string shared_begin(const Setting& setting) {
  if (!setting.shared()) return {};
  std::string text = "mov.u32 %r7, cells; mad.lo.u32 %r6, %r8, 4, %r7;\n";
  for (uint32_t t = 0; t < kTestCount; ++t)
    text += fmt::format("st.shared.u32 [%r6+{}], 0;\n", t * kSharedTest);
  text += "and.b32 %r6, %r8, 31; mad.lo.u32 %r7, %r6, 4, %r7;\n";
  if (setting.scope == "cluster") text += "mapa.shared::cluster.u32 %r7, %r7, 0;\n";
  return text + "bar.sync 0;\n";
}

/// What X holds in the end goes where it lies when it is global.
std::string shared_end(const Setting& setting) {
  std::string text = "LAST:\n";
  if (!setting.shared()) return text;
  text += "bar.sync 0;\n@%p1 bra OUT;\n";
  for (uint32_t t = 0; t < kTestCount; ++t)
    text += fmt::format("ld.shared.u32 %r6, {}; st.global.u32 [%rd1+{}], %r6;\n",
                        cell(setting, t, false), t * kArrays * kArrayBytes);
  return text + "OUT:\n";
}

ir::Program kernel(const Setting& setting) {
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param "
      ".u64 "
      "out)\n{\n.reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n";
  if (setting.shared()) text += fmt::format(".shared .align 4 .b8 cells[{}];\n", kSharedBytes);
  text += "ld.param.u64 %rd1, [out]; mov.u32 %r8, %tid.x; mov.u32 %r9, %ctaid.x;\n";
  text += setting.one_group()
              ? "shr.u32 %r10, %r8, 5; and.b32 %r11, %r8, 31; mad.lo.u32 %r11, %r9, 32, %r11;\n"
              : "and.b32 %r10, %r9, 1; shr.u32 %r11, %r9, 1; mad.lo.u32 %r11, %r11, 64, %r8;\n";
  text += "mad.wide.u32 %rd1, %r11, 4, %rd1; setp.ne.u32 %p1, %r10, 0;\n";
  text += shared_begin(setting) + "@%p1 bra SECOND;\n";
  for (uint32_t t = 0; t < kTestCount; ++t) text += thread_code(t, 0, setting);
  text += "bra LAST;\nSECOND:\n";
  for (uint32_t t = 0; t < kTestCount; ++t) text += thread_code(t, 1, setting);
  const ptx::ParseResult parsed = ptx::parse(text + shared_end(setting) + "ret;\n}\n", 0);
  REQUIRE(parsed.ok());
  ptx::LowerResult lowered = ptx::lower(parsed.module);
  REQUIRE_MESSAGE(lowered.diagnostics.empty(), lowered.diagnostics[0].message);
  return lowered.module.kernels.at(0);
}

/// Adds what one run saw to the counts per test.
void count_forbidden(const std::vector<uint32_t>& words, std::vector<uint64_t>& counts) {
  for (uint32_t t = 0; t < kTestCount; ++t) {
    const uint32_t* arrays = words.data() + size_t{t} * kArrays * kPairs;
    for (uint32_t pair = 0; pair < kPairs; ++pair) {
      Seen s{};
      for (unsigned r = 0; r < 4; ++r) s.r[r] = arrays[(2 + r) * kPairs + pair];
      s.x = arrays[pair];
      counts[t] += kTests[t].forbidden(s) ? 1 : 0;
    }
  }
}

void run_setting(const Setting& setting) {
  static_assert(kBytes < kParamOffset - kOutputOffset);
  const ir::Program program = kernel(setting);
  for (const TestEngine& engine : engines_in_turn()) {
    CAPTURE(engine.label);
    std::vector<uint64_t> counts(kTestCount);
    const uint32_t rounds = engine.label == "reference" ? 1 : kRounds;
    for (uint32_t round = 0; round < rounds; ++round) {
      const Outcome o =
          run_on(*engine.engine, program, {kGroups, 1, 1}, {kLanes, 1, 1}, {0}, kBytes / 4);
      REQUIRE(o.fault_count == 0);
      count_forbidden(o.words, counts);
    }
    for (uint32_t t = 0; t < kTestCount; ++t) {
      CAPTURE(kTests[t].name);
      CHECK(counts[t] == 0);
    }
  }
  CHECK(validation_messages() == 0);
}

}  // namespace

TEST_CASE("litmus: no outcome that the model forbids at .cta") {
  run_setting({"cta"});
}
TEST_CASE("litmus: no outcome that the model forbids at .gpu") {
  run_setting({"gpu"});
}
TEST_CASE("litmus: no outcome that the model forbids at .sys") {
  run_setting({"sys"});
}
TEST_CASE("litmus: no outcome that the model forbids at .cluster") {
  run_setting({"cluster"});
}
TEST_CASE("litmus: no outcome that the model forbids at .cta in shared memory") {
  run_setting({"cta", "shared"});
}
TEST_CASE("litmus: no outcome that the model forbids at .cluster in shared memory") {
  run_setting({"cluster", "shared::cluster"});
}

TEST_CASE("litmus: a forbidden outcome is counted") {
  for (uint32_t t = 0; t < kTestCount; ++t) {
    CAPTURE(kTests[t].name);
    // Some outcome of every test is forbidden and some is not; one bad pair among all is found.
    uint32_t bad = 0, good = 0;
    for (uint32_t code = 0; code < 243; ++code) {
      const Seen s{{code % 3, code / 3 % 3, code / 9 % 3, code / 27 % 3}, code / 81};
      if (!kTests[t].forbidden(s)) continue;
      std::vector<uint32_t> words(kBytes / 4, 0);
      uint32_t* arrays = words.data() + size_t{t} * kArrays * kPairs;
      std::vector<uint64_t> before(kTestCount), after(kTestCount);
      count_forbidden(words, before);
      for (unsigned r = 0; r < 4; ++r) arrays[(2 + r) * kPairs + 77] = s.r[r];
      arrays[77] = s.x;
      count_forbidden(words, after);
      const bool zeros_are_bad = before[t] != 0;
      CHECK(after[t] == (zeros_are_bad ? kPairs : 1));
      break;
    }
    for (uint32_t code = 0; code < 243; ++code) {
      const Seen s{{code % 3, code / 3 % 3, code / 9 % 3, code / 27 % 3}, code / 81};
      (kTests[t].forbidden(s) ? bad : good) += 1;
    }
    CHECK(bad > 0);
    CHECK(good > 0);
  }
}

}  // namespace ptx_litmus
