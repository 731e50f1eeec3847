#include "tests/unit/ir/bounded.hpp"

#include <utility>
#include <vector>

#include "runtime/ir/builder.hpp"

namespace lanewise::test {

using ir::Op;
using ir::Type;
using ir::Width;

ir::Program bounded(const ir::Program& graph, uint32_t fuel_at_start, uint32_t lanes) {
  ir::Program p = graph;
  p.param_bytes = 16;
  p.sites.resize(1);
  const auto blocks = static_cast<uint32_t>(p.blocks.size());
  ir::Builder b(p);
  const ir::Reg state{0}, fuel = b.reg(Width::b32), digest = b.reg(Width::b32);
  const ir::Reg output = b.reg(Width::b64), lane = b.reg(Width::b32);
  const uint32_t start = b.add_block("start"), finish = b.add_block("finish");
  std::vector<uint32_t> gates;
  for (uint32_t i = 0; i < blocks; ++i) gates.push_back(b.add_block());
  for (uint32_t i = 0; i < blocks; ++i) {
    ir::Terminator& t = p.blocks[i].term;
    if (t.kind == ir::Terminator::Kind::exit) {
      t = {};
      t.kind = ir::Terminator::Kind::jump;
      t.targets = {finish};
      continue;
    }
    for (uint32_t& target : t.targets) target = gates[target];
  }
  for (uint32_t i = 0; i < blocks; ++i) {
    b.set_block(gates[i]);
    b.emit(Op::sub, Type::u32, {fuel}, {fuel, ir::imm(1)});
    b.emit(Op::mul, Type::u32, {digest}, {digest, ir::imm(31)});
    b.emit(Op::add, Type::u32, {digest}, {digest, ir::imm(i + 1)});
    const ir::Reg empty = b.reg(Width::pred);
    b.emit(Op::icmp, Type::u32, {empty}, {fuel, ir::imm(0)}).cond = ir::Cond::eq;
    b.branch({empty}, finish, i);
  }
  b.set_block(start);
  ir::Inst& load = b.emit(Op::load, Type::none, {output}, {ir::imm(8)});
  load.mem.emplace().space = ir::Space::param;
  load.mem->elem = Type::u64;
  const ir::Reg group = b.reg(Width::b32);
  b.emit(Op::sreg, Type::u32, {lane}, {}).mode = static_cast<uint8_t>(ir::SReg::linear_tid);
  b.emit(Op::sreg, Type::u32, {group}, {}).mode = static_cast<uint8_t>(ir::SReg::ctaid_x);
  b.emit(Op::mul, Type::u32, {group}, {group, ir::imm(lanes)});
  b.emit(Op::add, Type::u32, {lane}, {lane, group});
  b.emit(Op::mul, Type::u32, {state}, {lane, ir::imm(2654435761U)});
  b.emit(Op::mov, Type::u32, {fuel}, {ir::imm(fuel_at_start)});
  b.emit(Op::mov, Type::u32, {digest}, {ir::imm(7)});
  b.jump(0);
  b.set_block(finish);
  const ir::Reg wide = b.reg(Width::b64), address = b.reg(Width::b64);
  b.emit(Op::mulwide, Type::u32, {wide}, {lane, ir::imm(8)});
  b.emit(Op::add, Type::u64, {address}, {output, wide});
  ir::Inst& store = b.emit(Op::store, Type::none, {}, {address, state, digest});
  store.mem.emplace().count = 2;
  b.exit();
  // Lanes that name different counts at one barrier have no defined meaning.
  for (ir::Block& block : p.blocks)
    for (ir::Inst& inst : block.insts)
      if (inst.op == Op::barrier) inst.src[1] = ir::imm(0);
  // The entry is block 0.
  std::swap(p.blocks[0], p.blocks[start]);
  for (ir::Block& block : p.blocks) {
    for (uint32_t& target : block.term.targets)
      target = target == 0 ? start : target == start ? 0 : target;
  }
  return p;
}

}  // namespace lanewise::test
