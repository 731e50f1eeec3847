#include "runtime/ir/passes/values/numbering.hpp"

namespace lanewise::ir {

bool is_plain_move(const Inst& i) {
  // Nothing says what a move of a narrow type does to the bits above.
  return i.op == Op::mov && !i.ftz && !i.sat && (i.type == Type::pred || size_of(i.type) >= 4);
}

bool repeatable(const Inst& i) {
  if (i.dst.empty()) return false;
  if (i.op == Op::load) {
    // Parameters are read-only. A second load that faults is not the lane's first fault.
    const Mem& m = *i.mem;
    return m.space == Space::param && m.order == Order::weak && i.event == 0 &&
           m.cache.hint.kind == Operand::Kind::none;
  }
  if (i.op == Op::sreg) {
    const auto s = static_cast<SReg>(i.mode);
    return s != SReg::clock && s != SReg::clock_hi && s != SReg::clock64 && s != SReg::globaltimer;
  }
  return info(i.op).trait == OpTrait::pure && !is_plain_move(i);
}

bool commutes(const Inst& i) {
  switch (i.op) {
    case Op::add:
    case Op::mul:
    case Op::mulhi:
    case Op::mulwide:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::min:
    case Op::max:
      return true;
    case Op::icmp:
      return i.cond == Cond::eq || i.cond == Cond::ne;
    default:
      return false;
  }
}

Type plain_type(const Inst& i) {
  switch (i.op) {
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::not_:
    case Op::neg:
    case Op::shl:
    case Op::select:
      return i.type == Type::pred             ? Type::pred
             : width_of(i.type) == Width::b64 ? Type::u64
                                              : Type::u32;
    default:
      return i.type;
  }
}

std::vector<bool> read_by_others(const Program& program) {
  std::vector<bool> read(program.regs.size());
  for (const Block& b : program.blocks) {
    for (const Inst& i : b.insts) {
      if (i.op == Op::readlane && i.src[0].is_reg()) read[i.src[0].index] = true;
    }
  }
  return read;
}

Numbering::Numbering(const Program& program)
    : p_(program),
      single_(program.regs.size()),
      values_(program.regs.size()),
      locals_(program.regs.size()) {
  const Graph graph = block_graph(program);
  dom_ = dominators(graph);
  order_ = reverse_postorder(graph);
  std::vector<uint8_t> writes(program.regs.size());
  for (const Block& b : program.blocks) {
    for (const Inst& i : b.insts) {
      // A guarded write makes the old value count as well.
      for (const Reg r : i.dst)
        writes[r.id] = writes[r.id] == 0 && i.guard.always() ? uint8_t{1} : uint8_t{2};
    }
  }
  for (size_t r = 0; r < writes.size(); ++r) single_[r] = writes[r] == 1;
}

void Numbering::enter(uint32_t block) {
  block_ = block;
  ++visit_;
}

uint32_t Numbering::of(uint32_t reg) {
  if (single_[reg]) {
    const Value& v = values_[reg];
    if (v.block != kNone && (v.block == block_ || dom_.dominates(v.block, block_))) return v.number;
  }
  Local& l = locals_[reg];
  if (l.block_visit != visit_) l = {visit_, fresh()};
  return l.number;
}

uint32_t Numbering::of(const Operand& o) {
  switch (o.kind) {
    case Operand::Kind::reg:
      return of(o.index);
    case Operand::Kind::imm: {
      const auto [at, added] = constants_.try_emplace(o.imm, next_);
      if (added) bits_.emplace(fresh(), o.imm);
      return at->second;
    }
    case Operand::Kind::symbol: {
      // Addends are small: what does not fit stays a value of its own.
      if (o.imm >> 32 != 0) return fresh();
      const auto [at, added] = symbols_.try_emplace(uint64_t{o.index} << 32 | o.imm, next_);
      if (added) ++next_;
      return at->second;
    }
    case Operand::Kind::none:
      return 0;
  }
  return 0;
}

std::optional<uint64_t> Numbering::constant(uint32_t number) const {
  const auto at = bits_.find(number);
  if (at == bits_.end()) return std::nullopt;
  return at->second;
}

void Numbering::write(const Inst& inst, Reg reg, uint32_t number) {
  if (!inst.guard.always() && of(reg.id) != number) number = fresh();
  if (single_[reg.id]) {
    values_[reg.id] = {block_, number};
  } else {
    locals_[reg.id] = {visit_, number};
  }
}

void Numbering::write_all(const Inst& inst) {
  const uint32_t number = is_plain_move(inst) ? of(inst.src[0]) : 0;
  for (const Reg r : inst.dst) write(inst, r, number != 0 ? number : fresh());
}

}  // namespace lanewise::ir
