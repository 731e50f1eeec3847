#include "runtime/ir/passes/values/numbering.hpp"

#include "runtime/ir/make.hpp"
#include "runtime/support/enum_set.hpp"

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
  static constexpr EnumSet<Op> kAlways{Op::add, Op::mul,  Op::mulhi, Op::mulwide, Op::and_,
                                       Op::or_, Op::xor_, Op::min,   Op::max};
  if (i.op == Op::icmp) return i.cond == Cond::eq || i.cond == Cond::ne;
  return kAlways.has(i.op);
}

Type plain_type(const Inst& i) {
  static constexpr EnumSet<Op> kSignless{Op::add,  Op::sub,  Op::mul, Op::and_, Op::or_,
                                         Op::xor_, Op::not_, Op::neg, Op::shl,  Op::select};
  return kSignless.has(i.op) ? bits_type(width_of(i.type)) : i.type;
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
      ssa_(program),
      number_(ssa_.size()),
      only_(program.regs.size(), kNone),
      locals_(program.regs.size()) {
  std::vector<bool> written(program.regs.size());
  for (uint32_t v = 0; v < ssa_.size(); ++v) {
    const Ssa::Value& value = ssa_[v];
    if (value.kind != Ssa::Kind::result && value.kind != Ssa::Kind::merge) continue;
    const bool first = value.kind == Ssa::Kind::result && !written[value.reg];
    only_[value.reg] = first ? v : kNone;
    written[value.reg] = true;
  }
}

uint32_t Numbering::number(uint32_t value) {
  if (number_[value] == 0) number_[value] = fresh();
  return number_[value];
}

void Numbering::learn(uint32_t reg, uint32_t value) {
  if (value != kNone && locals_[reg].block_visit != visit_) locals_[reg] = {visit_, number(value)};
}

/// An argument whose inputs all have one number has it, too.
void Numbering::enter(uint32_t block) {
  block_ = block;
  inst_ = ~size_t{0};
  ++visit_;
  insts_ = p_.blocks[block].insts.size();
  decides_ = ssa_.deciding(block);
  for (uint32_t n = 0; n < ssa_.arguments(block); ++n) {
    const uint32_t value = ssa_.first_argument(block) + n;
    uint32_t all = 0;
    for (const uint32_t input : ssa_.inputs(value)) {
      const uint32_t own = ssa_[input].kind == Ssa::Kind::entry ? number(input) : number_[input];
      all = own == 0 || (all != 0 && all != own) ? kNone : own;
      if (all == kNone) break;
    }
    number_[value] = all == kNone ? fresh() : all;
    locals_[ssa_[value].reg] = {visit_, number_[value]};
  }
}

void Numbering::next() {
  made_.clear();
  if (++inst_ == insts_) {
    if (decides_ != kNone) learn(ssa_[decides_].reg, decides_);
    return;
  }
  const Inst& i = p_.blocks[block_].insts[inst_];
  for (size_t s = 0; s < i.src.size(); ++s)
    if (i.src[s].is_reg()) learn(i.src[s].index, ssa_.use(block_, inst_, s));
  if (!i.guard.always()) learn(i.guard.reg.id, ssa_.guard(block_, inst_));
  if (i.mem && i.mem->cache.hint.is_reg()) learn(i.mem->cache.hint.index, ssa_.hint(block_, inst_));
  for (size_t d = 0; d < i.dst.size(); ++d) {
    if (!i.dst[d].valid()) continue;
    const uint32_t value = ssa_.defined(block_, inst_, d);
    made_.emplace_back(i.dst[d].id, value);
    if (!i.guard.always()) learn(i.dst[d].id, ssa_.inputs(value)[1]);
  }
}

uint32_t Numbering::of(uint32_t reg) {
  if (reg >= locals_.size()) return fresh();  // a pass has added it on this walk
  if (locals_[reg].block_visit == visit_) return locals_[reg].number;
  const uint32_t only = only_[reg];
  const bool holds =
      only != kNone && number_[only] != 0 && ssa_.dom().dominates(ssa_[only].block, block_);
  return holds ? number_[only] : fresh();
}

uint32_t Numbering::of(const Operand& o) {
  switch (o.kind) {
    case Operand::Kind::reg:
      return of(o.index);
    case Operand::Kind::imm: {
      const auto [at, added] = constants_.try_emplace(o.imm, next_);
      if (added) ++next_;
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

void Numbering::write(const Inst& inst, Reg reg, uint32_t number) {
  if (!inst.guard.always() && of(reg.id) != number) number = fresh();
  for (const auto& [written, value] : made_)
    if (written == reg.id) number_[value] = number;
  locals_[reg.id] = {visit_, number};
}

void Numbering::write_all(const Inst& inst) {
  const uint32_t number = is_plain_move(inst) ? of(inst.src[0]) : 0;
  for (const Reg r : inst.dst)
    if (r.valid()) write(inst, r, number != 0 ? number : fresh());
}

}  // namespace lanewise::ir
