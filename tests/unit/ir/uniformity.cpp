#include <doctest/doctest.h>

#include "runtime/ir/builder.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/waves/uniformity.hpp"

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
  const Uniformity u(k.p);
  CHECK(u.registers()[k.group.id]);
  CHECK(u.registers()[sum.id]);
  CHECK(u.registers()[param.id]);
  CHECK(u.registers()[k.uniform.id]);
  for (const Reg r : {k.tid, mixed, global, far, kept, never, copy, k.divergent}) {
    CHECK(!u.registers()[r.id]);
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
    const Uniformity u(k.p);
    CHECK(u.registers()[r.id] == !diverges);
    CHECK(u.block(1) == !diverges);
    CHECK(u.block(2));
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
    const Uniformity u(k.p);
    CHECK(u.registers()[i.id] == !diverges);
    CHECK(u.registers()[after.id] == !diverges);
    CHECK(u.block(1) == !diverges);
    CHECK(u.block(2));
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
    CHECK(Uniformity(k.p).registers()[any.id]);
  }
}

// As GCN's condition code, which carries of sums and conditions of branches share.
TEST_CASE("a register that holds one value here and another there") {
  for (const int kind : {0, 1, 2}) {
    CAPTURE(kind);
    Kernel k(5);
    const Reg scc = k.b.make(Op::mov, Type::pred, {k.uniform});
    k.b.branch({k.divergent, false}, 1, 2);
    k.b.set_block(1);
    k.b.emit(Op::mov, Type::pred, {scc}, {k.divergent});
    k.b.jump(2);
    k.b.set_block(2);
    // Written anew, for some lanes alone, or not at all.
    const Guard some = {k.divergent, false};
    if (kind != 2)
      k.b.emit(Op::mov, Type::pred, {scc}, {k.uniform}).guard = kind == 1 ? some : Guard{};
    k.b.branch({scc, false}, 3, 4);
    k.b.set_block(3);
    k.barrier();
    k.b.jump(4);
    k.b.set_block(4);
    k.b.exit();
    CHECK(k.barriers_ok() == (kind == 0));
    CHECK(barriers_uniform(k.p) == (kind == 0));
  }
}

// As GCN narrows EXEC around a block, and asks a mask whether to iterate again.
TEST_CASE("branches on masks of whole waves") {
  const auto reached = [](const std::string& before, const std::string& after,
                          Together together = Together::group) {
    const Program p = parse_program(R"(program "k" gcn wave 64
memory param 8 shared 0 local 0
reg r0 b32
reg r1 b32
reg p2 pred "exec"
reg p3 pred
reg p4 pred
reg p5 pred
reg d6 b64
block b0 "entry"
  r0 = sreg.u32.tid_x
  r1 = load.u32 0 {param u32}
  p2 = mov.pred 1
  p4 = icmp.u32.lt r1, 7
)" + before + R"(  p3 = mov.pred p2
  p5 = icmp.u32.lt r0, r1
  p2 = and.pred p5, p2
  d6 = ballot.u64 p2
  p5 = icmp.u64.ne d6, 0
  branch @p5 b1 b2 uniform
block b1 "narrow"
  r0 = add.u32 r0, 1
  jump b2
block b2 "wide"
  p2 = or.pred p2, p3
)" + after + R"(  branch @p5 b3 b4 uniform
block b3 "together"
  barrier.sync 0, 0
  jump b4
block b4 "end"
  exit
)");
    REQUIRE(verify(p).empty());
    return barriers_uniform(p, together);
  };
  const std::string asks =
      "  p5 = and.pred p2, p4\n  d6 = ballot.u64 p5\n  p5 = icmp.u64.ne d6, 0\n";
  CHECK(reached("", asks));
  CHECK(reached("", "  p4 = maskbit 0xffffffffffffffff\n" + asks));
  // EXEC has not all of its lanes where it is kept.
  CHECK_FALSE(reached("  p2 = icmp.u32.lt r0, 9\n", asks));
  CHECK_FALSE(reached("  @p4 p2 = icmp.u32.lt r0, 9\n", asks));
  // The mask differs from lane to lane, and so from wave to wave.
  CHECK_FALSE(reached("  p4 = icmp.u32.lt r0, 9\n", asks));
  CHECK_FALSE(reached("", "  p4 = maskbit 0xf\n" + asks));
  // Waves that are not full have other masks.
  CHECK_FALSE(reached("", "  d6 = ballot.u64 p4\n  p5 = icmp.u64.ne d6, 0xffffffffffffffff\n"));
  CHECK_FALSE(reached("", "  d6 = ballot.u64 p4\n  p5 = icmp.u64.gt d6, 0\n"));
  // In a group that is one wave, what a ballot gives is the same for all; a lane's own bit is not.
  CHECK(reached("  p4 = icmp.u32.lt r0, 9\n", asks, Together::wave));
  CHECK_FALSE(reached("  p4 = icmp.u32.lt r0, 9\n", "  p5 = and.pred p2, p4\n", Together::wave));
}

TEST_CASE("a ballot on what the whole group agrees about is the condition itself") {
  const auto with = [](const std::string& body) {
    return parse_program(R"(program "k" gcn wave 64
memory param 8 shared 0 local 0
reg r0 b32
reg r1 b32
reg p2 pred
reg p3 pred
reg d4 b64
block b0 "entry"
  r0 = sreg.u32.tid_x
  r1 = load.u32 0 {param u32}
  p2 = icmp.u32.lt r1, 7
)" + body + R"(  branch @p3 b1 b2 uniform
block b1 "one"
  jump b2
block b2 "end"
  exit
)");
  };
  const std::string ne = "  d4 = ballot.u64 p2\n  p3 = icmp.u64.ne d4, 0\n",
                    eq = "  d4 = ballot.u64 p2\n  p3 = icmp.u64.eq d4, 0\n";
  const auto last = [](const Program& p) { return p.blocks[0].insts.back(); };
  for (const std::string& text : {ne, eq}) {
    Program p = with(text);
    REQUIRE(drop_uniform_ballots(p));
    CHECK(verify(p).empty());
    CHECK(p.blocks[0].insts.size() == 4);
    CHECK(last(p).op == (text == ne ? Op::mov : Op::not_));
    CHECK(last(p).src[0] == Operand(Reg{2}));
  }
  const auto stays = [&](const std::string& text) {
    Program p = with(text);
    const std::string before = print(p);
    CHECK_FALSE(drop_uniform_ballots(p));
    CHECK(print(p) == before);
  };
  stays("  p2 = icmp.u32.lt r0, 7\n" + ne);
  stays("  d4 = ballot.u64 p2\n  p3 = icmp.u64.ne d4, 1\n");
  stays("  d4 = ballot.u64 p2\n  p3 = icmp.u64.gt d4, 0\n");
  stays("  d4 = ballot.u64 p2\n  p2 = icmp.u32.lt r0, 7\n  p3 = icmp.u64.ne d4, 0\n");
  // The mask is wanted elsewhere, too, or another operation has to be there anyway.
  stays(ne + "  r0, r1 = unpack64.u64 d4\n");
  stays("  r0 = readfirst.u32 r0\n" + ne);
}
