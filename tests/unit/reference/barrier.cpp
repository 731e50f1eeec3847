#include <doctest/doctest.h>

#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::BarrierKind;
using ir::Space;

namespace {

Reg compare(TestKernel& k, ir::Cond cond, Operand a, uint64_t b) {
  const Reg p = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {p}, {a, imm(b)}).cond = cond;
  return p;
}

void barrier(TestKernel& k, Operand id, Operand count, BarrierKind kind = BarrierKind::sync,
             std::vector<Reg> dst = {}, Operand pred = {}) {
  std::vector<Operand> src = {id, count};
  if (pred.kind != Operand::Kind::none) src.push_back(pred);
  k.b.emit(Op::barrier, Type::none, std::move(dst), std::move(src)).mode =
      static_cast<uint8_t>(kind);
}

/// Each lane passes its number to the next one through shared memory, `rounds` times.
TestKernel rotate(uint32_t lanes, uint32_t rounds) {
  TestKernel k;
  k.program.shared_bytes = 4 * lanes;
  const Reg tid = k.sreg(ir::SReg::tid_x);
  const Reg own = k.b.make(Op::mul, Type::u32, {tid, imm(4)});
  const Reg next_lane = k.b.make(Op::add, Type::u32, {tid, imm(1)});
  const Reg wrapped = k.b.make(Op::rem, Type::u32, {next_lane, imm(lanes)});
  const Reg next = k.b.make(Op::mul, Type::u32, {wrapped, imm(4)});
  const Reg value = k.b.make(Op::mov, Type::u32, {tid});
  const Reg i = k.b.make(Op::mov, Type::u32, {imm(0)});
  const uint32_t loop = k.b.add_block("loop"), done = k.b.add_block("done");
  k.b.jump(loop);
  k.b.set_block(loop);
  const ir::Mem shared = TestKernel::mem(Type::u32, Space::shared);
  k.b.emit(Op::store, Type::none, {}, {next, value}).mem = shared;
  barrier(k, imm(0), imm(0));
  k.b.emit(Op::load, Type::none, {value}, {own}).mem = shared;
  barrier(k, imm(0), imm(0));
  k.b.emit(Op::add, Type::u32, {i}, {i, imm(1)});
  k.b.branch({compare(k, ir::Cond::lt, i, rounds)}, loop, done);
  k.b.set_block(done);
  k.put(0, value);
  k.b.exit();
  return k;
}

}  // namespace

TEST_CASE("values travel round a group through barriers in a loop") {
  const Run r = run(rotate(100, 7), 100, 2);
  CHECK(r.result.fault_count == 0);
  for (uint32_t lane = 0; lane < 200; ++lane) CHECK(r.slot(lane, 0) == (lane % 100 + 93) % 100);
}

TEST_CASE("lanes that ended are not waited for") {
  TestKernel k;
  const Reg tid = k.sreg(ir::SReg::tid_x);
  const uint32_t wait = k.b.add_block("wait"), leave = k.b.add_block("leave");
  k.b.branch({compare(k, ir::Cond::lt, tid, 10)}, wait, leave);
  k.b.set_block(wait);
  barrier(k, imm(0), imm(0));
  k.put(0, imm(1));
  k.b.exit();
  k.b.set_block(leave);
  k.b.exit();
  const Run r = run(k, 40);
  CHECK(r.result.fault_count == 0);
  CHECK(r.slot(9, 0) == 1);
  CHECK(r.slot(10, 0) == 0);
}

TEST_CASE("lanes at different barriers that cannot open are reported and end") {
  TestKernel k;
  const Reg tid = k.sreg(ir::SReg::tid_x);
  const uint32_t a = k.b.add_block("a"), c = k.b.add_block("c");
  k.b.branch({compare(k, ir::Cond::lt, tid, 2)}, a, c);
  k.b.set_block(a);
  k.site(11);
  barrier(k, imm(1), imm(0));
  k.put(0, imm(1));
  k.b.exit();
  k.b.set_block(c);
  k.site(12);
  barrier(k, imm(2), imm(64));
  k.b.exit();
  const Run r = run(k, 4);
  REQUIRE(r.result.fault_count == 4);
  for (uint32_t lane = 0; lane < 4; ++lane) {
    CHECK(r.result.faults[lane].kind == FaultKind::barrier_divergence);
    CHECK(r.result.faults[lane].site == (lane < 2 ? 11 : 12));
    CHECK(r.result.faults[lane].lane == lane);
  }
  CHECK(r.slot(0, 0) == 0);
}

TEST_CASE("a producer arrives, a consumer waits, by thread count") {
  TestKernel k;
  k.program.shared_bytes = 16;
  const Reg tid = k.sreg(ir::SReg::tid_x);
  const uint32_t consume = k.b.add_block("consume"), produce = k.b.add_block("produce");
  k.b.branch({compare(k, ir::Cond::lt, tid, 32)}, consume, produce);
  k.b.set_block(consume);
  barrier(k, imm(3), imm(64));
  k.put(0, k.load(imm(0), TestKernel::mem(Type::u32, Space::shared)));
  k.b.exit();
  k.b.set_block(produce);
  k.b.emit(Op::store, Type::none, {}, {imm(0), imm(77)}).mem =
      TestKernel::mem(Type::u32, Space::shared);
  barrier(k, imm(3), imm(64), BarrierKind::arrive);
  k.b.exit();
  const Run r = run(k, 64);
  CHECK(r.result.fault_count == 0);
  CHECK(r.slot(31, 0) == 77);
}

TEST_CASE("a counted barrier opens once for each full set of arrivals") {
  TestKernel k;
  barrier(k, imm(0), imm(32));
  k.put(0, imm(1));
  k.b.exit();
  CHECK(run(k, 96).result.fault_count == 0);
  const Run r = run(k, 80);  // the last 16 have no partners
  CHECK(r.result.fault_count == 16);
  CHECK(r.slot(63, 0) == 1);
  CHECK(r.slot(64, 0) == 0);
}

TEST_CASE("barrier reductions") {
  TestKernel k;
  const Reg tid = k.sreg(ir::SReg::tid_x);
  const Reg few = compare(k, ir::Cond::lt, tid, 5), all = compare(k, ir::Cond::lt, tid, 100);
  const Reg none = compare(k, ir::Cond::gt, tid, 100);
  const Reg count = k.b.reg(Width::b32);
  barrier(k, imm(0), imm(0), BarrierKind::red_popc, {count}, few);
  k.put(0, count);
  uint32_t slot = 1;
  for (const Reg p : {few, all, none}) {
    const Reg every = k.b.reg(Width::pred), some = k.b.reg(Width::pred);
    barrier(k, imm(1), imm(0), BarrierKind::red_and, {every}, p);
    barrier(k, imm(1), imm(0), BarrierKind::red_or, {some}, p);
    k.put_pred(slot++, every);
    k.put_pred(slot++, some);
  }
  k.b.exit();
  const Run r = run(k, 40);
  const uint64_t expected[] = {5, 0, 1, 1, 1, 0, 0};
  for (uint32_t i = 0; i < 7; ++i) CHECK(r.slot(17, i) == expected[i]);
}

TEST_CASE("a barrier number that does not exist is illegal") {
  TestKernel k;
  k.site(4);
  barrier(k, imm(16), imm(0));
  k.b.exit();
  const Run r = run(k, 2);
  REQUIRE(r.result.fault_count == 2);
  CHECK(r.result.faults[1].kind == FaultKind::illegal_instruction);
  CHECK(r.result.faults[1].site == 4);
}
