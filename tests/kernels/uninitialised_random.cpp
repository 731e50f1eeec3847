// --check init against a map kept by the host: each lane stores and loads elements of random sizes
// at random places of its own 64 bytes, and once through an atomic.
#include <fmt/format.h>

#include <array>
#include <bitset>
#include <set>

#include "tests/kernels/support.hpp"

using namespace kernels;
using lanewise::Buffer;
using lanewise::LaunchOptions;

namespace {

constexpr uint32_t kCell = 64;  ///< bytes of a lane
constexpr uint32_t kLanes = 32, kGroups = 2;

/// What a step does, and its bytes.
struct StepKind {
  const char* code;  ///< {0} = the space, [%a] the place
  uint32_t bytes;
  bool reads, writes;
};
const std::array<StepKind, 10> kKinds = {{
    {"st.{}.u8 [%a], %v;", 1, false, true},
    {"st.{}.u16 [%a], %v;", 2, false, true},
    {"st.{}.u32 [%a], %v;", 4, false, true},
    {"st.{}.v2.u32 [%a], {{%v, %v}};", 8, false, true},
    {"st.{}.v4.u32 [%a], {{%v, %v, %v, %v}};", 16, false, true},
    {"ld.{}.u8 %w, [%a];", 1, true, false},
    {"ld.{}.u16 %w, [%a];", 2, true, false},
    {"ld.{}.u32 %w, [%a];", 4, true, false},
    {"ld.{}.v4.u32 {{%w, %w1, %w2, %w3}}, [%a];", 16, true, false},
    {"atom.{}.add.u32 %w, [%a], 1;", 4, true, true},
}};
struct RandomStep {
  uint32_t kind, offset;
};
constexpr uint32_t kSteps = 4;

/// Each step reads its kind and offset from a table: words [lane][step][2].
std::string step_program(const std::string& space, bool generic) {
  const bool atomics = space != "local";
  const bool global = space == "global";
  const std::string wide = global || generic ? "64" : "32";
  std::string t = ".version 7.8\n.target sm_75\n.address_size 64\n";
  if (space == "shared") t += fmt::format(".shared .align 16 .b8 cells[{}];\n", kCell * kLanes);
  t += ".visible .entry k(.param .u64 table, .param .u64 out)\n{\n";
  if (space == "local") t += fmt::format("  .local .align 16 .b8 cells[{}];\n", kCell);
  t += fmt::format(
      "  .reg .pred %p; .reg .b32 %t<8>, %v, %w, %w1, %w2, %w3, %kind, %off;\n"
      "  .reg .b64 %table, %out, %x; .reg .b{0} %a, %base;\n"
      "  ld.param.u64 %table, [table]; ld.param.u64 %out, [out];\n"
      "  mov.u32 %t0, %tid.x; mov.u32 %t1, %ctaid.x; mov.u32 %t2, %ntid.x;\n"
      "  mad.lo.u32 %t3, %t1, %t2, %t0; mul.wide.u32 %x, %t3, {1}; add.u64 %table, %table, %x;\n"
      "  mov.u32 %v, 7;\n",
      wide, 8 * kSteps);
  if (global) {
    t += fmt::format("  mul.wide.u32 %x, %t3, {}; add.u64 %base, %out, %x;\n", kCell);
  } else if (generic) {
    t += fmt::format("  mov.u64 %base, cells; cvta.{}.u64 %base, %base;\n", space);
    if (space == "shared")
      t += fmt::format("  mul.wide.u32 %x, %t0, {}; add.u64 %base, %base, %x;\n", kCell);
  } else {
    t += "  mov.u32 %base, cells;\n";
    if (space == "shared") t += fmt::format("  mad.lo.u32 %base, %t0, {}, %base;\n", kCell);
  }
  const std::string named = generic ? "" : "." + space;
  for (uint32_t s = 0; s < kSteps; ++s) {
    t += fmt::format("  ld.global.u32 %kind, [%table+{}]; ld.global.u32 %off, [%table+{}];\n",
                     8 * s, 8 * s + 4);
    if (wide == "64")
      t += "  cvt.u64.u32 %x, %off; add.u64 %a, %base, %x;\n";
    else
      t += "  add.u32 %a, %base, %off;\n";
    for (uint32_t k = 0; k < kKinds.size(); ++k) {
      if (k == 9 && !atomics) continue;
      std::string code = fmt::format(fmt::runtime(kKinds[k].code), "SPACE");
      code.replace(code.find(".SPACE"), 6, named);
      t += fmt::format("  setp.ne.u32 %p, %kind, {0}; @%p bra S{1}K{0};\n  {2}\nS{1}K{0}:\n", k, s,
                       code);
    }
  }
  return t + "  ret;\n}\n";
}

/// (group, lane) of each lane that reads what it did not write; atomics leave bytes written.
std::set<std::pair<uint32_t, uint32_t>> lanes_expected(const std::vector<RandomStep>& steps) {
  std::set<std::pair<uint32_t, uint32_t>> bad;
  for (uint32_t lane = 0; lane < kLanes * kGroups; ++lane) {
    std::bitset<kCell> written;
    for (uint32_t s = 0; s < kSteps; ++s) {
      const RandomStep& step = steps[lane * kSteps + s];
      const StepKind& kind = kKinds[step.kind];
      for (uint32_t b = step.offset; b < step.offset + kind.bytes; ++b) {
        if (kind.reads && !written[b]) bad.insert({lane / kLanes, lane % kLanes});
        if (kind.writes) written[b] = true;
      }
    }
  }
  return bad;
}

void compare_random_reads(const std::string& space, bool generic, uint64_t seed) {
  CAPTURE(space);
  CAPTURE(generic);
  lanewise::Kernel kernel =
      device().load_text(step_program(space, generic), lanewise::Isa::ptx).kernel();
  std::mt19937 rng(static_cast<uint32_t>(seed));
  size_t some = 0, others = 0;
  for (int round = 0; round < 12; ++round) {
    std::vector<RandomStep> steps(kLanes * kGroups * kSteps);
    for (size_t n = 0; n < steps.size(); ++n) {
      // Mostly stores first, so that many lanes get through.
      const bool store = n % kSteps < 3;
      RandomStep& s = steps[n];
      s.kind = store ? rng() % 2 + 3 : rng() % 4 + 5;
      if (store && rng() % 3 == 0) s.kind = rng() % 3;
      if (rng() % 16 == 0 && space != "local") s.kind = 9;
      const uint32_t bytes = kKinds[s.kind].bytes;
      s.offset = rng() % (kCell / 2 / bytes) * bytes;
    }
    std::vector<uint32_t> words;
    for (const RandomStep& s : steps) words.insert(words.end(), {s.kind, s.offset});
    Buffer table = device().buffer(words);
    Buffer out = device().allocate(kCell * kLanes * kGroups, "cells");
    LaunchOptions options{.grid = {kGroups}, .block = {kLanes}};
    options.policies["check"] = "init";
    options.policies["init.report"] = "read";
    const lanewise::Result result = kernel.launch(options, table, out);
    std::set<std::pair<uint32_t, uint32_t>> found;
    for (const lanewise::FaultReport& f : result.faults) {
      CHECK(f.kind == lanewise::FaultKind::uninitialised);
      found.insert({f.group.x, f.lane});
    }
    const auto wanted = lanes_expected(steps);
    CHECK(found == wanted);
    CHECK(result.fault_count == wanted.size());
    some += wanted.size();
    others += kLanes * kGroups - wanted.size();
  }
  CHECK(some > 50);
  CHECK(others > 50);
}

}  // namespace

TEST_CASE("uninitialised: reads at random against a map on the host") {
  uint64_t seed = 1;
  for (const std::string space : {"global", "shared", "local"}) {
    compare_random_reads(space, false, seed++);
    if (space != "global") compare_random_reads(space, true, seed++);
  }
}

namespace {

/// Writes the words [from, to) of its buffer, then reads `at`.
const char* const kWriteThenRead =
    ".version 7.8\n.target sm_75\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .u32 from, .param .u32 to, .param .u32 at)\n{\n"
    "  .reg .pred %p; .reg .b32 %i, %to, %at, %v; .reg .b64 %out, %x;\n"
    "  ld.param.u64 %out, [out]; ld.param.u32 %i, [from]; ld.param.u32 %to, [to];\n"
    "  ld.param.u32 %at, [at];\nAGAIN: setp.ge.u32 %p, %i, %to; @%p bra DONE;\n"
    "  mul.wide.u32 %x, %i, 4; add.u64 %x, %x, %out; st.global.u32 [%x], %i;\n"
    "  add.u32 %i, %i, 1; bra AGAIN;\nDONE: mul.wide.u32 %x, %at, 4; add.u64 %x, %x, %out;\n"
    "  ld.global.u32 %v, [%x]; ret;\n}\n";

}  // namespace

TEST_CASE("uninitialised: what a buffer holds is known from launch to launch") {
  lanewise::Kernel kernel = device().load_text(kWriteThenRead, lanewise::Isa::ptx).kernel();
  LaunchOptions checked{.grid = {1}, .block = {1}};
  checked.policies["check"] = "init";
  checked.policies["init.report"] = "read";
  const auto faults = [&](const Buffer& b, uint32_t from, uint32_t to, uint32_t at) {
    return kernel.launch(checked, b, from, to, at).fault_count;
  };
  Buffer other = device().allocate(4096), b = device().allocate(40000, "words");
  CHECK(faults(b, 0, 0, 5) == 1);
  CHECK(faults(b, 0, 6, 5) == 0);
  CHECK(faults(b, 0, 0, 5) == 0);  // still known
  CHECK(faults(b, 0, 0, 6) == 1);
  CHECK(faults(other, 0, 0, 5) == 1);
  // The host writes a part; memory that grows in between keeps what is known.
  b.write(std::span<const std::byte>(std::vector<std::byte>(6)), 6 * 4);
  CHECK(faults(b, 0, 0, 6) == 0);
  CHECK(faults(b, 0, 0, 7) == 1);  // half of it
  Buffer large = device().allocate(10 << 20);
  CHECK(faults(b, 0, 0, 6) == 0);
  CHECK(faults(b, 0, 0, 7) == 1);
  CHECK(faults(large, 2000000, 2000003, 2000003) == 1);
  CHECK(faults(large, 0, 0, 2000002) == 0);
  // A launch that nobody watches may have written everything.
  kernel.launch({.grid = {1}, .block = {1}}, large, 0U, 0U, 0U).check();
  CHECK(faults(b, 0, 0, 9000) == 0);
  // Memory that is given out again is unwritten again.
  large = Buffer();
  Buffer again = device().allocate(10 << 20);
  CHECK(faults(again, 0, 0, 17) == 1);
  // Values are what they would be.
  CHECK(b.read<uint32_t>()[5] == 5);
}
