// Scalar instructions beyond moves, logic and sums: selection, bit fields, 64-bit shifts, SOPK.
#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {

/// SCC says that the first operand was taken.
void lower_sminmax(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const ir::Operand a = c.read32(i.operands[1]), b = c.read32(i.operands[2]);
  const Reg r = c.make(m.op, m.type, {a, b});
  if (c.scc_live)
    c.emit(Op::icmp, m.type, {c.scc()}, {a, b}).cond = m.op == Op::min ? Cond::lt : Cond::gt;
  c.write32(i.operands[0].code, r);
}

void lower_scselect(LowerContext& c, const Instruction& i) {
  const bool wide = i.operands[0].count == 2;
  const auto read = [&](size_t n) {
    return wide ? c.read64(i.operands[n]) : c.read32(i.operands[n]);
  };
  const Reg r = c.make(Op::select, wide ? Type::u64 : Type::u32, {c.scc(), read(1), read(2)});
  wide ? c.write64(i.operands[0].code, r) : c.write32(i.operands[0].code, r);
}

void lower_sshift64(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const Reg amount = c.make(Op::and_, Type::u32, {c.read32(i.operands[2]), imm(63)});
  const Reg r = c.make(m.op, m.type, {c.read64(i.operands[1], ir::is_signed(m.type)), amount});
  c.write64(i.operands[0].code, r);
  c.set_scc_nonzero(Type::u64, r);
}

/// ((1 << S0[4:0]) - 1) << S1[4:0]
void lower_sbfm(LowerContext& c, const Instruction& i) {
  const Reg size = c.make(Op::and_, Type::u32, {c.read32(i.operands[1]), imm(31)});
  const Reg at = c.make(Op::and_, Type::u32, {c.read32(i.operands[2]), imm(31)});
  const Reg above = c.make(Op::shl, Type::u32, {imm(1), size});
  const Reg ones = c.make(Op::sub, Type::u32, {above, imm(1)});
  c.write32(i.operands[0].code, c.make(Op::shl, Type::u32, {ones, at}));
}

namespace {

/// Position and size of a scalar bit field: bits 4:0 and 22:16.
Reg field_size(LowerContext& c, const ir::Operand& s) {
  const Reg up = c.make(Op::shr, Type::u32, {s, imm(16)});
  return c.make(Op::and_, Type::u32, {up, imm(127)});
}

}  // namespace

void lower_sbfe(LowerContext& c, const Instruction& i) {
  const ir::Operand s = c.read32(i.operands[2]);
  const Reg at = c.make(Op::and_, Type::u32, {s, imm(31)});
  const Reg r =
      c.make(Op::bfe, i.row->meaning.type, {c.read32(i.operands[1]), at, field_size(c, s)});
  c.write32(i.operands[0].code, r);
  c.set_scc_nonzero(Type::u32, r);
}

void lower_sunary(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const bool wide = i.operands[1].count == 2;
  const Reg r = c.reg(Width::b32);
  c.emit(m.op, m.type, {r}, {wide ? c.read64(i.operands[1]) : c.read32(i.operands[1])});
  c.write32(i.operands[0].code, r);
  if (i.row->does(kWritesScc)) c.set_scc_nonzero(Type::u32, r);
}

/// Position of the lowest 1, or -1.
void lower_sff1(LowerContext& c, const Instruction& i) {
  const ir::Operand s = c.read64(i.operands[1]);
  const Reg turned = c.make(Op::brev, Type::u64, {s});
  const Reg zeros = c.reg(Width::b32);
  c.emit(Op::clz, Type::u64, {zeros}, {turned});
  const Reg none = c.compare(Cond::eq, Type::u64, s, imm(0));
  c.write32(i.operands[0].code, c.make(Op::select, Type::u32, {none, imm(0xffffffff), zeros}));
}

namespace {

uint32_t signed_constant(const Operand& simm16) {
  return static_cast<uint32_t>(int32_t{static_cast<int16_t>(simm16.value)});
}

}  // namespace

/// SCC of s_addk_i32 is signed overflow.
void lower_saddk(LowerContext& c, const Instruction& i) {
  const ir::Operand a = c.read32(i.operands[0]), b = imm(signed_constant(i.operands[1]));
  const Reg r = c.make(i.row->meaning.op, Type::u32, {a, b});
  if (c.scc_live && i.row->meaning.op == Op::add) {
    const Reg x = c.make(Op::xor_, Type::u32, {a, r}), y = c.make(Op::xor_, Type::u32, {b, r});
    const Reg both = c.make(Op::and_, Type::u32, {x, y});
    c.emit(Op::icmp, Type::s32, {c.scc()}, {both, imm(0)}).cond = Cond::lt;
  }
  c.write32(i.operands[0].code, r);
}

/// Unsigned compares zero-extend their constant.
void lower_scmpk(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const uint32_t k =
      m.type == Type::s32 ? signed_constant(i.operands[1]) : i.operands[1].value & 0xffff;
  c.emit(Op::icmp, m.type, {c.scc()}, {c.read32(i.operands[0]), imm(k)}).cond = m.cond;
}

}  // namespace lanewise::gcn
