#include <doctest/doctest.h>

#include <bit>

#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::ShflMode;

namespace {

constexpr uint64_t kEveryone = 0xffffffff;

Reg compare(TestKernel& k, ir::Cond cond, Operand a, uint64_t b) {
  const Reg p = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {p}, {a, imm(b)}).cond = cond;
  return p;
}

/// One shuffle of 100 + lane; slot 0 gets the value, slot 1 the predicate.
Run shuffle(ShflMode mode, uint64_t b, uint64_t c, uint32_t lanes = 32,
            uint64_t members = kEveryone) {
  TestKernel k;
  const Reg value = k.b.make(Op::add, Type::u32, {k.sreg(ir::SReg::laneid), imm(100)});
  const Reg out = k.b.reg(Width::b32), ok = k.b.reg(Width::pred);
  k.b.emit(Op::shfl, Type::u32, {out, ok}, {value, imm(b), imm(c), imm(members)}).mode =
      static_cast<uint8_t>(mode);
  k.put(0, out);
  k.put_pred(1, ok);
  k.b.exit();
  return run(k, lanes);
}

}  // namespace

TEST_CASE("shuffles over the whole wave") {
  const Run up = shuffle(ShflMode::up, 3, 0), down = shuffle(ShflMode::down, 3, 0x1f);
  const Run bfly = shuffle(ShflMode::bfly, 5, 0x1f), idx = shuffle(ShflMode::idx, 9, 0x1f);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    CHECK(up.slot(lane, 0) == 100 + (lane >= 3 ? lane - 3 : lane));
    CHECK(up.slot(lane, 1) == (lane >= 3));
    CHECK(down.slot(lane, 0) == 100 + (lane < 29 ? lane + 3 : lane));
    CHECK(down.slot(lane, 1) == (lane < 29));
    CHECK(bfly.slot(lane, 0) == 100 + (lane ^ 5));
    CHECK(bfly.slot(lane, 1) == 1);
    CHECK(idx.slot(lane, 0) == 109);
  }
}

TEST_CASE("shuffles in segments of eight") {
  const uint64_t segment = (32 - 8) << 8;
  const Run up = shuffle(ShflMode::up, 2, segment),
            down = shuffle(ShflMode::down, 2, segment | 0x1f);
  const Run idx = shuffle(ShflMode::idx, 13, segment | 0x1f);
  const Run bfly = shuffle(ShflMode::bfly, 8, segment | 0x1f);
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const uint32_t in = lane % 8, first = lane - in;
    CHECK(up.slot(lane, 0) == 100 + (in >= 2 ? lane - 2 : lane));
    CHECK(down.slot(lane, 0) == 100 + (in < 6 ? lane + 2 : lane));
    CHECK(down.slot(lane, 1) == (in < 6));
    CHECK(idx.slot(lane, 0) == 100 + first + 5);  // 13 mod 8
    // A lane may read a segment below its own, never one above.
    CHECK(bfly.slot(lane, 1) == (lane >= 8 && lane / 8 % 2 == 1));
    CHECK(bfly.slot(lane, 0) == 100 + (lane / 8 % 2 == 1 ? lane - 8 : lane));
  }
}

TEST_CASE("a lane that is not there gives the reader 0") {
  const Run r = shuffle(ShflMode::down, 16, 0x1f, 20);
  CHECK(r.slot(3, 0) == 119);
  CHECK(r.slot(4, 0) == 0);
  CHECK(r.slot(4, 1) == 1);  // in range all the same
}

TEST_CASE("votes count the members only") {
  TestKernel k;
  const Reg lane = k.sreg(ir::SReg::laneid);
  const Reg odd = compare(k, ir::Cond::eq, k.b.make(Op::and_, Type::u32, {lane, imm(1)}), 1);
  const Reg low = compare(k, ir::Cond::lt, lane, 40);
  const Reg half = compare(k, ir::Cond::lt, lane, 16);
  const auto vote = [&](uint32_t slot, Op op, Reg p, uint64_t members) {
    const Reg r = k.b.reg(op == Op::vote_ballot ? Width::b32 : Width::pred);
    k.b.emit(op, Type::u32, {r}, {p, imm(members)});
    if (op == Op::vote_ballot) {
      k.put(slot, r);
    } else {
      k.put_pred(slot, r);
    }
  };
  vote(0, Op::vote_ballot, odd, kEveryone);
  vote(1, Op::vote_any, half, kEveryone);
  vote(2, Op::vote_all, half, kEveryone);
  vote(3, Op::vote_all, low, kEveryone);
  vote(4, Op::vote_uni, odd, kEveryone);
  vote(5, Op::vote_uni, low, kEveryone);
  const Reg wide = k.b.reg(Width::b64);
  k.b.emit(Op::ballot, Type::none, {wide}, {half});
  k.put(6, wide, Type::u64);
  const Reg active = k.b.reg(Width::b32);
  k.b.emit(Op::activemask, Type::u32, {active}, {});
  k.put(7, active);
  k.b.exit();
  const Run r = run(k, 40);  // one full wave, one of eight
  const uint64_t first[] = {0xaaaaaaaa, 1, 0, 1, 0, 1, 0xffff, 0xffffffff};
  const uint64_t second[] = {0xaa, 1, 1, 1, 0, 1, 0xff, 0xff};
  for (uint32_t i = 0; i < 8; ++i) {
    CHECK(r.slot(31, i) == first[i]);
    CHECK(r.slot(39, i) == second[i]);
  }
}

TEST_CASE("match, redux, elect") {
  TestKernel k;
  const Reg lane = k.sreg(ir::SReg::laneid);
  const Reg third = k.b.make(Op::rem, Type::u32, {lane, imm(3)});
  const Reg any = k.b.reg(Width::b32), all = k.b.reg(Width::b32), same = k.b.reg(Width::pred);
  k.b.emit(Op::match_any, Type::u32, {any}, {third, imm(kEveryone)});
  k.put(0, any);
  k.b.emit(Op::match_all, Type::u32, {all, same}, {third, imm(kEveryone)});
  k.put(1, all);
  const Reg wide = k.b.make(Op::mov, Type::u64, {imm(uint64_t{1} << 40)});
  k.b.emit(Op::match_all, Type::u64, {all, same}, {wide, imm(kEveryone)});
  k.put(2, all);
  k.put_pred(3, same);
  const Reg minus = k.b.make(Op::sub, Type::u32, {lane, imm(5)});
  const auto reduce = [&](uint32_t slot, ir::AtomOp op, Type type) {
    const Reg r = k.b.reg(Width::b32);
    ir::Mem m;
    m.atom = op;
    k.b.emit(Op::redux, type, {r}, {minus, imm(kEveryone)}).mem = m;
    k.put(slot, r);
  };
  reduce(4, ir::AtomOp::add, Type::s32);
  reduce(5, ir::AtomOp::min, Type::s32);
  reduce(6, ir::AtomOp::min, Type::u32);
  const Reg leader = k.b.reg(Width::b32), me = k.b.reg(Width::pred);
  k.b.emit(Op::elect, Type::u32, {leader, me}, {imm(kEveryone)});
  k.put_pred(7, me);
  k.b.exit();
  const Run r = run(k, 32);
  CHECK(r.slot(4, 0) == 0x92492492);
  CHECK(r.slot(4, 1) == 0);
  CHECK(r.slot(4, 2) == 0xffffffff);
  CHECK(r.slot(4, 3) == 1);
  CHECK(r.slot(4, 4) == 496 - 160);
  CHECK(r.slot(4, 5) == static_cast<uint32_t>(-5));
  CHECK(r.slot(4, 6) == 0);
  CHECK(r.slot(0, 7) == 1);
  CHECK(r.slot(1, 7) == 0);
}

TEST_CASE("divergent lanes meet at an operation whose mask names them") {
  // Even lanes take a detour with an operation of their own before both sides sync.
  TestKernel k;
  const Reg lane = k.sreg(ir::SReg::laneid);
  const Reg even = compare(k, ir::Cond::eq, k.b.make(Op::and_, Type::u32, {lane, imm(1)}), 0);
  const Reg mine = k.b.make(Op::mov, Type::u32, {imm(0)});
  const uint32_t detour = k.b.add_block("detour"), join = k.b.add_block("join");
  k.b.branch({even}, detour, join);
  k.b.set_block(detour);
  k.b.emit(Op::vote_ballot, Type::u32, {mine}, {even, imm(0x55555555)});
  k.b.jump(join);
  k.b.set_block(join);
  const Reg all = k.b.reg(Width::b32);
  k.b.emit(Op::vote_ballot, Type::u32, {all}, {even, imm(0xffffffff)});
  k.put(0, mine);
  k.put(1, all);
  k.b.exit();
  const Run r = run(k, 32);
  CHECK(r.slot(0, 0) == 0x55555555);
  CHECK(r.slot(1, 0) == 0);
  for (uint32_t i = 0; i < 32; ++i) CHECK(r.slot(i, 1) == 0x55555555);
}

TEST_CASE("activemask sees the side of a branch, and partners that never come are not waited for") {
  TestKernel k;
  const Reg lane = k.sreg(ir::SReg::laneid);
  const uint32_t low = k.b.add_block("low"), high = k.b.add_block("high");
  const Reg active = k.b.reg(Width::b32);
  k.b.branch({compare(k, ir::Cond::lt, lane, 8)}, low, high);
  k.b.set_block(low);
  k.b.emit(Op::activemask, Type::u32, {active}, {});
  k.put(0, active);
  k.b.emit(Op::vote_ballot, Type::u32, {active}, {imm(1), imm(0xff)});
  k.put(1, active);
  k.b.exit();
  k.b.set_block(high);
  k.b.emit(Op::activemask, Type::u32, {active}, {});
  k.put(0, active);
  k.b.emit(Op::vote_ballot, Type::u32, {active}, {imm(1), imm(0xffffff0f)});
  k.put(1, active);
  k.b.emit(Op::wave_sync, Type::none, {}, {imm(0xffffff00)});
  k.b.exit();
  const Run r = run(k, 32);
  CHECK(r.result.fault_count == 0);
  CHECK(r.slot(0, 0) == 0xff);
  CHECK(r.slot(8, 0) == 0xffffff00);
  CHECK(r.slot(0, 1) == 0xff);
  CHECK(r.slot(8, 1) == 0xffffff00);
}

TEST_CASE("waves of 64: ballot, readlane, readfirst, maskbit, mbcnt") {
  TestKernel k(64);
  const Reg lane = k.sreg(ir::SReg::laneid);
  const Reg high = compare(k, ir::Cond::ge, lane, 60);
  const Reg mask = k.b.reg(Width::b64);
  k.b.emit(Op::ballot, Type::none, {mask}, {high});
  k.put(0, mask, Type::u64);
  const Reg square = k.b.make(Op::mul, Type::u32, {lane, lane});
  const Reg read = k.b.reg(Width::b32), first = k.b.reg(Width::b32), count = k.b.reg(Width::b32);
  k.b.emit(Op::readlane, Type::u32, {read}, {square, imm(41)});
  k.put(1, read);
  const Reg bit = k.b.reg(Width::pred);
  k.b.emit(Op::maskbit, Type::none, {bit}, {mask});
  k.put_pred(2, bit);
  k.b.emit(Op::mbcnt, Type::none, {count}, {mask, imm(10)});
  k.put(3, count);
  k.b.set_guard({high, false});
  k.b.emit(Op::readfirst, Type::u32, {first}, {square});
  k.b.set_guard({});
  k.put(4, first);
  k.b.emit(Op::readlane, Type::u32, {read}, {square, imm(64 + 3)});
  k.put(5, read);
  k.b.exit();
  const Run r = run(k, 64);
  CHECK(r.slot(0, 0) == 0xf000000000000000);
  CHECK(r.slot(7, 1) == 41 * 41);
  CHECK(r.slot(59, 2) == 0);
  CHECK(r.slot(60, 2) == 1);
  CHECK(r.slot(60, 3) == 10);
  CHECK(r.slot(63, 3) == 13);
  CHECK(r.slot(63, 4) == 3600);
  CHECK(r.slot(59, 4) == 0);
  CHECK(r.slot(59, 5) == 9);
}

TEST_CASE("a butterfly sum through divergent loops") {
  // Lanes loop a different number of times before they meet: no lane may run past the shuffle.
  TestKernel k;
  const Reg lane = k.sreg(ir::SReg::laneid);
  const Reg i = k.b.make(Op::mov, Type::u32, {imm(0)});
  const uint32_t loop = k.b.add_block("loop"), sum = k.b.add_block("sum");
  k.b.jump(loop);
  k.b.set_block(loop);
  k.b.emit(Op::add, Type::u32, {i}, {i, imm(1)});
  const Reg more = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {more}, {i, lane}).cond = ir::Cond::lt;
  k.b.branch({more}, loop, sum);
  k.b.set_block(sum);
  const Reg got = k.b.reg(Width::b32), ok = k.b.reg(Width::pred);
  for (uint32_t step = 16; step > 0; step /= 2) {
    k.b.emit(Op::shfl, Type::u32, {got, ok}, {i, imm(step), imm(0x1f), imm(kEveryone)}).mode =
        static_cast<uint8_t>(ShflMode::bfly);
    k.b.emit(Op::add, Type::u32, {i}, {i, got});
  }
  k.put(0, i);
  k.b.exit();
  const Run r = run(k, 64, 2);
  for (uint32_t n = 0; n < 128; ++n) CHECK(r.slot(n, 0) == 497);  // 1 + (1 + 2 + ... + 31)
}
