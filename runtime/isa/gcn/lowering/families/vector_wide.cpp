// Vector instructions on 64-bit operands, and the 16-bit ones of GCN3.
#include <utility>

#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {

namespace {

void refuse_modifiers(const Instruction& i) {
  if (i.clamp) throw Unsupported("clamp is not possible here");
  for (const Operand& o : i.operands)
    if (o.neg || o.abs) throw Unsupported("neg and abs on an integer operand are not supported");
}

const Operand& second(const Instruction& i) {
  const Operand* short_form = i.operand(Slot::vsrc1);
  return short_form != nullptr ? *short_form : *i.operand(Slot::src1);
}

}  // namespace

namespace {

/// Bit 64 of the exact sum of two signed numbers: its sign.
Reg sign_of_sum(LowerContext& c, Reg sum, const ir::Operand& a, const ir::Operand& b) {
  const Reg first = c.make(Op::xor_, Type::u64, {a, sum}),
            second = c.make(Op::xor_, Type::u64, {b, sum});
  const Reg overflow = c.make(Op::and_, Type::u64, {first, second});
  return c.compare(Cond::lt, Type::s64, c.make(Op::xor_, Type::u64, {overflow, sum}), imm(0));
}

}  // namespace

/// A product of two dwords and a 64-bit addend; the carry out of the sum is a mask. Both forms
/// leave the 65th bit of {carry, result} there, as their formulas have it.
void lower_mad64(LowerContext& c, const Instruction& i) {
  refuse_modifiers(i);
  const bool is_signed = ir::is_signed(i.row->meaning.type);
  const Reg product = c.reg(Width::b64);
  c.emit(Op::mulwide, i.row->meaning.type, {product},
         {c.read32(*i.operand(Slot::src0)), c.read32(*i.operand(Slot::src1))});
  const ir::Operand addend = c.read64(*i.operand(Slot::src2));
  const Reg sum = c.make(Op::add, Type::u64, {product, addend});
  const Reg carry = is_signed ? sign_of_sum(c, sum, product, addend)
                              : c.compare(Cond::lt, Type::u64, sum, product);
  const ir::Operand out = c.active(carry);
  const unsigned dst = i.operand(Slot::vdst)->code;
  c.emit_vector(Op::unpack64, Type::u64, {c.vgpr(dst), c.vgpr(dst + 1)}, {sum});
  c.write_mask(i.operand(Slot::mask_dst)->code, out);
}

namespace {

/// Unsigned: the sum is at most 65535, the difference at least 0.
void lower_v16_clamped(LowerContext& c, const Instruction& i) {
  Instruction open = i;
  open.clamp = false;
  refuse_modifiers(open);
  const Meaning& m = i.row->meaning;
  Reg a = c.make(Op::zext16, Type::u32, {c.read16(*i.operand(Slot::src0))}),
      b = c.make(Op::zext16, Type::u32, {c.read16(second(i))});
  if (m.reversed) std::swap(a, b);
  const Reg wide = c.make(m.op, Type::u32, {a, b});
  const bool adds = m.op == Op::add;
  const Reg inside = c.make(adds ? Op::min : Op::max, Type::s32, {wide, imm(adds ? 0xffffU : 0U)});
  c.emit_vector(Op::mov, Type::u32, {c.vgpr(i.operand(Slot::vdst)->code)}, {inside});
}

}  // namespace

/// The upper half of the result is 0. Shifts take the low four bits of the amount.
void lower_v16(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const bool sums = m.op == Op::add || m.op == Op::sub;
  if (i.clamp && sums) return lower_v16_clamped(c, i);
  refuse_modifiers(i);
  ir::Operand a = c.read16(*i.operand(Slot::src0)), b = c.read16(second(i));
  if (m.reversed) std::swap(a, b);
  const bool shifts = m.op == Op::shl || m.op == Op::shr;
  if (shifts) b = c.make(Op::and_, Type::u32, {b, imm(15)});
  if (m.op == Op::shr) a = c.make(ir::is_signed(m.type) ? Op::sext16 : Op::zext16, Type::u32, {a});
  const Type type = ir::is_signed(m.type) ? Type::s32 : Type::u32;
  const Reg wide = c.make(m.op, type, {a, b});
  c.emit_vector(Op::zext16, Type::u32, {c.vgpr(i.operand(Slot::vdst)->code)}, {wide});
}

}  // namespace lanewise::gcn
