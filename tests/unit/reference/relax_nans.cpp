// Where relax_nans lets a float operation give any NaN, another NaN is put: nothing that a program
// stores may change.
#include <doctest/doctest.h>

#include "runtime/ir/passes/passes.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;

namespace {

constexpr uint32_t kSlots = 8, kLanes = 24;

class RandomFloats {
 public:
  explicit RandomFloats(uint32_t seed) : rng_(seed) {}

  TestKernel make() {
    TestKernel k;
    for (uint32_t i = 0; i < 5; ++i) narrow_.push_back(load(k, i, Type::u32));
    for (uint32_t i = 5; i < 8; ++i) wide_.push_back(load(k, i, Type::u64));
    const Reg left = k.b.make(Op::mov, Type::u32, {imm(1 + rng_() % 3)});
    // A loop around a diamond, code in front of it and behind it.
    const uint32_t head = k.b.add_block(), yes = k.b.add_block(), no = k.b.add_block(),
                   join = k.b.add_block(), end = k.b.add_block();
    body(k, 6);
    k.b.jump(head);
    k.b.set_block(head);
    body(k, 4);
    k.b.branch({condition(k), false}, yes, no);
    for (const uint32_t side : {yes, no}) {
      k.b.set_block(side);
      body(k, 4);
      k.b.jump(join);
    }
    k.b.set_block(join);
    body(k, 4);
    k.b.emit(Op::sub, Type::u32, {left}, {left, imm(1)});
    const Reg more = k.b.make(Op::icmp, Type::u32, {left, imm(0)});
    k.program.regs[more.id].width = Width::pred;
    k.program.blocks[join].insts.back().cond = ir::Cond::ne;
    k.b.branch({more, false}, head, end);
    k.b.set_block(end);
    body(k, 4);
    for (uint32_t i = 0; i < 2; ++i) {
      k.put(i, narrow_[rng_() % narrow_.size()]);
      k.put(2 + i, wide_[rng_() % wide_.size()], Type::u64);
    }
    return k;
  }
  uint64_t input() {
    static constexpr uint64_t kValues[] = {
        0x7fc000017f800001, 0xfff8000000000001, 0x7ff0000000000000, 0xffffffffffc00000,
        0x3ff000003f800000, 0xff8000007f800000, 0x8000000080000000, 0x0000000000000000};
    return rng_() % 3 == 0 ? uint64_t{rng_()} << 32 | rng_() : kValues[rng_() % 8];
  }

 private:
  Reg load(TestKernel& k, uint32_t slot, Type type) {
    return k.load(k.slot_address, TestKernel::mem(type, ir::Space::global, int64_t{8} * slot));
  }
  const std::vector<Reg>& of(Type t) const { return t == Type::f64 ? wide_ : narrow_; }
  Reg any(Type t) { return of(t)[rng_() % of(t).size()]; }
  Operand source(Type t) {
    if (rng_() % 6 != 0) return any(t);
    return imm(t == Type::f64 ? 0x7ff8000000000003 : rng_() % 2 == 0 ? 0x3f800000 : 0x7fc00003);
  }
  Reg condition(TestKernel& k) {
    const Type t = rng_() % 2 == 0 ? Type::f32 : Type::f64;
    const Reg p = k.b.reg(Width::pred);
    k.b.emit(Op::fcmp, t, {p}, {any(t), any(t)}).cond = static_cast<ir::Cond>(rng_() % 14);
    return p;
  }
  void body(TestKernel& k, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const bool guarded = rng_() % 4 == 0;
      const ir::Guard guard = guarded ? ir::Guard{condition(k), false} : ir::Guard{};
      k.b.set_guard(guard);
      instruction(k);
      k.b.set_guard({});
    }
  }
  void instruction(TestKernel& k) {
    const Type t = rng_() % 3 == 0 ? Type::f64 : Type::f32;
    const Type bits = t == Type::f64 ? Type::u64 : Type::u32;
    const Reg to = any(t);
    switch (rng_() % 12) {
      case 0:
        k.b.emit(Op::mov, bits, {to}, {source(t)});
        break;
      case 1:
        k.b.emit(rng_() % 2 == 0 ? Op::fneg : Op::fabs, t, {to}, {any(t)});
        break;
      case 2:
        k.b.emit(Op::add, bits, {to}, {any(t), imm(1)});
        break;
      case 3:
        k.put(4 + static_cast<uint32_t>(rng_() % 4), any(t), bits);
        break;
      case 4: {
        k.b.set_guard({});
        const Reg p = condition(k);
        k.b.emit(Op::select, bits, {to}, {p, source(t), any(t)});
        break;
      }
      case 5:
        k.b.emit(rng_() % 2 == 0 ? Op::fmin : Op::fmax, t, {to}, {any(t), source(t)}).mode =
            rng_() % 2;
        break;
      case 6:
        k.b.emit(Op::f2f, Type::f64, {wide_[rng_() % 3]}, {any(Type::f32)}).from = Type::f32;
        break;
      case 7:
        k.b.emit(Op::f2f, Type::f32, {narrow_[rng_() % 5]}, {any(Type::f64)}).from = Type::f64;
        break;
      case 8:
        k.b.emit(Op::f2i, Type::s32, {narrow_[rng_() % 5]}, {any(t)}).from = t;
        break;
      case 9:
        k.b.emit(Op::ffma, t, {to}, {any(t), source(t), any(t)});
        break;
      default:
        k.b.emit(rng_() % 2 == 0 ? Op::fadd : Op::fmul, t, {to}, {any(t), source(t)}).sat =
            rng_() % 16 == 0;
        break;
    }
  }

  std::mt19937 rng_;
  std::vector<Reg> narrow_, wide_;
};

/// Behind each operation that may give any NaN: a NaN gets another sign and payload.
size_t change_nans(ir::Program& p) {
  size_t changed = 0;
  const Reg nan = p.add_reg(Width::pred), odd = p.add_reg(Width::b32), wide = p.add_reg(Width::b64);
  for (ir::Block& block : p.blocks) {
    std::vector<ir::Inst> out;
    for (const ir::Inst& inst : block.insts) {
      out.push_back(inst);
      if (!inst.any_nan) continue;
      ++changed;
      const bool is_wide = inst.type == Type::f64;
      const Type bits = is_wide ? Type::u64 : Type::u32;
      const Reg r = inst.dst[0], other = is_wide ? wide : odd;
      const auto make = [&](Op op, Type type, Reg to, std::vector<Operand> src) -> ir::Inst& {
        ir::Inst i;
        i.op = op;
        i.type = type;
        i.dst = {to};
        i.src = std::move(src);
        out.push_back(i);
        return out.back();
      };
      make(Op::fcmp, inst.type, nan, {r, r}).cond = ir::Cond::nan;
      make(Op::xor_, bits, other, {r, imm(is_wide ? 0x8000000000001234 : 0x80001234)});
      make(Op::select, bits, r, {nan, other, r}).guard = inst.guard;
    }
    block.insts = std::move(out);
  }
  return changed;
}

std::vector<uint64_t> stored(const TestKernel& kernel, const std::vector<uint64_t>& inputs) {
  Run r{reference::make_engine(), {}};
  r.engine->reserve(1 << 16);
  r.engine->write(guest::kArenaBase, std::as_bytes(std::span(inputs)));
  LaunchRequest request;
  request.program = &kernel.program;
  request.grid = {1, 1, 1};
  request.block = {kLanes, 1, 1};
  r.result = r.engine->launch(request);
  REQUIRE(r.result.fault_count == 0);
  std::vector<uint64_t> all;
  for (uint32_t lane = 0; lane < kLanes; ++lane)
    for (uint32_t slot = 0; slot < kSlots; ++slot) all.push_back(r.slot(lane, slot));
  return all;
}

}  // namespace

TEST_CASE("nobody sees the NaNs that relax_nans gives free") {
  size_t changed = 0, operations = 0, differ_when_all_are = 0;
  for (uint32_t seed = 0; seed < test::rounds(1500); ++seed) {
    RandomFloats random(seed);
    const TestKernel kernel = random.make();
    REQUIRE(ir::verify(kernel.program).empty());
    std::vector<uint64_t> inputs;
    for (uint32_t i = 0; i < kLanes * kSlots; ++i) inputs.push_back(random.input());
    const std::vector<uint64_t> expected = stored(kernel, inputs);

    TestKernel relaxed = kernel;
    ir::relax_nans(relaxed.program);
    CAPTURE(ir::print(kernel.program));
    CAPTURE(ir::print(relaxed.program));
    changed += change_nans(relaxed.program);
    REQUIRE(ir::verify(relaxed.program).empty());
    REQUIRE(stored(relaxed, inputs) == expected);

    // The other way round, so that the test is known to see something.
    TestKernel all = kernel;
    for (ir::Block& block : all.program.blocks)
      for (ir::Inst& i : block.insts)
        i.any_nan = i.op == Op::fadd || i.op == Op::fmul || i.op == Op::ffma;
    operations += change_nans(all.program);
    differ_when_all_are += stored(all, inputs) != expected ? 1 : 0;
  }
  MESSAGE(changed << " relaxed, " << operations << " sums and products");
  CHECK(changed > operations / 4);
  CHECK(differ_when_all_are > test::rounds(500));
}

TEST_CASE("a sum that is stored behind its loop is made canonical there") {
  TestKernel k;
  const Reg x = k.load(k.slot_address, TestKernel::mem(Type::u32));
  const Reg sum = k.b.make(Op::mov, Type::u32, {imm(0)});
  const Reg left = k.b.make(Op::mov, Type::u32, {imm(9)});
  const uint32_t loop = k.b.add_block(), end = k.b.add_block();
  k.b.jump(loop);
  k.b.set_block(loop);
  k.b.emit(Op::fadd, Type::f32, {sum}, {sum, x});
  k.b.emit(Op::sub, Type::u32, {left}, {left, imm(1)});
  const Reg more = k.b.reg(Width::pred);
  k.b.emit(Op::icmp, Type::u32, {more}, {left, imm(0)}).cond = ir::Cond::ne;
  k.b.branch({more, false}, loop, end);
  k.b.set_block(end);
  k.put(0, sum);
  k.put(1, sum);
  ir::relax_nans(k.program);
  CHECK(k.program.blocks[loop].insts[0].any_nan);
  const auto& behind = k.program.blocks[end].insts;
  REQUIRE(behind.size() == 3);
  CHECK(behind[0].op == Op::f2f);
  CHECK(!behind[0].any_nan);
  CHECK(ir::verify(k.program).empty());
}
