// Lanes of a wave together, groups on several threads: nobody may see it.
#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr uint64_t kCounter = guest::kArenaBase + 0xf0000;

class Threads {
 public:
  explicit Threads(const char* count) { setenv("LANEWISE_THREADS", count, 1); }
  ~Threads() { unsetenv("LANEWISE_THREADS"); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
};

Adjust in(WaveSchedule schedule) {
  return [schedule](LaunchRequest& q) { q.schedule = schedule; };
}

/// Adds a value to the counter; the result is what was there where `sees` is set.
Reg emit_add(TestKernel& k, Operand value, bool sees, ir::AtomOp op = ir::AtomOp::add) {
  const Reg old = k.b.reg(Width::b32);
  ir::Inst& i = k.b.emit(Op::atom, Type::none, {}, {imm(kCounter), value});
  if (sees) i.dst = {old};
  i.mem = TestKernel::mem(Type::u32);
  i.mem->atom = op;
  i.mem->atom_type = Type::u32;
  return old;
}

uint32_t counter(const Run& r) {
  uint32_t v = 0;
  r.engine->read(kCounter, {reinterpret_cast<std::byte*>(&v), 4});
  return v;
}

/// Long enough that the launch takes other threads: `rounds` times x = x * 3 + 1.
Reg emit_work(TestKernel& k, Operand start, uint32_t rounds) {
  const Reg x = k.b.make(Op::mov, Type::u32, {start});
  const Reg n = k.b.make(Op::mov, Type::u32, {imm(0)});
  const uint32_t loop = k.b.add_block("loop"), after = k.b.add_block("after");
  k.b.jump(loop);
  k.b.set_block(loop);
  const Reg times = k.b.make(Op::mul, Type::u32, {x, imm(3)});
  k.b.emit(Op::add, Type::u32, {x}, {times, imm(1)});
  k.b.emit(Op::add, Type::u32, {n}, {n, imm(1)});
  const Reg more = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {more}, {n, imm(rounds)}).cond = ir::Cond::lt;
  k.b.branch({more, false}, loop, after);
  k.b.set_block(after);
  return x;
}

}  // namespace

TEST_CASE("who comes to an atomic first is as it was: two in a row are one lane's") {
  TestKernel k;
  k.put(0, emit_add(k, imm(1), true));
  k.put(1, emit_add(k, imm(1), true));
  k.b.exit();
  for (const WaveSchedule schedule : {WaveSchedule::automatic, WaveSchedule::until_stop}) {
    const Run r = run(k, 64, 3, in(schedule));
    for (uint32_t lane = 0; lane < 192; ++lane) {
      CHECK(r.slot(lane, 0) == 2 * lane);
      CHECK(r.slot(lane, 1) == 2 * lane + 1);
    }
  }
}

TEST_CASE("lanes that run together up to an atomic come to it in their order") {
  TestKernel k;
  const Reg tid = k.sreg(ir::SReg::linear_tid);
  // Loops of different length in front, a guard that parts lanes, a barrier, and the same again.
  for (uint32_t round = 0; round < 2; ++round) {
    const Reg n =
        k.b.make(Op::and_, Type::u32, {k.b.make(Op::mul, Type::u32, {tid, imm(7)}), imm(15)});
    const uint32_t loop = k.b.add_block("loop"), after = k.b.add_block("after");
    k.b.jump(loop);
    k.b.set_block(loop);
    k.b.emit(Op::sub, Type::u32, {n}, {n, imm(1)});
    const Reg more = k.b.reg(Width::pred), odd = k.b.reg(Width::pred);
    k.b.emit(Op::icmp, Type::s32, {more}, {n, imm(0)}).cond = ir::Cond::gt;
    k.b.branch({more, false}, loop, after);
    k.b.set_block(after);
    k.b.emit(Op::icmp, Type::u32, {odd}, {k.b.make(Op::and_, Type::u32, {tid, imm(1)}), imm(1)})
        .cond = ir::Cond::eq;
    const Reg old = emit_add(k, imm(1), true);
    k.program.blocks[after].insts.back().guard = {odd, false};
    k.put(3 * round, old);
    k.put(3 * round + 1, emit_add(k, imm(2), true));
    k.put(3 * round + 2, n);
    if (round == 0) k.b.emit(Op::barrier, Type::none, {}, {imm(0), imm(0)}).mode = 0;
  }
  k.b.exit();
  const Run turns = run(k, 96, 3, in(WaveSchedule::until_stop)), ahead = run(k, 96, 3);
  CHECK(counter(turns) == counter(ahead));
  CHECK(counter(ahead) == 3 * (96 * 4 + 48 * 2));
  for (uint32_t lane = 0; lane < 3 * 96; ++lane)
    for (uint32_t n = 0; n < 6; ++n) CHECK(turns.slot(lane, n) == ahead.slot(lane, n));
}

TEST_CASE("a lane of a wave may hold a lock that its neighbours spin for") {
  TestKernel k;
  const uint32_t spin = k.b.add_block("spin"), got = k.b.add_block("got");
  k.b.jump(spin);
  k.b.set_block(spin);
  const Reg old = k.b.reg(Width::b32);
  ir::Inst& swap = k.b.emit(Op::atom, Type::none, {old}, {imm(kCounter), imm(0), imm(1)});
  swap.mem = TestKernel::mem(Type::u32);
  swap.mem->atom = ir::AtomOp::cas;
  const Reg taken = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {taken}, {old, imm(0)}).cond = ir::Cond::ne;
  k.b.branch({taken, false}, spin, got);
  k.b.set_block(got);
  const Reg seen = k.load(imm(kCounter + 4), TestKernel::mem(Type::u32));
  const Reg next = k.b.make(Op::add, Type::u32, {seen, imm(1)});
  k.b.emit(Op::store, Type::none, {}, {imm(kCounter + 4), next}).mem = TestKernel::mem(Type::u32);
  k.b.emit(Op::store, Type::none, {}, {imm(kCounter), imm(0)}).mem = TestKernel::mem(Type::u32);
  k.put(0, seen);
  k.b.exit();
  const Run r = run(k, 64);
  CHECK(r.result.fault_count == 0);
  for (uint32_t lane = 0; lane < 64; ++lane) CHECK(r.slot(lane, 0) == lane);
}

TEST_CASE("groups on several threads give what one thread gives") {
  constexpr uint32_t kGroups = 300;
  TestKernel k;
  const Reg tid = k.sreg(ir::SReg::linear_tid);
  const Reg x = emit_work(k, tid, 1000);
  emit_add(k, imm(1), false);
  k.put(0, x);
  k.b.exit();
  uint32_t expected[40];
  for (uint32_t lane = 0; lane < 40; ++lane) {
    expected[lane] = lane;
    for (int n = 0; n < 1000; ++n) expected[lane] = expected[lane] * 3 + 1;
  }
  for (const char* threads : {"1", "4"}) {
    const Threads count(threads);
    for (const bool last_first : {false, true}) {
      const Run r = run(k, 40, kGroups, [&](LaunchRequest& q) { q.last_group_first = last_first; });
      CHECK(r.result.fault_count == 0);
      CHECK(counter(r) == 40 * kGroups);
      bool equal = true;
      for (uint32_t lane = 0; lane < 40 * kGroups; ++lane)
        equal = equal && r.slot(lane, 0) == expected[lane % 40];
      CHECK(equal);
    }
  }
}

TEST_CASE("faults come in the order of groups, and none from behind a group that was ended") {
  constexpr uint32_t kGroups = 300, kEndless = 200;
  for (const bool endless : {false, true}) {
    TestKernel k;
    const Reg tid = k.sreg(ir::SReg::linear_tid);
    const Reg group = k.sreg(ir::SReg::ctaid_x);
    const Reg x = emit_work(k, tid, 1000);
    // Every third group's lane 7 reads what is not there.
    const Reg third = k.b.make(Op::rem, Type::u32, {group, imm(3)});
    const Reg both =
        k.b.make(Op::or_, Type::u32, {k.b.make(Op::xor_, Type::u32, {tid, imm(7)}), third});
    const Reg bad = k.b.reg(Width::pred);
    k.b.emit(Op::icmp, Type::u32, {bad}, {both, imm(0)}).cond = ir::Cond::eq;
    const Reg address = k.b.make(Op::select, Type::u64, {bad, imm(16), imm(guest::kArenaBase)});
    k.load(address, TestKernel::mem(Type::u32));
    const uint32_t loop = k.b.add_block("loop"), done = k.b.add_block("done");
    const Reg same = k.b.reg(Width::pred);
    k.b.emit(Op::icmp, Type::u32, {same}, {group, imm(endless ? kEndless : kGroups)}).cond =
        ir::Cond::eq;
    k.b.jump(loop);
    k.b.set_block(loop);
    k.b.branch({same, false}, loop, done);
    k.b.set_block(done);
    k.put(0, x);
    k.b.exit();
    for (const char* threads : {"1", "4"}) {
      const Threads count(threads);
      CAPTURE(endless);
      const Run r = run(k, 40, kGroups, [](LaunchRequest& q) { q.step_budget = 100000; });
      // Groups 0, 3, ... 198, and the one that went round for ever.
      CHECK(r.result.fault_count == (endless ? 68 : 100));
      REQUIRE(r.result.faults.size() == kMaxFaults);
      for (uint32_t n = 0; n < kMaxFaults; ++n) {
        CHECK(r.result.faults[n].group[0] == 3 * n);
        CHECK(r.result.faults[n].lane == 7);
      }
    }
  }
}

TEST_CASE("groups may wait for those behind them, and wait no longer than their steps last") {
  constexpr uint32_t kGroups = 40, kLanes = 3;
  // Everybody comes, and waits until so many have come; a group may meet in each iteration.
  const auto run_until = [](uint32_t wanted, const Adjust& adjust, bool meets = false) {
    TestKernel k;
    emit_add(k, imm(1), false);
    const uint32_t loop = k.b.add_block("loop"), done = k.b.add_block("done");
    k.b.jump(loop);
    k.b.set_block(loop);
    k.site(5);
    if (meets) k.b.emit(Op::barrier, Type::none, {}, {imm(0), imm(0)});
    ir::Mem seen = TestKernel::mem(Type::u32);
    seen.order = ir::Order::relaxed;
    const Reg come = k.load(imm(kCounter), seen);
    const Reg few = k.b.reg(Width::pred);
    k.b.emit(Op::icmp, Type::u32, {few}, {come, imm(wanted)}).cond = ir::Cond::lt;
    k.b.branch({few, false}, loop, done);
    k.b.set_block(done);
    k.put(0, come);
    k.b.exit();
    return run(k, kLanes, kGroups, adjust);
  };
  for (const bool last_first : {false, true})
    for (const bool meets : {false, true}) {
      const Run all = run_until(
          kLanes * kGroups, [&](LaunchRequest& q) { q.last_group_first = last_first; }, meets);
      CHECK(all.result.fault_count == 0);
      for (uint32_t lane = 0; lane < kLanes * kGroups; ++lane)
        CHECK(all.slot(lane, 0) == kLanes * kGroups);
    }
  const auto is_over = [](const Run& r) {
    REQUIRE(r.result.fault_count == 1);
    CHECK(r.result.faults[0].kind == FaultKind::step_budget);
    CHECK(r.result.faults[0].site == 5);
  };
  const Run more =
      run_until(kLanes * kGroups + 1, [](LaunchRequest& q) { q.step_budget = 1 << 18; });
  is_over(more);
  CHECK(counter(more) == kLanes * kGroups);
  // In turn means that they run to their ends.
  const Run in_turn = run_until(kLanes * kGroups, in(WaveSchedule::until_stop));
  is_over(in_turn);
  CHECK(counter(in_turn) == kLanes);
}
