#include <doctest/doctest.h>

#include "runtime/ir/builder.hpp"
#include "runtime/ir/passes/passes.hpp"

using namespace lanewise::ir;

namespace {

/// A kernel in the making with a lane-dependent and a group-uniform condition at hand.
struct Kernel {
  Program p;
  Builder b{p};
  Reg tid, group, divergent, uniform;
  explicit Kernel(uint32_t blocks) {
    p.name = std::string("k");
    for (uint32_t i = 0; i < blocks; ++i) b.add_block();
    b.set_block(0);
    tid = sreg(SReg::tid_x);
    group = sreg(SReg::ctaid_x);
    divergent = b.make(Op::icmp, Type::pred, {tid, imm(3)});
    uniform = b.make(Op::icmp, Type::pred, {group, imm(3)});
    for (auto* i : {&p.blocks[0].insts[2], &p.blocks[0].insts[3]}) i->type = Type::u32;
  }
  Reg sreg(SReg s) {
    const Reg r = b.reg(Width::b32);
    b.emit(Op::sreg, Type::u32, {r}, {}).mode = static_cast<uint8_t>(s);
    return r;
  }
  void barrier(Guard guard = {}) {
    b.emit(Op::barrier, Type::none, {}, {imm(0), imm(0)}).guard = guard;
  }
  bool barriers_ok() {
    REQUIRE(verify(p).empty());
    return convergence_uniform(p);
  }
};

}  // namespace

TEST_CASE("uniform registers: data") {
  Kernel k(1);
  const Reg sum = k.b.make(Op::add, Type::u32, {k.group, imm(1)});
  const Reg mixed = k.b.make(Op::add, Type::u32, {k.group, k.tid});
  const Reg param = k.b.reg(Width::b32), global = k.b.reg(Width::b32), far = k.b.reg(Width::b32);
  const auto load = [&](Reg dst, Space space, Operand address) {
    Inst& i = k.b.emit(Op::load, Type::none, {dst}, {address});
    i.mem = Mem{};
    i.mem->space = space;
  };
  load(param, Space::param, imm(8));
  load(global, Space::global, imm(0x10000000));
  load(far, Space::constant, k.tid);
  const Reg kept = k.b.make(Op::mov, Type::u32, {imm(1)});
  k.b.emit(Op::mov, Type::u32, {kept}, {imm(2)}).guard = {k.divergent, false};
  const Reg never = k.b.reg(Width::b32);
  const Reg copy = k.b.make(Op::mov, Type::u32, {never});
  k.b.exit();
  REQUIRE(verify(k.p).empty());
  const Uniformity u = uniformity(k.p);
  CHECK(u.reg[k.group.id]);
  CHECK(u.reg[sum.id]);
  CHECK(u.reg[param.id]);
  CHECK(u.reg[k.uniform.id]);
  for (const Reg r : {k.tid, mixed, global, far, kept, never, copy, k.divergent}) {
    CHECK(!u.reg[r.id]);
  }
}

TEST_CASE("a write under divergent control is not uniform, its join block is") {
  for (const bool diverges : {false, true}) {
    Kernel k(3);
    const Reg r = k.b.make(Op::mov, Type::u32, {imm(0)});
    k.b.branch({diverges ? k.divergent : k.uniform, false}, 1, 2);
    k.b.set_block(1);
    k.b.emit(Op::mov, Type::u32, {r}, {imm(5)});
    k.b.jump(2);
    k.b.set_block(2);
    k.barrier();
    k.b.exit();
    const Uniformity u = uniformity(k.p);
    CHECK(u.reg[r.id] == !diverges);
    CHECK(u.block[1] == !diverges);
    CHECK(u.block[2]);
    CHECK(k.barriers_ok());
  }
}

TEST_CASE("what a loop with divergent trip count writes is not uniform behind it") {
  for (const bool diverges : {false, true}) {
    Kernel k(4);
    const Reg i = k.b.make(Op::mov, Type::u32, {imm(0)});
    k.b.jump(1);
    k.b.set_block(1);
    k.b.emit(Op::add, Type::u32, {i}, {i, imm(1)});
    const Reg again = k.b.reg(Width::pred);
    k.b.emit(Op::icmp, Type::u32, {again}, {i, diverges ? k.tid : k.group}).cond = Cond::lt;
    k.b.branch({again, false}, 1, 2);
    k.b.set_block(2);
    k.barrier();
    const Reg after = k.b.make(Op::mov, Type::u32, {i});
    k.b.jump(3);
    k.b.set_block(3);
    k.b.exit();
    const Uniformity u = uniformity(k.p);
    CHECK(u.reg[i.id] == !diverges);
    CHECK(u.reg[after.id] == !diverges);
    CHECK(u.block[1] == !diverges);
    CHECK(u.block[2]);
    CHECK(k.barriers_ok());
    k.b.set_block(1);
    k.barrier();
    CHECK(k.barriers_ok() == !diverges);
  }
}

TEST_CASE("barriers behind divergent exits, guards and traps") {
  SUBCASE("early exit") {
    for (const bool diverges : {false, true}) {
      Kernel k(3);
      k.b.branch({diverges ? k.divergent : k.uniform, false}, 2, 1);
      k.b.set_block(1);
      k.barrier();
      k.b.exit();
      k.b.set_block(2);
      k.b.exit();
      CHECK(k.barriers_ok() == !diverges);
    }
  }
  SUBCASE("guarded barrier") {
    Kernel k(1);
    k.barrier({k.uniform, true});
    k.b.exit();
    CHECK(k.barriers_ok());
    k.barrier({k.divergent, true});
    CHECK(!k.barriers_ok());
  }
  SUBCASE("guarded trap") {
    for (const bool same_block : {false, true}) {
      for (const bool diverges : {false, true}) {
        Kernel k(2);
        k.b.emit(Op::trap, Type::none, {}, {}).guard = {diverges ? k.divergent : k.uniform, false};
        if (same_block) k.barrier();
        k.b.jump(1);
        k.b.set_block(1);
        if (!same_block) k.barrier();
        k.b.exit();
        CHECK(k.barriers_ok() == !diverges);
      }
    }
  }
  SUBCASE("a loop that never ends claims nothing") {
    Kernel k(3);
    k.b.jump(1);
    k.b.set_block(1);
    k.b.branch({k.divergent, false}, 2, 1);
    k.b.set_block(2);
    k.barrier();
    k.b.jump(1);
    CHECK(!k.barriers_ok());
  }
  SUBCASE("the result of a reduction over the group is uniform") {
    Kernel k(1);
    const Reg any = k.b.reg(Width::pred);
    Inst& red = k.b.emit(Op::barrier, Type::none, {any}, {imm(0), imm(0), k.divergent});
    red.mode = static_cast<uint8_t>(BarrierKind::red_or);
    k.b.exit();
    REQUIRE(verify(k.p).empty());
    CHECK(uniformity(k.p).reg[any.id]);
  }
}
