// Memory instructions with good and bad addresses, atomics and shared memory on every engine.
#include "tests/differential/engines.hpp"

namespace memory {

using namespace lanewise;
using namespace lanewise::test;
using ir::Op;
using ir::Space;
using ir::Type;
using ir::Width;

namespace {

constexpr uint32_t kLanes = 64;

struct Shape {
  Type elem;
  uint8_t count;
  uint8_t align;  // 0 = natural
  ir::AlignRule rule;
};
std::vector<Shape> shapes() {
  std::vector<Shape> list;
  for (const Type t : {Type::u8, Type::s8, Type::u16, Type::s16, Type::u32, Type::u64}) {
    for (const uint8_t count : {1, 2, 3, 4, 8}) {
      if (ir::size_of(t) * count > 32) continue;
      list.push_back({t, count, 0, ir::AlignRule::trap});
      list.push_back({t, count, static_cast<uint8_t>(ir::size_of(t)), ir::AlignRule::trap});
      list.push_back({t, count, 0, ir::AlignRule::force});
      list.push_back({t, count, 0, ir::AlignRule::any});
    }
  }
  return list;
}

/// Lane i copies one access from `from` + its own odd offset to `to` + another, under a guard.
ir::Program copy_kernel(const Shape& shape, Space space) {
  Kernel k;
  k.program.param_bytes = 16;
  k.program.shared_bytes = 4096;
  k.program.local_bytes = 4096;
  const ir::Reg input = k.param64(0), output = k.param64(8), lane = k.sreg(ir::SReg::tid_x);
  const auto shaped = [&](ir::Inst& inst) {
    inst.mem->align_bytes = shape.align;
    inst.mem->align = shape.rule;
  };
  std::vector<ir::Reg> values;
  std::vector<ir::Operand> sources;
  for (int i = 0; i < shape.count; ++i) {
    values.push_back(k.b.reg(ir::size_of(shape.elem) == 8 ? Width::b64 : Width::b32));
    k.move_into(values.back(), ir::imm(77), ir::size_of(shape.elem) == 8 ? Type::u64 : Type::u32);
  }
  // Most lanes are aligned, every seventh is not.
  const ir::Reg odd = k.b.make(Op::rem, Type::u32, {lane, ir::imm(7)});
  const ir::Reg is_odd = k.compare(ir::Cond::eq, odd, ir::imm(3));
  const ir::Reg skew = k.b.make(Op::select, Type::u32, {is_odd, odd, ir::imm(0)});
  const ir::Reg step = k.b.make(Op::mul, Type::u32, {lane, ir::imm(64)});
  const ir::Reg offset = k.b.make(Op::add, Type::u32, {step, skew});
  const ir::Reg wide = k.b.make(Op::zext64, Type::u64, {offset});
  const ir::Reg guard = k.compare(ir::Cond::ne, lane, ir::imm(5));
  const ir::Reg from = k.b.make(Op::add, Type::u64, {input, wide});
  const ir::Reg to = k.b.make(Op::add, Type::u64, {output, wide});
  k.b.set_guard({guard});
  shaped(k.memory(Op::load, Space::global, shape.elem, shape.count, values, {from}));
  if (space == Space::shared || space == Space::local) {
    sources = {offset};
    for (ir::Reg r : values) sources.emplace_back(r);
    shaped(k.memory(Op::store, space, shape.elem, shape.count, {}, sources));
    // Read back through the generic window.
    const uint64_t window = space == Space::shared ? guest::kSharedWindow : guest::kLocalWindow;
    const ir::Reg generic = k.b.make(Op::add, Type::u64, {wide, ir::imm(window)});
    shaped(k.memory(Op::load, Space::generic, shape.elem, shape.count, values, {generic}));
  }
  sources = {to};
  for (ir::Reg r : values) sources.emplace_back(r);
  shaped(k.memory(Op::store, space == Space::generic ? space : Space::global, shape.elem,
                  shape.count, {}, sources));
  // A second store shows what the loads gave, extended.
  k.b.set_guard({});
  const ir::Reg tail = k.b.make(Op::zext64, Type::u64, {step});
  const ir::Reg at = k.b.make(Op::add, Type::u64, {output, tail});
  const bool wide_value = ir::size_of(shape.elem) == 8;
  k.memory(Op::store, Space::global, wide_value ? Type::u64 : Type::u32, 1, {},
           {at, values[shape.count - 1]})
      .mem->offset = 48;
  k.b.exit();
  return k.program;
}

std::vector<uint32_t> counting_words(size_t count) {
  std::vector<uint32_t> words(count);
  for (size_t i = 0; i < count; ++i) words[i] = static_cast<uint32_t>(i * 2654435761U + 12345);
  return words;
}

}  // namespace

TEST_CASE("every access shape moves the reference's bytes and faults alike") {
  const auto input = counting_words(kLanes * 16 + 64);
  // Compiling is what takes the time: every fifth shape, which meets each element type and rule.
  const std::vector<Shape> all = shapes();
  for (size_t number = 0; number < all.size(); number += 5) {
    const Shape& shape = all[number];
    const Space spaces[] = {Space::global, Space::shared, Space::local, Space::generic};
    const Space space = spaces[number / 5 % 4];
    CAPTURE(ir::name(shape.elem));
    CAPTURE(int{shape.count});
    CAPTURE(int{shape.align});
    CAPTURE(ir::name(shape.rule));
    CAPTURE(ir::name(space));
    compare(copy_kernel(shape, space), {1, 1, 1}, {kLanes, 1, 1}, input, kLanes * 16 + 64);
  }
  CHECK(validation_messages() == 0);
}

TEST_CASE("atomics on shared and global memory give the reference's sums") {
  for (const Type type : {Type::u32, Type::s32, Type::u64, Type::s64}) {
    for (const auto op : {ir::AtomOp::add, ir::AtomOp::sub, ir::AtomOp::min, ir::AtomOp::max,
                          ir::AtomOp::and_, ir::AtomOp::or_, ir::AtomOp::xor_, ir::AtomOp::inc}) {
      if (op == ir::AtomOp::inc && type != Type::u32) continue;
      CAPTURE(ir::name(type));
      CAPTURE(ir::name(op));
      const bool wide = ir::size_of(type) == 8;
      const Type elem = wide ? Type::u64 : Type::u32;
      Kernel k;
      k.program.param_bytes = 16;
      k.program.shared_bytes = 64;
      const ir::Reg output = k.param64(8), lane = k.sreg(ir::SReg::tid_x);
      const ir::Reg hash = k.b.make(Op::mul, Type::u32, {lane, ir::imm(2654435761U)});
      const ir::Reg value = wide ? k.b.make(Op::pack64, Type::u64, {lane, hash}) : hash;
      const ir::Reg first = k.compare(ir::Cond::eq, lane, ir::imm(0));
      k.b.set_guard({first});
      k.memory(Op::store, Space::shared, elem, 1, {}, {ir::imm(8), ir::imm(0)});
      k.b.set_guard({});
      k.barrier();
      for (const Space space : {Space::shared, Space::global}) {
        ir::Inst& inst = k.memory(Op::atom, space, elem, 1, {},
                                  {space == Space::shared ? ir::imm(8) : ir::Operand(output),
                                   op == ir::AtomOp::inc ? ir::imm(1000) : ir::Operand(value)});
        inst.mem->atom = op;
        inst.mem->atom_type = type;
        inst.mem->order = ir::Order::relaxed;
      }
      k.barrier();
      const ir::Reg total = k.b.reg(wide ? Width::b64 : Width::b32);
      k.memory(Op::load, Space::shared, elem, 1, {total}, {ir::imm(8)});
      k.b.set_guard({first});
      k.memory(Op::store, Space::global, elem, 1, {}, {output, total}).mem->offset = 16;
      k.b.set_guard({});
      k.b.exit();
      compare(k.program, {1, 1, 1}, {kLanes, 1, 1}, {0}, 8);
    }
  }
  CHECK(validation_messages() == 0);
}

TEST_CASE("a tile passes through shared memory around barriers, in small and large blocks") {
  for (const uint32_t lanes : {64U, 300U, 1000U}) {
    CAPTURE(lanes);
    Kernel k(4);
    k.program.param_bytes = 16;
    k.program.shared_bytes = 4096;
    const ir::Reg output = k.param64(8), lane = k.sreg(ir::SReg::linear_tid);
    const ir::Reg mine = k.b.make(Op::shl, Type::u32, {lane, ir::imm(2)});
    const ir::Reg value = k.b.reg(Width::b32), turn = k.b.reg(Width::b32);
    k.move_into(value, lane);
    k.move_into(turn, ir::imm(0));
    k.b.jump(1);
    k.b.set_block(1);
    k.memory(Op::store, Space::shared, Type::u32, 1, {}, {mine, value});
    k.barrier();
    const ir::Reg next = k.b.make(Op::add, Type::u32, {lane, ir::imm(17)});
    const ir::Reg wrapped = k.b.make(Op::rem, Type::u32, {next, ir::imm(lanes)});
    const ir::Reg other = k.b.make(Op::shl, Type::u32, {wrapped, ir::imm(2)});
    const ir::Reg got = k.b.reg(Width::b32);
    k.memory(Op::load, Space::shared, Type::u32, 1, {got}, {other});
    k.barrier();
    k.b.emit(Op::mul, Type::u32, {value}, {value, ir::imm(3)});
    k.b.emit(Op::add, Type::u32, {value}, {value, got});
    k.b.emit(Op::add, Type::u32, {turn}, {turn, ir::imm(1)});
    k.b.branch({k.compare(ir::Cond::lt, turn, ir::imm(5))}, 1, 2);
    k.b.set_block(2);
    // Half of the lanes end before a last reduction.
    k.memory(Op::store, Space::global, Type::u32, 1, {}, {k.element(output, lane), value});
    k.b.branch({k.compare(ir::Cond::gt, lane, ir::imm(lanes / 2))}, 3, 3);
    k.b.set_block(3);
    k.b.exit();
    compare(k.program, {2, 1, 1}, {lanes, 1, 1}, {0}, lanes);
  }
  CHECK(validation_messages() == 0);
}

}  // namespace memory
