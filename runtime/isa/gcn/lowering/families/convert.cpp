// Conversions between floats and integers, alone and packed in pairs.
#include "runtime/isa/gcn/lowering/values.hpp"

namespace lanewise::gcn {

namespace {

/// Narrowing rounds in one of two directions that MODE has; which one only matters where they
/// differ.
Round narrowing(const Values& v, Type to) {
  const bool agree = v.mode.round(Type::f32) == v.mode.round(Type::f64);
  if (to != Type::f64 && !agree)
    throw Unsupported("which of two different rounding modes a narrowing conversion takes");
  return v.mode.round(to);
}

Reg converted(Values& v, Op op, Type to, Type from, ir::Operand x, Round round) {
  const Reg r = v.c.reg(width_of(to));
  ir::Inst& inst = v.c.emit(op, to, {r}, {x});
  inst.from = from;
  inst.round = round;
  return r;
}

Reg bounded(Values& v, ir::Operand x, Type type, uint32_t least, uint32_t most) {
  const Reg low = v.c.make(Op::max, type, {x, imm(least)});
  return v.c.make(Op::min, type, {low, imm(most)});
}
Reg packed(Values& v, ir::Operand low, ir::Operand high) {
  return v.make(Op::or_, {v.make(Op::zext16, {low}), v.make(Op::shl, {high, imm(16)})});
}

}  // namespace

void lower_convert(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Meaning& m = i.row->meaning;
  if (m.op == Op::f2f) {
    const ir::Operand x = v.operand(0, m.from);
    const Reg r = converted(v, m.op, m.type, m.from, x, narrowing(v, m.type));
    return v.put_real(v.mode.keeps_results(m.type) ? ir::Operand(r) : v.flushed(r, m.type), m.type);
  }
  if (m.op == Op::i2f) {
    const Type from = m.from == Type::u16 ? Type::u32 : m.from == Type::s16 ? Type::s32 : m.from;
    return v.put_real(converted(v, m.op, m.type, from, v.integer(0, m.from), v.mode.round(m.type)),
                      m.type);
  }
  // Towards zero, inside the range; NaN gives 0.
  const ir::Operand x = v.operand(0, m.from);
  const Reg r = converted(v, m.op, m.type, m.from, x, Round::rz);
  const Reg nan = v.compare(Op::fcmp, Cond::nan, m.from, x, x);
  v.put(v.select(nan, imm(0), r));
}

void lower_convert_byte(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Reg moved = v.make(Op::shr, {v.u32(0), imm(8U * i.row->meaning.count)});
  const Reg byte = v.make(Op::zext8, {moved});
  v.put_real(converted(v, Op::i2f, Type::f32, Type::u32, byte, Round::rn), Type::f32);
}

/// Four signed bits, in sixteenths.
void lower_convert_nibble(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Reg up = v.make(Op::shl, {v.u32(0), imm(28)});
  const Reg value = c.make(Op::shr, Type::s32, {up, imm(28)});
  const Reg whole = converted(v, Op::i2f, Type::f32, Type::s32, value, Round::rn);
  v.put_real(c.make(Op::fmul, Type::f32, {whole, imm(0x3d800000)}), Type::f32);
}

/// floor(x), or floor(x + 0.5) without the sum's rounding.
void lower_convert_rounded(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const ir::Operand x = v.operand(0, Type::f32);
  const Reg whole = c.reg(Width::b32);
  c.emit(Op::fround, Type::f32, {whole}, {x}).round = Round::rm;
  ir::Operand result = whole;
  if (i.row->meaning.round == Round::rp) {
    const Reg rest = c.make(Op::fsub, Type::f32, {x, whole});
    const Reg up = v.compare(Op::fcmp, Cond::ge, Type::f32, rest, imm(0x3f000000));
    const Reg next = c.make(Op::fadd, Type::f32, {whole, imm(0x3f800000)});
    result = v.select(up, next, whole);
  }
  v.put(converted(v, Op::f2i, Type::s32, Type::f32, result, Round::rz));
}

void lower_pack_halves(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const auto half = [&](size_t n) {
    return converted(v, Op::f2f, Type::f16, Type::f32, v.operand(n, Type::f32), Round::rz);
  };
  v.put(packed(v, half(0), half(1)));
}

/// Times the largest integer of the format, in a double so that nothing rounds before the end.
void lower_pack_normal(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const bool is_signed = ir::is_signed(i.row->meaning.type);
  const auto part = [&](size_t n) {
    const ir::Operand x = v.operand(n, Type::f32);
    const Reg wide = converted(v, Op::f2f, Type::f64, Type::f32, x, Round::rn);
    const uint64_t most = is_signed ? 0x40dfffc000000000 : 0x40efffe000000000;  // 32767, 65535
    const Reg product = c.make(Op::fmul, Type::f64, {wide, imm(most)});
    const Reg number = converted(v, Op::f2i, Type::s32, Type::f64, product, Round::rn);
    const Reg inside = is_signed ? bounded(v, number, Type::s32, 0xffff8001, 32767)
                                 : bounded(v, number, Type::s32, 0, 65535);
    const Reg nan = v.compare(Op::fcmp, Cond::nan, Type::f32, x, x);
    return v.select(nan, imm(0), inside);
  };
  v.put(packed(v, part(0), part(1)));
}

/// Into one byte of the third source, or of what the destination holds.
void lower_pack_byte(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const ir::Operand x = v.operand(0, Type::f32);
  const Reg whole = c.reg(Width::b32);
  c.emit(Op::fround, Type::f32, {whole}, {x}).round = v.mode.round(Type::f32);
  const Reg number = converted(v, Op::f2i, Type::u32, Type::f32, whole, Round::rz);
  const Reg nan = v.compare(Op::fcmp, Cond::nan, Type::f32, x, x);
  const Reg byte = v.select(nan, imm(0), v.make(Op::min, {number, imm(255)}));
  const Reg place = v.make(Op::shl, {v.make(Op::and_, {v.u32(1), imm(3)}), imm(3)});
  const Reg hole = v.make(Op::not_, {v.make(Op::shl, {imm(0xff), place})});
  const ir::Operand around = i.row->does(kReadsDst) ? v.old() : v.u32(2);
  v.put(v.make(Op::or_, {v.make(Op::and_, {around, hole}), v.make(Op::shl, {byte, place})}));
}

void lower_pack_clamped(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const bool is_signed = ir::is_signed(i.row->meaning.type);
  const auto part = [&](size_t n) {
    return is_signed ? bounded(v, v.u32(n), Type::s32, 0xffff8000, 32767)
                     : bounded(v, v.u32(n), Type::u32, 0, 65535);
  };
  v.put(packed(v, part(0), part(1)));
}

}  // namespace lanewise::gcn
