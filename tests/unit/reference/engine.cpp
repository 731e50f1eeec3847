#include <doctest/doctest.h>

#include "runtime/support/error.hpp"
#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;

namespace {

/// i = 0; do { ++i } while (i < limit); stores i.
void emit_loop(TestKernel& k, uint64_t limit, uint32_t loop_site = 7) {
  const Reg i = k.b.make(Op::mov, Type::u32, {imm(0)});
  const uint32_t loop = k.b.add_block("loop"), done = k.b.add_block("done");
  k.b.jump(loop);
  k.b.set_block(loop);
  k.site(loop_site);
  k.b.emit(Op::add, Type::u32, {i}, {i, imm(1)});
  const Reg p = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {p}, {i, imm(limit)}).cond = ir::Cond::lt;
  k.b.branch({p}, loop, done);
  k.b.set_block(done);
  k.put(0, i);
  k.b.exit();
}

}  // namespace

TEST_CASE("every lane of every group runs") {
  TestKernel k;
  const Reg tid = k.sreg(ir::SReg::tid_x);
  const Reg group = k.sreg(ir::SReg::ctaid_x);
  k.put(0, k.b.make(Op::mul, Type::u32, {tid, imm(3)}));
  k.put(1, group);
  k.b.exit();
  const Run r = run(k, 40, 3);
  CHECK(r.result.fault_count == 0);
  for (uint32_t lane = 0; lane < 120; ++lane) {
    CHECK(r.slot(lane, 0) == lane % 40 * 3);
    CHECK(r.slot(lane, 1) == lane / 40);
  }
}

TEST_CASE("special registers of a three-dimensional launch") {
  TestKernel k;
  k.b.set_block(k.entry);
  const Reg tid = k.sreg(ir::SReg::linear_tid);
  const Reg bytes = k.b.make(Op::mulwide, Type::u32, {tid, imm(64)});
  k.program.regs[bytes.id].width = Width::b64;
  k.slot_address = k.b.make(Op::add, Type::u64, {bytes, imm(guest::kArenaBase)});
  const ir::SReg which[] = {ir::SReg::tid_x,       ir::SReg::tid_y,  ir::SReg::tid_z,
                            ir::SReg::laneid,      ir::SReg::warpid, ir::SReg::lanemask_lt,
                            ir::SReg::lanemask_ge, ir::SReg::nwarpid};
  for (uint32_t i = 0; i < 8; ++i) k.put(i, k.sreg(which[i]));
  k.b.exit();
  const Run r = run(k, 1, 1, [](LaunchRequest& q) { q.block = {5, 4, 3}; });
  const uint32_t lane = 3 + 5 * (2 + 4 * 2);  // 53 = lane 21 of warp 1
  const uint64_t expected[] = {3, 2, 2, 21, 1, 0x1fffff, 0xffe00000, 2};
  for (uint32_t i = 0; i < 8; ++i) CHECK(r.slot(lane, i) == expected[i]);
}

TEST_CASE("a guard that is false leaves the destination alone") {
  TestKernel k;
  const Reg odd = k.b.reg(Width::pred);
  const Reg low = k.b.make(Op::and_, Type::u32, {k.sreg(ir::SReg::tid_x), imm(1)});
  k.b.emit(Op::icmp, Type::u32, {odd}, {low, imm(1)}).cond = ir::Cond::eq;
  const Reg value = k.b.make(Op::mov, Type::u32, {imm(10)});
  k.b.set_guard({odd, false});
  k.b.emit(Op::mov, Type::u32, {value}, {imm(20)});
  k.b.set_guard({odd, true});
  k.b.emit(Op::add, Type::u32, {value}, {value, imm(1)});
  k.b.set_guard({});
  k.put(0, value);
  k.b.exit();
  const Run r = run(k, 4);
  CHECK(r.slot(0, 0) == 11);
  CHECK(r.slot(1, 0) == 20);
}

TEST_CASE("switch picks the case, else the default") {
  TestKernel k;
  const Reg tid = k.sreg(ir::SReg::tid_x);
  const uint32_t a = k.b.add_block("a"), c = k.b.add_block("c"), d = k.b.add_block("d");
  ir::Terminator t;
  t.kind = ir::Terminator::Kind::switch_;
  t.selector = tid;
  t.cases = {2, 0};
  t.targets = {a, c, d};
  k.b.terminate(t);
  const uint32_t blocks[] = {a, c, d};
  for (uint32_t i = 0; i < 3; ++i) {
    k.b.set_block(blocks[i]);
    k.put(0, imm(100 + i));
    k.b.exit();
  }
  const Run r = run(k, 4);
  const uint64_t expected[] = {101, 102, 100, 102};
  for (uint32_t lane = 0; lane < 4; ++lane) CHECK(r.slot(lane, 0) == expected[lane]);
}

TEST_CASE("a loop inside its budget ends, an endless one is reported") {
  TestKernel k;
  emit_loop(k, 10000);
  const auto budget = [](uint64_t n) { return [n](LaunchRequest& q) { q.step_budget = n; }; };
  const Run fine = run(k, 2, 1, budget(9999));
  CHECK(fine.result.fault_count == 0);
  CHECK(fine.slot(1, 0) == 10000);
  const Run over = run(k, 2, 2, budget(9998));
  REQUIRE(over.result.fault_count == 1);
  CHECK(over.result.faults[0].kind == FaultKind::step_budget);
  CHECK(over.result.faults[0].site == 7);
  CHECK(over.slot(1, 0) == 0);  // the launch was abandoned
}

TEST_CASE("a launch that runs too long throws a budget error") {
  TestKernel k;
  emit_loop(k, 0xffffffff);
  const auto limit = [](LaunchRequest& q) {
    q.timeout_seconds = 0.05;
    q.step_budget = ~uint64_t{0};
  };
  try {
    run(k, 1, 1, limit);
    FAIL("no timeout");
  } catch (const Error& e) {
    CHECK(e.kind() == ErrorKind::budget);
  }
}

TEST_CASE("a lane may wait for a later lane of its group") {
  TestKernel k;
  k.program.shared_bytes = 16;
  const Reg tid = k.sreg(ir::SReg::tid_x);
  const Reg is_last = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {is_last}, {tid, imm(3)}).cond = ir::Cond::eq;
  k.b.set_guard({is_last, false});
  k.b.emit(Op::store, Type::none, {}, {imm(8), imm(42)}).mem =
      TestKernel::mem(Type::u32, ir::Space::shared);
  k.b.set_guard({});
  const uint32_t spin = k.b.add_block("spin"), done = k.b.add_block("done");
  k.b.jump(spin);
  k.b.set_block(spin);
  const Reg seen = k.load(imm(8), TestKernel::mem(Type::u32, ir::Space::shared));
  const Reg wait = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {wait}, {seen, imm(0)}).cond = ir::Cond::eq;
  k.b.branch({wait}, spin, done);
  k.b.set_block(done);
  k.put(0, seen);
  k.b.exit();
  const Run r = run(k, 4);
  CHECK(r.result.fault_count == 0);
  CHECK(r.slot(0, 0) == 42);
}

TEST_CASE("trap ends the lane with the fault it names") {
  TestKernel k;
  k.site(3);
  k.b.emit(Op::trap, Type::none, {}, {}).mode = static_cast<uint8_t>(FaultKind::trap);
  k.put(0, imm(1));
  k.b.exit();
  const Run r = run(k, 100);
  CHECK(r.result.fault_count == 100);
  REQUIRE(r.result.faults.size() == kMaxFaults);
  for (uint32_t i = 0; i < kMaxFaults; ++i) {
    CHECK(r.result.faults[i].lane == i);
    CHECK(r.result.faults[i].kind == FaultKind::trap);
    CHECK(r.result.faults[i].site == 3);
  }
  CHECK(r.slot(0, 0) == 0);
}

TEST_CASE("the step hook sees every instruction in order") {
  TestKernel k;
  k.b.exit();
  std::vector<uint32_t> seen;
  auto engine = reference::make_engine([&](const reference::Step& s) {
    CHECK(s.block == 0);
    CHECK(s.lane == 0);
    seen.push_back(s.inst);
  });
  LaunchRequest request;
  request.program = &k.program;
  engine->launch(request);
  const size_t n = k.program.blocks[0].insts.size();
  REQUIRE(seen.size() == n);
  for (uint32_t i = 0; i < n; ++i) CHECK(seen[i] == i);
}

TEST_CASE("requests that make no sense are usage errors") {
  TestKernel k;
  k.b.exit();
  k.program.param_bytes = 8;
  const auto refused = [&](const Adjust& adjust) {
    try {
      run(k, 1, 1, [&](LaunchRequest& q) {
        q.params.resize(8);
        adjust(q);
      });
    } catch (const Error& e) {
      return e.kind() == ErrorKind::usage;
    }
    return false;
  };
  CHECK_FALSE(refused([](LaunchRequest&) {}));
  CHECK(refused([](LaunchRequest& q) { q.grid.y = 0; }));
  CHECK(refused([](LaunchRequest& q) { q.block.z = 0; }));
  CHECK(refused([](LaunchRequest& q) { q.block = {1025, 1, 1}; }));
  CHECK(refused([](LaunchRequest& q) { q.block = {0x10000, 0x10000, 0x10000}; }));
  CHECK(refused([](LaunchRequest& q) { q.block = {32, 32, 2}; }));
  CHECK(refused([](LaunchRequest& q) { q.grid = {0xffffffff, 0xffffffff, 0xffffffff}; }));
  CHECK(refused([](LaunchRequest& q) { q.params.resize(7); }));
  CHECK(refused([](LaunchRequest& q) { q.dynamic_shared = 0xfffffff0; }));
  CHECK(refused([](LaunchRequest& q) { q.program = nullptr; }));
  k.program.max_block = 64;
  CHECK(refused([](LaunchRequest& q) { q.block.x = 65; }));
  k.program.required_block[0] = 16;
  CHECK(refused([](LaunchRequest& q) { q.block.x = 17; }));
  CHECK_FALSE(refused([](LaunchRequest& q) { q.block.x = 16; }));
}

TEST_CASE("a malformed program is an error, never a crash") {
  const auto rejected = [](const std::function<void(TestKernel&)>& spoil) {
    TestKernel k;
    spoil(k);
    k.b.exit();
    try {
      run(k);
    } catch (const Error& e) {
      return e.kind() == ErrorKind::guest;
    }
    return false;
  };
  CHECK_FALSE(rejected([](TestKernel&) {}));
  CHECK(rejected([](TestKernel& k) {
    k.b.emit(Op::add, Type::u32, {Reg{999}}, {imm(1), imm(2)});
  }));
  CHECK(rejected([](TestKernel& k) { k.b.emit(Op::add, Type::u32, {Reg{0}}, {imm(1)}); }));
  CHECK(rejected([](TestKernel& k) { k.b.emit(Op::load, Type::u32, {Reg{0}}, {imm(1)}); }));
  CHECK(rejected([](TestKernel& k) {
    k.program.symbols.push_back({"table"});
    k.b.emit(Op::mov, Type::u64, {k.slot_address}, {Operand::address_of(0)});
  }));
  CHECK(rejected([](TestKernel& k) {
    const uint32_t next = k.b.add_block();
    k.b.jump(99);
    k.b.set_block(next);
  }));
  CHECK(rejected([](TestKernel& k) { k.program.wave_lanes = 0; }));
}

TEST_CASE("the arena keeps its contents when it grows, and guards the host") {
  auto engine = reference::make_engine();
  engine->reserve(4096);
  const uint32_t in = 0x12345678;
  engine->write(guest::kArenaBase + 100, std::as_bytes(std::span(&in, 1)));
  engine->reserve(1 << 20);
  uint32_t out = 0;
  engine->read(guest::kArenaBase + 100, std::as_writable_bytes(std::span(&out, 1)));
  CHECK(out == in);
  CHECK_THROWS_AS(engine->read(guest::kArenaBase - 1, std::as_writable_bytes(std::span(&out, 1))),
                  Error);
  CHECK_THROWS_AS(
      engine->read(guest::kArenaBase + (1 << 20) - 3, std::as_writable_bytes(std::span(&out, 1))),
      Error);
  CHECK_THROWS_AS(engine->reserve(~uint64_t{0}), Error);
}
