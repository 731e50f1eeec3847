// Control flow, barriers and lanes over invocations: the modules are valid on every tier.
#include <doctest/doctest.h>

#include <chrono>

#include "runtime/spirv/binary/code.hpp"
#include "runtime/support/error.hpp"
#include "tests/unit/spirv/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::Cond;
using ir::Op;
using ir::Space;
using ir::Type;
using ir::Width;

namespace {

void check_everywhere(const ir::Program& program, uint32_t lanes = 64) {
  for (const auto& [tier, target] : all_tiers()) {
    CAPTURE(tier);
    CHECK(verdict(program, block_of(lanes), target) == "");
  }
  for (const spirv::Target& target : with_quirks())
    CHECK(verdict(program, block_of(lanes), target) == "");
}
void store_result(Kernel& k, ir::Reg base, ir::Reg index, ir::Operand value) {
  k.memory(Op::store, Space::global, Type::u32, 1, {}, {k.element(base, index), value});
}

/// Sums 0 .. tid in a loop, with a barrier in every turn when asked; `uniform` makes the number of
/// turns the same for all lanes.
Kernel loop_kernel(bool barrier, bool uniform, ir::BarrierKind kind = ir::BarrierKind::sync,
                   uint32_t count = 0) {
  Kernel k(4);
  k.program.shared_bytes = 1024;
  const ir::Reg base = k.param64(0), tid = k.sreg(ir::SReg::tid_x);
  const ir::Reg sum = k.b.reg(Width::b32), i = k.b.reg(Width::b32);
  k.move_into(sum, ir::imm(0));
  k.move_into(i, ir::imm(0));
  k.b.jump(1);
  k.b.set_block(1);
  const ir::Operand limit = uniform ? ir::imm(10) : ir::Operand(tid);
  const ir::Reg more = k.compare(Cond::lt, i, limit);
  k.b.branch({more}, 2, 3);
  k.b.set_block(2);
  k.b.emit(Op::add, Type::u32, {sum}, {sum, i});
  k.b.emit(Op::add, Type::u32, {i}, {i, ir::imm(1)});
  if (barrier) k.barrier(kind, 1, count);
  k.b.jump(1);
  k.b.set_block(3);
  store_result(k, base, tid, sum);
  k.b.exit();
  return k;
}

}  // namespace

TEST_CASE("an if with two arms, a guard and an early exit") {
  Kernel k(5);
  const ir::Reg base = k.param64(0), tid = k.sreg(ir::SReg::tid_x);
  const ir::Reg value = k.b.reg(Width::b32);
  const ir::Reg low = k.compare(Cond::lt, tid, ir::imm(8));
  k.b.branch({low}, 1, 2);
  k.b.set_block(1);
  k.move_into(value, ir::imm(1));
  k.b.jump(3);
  k.b.set_block(2);
  k.move_into(value, tid);
  const ir::Reg huge = k.compare(Cond::gt, tid, ir::imm(40));
  k.b.branch({huge, false}, 4, 3);
  k.b.set_block(3);
  k.b.set_guard({low, true});
  k.b.emit(Op::add, Type::u32, {value}, {value, ir::imm(100)});
  k.b.set_guard({});
  store_result(k, base, tid, value);
  k.b.exit();
  k.b.set_block(4);
  k.b.exit();
  check_everywhere(k.program);
}

TEST_CASE("loops: counted, divergent, endless, nested") {
  check_everywhere(loop_kernel(false, true).program);
  check_everywhere(loop_kernel(false, false).program);

  Kernel endless(2);
  endless.b.jump(1);
  endless.b.set_block(1);
  endless.b.jump(1);
  check_everywhere(endless.program);

  Kernel nested(5);
  const ir::Reg base = nested.param64(0), tid = nested.sreg(ir::SReg::tid_x);
  const ir::Reg i = nested.b.reg(Width::b32), j = nested.b.reg(Width::b32);
  nested.move_into(i, ir::imm(0));
  nested.b.jump(1);
  nested.b.set_block(1);
  nested.move_into(j, ir::imm(0));
  nested.b.jump(2);
  nested.b.set_block(2);
  nested.b.emit(Op::add, Type::u32, {j}, {j, ir::imm(1)});
  const ir::Reg out = nested.compare(Cond::gt, j, tid);
  nested.b.branch({out}, 3, 2);
  nested.b.set_block(3);
  nested.b.emit(Op::add, Type::u32, {i}, {i, j});
  const ir::Reg done = nested.compare(Cond::gt, i, ir::imm(100));
  nested.b.branch({done}, 4, 1);
  nested.b.set_block(4);
  store_result(nested, base, tid, i);
  nested.b.exit();
  check_everywhere(nested.program);
}

TEST_CASE("a loop in a kernel that does not know its lane") {
  Kernel k(3);
  const ir::Reg base = k.param64(0), i = k.b.reg(Width::b32), old = k.b.reg(Width::b32);
  k.move_into(i, ir::imm(0));
  k.b.jump(1);
  k.b.set_block(1);
  k.memory(Op::atom, Space::global, Type::u32, 1, {old}, {base, i});
  k.b.emit(Op::add, Type::u32, {i}, {i, ir::imm(1)});
  const ir::Reg done = k.compare(Cond::gt, old, i);
  k.b.branch({done}, 2, 1);
  k.b.set_block(2);
  k.memory(Op::store, Space::global, Type::u32, 1, {}, {base, i});
  k.b.exit();
  spirv::Options unchecked = block_of(64);
  unchecked.memcheck = Memcheck::off;
  for (const spirv::Target& target : with_quirks())
    CHECK(verdict(k.program, unchecked, target) == "");
  check_everywhere(k.program);
}

TEST_CASE("a cycle with two entries, and a switch") {
  Kernel k(5);
  const ir::Reg base = k.param64(0), tid = k.sreg(ir::SReg::tid_x), i = k.b.reg(Width::b32);
  k.move_into(i, tid);
  const ir::Reg odd = k.compare(Cond::gt, tid, ir::imm(5));
  k.b.branch({odd}, 1, 2);
  k.b.set_block(1);
  k.b.emit(Op::add, Type::u32, {i}, {i, ir::imm(3)});
  k.b.jump(2);
  k.b.set_block(2);
  k.b.emit(Op::sub, Type::u32, {i}, {i, ir::imm(1)});
  const ir::Reg more = k.compare(Cond::lt, i, ir::imm(50));
  k.b.branch({more}, 1, 3);
  k.b.set_block(3);
  store_result(k, base, tid, i);
  k.b.exit();
  k.b.set_block(4);
  k.b.exit();
  check_everywhere(k.program);

  Kernel s(4);
  const ir::Reg sbase = s.param64(0), stid = s.sreg(ir::SReg::tid_x), v = s.b.reg(Width::b32);
  s.move_into(v, ir::imm(0));
  ir::Terminator t;
  t.kind = ir::Terminator::Kind::switch_;
  t.selector = stid;
  t.cases = {3, 9};
  t.targets = {1, 2, 3};
  s.b.terminate(t);
  s.b.set_block(1);
  s.move_into(v, ir::imm(30));
  s.b.jump(2);
  s.b.set_block(2);
  s.b.emit(Op::add, Type::u32, {v}, {v, ir::imm(1)});
  s.b.jump(3);
  s.b.set_block(3);
  store_result(s, sbase, stid, v);
  s.b.exit();
  check_everywhere(s.program);
}

TEST_CASE("a trap ends the lane, guarded or not") {
  for (const bool guarded : {true, false}) {
    Kernel k;
    const ir::Reg base = k.param64(0), tid = k.sreg(ir::SReg::tid_x);
    if (guarded) k.b.set_guard({k.compare(Cond::eq, tid, ir::imm(3))});
    k.b.emit(Op::trap, Type::none, {}, {}).mode = static_cast<uint8_t>(FaultKind::trap);
    k.b.set_guard({});
    store_result(k, base, tid, ir::imm(1));
    k.b.exit();
    check_everywhere(k.program);
  }
}

TEST_CASE("barriers: uniform in a loop, divergent, named, counted, reductions") {
  check_everywhere(loop_kernel(true, true).program);
  check_everywhere(loop_kernel(true, false).program);
  check_everywhere(loop_kernel(true, true, ir::BarrierKind::sync, 32).program);
  check_everywhere(loop_kernel(true, true, ir::BarrierKind::arrive, 64).program);
  for (const auto kind :
       {ir::BarrierKind::red_popc, ir::BarrierKind::red_and, ir::BarrierKind::red_or}) {
    for (const bool divergent : {false, true}) {
      Kernel k(3);
      const ir::Reg base = k.param64(0), tid = k.sreg(ir::SReg::tid_x);
      const ir::Reg vote = k.compare(Cond::lt, tid, ir::imm(9));
      const bool count = kind == ir::BarrierKind::red_popc;
      const ir::Reg result = k.b.reg(count ? Width::b32 : Width::pred);
      if (divergent) {
        k.b.branch({vote}, 1, 2);
      } else {
        k.b.jump(1);
      }
      k.b.set_block(1);
      k.b.emit(Op::barrier, Type::none, {result}, {ir::imm(2), ir::imm(0), vote}).mode =
          static_cast<uint8_t>(kind);
      k.b.jump(2);
      k.b.set_block(2);
      const ir::Operand value =
          count ? ir::Operand(result)
                : ir::Operand(k.b.make(Op::select, Type::u32, {result, ir::imm(1), ir::imm(0)}));
      store_result(k, base, tid, value);
      k.b.exit();
      check_everywhere(k.program);
    }
  }
}

TEST_CASE("blocks larger than the device's limit carry several lanes per invocation") {
  const spirv::Module m =
      spirv::translate(loop_kernel(false, false).program, block_of(1000), tier0());
  CHECK(m.lanes_per_invocation == 4);
  CHECK(m.local_size == 250);
  CHECK(spirv::validate(m.words) == "");
  const spirv::Module with_barriers =
      spirv::translate(loop_kernel(true, true).program, block_of(1000), tier0());
  CHECK(with_barriers.lanes_per_invocation == 4);
  CHECK(spirv::validate(with_barriers.words) == "");
}

TEST_CASE("translation time") {
  for (const int count : {20, 200, 2000}) {
    Kernel k;
    const ir::Reg base = k.param64(0), tid = k.sreg(ir::SReg::tid_x);
    ir::Reg value = tid;
    const ir::Reg address = k.element(base, tid);
    for (int i = 0; i < count; ++i) {
      const ir::Reg next = k.b.reg(Width::b32);
      switch (i % 4) {
        case 0:
          k.memory(Op::load, Space::global, Type::u32, 1, {next}, {address});
          break;
        case 1:
          k.b.emit(Op::add, Type::u32, {next}, {value, ir::imm(i)});
          break;
        case 2:
          k.b.emit(Op::fmul, Type::f32, {next}, {value, value});
          break;
        default:
          k.b.emit(Op::xor_, Type::u32, {next}, {value, tid});
          break;
      }
      value = next;
    }
    store_result(k, base, tid, value);
    k.b.exit();
    for (const auto& [tier, target] : all_tiers()) {
      const auto start = std::chrono::steady_clock::now();
      const spirv::Module module = spirv::translate(k.program, block_of(64), target);
      const double ms =
          std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
              .count();
      MESSAGE(count << " instructions on " << tier << ": " << ms << " ms, " << module.words.size()
                    << " words");
      CHECK(spirv::validate(module.words) == "");
    }
  }
}

TEST_CASE("numbers that were flushed are not flushed again, and a block computes a thing once") {
  constexpr int kSums = 100;
  Kernel k;
  const ir::Reg base = k.param64(0), tid = k.sreg(ir::SReg::tid_x);
  ir::Reg value = tid;
  for (int i = 0; i < kSums; ++i) {
    const ir::Reg next = k.b.reg(Width::b32);
    k.b.emit(Op::fadd, Type::f32, {next}, {value, tid}).ftz = true;
    value = next;
  }
  store_result(k, base, tid, value);
  // Something keeps subnormal numbers, so that the kernel flushes in integers.
  const ir::Reg kept = k.b.reg(Width::b32);
  k.b.emit(Op::fadd, Type::f32, {kept}, {tid, tid});
  store_result(k, base, tid, kept);
  k.b.exit();
  spirv::Target device = tier2();
  device.native_add = device.native_compare = true;
  const spirv::Module module = spirv::translate(k.program, block_of(64), device);
  CHECK(spirv::validate(module.words) == "");
  // One of each sum, one of the thread's number; NaNs and checks take a few more.
  CHECK(spirv::count_of(spv::OpSelect, module.words) < kSums + 30);
  CHECK(spirv::count_of(spv::OpFAdd, module.words) >= kSums);
}
