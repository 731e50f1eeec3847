// Litmus tests: what the PTX memory model forbids must not be seen. Each kernel runs all tests of a
// scope once per pair of threads, on cells of its own; threads 0 and 1 of a pair are in one group
// (.cta) or in two (.gpu, .sys).
#include <fmt/format.h>

#include "runtime/isa/ptx/lower.hpp"
#include "tests/differential/engines.hpp"

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

std::string thread_code(uint32_t test, unsigned thread, const std::string& scope) {
  const uint32_t base = test * kArrays * kArrayBytes;
  std::string code = thread == 0 ? kTests[test].thread0 : kTests[test].thread1;
  code = replaced(code, "[X]", fmt::format("[%rd1+{}]", base));
  code = replaced(code, "[Y]", fmt::format("[%rd1+{}]", base + kArrayBytes));
  code = replaced(code, ".S", "." + scope);
  code = replaced(code, ".F", scope == "gpu" ? ".gl" : "." + scope);
  code += "\n";
  for (unsigned r = 2 * thread; r < 2 * thread + 2; ++r)
    if (code.find(fmt::format("%r{},", r)) != std::string::npos)
      code += fmt::format("st.global.u32 [%rd1+{}], %r{};\n", base + (2 + r) * kArrayBytes, r);
  return code;
}

ir::Program kernel(const std::string& scope) {
  const bool one_group = scope == "cta";
  std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param "
      ".u64 "
      "out)\n{\n.reg .b32 %r<12>; .reg .b64 %rd<4>; .reg .pred %p<2>;\n"
      "ld.param.u64 %rd1, [out]; mov.u32 %r8, %tid.x; mov.u32 %r9, %ctaid.x;\n";
  text += one_group
              ? "shr.u32 %r10, %r8, 5; and.b32 %r11, %r8, 31; mad.lo.u32 %r11, %r9, 32, %r11;\n"
              : "and.b32 %r10, %r9, 1; shr.u32 %r11, %r9, 1; mad.lo.u32 %r11, %r11, 64, %r8;\n";
  text += "mad.wide.u32 %rd1, %r11, 4, %rd1; setp.ne.u32 %p1, %r10, 0;\n@%p1 bra SECOND;\n";
  for (uint32_t t = 0; t < kTestCount; ++t) text += thread_code(t, 0, scope);
  text += "ret;\nSECOND:\n";
  for (uint32_t t = 0; t < kTestCount; ++t) text += thread_code(t, 1, scope);
  const ptx::ParseResult parsed = ptx::parse(text + "ret;\n}\n", 0);
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

void run_scope(const std::string& scope) {
  static_assert(kBytes < kParamOffset - kOutputOffset);
  const ir::Program program = kernel(scope);
  for (const TestEngine& engine : test_engines()) {
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
  run_scope("cta");
}
TEST_CASE("litmus: no outcome that the model forbids at .gpu") {
  run_scope("gpu");
}
TEST_CASE("litmus: no outcome that the model forbids at .sys") {
  run_scope("sys");
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
