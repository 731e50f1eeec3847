// Kernels whose loops nest deeper than a tree of structured blocks may be: a dispatch loop takes
// the place of a refusal, and computes the same.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "runtime/ir/passes/passes.hpp"
#include "runtime/isa/gcn/gcn.hpp"
#include "tests/unit/run_support.hpp"

using namespace lanewise;

namespace {

/// The first half opens loops, the second closes them from the inside; each way back takes one off
/// the budget in s6, and each block adds its number to s7, which is doubled first.
std::string nested_loops(unsigned blocks, unsigned budget) {
  std::string text = fmt::format(
      "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_movk_i32 s6, {}\ns_mov_b32 s7, 0\n", budget);
  for (unsigned n = 0; n < blocks; ++n) {
    text += fmt::format(".L{}:\ns_lshl_b32 s7, s7, 1\ns_add_u32 s7, s7, {}\n", n, n + 1);
    if (n < blocks / 2) continue;
    text += fmt::format("s_sub_u32 s6, s6, 1\ns_cmp_gt_i32 s6, 0\ns_cbranch_scc1 .L{}\n",
                        blocks - 1 - n);
  }
  return text +
         "s_waitcnt lgkmcnt(0)\nv_mov_b32 v1, s7\nv_mov_b32 v2, s4\nv_mov_b32 v3, s5\n"
         "flat_store_dword v[2:3], v1\ns_endpgm\n";
}

uint32_t expected(unsigned blocks, unsigned budget) {
  uint32_t sum = 0;
  auto left = static_cast<int32_t>(budget);
  for (unsigned n = 0; n < blocks;) {
    sum = sum * 2 + n + 1;
    const bool back = n >= blocks / 2 && --left > 0;
    n = back ? blocks - 1 - n : n + 1;
  }
  return sum;
}

}  // namespace

TEST_CASE("gcn nesting: loops a thousand deep run through a dispatch loop") {
  struct Shape {
    unsigned blocks, budget;
  };
  for (const Shape shape : {Shape{8, 20}, Shape{2000, 50}}) {
    const unsigned blocks = shape.blocks, budget = shape.budget;
    CAPTURE(blocks);
    const gcn::Listing l = gcn::parse(nested_loops(blocks, budget), gcn::Gen::gfx7);
    REQUIRE(l.ok());
    gcn::LowerResult r = gcn::lower(l);
    CHECK(r.rejected.empty());
    REQUIRE(r.module.kernels.size() == 1);
    CHECK_NOTHROW(ir::structurise(r.module.kernels[0]));
    test::Bench bench;
    const uint64_t at = bench.put(std::vector<uint32_t>{0});
    bench.arg(at);
    CHECK(bench.run(r.module.kernels[0], 1, 1).fault_count == 0);
    CHECK(bench.get<uint32_t>(at, 1)[0] == expected(blocks, budget));
  }
}
