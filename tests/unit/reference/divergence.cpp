#include <doctest/doctest.h>

#include "tests/support/sanitized.hpp"
#include "tests/unit/divergence_support.hpp"

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr WaveSchedule kSchedules[] = {WaveSchedule::automatic, WaveSchedule::until_stop,
                                       WaveSchedule::lockstep};

Run run_as(const TestKernel& k, WaveSchedule schedule, uint32_t lanes, uint64_t budget = 1 << 20) {
  return run(k, lanes, 1, [&](LaunchRequest& r) {
    r.schedule = schedule;
    r.step_budget = budget;
  });
}

Reg test_bit(TestKernel& k, Operand value, Operand bit) {
  const Reg shifted = k.b.make(Op::shr, Type::u32, {value, bit});
  const Reg one = k.b.make(Op::and_, Type::u32, {shifted, imm(1)});
  const Reg p = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {p}, {one, imm(0)}).cond = ir::Cond::ne;
  return p;
}

Reg less(TestKernel& k, Operand a, Operand b) {
  const Reg p = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {p}, {a, b}).cond = ir::Cond::lt;
  return p;
}

Reg ballot(TestKernel& k, uint64_t members = 0xffffffff) {
  const Reg mask = k.b.reg(Width::b32);
  k.b.emit(Op::vote_ballot, Type::u32, {mask}, {imm(1), imm(members)});
  return mask;
}

void check_tree(const Statements& tree, uint32_t lanes) {
  MaskModel model(lanes);
  model.run(tree);
  const TreeKernel kernel(tree);
  for (const WaveSchedule schedule : kSchedules) {
    CAPTURE(static_cast<int>(schedule));
    const Run r = run_as(kernel.k, schedule, lanes);
    REQUIRE(r.result.fault_count == 0);
    for (uint32_t i = 0; i < lanes; ++i) REQUIRE(r.slot(i, 0) == model.x[i]);
  }
}

/// Blocks that lead anywhere, also into the middle of loops; x decides where, until fuel is spent.
TestKernel random_graph(uint32_t seed) {
  std::mt19937 rng(seed);
  const auto below = [&](uint32_t n) { return static_cast<uint32_t>(rng() % n); };
  TestKernel k;
  const Reg x = k.b.make(Op::mov, Type::u32, {k.sreg(ir::SReg::laneid)});
  const Reg fuel = k.b.make(Op::mov, Type::u32, {imm(24)});
  const uint32_t n = 3 + below(9), first = k.b.add_block();
  for (uint32_t i = 1; i < n; ++i) k.b.add_block();
  k.b.jump(first);
  const uint32_t out = k.b.add_block();
  for (uint32_t i = 0; i < n; ++i) {
    k.b.set_block(first + i);
    if (below(4) != 0) k.b.emit(Op::mul, Type::u32, {x}, {x, imm(rng() | 1)});
    k.b.emit(Op::add, Type::u32, {x}, {x, imm(rng())});
    if (below(2) == 0) {
      const Reg mask = k.b.make(Op::mov, Type::u32, {imm(0)});
      if (below(3) == 0) k.b.set_guard({test_bit(k, x, imm(below(32))), false});
      k.b.emit(Op::activemask, Type::u32, {mask}, {});
      k.b.set_guard({});
      k.b.emit(Op::add, Type::u32, {x}, {x, mask});
    }
    k.b.emit(Op::sub, Type::u32, {fuel}, {fuel, imm(1)});
    const uint32_t more = k.b.add_block();
    k.b.branch({less(k, imm(0), fuel), false}, more, out);
    k.b.set_block(more);
    if (below(4) == 0) {
      ir::Terminator t;
      t.kind = ir::Terminator::Kind::switch_;
      t.selector = k.b.make(Op::and_, Type::u32, {x, imm(7)});
      for (uint64_t c = 0; c < 3; ++c) t.cases.push_back(c), t.targets.push_back(first + below(n));
      t.targets.push_back(below(5) == 0 ? out : first + below(n));
      k.b.terminate(t);
    } else {
      k.b.branch({test_bit(k, x, imm(below(32))), false}, first + below(n), first + below(n));
    }
  }
  k.b.set_block(out);
  k.put(0, x);
  k.b.exit();
  return k;
}

}  // namespace

TEST_CASE("a ballot under a condition in a loop: iterations do not mix") {
  // for (k < 4) if (lane >> k & 1) slot[k] = ballot(true)
  TestKernel k;
  const Reg lane = k.sreg(ir::SReg::laneid);
  const Reg i = k.b.make(Op::mov, Type::u32, {imm(0)});
  const Reg address = k.b.make(Op::mov, Type::u64, {k.slot_address});
  const uint32_t loop = k.b.add_block(), then = k.b.add_block(), next = k.b.add_block();
  const uint32_t out = k.b.add_block();
  k.b.jump(loop);
  k.b.set_block(loop);
  k.b.branch({test_bit(k, lane, i), false}, then, next);
  k.b.set_block(then);
  k.b.emit(Op::store, Type::none, {}, {address, ballot(k)}).mem = TestKernel::mem(Type::u32);
  k.b.jump(next);
  k.b.set_block(next);
  k.b.emit(Op::add, Type::u32, {i}, {i, imm(1)});
  k.b.emit(Op::add, Type::u64, {address}, {address, imm(8)});
  k.b.branch({less(k, i, imm(4)), false}, loop, out);
  k.b.set_block(out);
  k.b.exit();
  for (const WaveSchedule schedule : kSchedules) {
    const Run r = run_as(k, schedule, 16);
    const uint64_t masks[] = {0xaaaa, 0xcccc, 0xf0f0, 0xff00};
    for (uint32_t n = 0; n < 16; ++n)
      for (uint32_t bit = 0; bit < 4; ++bit)
        CHECK(r.slot(n, bit) == ((n >> bit & 1) != 0 ? masks[bit] : 0));
  }
}

TEST_CASE("loops of different length: who is still in, and all of them behind") {
  // do { slot[0] = ballot(true) } while (++i <= lane); slot[1] = ballot(true)
  TestKernel k;
  const Reg lane = k.sreg(ir::SReg::laneid);
  const Reg i = k.b.make(Op::mov, Type::u32, {imm(0)});
  const uint32_t loop = k.b.add_block(), out = k.b.add_block();
  k.b.jump(loop);
  k.b.set_block(loop);
  k.put(0, ballot(k));
  k.b.emit(Op::add, Type::u32, {i}, {i, imm(1)});
  const Reg more = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {more}, {i, lane}).cond = ir::Cond::le;
  k.b.branch({more, false}, loop, out);
  k.b.set_block(out);
  k.put(1, ballot(k));
  k.b.exit();
  for (const WaveSchedule schedule : kSchedules) {
    const Run r = run_as(k, schedule, 32);
    for (uint32_t n = 0; n < 32; ++n) {
      CHECK(r.slot(n, 0) ==
            (0xffffffff << n & 0xffffffff));  // its last iteration: lanes n and above
      CHECK(r.slot(n, 1) == 0xffffffff);
    }
  }
}

TEST_CASE("a rendezvous takes lanes from different iterations, the tree does not") {
  // for (k < 4) if (lane == k) slot[0] = ballot.sync(true, 0xf); slot[1] = ballot(true)
  TestKernel k;
  const Reg lane = k.sreg(ir::SReg::laneid);
  const Reg i = k.b.make(Op::mov, Type::u32, {imm(0)});
  const uint32_t loop = k.b.add_block(), then = k.b.add_block(), next = k.b.add_block();
  const uint32_t out = k.b.add_block();
  k.b.jump(loop);
  k.b.set_block(loop);
  const Reg mine = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {mine}, {lane, i}).cond = ir::Cond::eq;
  k.b.branch({mine, false}, then, next);
  k.b.set_block(then);
  k.put(0, ballot(k, 0xf));
  k.b.jump(next);
  k.b.set_block(next);
  k.b.emit(Op::add, Type::u32, {i}, {i, imm(1)});
  k.b.branch({less(k, i, imm(4)), false}, loop, out);
  k.b.set_block(out);
  k.put(1, ballot(k));
  k.b.exit();
  for (const bool rendezvous : {true, false}) {
    k.program.rendezvous = rendezvous;
    for (const WaveSchedule schedule : kSchedules) {
      const Run r = run_as(k, schedule, 8);
      for (uint32_t n = 0; n < 8; ++n) {
        CHECK(r.slot(n, 0) == (n >= 4 ? 0 : rendezvous ? 0xf : 1U << n));
        CHECK(r.slot(n, 1) == 0xff);
      }
    }
  }
}

TEST_CASE("lanes below at a barrier hold an operation up until nothing else moves") {
  // if (lane < 4) { barrier 1, 8 } slot[0] = ballot(true); if (lane >= 4 && lane < 8) barrier 1, 8
  TestKernel k;
  const Reg lane = k.sreg(ir::SReg::laneid);
  const uint32_t low = k.b.add_block(), join = k.b.add_block(), high = k.b.add_block();
  const uint32_t end = k.b.add_block();
  const auto barrier = [&] { k.b.emit(Op::barrier, Type::none, {}, {imm(1), imm(8)}); };
  k.b.branch({less(k, lane, imm(4)), false}, low, join);
  k.b.set_block(low);
  barrier();
  k.b.jump(join);
  k.b.set_block(join);
  k.put(0, ballot(k));
  const Reg middle = k.b.make(Op::sub, Type::u32, {lane, imm(4)});
  k.b.branch({less(k, middle, imm(4)), false}, high, end);
  k.b.set_block(high);
  barrier();
  k.b.jump(end);
  k.b.set_block(end);
  k.put(1, imm(7));
  k.b.exit();
  for (const WaveSchedule schedule : kSchedules) {
    const Run r = run_as(k, schedule, 12);
    REQUIRE(r.result.fault_count == 0);
    for (uint32_t n = 0; n < 12; ++n) {
      CHECK(r.slot(n, 0) == (n < 4 ? 0x00f : 0xff0));
      CHECK(r.slot(n, 1) == 7);
    }
  }
}

TEST_CASE("an operation goes on before a lane that spins behind it") {
  // if (lane == 0) { while (load flag == 0); } else { slot[0] = ballot(true); flag = 1 }, where the
  // waiting side stands last in the tree or first
  for (const bool spins_first : {false, true}) {
    TestKernel k;
    const Reg lane = k.sreg(ir::SReg::laneid);
    const uint32_t spin = k.b.add_block(), give = k.b.add_block(), out = k.b.add_block();
    const Reg first = less(k, lane, imm(1));
    k.b.branch({first, !spins_first}, spins_first ? spin : give, spins_first ? give : spin);
    k.b.set_block(spin);
    const Reg flag = k.load(imm(guest::kArenaBase + 0x8000), TestKernel::mem(Type::u32));
    k.b.branch({less(k, flag, imm(1)), false}, spin, out);
    k.b.set_block(give);
    k.put(0, ballot(k));
    k.b.emit(Op::store, Type::none, {}, {imm(guest::kArenaBase + 0x8000), imm(1)}).mem =
        TestKernel::mem(Type::u32);
    k.b.jump(out);
    k.b.set_block(out);
    k.b.exit();
    for (const WaveSchedule schedule : kSchedules) {
      CAPTURE(spins_first);
      CAPTURE(static_cast<int>(schedule));
      const Run r = run_as(k, schedule, 8, 100000);
      const bool ended = r.result.fault_count == 0;
      if (ended) CHECK(r.slot(1, 0) == 0xfe);
      if (!ended) CHECK(r.result.faults[0].kind == FaultKind::step_budget);
      // In step, who waits for the other side of its branch waits for ever when it comes first.
      if (schedule == WaveSchedule::lockstep) CHECK(ended != spins_first);
    }
  }
}

TEST_CASE("two operations in a row: who passes the first by waits for the others at the second") {
  TestKernel k;
  const Reg lane = k.sreg(ir::SReg::laneid);
  const Reg first = k.b.reg(Width::b32), second = k.b.reg(Width::b32);
  k.b.set_guard({less(k, lane, imm(7)), false});
  k.b.emit(Op::activemask, Type::u32, {first}, {});
  k.b.set_guard({});
  k.b.emit(Op::activemask, Type::u32, {second}, {});
  k.put(0, first);
  k.put(1, second);
  k.b.exit();
  for (const WaveSchedule schedule : kSchedules) {
    const Run r = run_as(k, schedule, 8);
    for (uint32_t n = 0; n < 8; ++n) {
      CHECK(r.slot(n, 0) == (n < 7 ? 0x7f : 0));
      CHECK(r.slot(n, 1) == 0xff);
    }
  }
}

TEST_CASE("random divergent trees on masks, in all schedules") {
  for (uint32_t seed = 0; seed < rounds(1500); ++seed) {
    CAPTURE(seed);
    check_tree(RandomTree(seed).run(), seed % 3 == 0 ? 32 : 1 + seed % 32);
  }
}

TEST_CASE("random graphs, irreducible ones and switches too: all schedules agree") {
  for (uint32_t seed = 0; seed < rounds(1500); ++seed) {
    CAPTURE(seed);
    const TestKernel k = random_graph(seed);
    const Run one = run_as(k, WaveSchedule::until_stop, 32);
    REQUIRE(one.result.fault_count == 0);
    for (const WaveSchedule schedule : {WaveSchedule::automatic, WaveSchedule::lockstep}) {
      const Run other = run_as(k, schedule, 32);
      REQUIRE(other.result.fault_count == 0);
      for (uint32_t i = 0; i < 32; ++i) REQUIRE(one.slot(i, 0) == other.slot(i, 0));
    }
  }
}
