// Accesses that a launch need not ask about, at the last address that is legal and one behind it.
#include "runtime/guest/certain_accesses.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <span>

#include "runtime/guest/descriptor_words.hpp"
#include "runtime/layout/addresses.hpp"

namespace certain_tests {

using namespace lanewise;
using guest::certain_accesses;

namespace {

/// a[i] += 1 for i < n, where `guarded`; i counts threads from 0.
ir::Program adds_one(bool guarded, int64_t offset = 0) {
  const std::string at = offset == 0 ? "" : " offset=" + std::to_string(offset);
  return ir::parse_program(
      "program \"k\" ptx wave 32\nmemory param 16 shared 0 local 0\n"
      "param \"a\" u64 offset 0 size 8 align 8 pointer\nparam \"n\" u32 offset 8 size 4 align 4\n"
      "reg r0 b32\nreg r1 b32\nreg r2 b32\nreg p3 pred\nreg d4 b64\nreg d5 b64\n"
      "block b0\n  d4 = load 0 {param u64}\n  r0 = load 8 {param u32}\n"
      "  r1 = sreg.u32.ctaid_x\n  r2 = sreg.u32.tid_x\n  r1 = shl.u32 r1, 6\n"
      "  r1 = add.u32 r1, r2\n  p3 = icmp.u32." +
      std::string(guarded ? "lt" : "ge") + " r1, " + (guarded ? "r0" : "0") +
      "\n  branch @p3 b1 b2\n"
      "block b1\n  d5 = mulwide.u32 r1, 4\n  d5 = add.u64 d5, d4\n  r2 = load d5 {global u32" +
      at + "}\n  r2 = add.u32 r2, 1\n  store d5, r2 {global u32" + at +
      "}\n  jump b2\nblock b2\n  exit\n");
}

/// The same as GCN has it: the index's bytes are written under a mask, and 4096 where it is off.
ir::Program adds_one_masked(const std::string& guard, const std::string& mask = "p7") {
  return ir::parse_program(
      "program \"k\" gcn wave 64\nmemory param 16 shared 0 local 0\n"
      "param \"a\" u64 offset 0 size 8 align 8 pointer\nparam \"n\" u32 offset 8 size 4 align 4\n"
      "reg r0 b32\nreg r1 b32\nreg r2 b32\nreg p3 pred\nreg d4 b64\nreg d5 b64\nreg p6 pred\n"
      "reg p7 pred\nreg r8 b32\nreg p9 pred\nreg p10 pred\n"
      "block b0\n  d4 = load 0 {param u64}\n  r0 = load 8 {param u32}\n"
      "  r1 = sreg.u32.ctaid_x\n  r2 = sreg.u32.tid_x\n  r1 = shl.u32 r1, 6\n"
      "  r1 = or.u32 r1, r2\n  p3 = icmp.u32.lt r1, r0\n  p6 = icmp.u32.lt r2, 60\n"
      "  p7 = and.pred p3, p6\n  r8 = mov.u32 4096\n  @" +
      mask +
      " r8 = shl.u32 r1, 2\n  p9 = mov.pred p7\n  jump b1\n"
      "block b1\n  p10 = icmp.u32.lt r2, 50\n  p9 = and.pred p10, p9\n"
      "  d5 = zext64.u64 r8\n  d5 = add.u64 d5, d4\n  r2 = add.u32 r2, 1\n  @" +
      guard + " r0 = load d5 {global u32}\n  @" + guard +
      " store d5, r0 {global u32}\n  branch @p9 b1 b2\nblock b2\n  exit\n");
}

struct Launch {
  uint64_t pointer;
  uint32_t n;
};

/// Of the load and the store; two groups of 64.
std::pair<bool, bool> certain(const ir::Program& program, const Launch& launch,
                              std::vector<Allocation> live, bool allocations = true) {
  std::vector<std::byte> params(12);
  std::memcpy(params.data(), &launch.pointer, 8);
  std::memcpy(params.data() + 8, &launch.n, 4);
  const std::vector<bool> all = certain_accesses(program, {.grid = {2, 1, 1},
                                                           .block = {64, 1, 1},
                                                           .params = params,
                                                           .allocations = allocations,
                                                           .live = live});
  REQUIRE(all.size() == 4);
  CHECK_FALSE(all[0]);  // parameters are checked by themselves
  CHECK_FALSE(all[1]);
  return {all[2], all[3]};
}

constexpr uint64_t kA = guest::kArenaBase + 0x1000;
const std::pair kBoth{true, true}, kLoad{true, false}, kNone{false, false};

}  // namespace

TEST_CASE("an index below a parameter, up to the last byte") {
  const ir::Program program = adds_one(true);
  CHECK(certain(program, {kA, 100}, {{kA, 400, "a", false}}) == kBoth);
  CHECK(certain(program, {kA, 101}, {{kA, 400, "a", false}}) == kNone);
  CHECK(certain(program, {kA, 4000}, {{kA, 512, "a", false}}) == kBoth);  // 128 threads
  CHECK(certain(program, {kA, 4000}, {{kA, 511, "a", false}}) == kNone);
  CHECK(certain(program, {kA, 100}, {{kA, 400, "a", true}}) == kLoad);
  CHECK(certain(program, {kA, 100}, {}) == kNone);
}

TEST_CASE("an index that nothing limits but the launch") {
  CHECK(certain(adds_one(false), {kA, 0}, {{kA, 512, "a", false}}) == kBoth);
  CHECK(certain(adds_one(false), {kA, 0}, {{kA, 508, "a", false}}) == kNone);
}

TEST_CASE("offsets before and behind, and pointers that are not aligned") {
  const std::vector<Allocation> live = {{kA, 400, "a", false}};
  CHECK(certain(adds_one(true, -4), {kA + 4, 100}, live) == kBoth);
  CHECK(certain(adds_one(true, -4), {kA, 100}, live) == kNone);
  CHECK(certain(adds_one(true, 4), {kA, 99}, live) == kBoth);
  CHECK(certain(adds_one(true, 4), {kA, 100}, live) == kNone);
  CHECK(certain(adds_one(true), {kA + 2, 90}, live) == kNone);
  CHECK(certain(adds_one(true, 2), {kA + 2, 90}, live) == kBoth);
  CHECK(certain(adds_one(true, 2), {kA, 90}, live) == kNone);
}

TEST_CASE("where a mask holds, what was written under it was") {
  const std::vector<Allocation> live = {{kA, 400, "a", false}};
  for (const char* guard : {"p7", "p9"}) {  // p9: narrowed in a loop, where it still implies p7
    CHECK(certain(adds_one_masked(guard), {kA, 100}, live) == kBoth);
    CHECK(certain(adds_one_masked(guard), {kA, 101}, live) == kNone);
  }
  for (const char* guard : {"p3", "p6", "p10", "!p7", "!p9"})
    CHECK(certain(adds_one_masked(guard), {kA, 100}, live) == kNone);
  CHECK(certain(adds_one_masked("p7", "!p7"), {kA, 100}, live) == kNone);
  CHECK(certain(adds_one_masked("p9", "p6"), {kA, 100}, live) == kBoth);
  CHECK(certain(adds_one_masked("p9", "p10"), {kA, 100}, live) == kNone);
}

TEST_CASE("format and stride of a descriptor among the arguments") {
  ir::Program program = ir::parse_program(
      "program \"k\" gcn wave 64\nmemory param 16 shared 0 local 0\n"
      "reg r0 b32\nreg r1 b32\nreg r2 b32\nreg r3 b32\nreg d4 b64\nreg p5 pred\nreg r6 b32\n"
      "reg r7 b32\nblock b0\n  r0, r1, r2, r3 = load.u32 0 {param u32 count=4 align=4}\n"
      "  r6 = sreg.u32.tid_x\n"
      "  d4, p5 = buffer_address.u64 r0, r1, r2, r3, r6, 0, 0 <gfx6 idxen format payload=0>\n"
      "  r7 = fmt_bytes.u32 r3\n  @p5 r7 = load d4 {global u32}\n  exit\n");
  const uint32_t descriptor[] = {kA, 8U << 16, 40, 11U << 15};
  const auto bytes = std::as_bytes(std::span(descriptor));
  const std::vector<Allocation> live = {{kA, 320, "a", false}};
  const auto facts = [&](size_t known) {
    return guest::CertainFacts{.grid = {1, 1, 1},
                               .block = {40, 1, 1},
                               .params = bytes.first(known),
                               .allocations = false,
                               .live = live};
  };
  const auto words = guest::descriptor_words(program, facts(16));
  REQUIRE(words.size() == 3);
  CHECK(words[0].value == 8U << 16);
  CHECK(words[1].value == 11U << 15);
  CHECK(words[2].inst == 3);
  CHECK(guest::descriptor_words(program, facts(12)).size() == 1);
  CHECK(certain_accesses(program, facts(16)) == std::vector{false, false});
  guest::set_words(program, words);
  CHECK(certain_accesses(program, facts(16)) == std::vector{false, true});
  CHECK(guest::descriptor_words(program, facts(16)).empty());  // nothing is left to say
  std::string text = ir::print(program);
  CHECK(text.find("fmt_bytes.u32 0x58000") != std::string::npos);
}

TEST_CASE("what lies in another allocation than the pointer's is a matter of the checks' kind") {
  const std::vector<Allocation> live = {{kA, 64, "a", false}, {kA + 256, 800, "b", false}};
  CHECK(certain(adds_one(true, 256), {kA, 100}, live) == kNone);
  CHECK(certain(adds_one(true, 256), {kA, 100}, live, false) == kBoth);
  CHECK(certain(adds_one(true), {kA + 256, 100}, live) == kBoth);
}

TEST_CASE("arguments that are not known leave their accesses as they are") {
  const std::vector<Allocation> live = {{kA, 400, "a", false}};
  std::vector<std::byte> params(8);
  std::memcpy(params.data(), &kA, 8);
  const auto marks = [&](std::span<const std::byte> known) {
    return certain_accesses(adds_one(true), {.grid = {2, 1, 1},
                                             .block = {64, 1, 1},
                                             .params = known,
                                             .allocations = true,
                                             .live = live});
  };
  CHECK(marks(params) == std::vector<bool>(4));  // n may be anything
  CHECK(marks(std::span(params).first(4)) == std::vector<bool>(4));
}

TEST_CASE("marks go to the accesses that were looked at") {
  ir::Program program = adds_one(true);
  guest::mark_certain(program, {false, false, true, false});
  CHECK(program.blocks[1].insts[2].mem->certain == ir::Certain::guarded);
  CHECK(program.blocks[1].insts[4].mem->certain == ir::Certain::no);
}

}  // namespace certain_tests
