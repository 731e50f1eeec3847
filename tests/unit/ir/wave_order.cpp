#include <doctest/doctest.h>

#include <algorithm>

#include "runtime/ir/builder.hpp"
#include "runtime/ir/passes/passes.hpp"

using namespace lanewise::ir;

namespace {

/// Blocks that each hold an instruction; those in `voting` a cross-lane operation too.
struct OrderSketch {
  Program p;
  Builder b{p};
  Reg cond, mask;
  OrderSketch(uint32_t blocks, const std::vector<uint32_t>& voting) {
    cond = p.add_reg(Width::pred);
    mask = p.add_reg(Width::b32);
    for (uint32_t i = 0; i < blocks; ++i) {
      b.set_block(b.add_block());
      b.emit(Op::mov, Type::u32, {mask}, {imm(i)});
      if (std::ranges::count(voting, i) != 0) b.emit(Op::activemask, Type::u32, {mask}, {});
      b.exit();
    }
  }
  void jump(uint32_t from, uint32_t to) {
    b.set_block(from);
    b.jump(to);
  }
  void branch(uint32_t from, uint32_t yes, uint32_t no) {
    b.set_block(from);
    b.branch({cond, false}, yes, no);
  }
  WaveOrder order() const { return order_waves(p, CountLoops::with_wave_ops); }
};

}  // namespace

TEST_CASE("places go up along the tree, loops that hold operations are counted") {
  // 0 -> 1 { 2 { 3 | 4 -> 5 } } 6 -> 7 { } -> 8, the vote in 3: loops at 1 and 2 count, 7 does not.
  OrderSketch s(9, {3});
  s.jump(0, 1);
  s.branch(1, 2, 6);
  s.branch(2, 3, 4);
  s.jump(3, 5);
  s.jump(4, 5);
  s.branch(5, 2, 1);
  s.jump(6, 7);
  s.branch(7, 7, 8);
  const WaveOrder o = s.order();
  const auto& at = o.places;
  REQUIRE(at.size() == 9);
  for (const uint32_t b : {0U, 6U, 7U, 8U}) CHECK(at[b].loops.empty());
  REQUIRE(at[1].loops.size() == 1);
  for (const uint32_t b : {2U, 3U, 4U, 5U}) {
    REQUIRE(at[b].loops.size() == 2);
    CHECK(at[b].loops[0].iteration == at[1].loops[0].iteration);
    CHECK(at[b].loops[1].iteration == at[2].loops[1].iteration);
  }
  CHECK(at[1].loops[0].iteration != at[2].loops[1].iteration);
  CHECK(at[1].loops[0].position == at[1].position);
  CHECK(at[2].loops[1].position == at[2].position);
  const uint32_t row[] = {0, 1, 2, 3, 5, 6, 7, 8};
  for (size_t i = 0; i + 1 < std::size(row); ++i)
    CHECK(at[row[i]].position < at[row[i + 1]].position);
  CHECK(at[2].position < at[4].position);
  CHECK(at[4].position < at[5].position);
  CHECK(at[3].position != at[4].position);
}

TEST_CASE("the counters: zero from outside, one more at each begin") {
  OrderSketch s(4, {2});
  s.jump(0, 1);
  s.branch(1, 2, 3);
  s.branch(2, 2, 1);
  const WaveOrder o = s.order();
  const Reg outer = o.places[1].loops.at(0).iteration, inner = o.places[2].loops.at(1).iteration;
  const auto writes = [&](uint32_t b, size_t i) { return o.tree.program.blocks[b].insts.at(i); };
  CHECK(writes(0, 0).op == Op::mov);
  CHECK(writes(0, 0).dst[0] == outer);
  CHECK(o.origins[0].added == 1);
  CHECK(o.origins[1].added == 2);
  CHECK(o.origins[2].added == 1);
  CHECK(o.origins[3].added == 0);
  CHECK(o.origins[2].count == 2);
  CHECK(writes(2, 0).op == Op::add);
  CHECK(writes(2, 0).dst[0] == inner);
  // The outer loop's begin counts its own iterations and lets the inner one start anew.
  const Reg first = writes(1, 0).dst[0], second = writes(1, 1).dst[0];
  CHECK(std::minmax(first.id, second.id) == std::minmax(outer.id, inner.id));
  CHECK(writes(1, first == inner ? 0 : 1).op == Op::mov);
  CHECK(writes(1, first == inner ? 1 : 0).op == Op::add);
}

TEST_CASE("code on the exit path of a loop stands behind it") {
  // 1 { 2 { -> 3 -> 4 } } 4: 3 cannot come back, so its lanes have left the loop.
  OrderSketch s(5, {3, 2});
  s.jump(0, 1);
  s.branch(1, 2, 4);
  s.branch(2, 3, 1);
  s.jump(3, 4);
  const WaveOrder o = s.order();
  CHECK(o.places[2].loops.size() == 1);
  CHECK(o.places[3].loops.empty());
  CHECK(o.places[2].position < o.places[3].position);
  CHECK(o.places[3].position < o.places[4].position);
}

TEST_CASE("instructions are found again where the input had them") {
  // The entry is jumped to, a switch becomes compares, and two blocks enter each other's loop.
  OrderSketch s(5, {2, 3});
  s.b.set_block(0);
  Terminator t;
  t.kind = Terminator::Kind::switch_;
  t.selector = s.mask;
  t.cases = {1, 2};
  t.targets = {1, 2, 3};
  s.b.terminate(t);
  s.branch(1, 2, 0);
  s.branch(2, 3, 4);
  s.branch(3, 2, 4);
  const WaveOrder o = s.order();
  REQUIRE(o.origins.size() == o.tree.program.blocks.size());
  std::vector<int> found(5);
  for (size_t b = 0; b < o.origins.size(); ++b) {
    const WaveOrder::Origin& from = o.origins[b];
    if (from.block == kNone) continue;
    ++found[from.block];
    const auto& insts = o.tree.program.blocks[b].insts;
    REQUIRE(from.count == s.p.blocks[from.block].insts.size());
    for (uint32_t i = 0; i < from.count; ++i)
      CHECK(insts.at(from.added + i).src == s.p.blocks[from.block].insts[i].src);
  }
  CHECK(found == std::vector<int>{1, 1, 1, 1, 1});
}
