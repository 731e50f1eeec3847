#include <doctest/doctest.h>

#include "runtime/reference/memory/atomics.hpp"
#include "runtime/reference/memory/memory.hpp"
#include "runtime/support/error.hpp"
#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::AlignRule;
using ir::AtomOp;
using ir::Space;

namespace {

constexpr uint64_t kBase = guest::kArenaBase;
constexpr uint64_t kArenaEnd = kBase + (1 << 20);  // what run() reserves

struct Outcome {
  FaultKind kind = FaultKind::none;
  uint64_t address = 0;
  uint32_t size = 0, site = 0;
  uint64_t loaded = 0;
};

/// One lane loads through `m` from `address` and stores what it got and that it went on.
Outcome load_from(uint64_t address, ir::Mem m, const Adjust& adjust = {}, bool wide = true) {
  TestKernel k;
  k.program.shared_bytes = 40;
  k.program.local_bytes = 24;
  const Reg a = k.b.reg(wide ? Width::b64 : Width::b32);
  k.b.emit(Op::mov, wide ? Type::u64 : Type::u32, {a}, {imm(address)});
  k.site(5);
  const Reg v = k.load(a, m);
  k.site(6);
  k.put(1, imm(1));
  k.put(0, v, ir::size_of(m.elem) == 8 ? Type::u64 : Type::u32);
  k.b.exit();
  const Run r = run(k, 1, 1, adjust);
  CHECK(r.slot(0, 1) == 1);  // the lane went on
  Outcome o;
  o.loaded = r.slot(0, 0);
  if (r.result.fault_count == 0) return o;
  const Fault& f = r.result.faults.at(0);
  return {f.kind, f.address, f.size, f.site, o.loaded};
}

FaultKind kind_at(uint64_t address, Type elem = Type::u32, Space space = Space::global) {
  const Outcome o = load_from(address, TestKernel::mem(elem, space));
  if (o.kind != FaultKind::none) {
    const bool narrow = space == Space::shared || space == Space::local;
    CHECK(o.address == (narrow ? address & 0xffffffff : address));  // 32-bit offsets
    CHECK(o.size == ir::size_of(elem));
    CHECK(o.site == 5);
    CHECK(o.loaded == 0);
  }
  return o.kind;
}

}  // namespace

TEST_CASE("the arena's edges, the null page and the end of the world") {
  CHECK(kind_at(kBase) == FaultKind::none);
  CHECK(kind_at(kArenaEnd - 4) == FaultKind::none);
  CHECK(kind_at(kArenaEnd - 3, Type::u8) == FaultKind::none);
  CHECK(kind_at(kArenaEnd - 2) == FaultKind::out_of_range);  // before misaligned
  CHECK(kind_at(kArenaEnd) == FaultKind::out_of_range);
  CHECK(kind_at(kBase - 4) == FaultKind::out_of_range);
  CHECK(kind_at(kBase - 4, Type::u64) == FaultKind::out_of_range);
  CHECK(kind_at(0) == FaultKind::null);
  CHECK(kind_at(0xffff, Type::u8) == FaultKind::null);
  CHECK(kind_at(0x10000) == FaultKind::out_of_range);
  CHECK(kind_at(kBase + (uint64_t{1} << 32)) == FaultKind::out_of_range);
  CHECK(kind_at(~uint64_t{0}, Type::u8) == FaultKind::out_of_range);
  CHECK(kind_at(~uint64_t{0} - 3) == FaultKind::out_of_range);
  CHECK(kind_at(~uint64_t{0} - 3, Type::u64) == FaultKind::out_of_range);
  CHECK(kind_at(guest::kCodeWindow, Type::u32, Space::generic) == FaultKind::out_of_range);
}

TEST_CASE("alignment rules") {
  CHECK(kind_at(kBase + 2) == FaultKind::misaligned);
  CHECK(kind_at(kBase + 4, Type::u64) == FaultKind::misaligned);
  CHECK(kind_at(kBase + 2, Type::u16) == FaultKind::none);
  ir::Mem m = TestKernel::mem(Type::u32);
  m.align = AlignRule::any;
  CHECK(load_from(kBase + 2, m).kind == FaultKind::none);
  m.align = AlignRule::force;
  CHECK(load_from(kArenaEnd - 1, m).kind == FaultKind::none);
  CHECK(load_from(kArenaEnd + 3, m).address == kArenaEnd);
  m.align = AlignRule::trap;
  m.align_bytes = 16;
  CHECK(load_from(kBase + 8, m).kind == FaultKind::misaligned);
}

TEST_CASE("shared, local and parameter space end where they end") {
  // 40 static bytes round up to 48.
  CHECK(kind_at(44, Type::u32, Space::shared) == FaultKind::none);
  CHECK(kind_at(48, Type::u32, Space::shared) == FaultKind::out_of_range);
  CHECK(kind_at(~uint64_t{0} - 3, Type::u32, Space::shared) == FaultKind::out_of_range);
  CHECK(kind_at(20, Type::u32, Space::local) == FaultKind::none);
  CHECK(kind_at(24, Type::u32, Space::local) == FaultKind::out_of_range);
  CHECK(kind_at(guest::kSharedWindow + 44, Type::u32, Space::generic) == FaultKind::none);
  CHECK(kind_at(guest::kSharedWindow + 48, Type::u32, Space::generic) == FaultKind::out_of_range);
  CHECK(kind_at(guest::kLocalWindow + 20, Type::u32, Space::generic) == FaultKind::none);
  CHECK(kind_at(guest::kLocalWindow + 24, Type::u32, Space::generic) == FaultKind::out_of_range);
  CHECK(kind_at(guest::kSharedWindow, Type::u32, Space::global) == FaultKind::out_of_range);
  const auto dynamic = [](LaunchRequest& q) { q.dynamic_shared = 10; };
  CHECK(load_from(56, TestKernel::mem(Type::u16, Space::shared), dynamic).kind == FaultKind::none);
  CHECK(load_from(58, TestKernel::mem(Type::u8, Space::shared), dynamic).kind ==
        FaultKind::out_of_range);
  const auto params = [](LaunchRequest& q) {
    q.params = {std::byte{1}, std::byte{2}, std::byte{3}, std::byte{0xf4}, std::byte{5}};
  };
  const Outcome p = load_from(2, TestKernel::mem(Type::s16, Space::param), params);
  CHECK(p.kind == FaultKind::none);
  CHECK(p.loaded == 0xfffff403);
  CHECK(load_from(4, TestKernel::mem(Type::u16, Space::param), params).kind ==
        FaultKind::out_of_range);
}

TEST_CASE("the offset wraps at the width of the address operand") {
  ir::Mem m = TestKernel::mem(Type::u32, Space::global, 8);
  CHECK(load_from(0xfffffffc, m, {}, false).kind == FaultKind::null);  // 0x100000004 cut to 4
  CHECK(load_from(0xfffffffc, m).kind == FaultKind::out_of_range);
  m.offset = -8;
  CHECK(load_from(kArenaEnd, m).kind == FaultKind::none);
  CHECK(load_from(4, m).address == ~uint64_t{0} - 3);
}

TEST_CASE("memcheck alloc sees allocations and read-only ones") {
  const std::vector<Allocation> allocations = {{kBase, 512, "slots", false},
                                               {kBase + 1024, 10, "ten", false},
                                               {kBase + 2048, 16, "constant", true}};
  const auto strict = [&](LaunchRequest& q) {
    q.memcheck = Memcheck::alloc;
    q.allocations = allocations;
  };
  const auto kind = [&](uint64_t address, Type elem) {
    return load_from(address, TestKernel::mem(elem), strict).kind;
  };
  CHECK(kind(kBase + 1024, Type::u64) == FaultKind::none);
  CHECK(kind(kBase + 1032, Type::u16) == FaultKind::none);
  CHECK(kind(kBase + 1032, Type::u32) == FaultKind::out_of_range);
  CHECK(kind(kBase + 1034, Type::u8) == FaultKind::out_of_range);
  CHECK(kind(kBase + 1020, Type::u32) == FaultKind::out_of_range);
  CHECK(kind(kBase + 2060, Type::u32) == FaultKind::none);
  CHECK(kind(kBase + 4096, Type::u32) == FaultKind::out_of_range);

  TestKernel k;
  k.site(9);
  k.b.emit(Op::store, Type::none, {}, {imm(kBase + 2048), imm(7)}).mem = TestKernel::mem(Type::u32);
  k.put(0, k.load(imm(kBase + 2048), TestKernel::mem(Type::u32)));
  k.b.exit();
  const Run r = run(k, 1, 1, strict);
  REQUIRE(r.result.fault_count == 1);
  CHECK(r.result.faults[0].kind == FaultKind::write_to_read_only);
  CHECK(r.result.faults[0].site == 9);
  CHECK(r.slot(0, 0) == 0);
}

TEST_CASE("a vector access is checked as a whole, and only the first fault is kept") {
  TestKernel k;
  const Reg regs[] = {k.b.reg(Width::b32), k.b.reg(Width::b32), k.b.reg(Width::b32),
                      k.b.reg(Width::b32)};
  for (const Reg r : regs) k.b.emit(Op::mov, Type::u32, {r}, {imm(9)});
  ir::Mem vec = TestKernel::mem(Type::u32);
  vec.count = 4;
  k.site(1);
  k.b.emit(Op::store, Type::none, {}, {imm(kArenaEnd - 8), imm(1), imm(2), imm(3), imm(4)}).mem =
      vec;
  vec.align_bytes = 4;
  k.site(2);
  k.b.emit(Op::store, Type::none, {}, {imm(kArenaEnd - 8), imm(1), imm(2), imm(3), imm(4)}).mem =
      vec;
  k.b.emit(Op::load, Type::none, {regs[0], regs[1], regs[2], regs[3]}, {imm(kArenaEnd - 12)}).mem =
      vec;
  for (uint32_t i = 0; i < 4; ++i) k.put(i, regs[i]);
  k.put(4, k.load(imm(kArenaEnd - 8), TestKernel::mem(Type::u32)));
  k.b.exit();
  const Run r = run(k);
  CHECK(r.result.fault_count == 1);
  REQUIRE(r.result.faults.size() == 1);
  CHECK(r.result.faults[0].site == 1);
  CHECK(r.result.faults[0].size == 16);
  for (uint32_t i = 0; i < 5; ++i) CHECK(r.slot(0, i) == 0);
}

TEST_CASE("vectors move in order, sinks are left out, narrow loads extend") {
  TestKernel k;
  const Reg a = k.b.reg(Width::b32), c = k.b.reg(Width::b32);
  ir::Mem vec = TestKernel::mem(Type::u16);
  vec.count = 4;
  k.b.emit(Op::store, Type::none, {},
           {k.slot_address, imm(0x18001), imm(0x8002), Operand{}, imm(4)})
      .mem = vec;
  ir::Mem pair = TestKernel::mem(Type::s16);
  pair.count = 2;
  k.b.emit(Op::load, Type::none, {a, c}, {k.slot_address}).mem = pair;
  k.put(1, a);
  k.put(2, c);
  k.put(3, k.load(k.slot_address, TestKernel::mem(Type::s8, Space::global, 1)));
  k.put(4, k.load(k.slot_address, TestKernel::mem(Type::u64)), Type::u64);
  k.b.exit();
  const Run r = run(k);
  CHECK(r.result.fault_count == 0);
  CHECK(r.slot(0, 0) == 0x0004000080028001);
  CHECK(r.slot(0, 1) == 0xffff8001);
  CHECK(r.slot(0, 2) == 0xffff8002);
  CHECK(r.slot(0, 3) == 0xffffff80);
  CHECK(r.slot(0, 4) == 0x0004000080028001);
}

TEST_CASE("local memory is private, shared memory is not, generic addresses reach both") {
  TestKernel k;
  k.program.shared_bytes = 16;
  k.program.local_bytes = 16;
  const Reg tid = k.sreg(ir::SReg::tid_x);
  k.b.emit(Op::store, Type::none, {}, {imm(4), tid}).mem = TestKernel::mem(Type::u32, Space::local);
  k.b.emit(Op::store, Type::none, {}, {imm(4), tid}).mem =
      TestKernel::mem(Type::u32, Space::shared);
  k.b.emit(Op::barrier, Type::none, {}, {imm(0), imm(0)});
  const ir::Mem generic = TestKernel::mem(Type::u32, Space::generic);
  k.put(0, k.load(imm(guest::kLocalWindow + 4), generic));
  k.put(1, k.load(imm(guest::kSharedWindow + 4), generic));
  k.b.exit();
  const Run r = run(k, 3);
  for (uint32_t lane = 0; lane < 3; ++lane) {
    CHECK(r.slot(lane, 0) == lane);
    CHECK(r.slot(lane, 1) == 2);
  }
}

TEST_CASE("atomics return the old value and add up") {
  TestKernel k;
  const Reg old = k.b.reg(Width::b32);
  ir::Mem m = TestKernel::mem(Type::u32);
  m.atom = AtomOp::add;
  const Reg tid = k.sreg(ir::SReg::tid_x);
  k.b.emit(Op::atom, Type::none, {old}, {imm(kArenaEnd - 4), tid}).mem = m;
  k.b.emit(Op::atom, Type::none, {}, {imm(kArenaEnd - 8), imm(2)}).mem = m;
  k.put(0, old);
  k.b.emit(Op::barrier, Type::none, {}, {imm(0), imm(0)});
  k.put(1, k.load(imm(kArenaEnd - 4), TestKernel::mem(Type::u32)));
  k.put(2, k.load(imm(kArenaEnd - 8), TestKernel::mem(Type::u32)));
  const Reg gone = k.b.make(Op::mov, Type::u32, {imm(5)});
  k.b.emit(Op::atom, Type::none, {gone}, {imm(16), tid}).mem = m;
  k.put(3, gone);
  k.b.exit();
  const Run r = run(k, 64);
  CHECK(r.slot(5, 0) == 10);  // 0 + 1 + 2 + 3 + 4
  CHECK(r.slot(0, 1) == 2016);
  CHECK(r.slot(63, 2) == 128);
  CHECK(r.slot(9, 3) == 0);
  CHECK(r.result.fault_count == 64);
  CHECK(r.result.faults[0].kind == FaultKind::null);
}

TEST_CASE("what each atomic operation leaves in memory") {
  const auto f = [](AtomOp op, Type type, Type elem, uint64_t old, uint64_t a, uint64_t b = 0) {
    ir::Mem m;
    m.atom = op;
    m.atom_type = type;
    m.elem = elem;
    return reference::atomic_result(m, {}, old, a, b);
  };
  const auto u = [&](AtomOp op, uint64_t old, uint64_t a, uint64_t b = 0) {
    return f(op, Type::u32, Type::u32, old, a, b);
  };
  CHECK(u(AtomOp::add, 0xffffffff, 2) == 1);
  CHECK(u(AtomOp::sub, 1, 2) == 0xffffffff);
  CHECK(u(AtomOp::rsub, 1, 2) == 1);
  CHECK(u(AtomOp::min, 0x80000000, 1) == 1);
  CHECK(f(AtomOp::min, Type::s32, Type::u32, 0x80000000, 1) == 0x80000000);
  CHECK(f(AtomOp::max, Type::s32, Type::u32, 0x80000000, 1) == 1);
  CHECK(f(AtomOp::max, Type::s64, Type::u64, ~uint64_t{0}, 0) == 0);
  CHECK(u(AtomOp::inc, 3, 4) == 4);
  CHECK(u(AtomOp::inc, 4, 4) == 0);
  CHECK(u(AtomOp::inc, 9, 4) == 0);
  CHECK(u(AtomOp::dec, 3, 4) == 2);
  CHECK(u(AtomOp::dec, 0, 4) == 4);
  CHECK(u(AtomOp::dec, 9, 4) == 4);
  CHECK(u(AtomOp::and_, 12, 10) == 8);
  CHECK(u(AtomOp::or_, 12, 10) == 14);
  CHECK(u(AtomOp::xor_, 12, 10) == 6);
  CHECK(u(AtomOp::exch, 12, 10) == 10);
  CHECK(u(AtomOp::cas, 12, 12, 99) == 99);
  CHECK(u(AtomOp::cas, 12, 13, 99) == 12);
  CHECK(u(AtomOp::mskor, 0xff00ff, 0xf000f, 0x1000008) == 0x1f000f8);
  CHECK(u(AtomOp::wrap, 12, 12, 99) == 0);
  CHECK(u(AtomOp::wrap, 11, 12, 99) == 110);
  CHECK(u(AtomOp::wrap, 1, 0x80000000, 0xffffffff) == 0);
  CHECK(f(AtomOp::wrap, Type::u64, Type::u64, uint64_t{1} << 63, 1, 5) == ~uint64_t{0} >> 1);
  CHECK(f(AtomOp::cas, Type::u16, Type::u16, 12, 0x1000c, 0x10063) == 99);
  CHECK(f(AtomOp::add, Type::f32, Type::u32, 0x3f800000, 0x40000000) == 0x40400000);
  CHECK(f(AtomOp::add, Type::f64, Type::u64, 0x3ff0000000000000, 0xbff0000000000000) == 0);
  CHECK(f(AtomOp::add, Type::f16, Type::u32, 0x3c004000, 0x3c003c00) == 0x40004200);
  CHECK(f(AtomOp::min, Type::f32, Type::u32, 0x7fc00000, 0x40000000) == 0x40000000);
  CHECK(f(AtomOp::fcas, Type::f32, Type::u32, 0x80000000, 0, 7) == 7);
  CHECK(f(AtomOp::fcas, Type::f32, Type::u32, 0x7fc00000, 0x7fc00000, 7) == 0x7fc00000);
}

TEST_CASE("parameter space cannot be written") {
  TestKernel k;
  k.b.emit(Op::store, Type::none, {}, {imm(0), imm(7)}).mem =
      TestKernel::mem(Type::u32, Space::param);
  k.b.exit();
  CHECK_THROWS_AS(run(k, 1, 1, [](LaunchRequest& q) { q.params.resize(4); }), Error);
}
