// Accesses that a launch need not ask about, at the last address that is legal and one behind it.
#include "runtime/guest/certain_accesses.hpp"

#include <doctest/doctest.h>

#include <cstring>

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
