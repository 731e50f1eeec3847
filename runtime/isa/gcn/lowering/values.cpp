#include "runtime/isa/gcn/lowering/values.hpp"

namespace lanewise::gcn {

namespace {

void refuse_modifiers(const Operand& o) {
  if (o.neg || o.abs) throw Unsupported("neg and abs on an integer operand are not supported");
}

struct Layout {
  Type bits;  ///< the integer of the same width
  uint64_t exponent, sign;
};
Layout layout(Type t) {
  if (t == Type::f64) return {Type::u64, 0x7ff0000000000000, 0x8000000000000000};
  if (t == Type::f16) return {Type::u32, 0x7c00, 0x8000};
  return {Type::u32, 0x7f800000, 0x80000000};
}

}  // namespace

Values::Values(LowerContext& context, const Instruction& instruction)
    : c(context), i(instruction), mode(context.mode()) {
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const Slot s = i.row->operands[n].slot;
    if (s == Slot::src0 || s == Slot::src1 || s == Slot::src2 || s == Slot::vsrc1 ||
        s == Slot::literal)
      sources_.push_back(&i.operands[n]);
  }
  if (i.row->meaning.reversed) std::swap(sources_.at(0), sources_.at(1));
}

ir::Operand Values::u32(size_t n) {
  refuse_modifiers(*sources_.at(n));
  return c.read32(*sources_[n]);
}
ir::Operand Values::u64(size_t n, bool is_signed) {
  refuse_modifiers(*sources_.at(n));
  return c.read64(*sources_[n], is_signed);
}
ir::Operand Values::u16(size_t n) {
  refuse_modifiers(*sources_.at(n));
  const ir::Operand v = c.read16(*sources_[n]);
  return v.is_imm() ? v : ir::Operand(make(Op::zext16, {v}));
}
ir::Operand Values::s16(size_t n) {
  refuse_modifiers(*sources_.at(n));
  return make(Op::sext16, {c.read16(*sources_[n])});
}
ir::Operand Values::integer(size_t n, Type type) {
  switch (type) {
    case Type::u64:
    case Type::s64:
      return u64(n, type == Type::s64);
    case Type::u16:
      return u16(n);
    case Type::s16:
      return s16(n);
    default:
      return u32(n);
  }
}

ir::Operand Values::real(size_t n, Type type) {
  const Operand& o = *sources_.at(n);
  ir::Operand v = type == Type::f64   ? c.read_double(o)
                  : type == Type::f16 ? c.read16(o)
                                      : c.read32(o);
  // Bits above a half are nobody's.
  if (type == Type::f16 && !v.is_imm()) v = make(Op::zext16, {v});
  if (o.abs) v = c.make(Op::fabs, type, {v});
  if (o.neg) v = c.make(Op::fneg, type, {v});
  return v;
}

ir::Operand Values::flushed(ir::Operand value, Type type) {
  const Layout l = layout(type);
  const Reg exponent = c.make(Op::and_, l.bits, {value, imm(l.exponent)});
  const Reg none = c.compare(Cond::eq, l.bits, exponent, imm(0));
  const Reg zero = c.make(Op::and_, l.bits, {value, imm(l.sign)});
  return c.make(Op::select, l.bits, {none, zero, value});
}

ir::Operand Values::operand(size_t n, Type type) {
  const ir::Operand v = real(n, type);
  return mode.keeps_operands(type) ? v : flushed(v, type);
}

ir::Operand Values::input(size_t n, Type type) {
  return type != Type::f64 && mode.flushes(type) ? real(n, type) : operand(n, type);
}

ir::Operand Values::old(Type type) {
  const unsigned at = i.operand(Slot::vdst)->code;
  if (width_of(type) != Width::b64) return c.vgpr(at);
  const Reg r = c.reg(Width::b64);
  c.emit(Op::pack64, Type::u64, {r}, {c.vgpr(at), c.vgpr(at + 1)});
  return r;
}

Reg Values::compute(Op op, Type type, std::vector<ir::Operand> src) {
  const bool itself = type != Type::f64 && mode.flushes(type);
  const Reg r = c.reg(width_of(type));
  ir::Inst& inst = c.emit(op, type, {r}, std::move(src));
  inst.round = mode.round(type);
  inst.ftz = itself;
  if (itself || mode.keeps_results(type)) return r;
  const ir::Operand f = flushed(r, type);
  return f.reg();
}

Reg Values::compare(Op op, Cond cond, Type type, ir::Operand x, ir::Operand y) {
  const Reg r = c.reg(Width::pred);
  c.emit(op, type, {r}, {x, y}).cond = cond;
  return r;
}

void Values::put(ir::Operand value) {
  if (i.clamp) throw Unsupported("clamp on an integer result is not supported");
  const Operand& to = *i.operand(Slot::vdst);
  if (to.count == 2)
    c.emit_vector(Op::unpack64, Type::u64, {c.vgpr(to.code), c.vgpr(to.code + 1)}, {value});
  else
    c.emit_vector(Op::mov, Type::u32, {c.vgpr(to.code)}, {value});
}

/// NaN becomes 0 with DX10_CLAMP and stays without; -0 becomes 0.
void Values::put_real(ir::Operand value, Type type) {
  if (i.clamp) {
    if (!mode.dx10_clamp)
      throw Unsupported("a clamp that keeps NaN (dx10_clamp 0) is not supported");
    const uint64_t one = type == Type::f64   ? 0x3ff0000000000000
                         : type == Type::f16 ? 0x3c00
                                             : 0x3f800000;
    const Type bits = layout(type).bits;
    const Reg above = compare(Op::fcmp, Cond::gt, type, value, imm(0));
    const Reg below = compare(Op::fcmp, Cond::lt, type, value, imm(one));
    const Reg most = select(below, value, imm(one), bits);
    value = select(above, most, imm(0), bits);
  }
  const Operand& to = *i.operand(Slot::vdst);
  if (to.count == 2)
    c.emit_vector(Op::unpack64, Type::u64, {c.vgpr(to.code), c.vgpr(to.code + 1)}, {value});
  else
    c.emit_vector(Op::mov, Type::u32, {c.vgpr(to.code)}, {value});
}

void Values::put_mask(ir::Operand predicate) {
  const Operand* pair = i.operand(Slot::mask_dst);
  const ir::Operand lanes = c.active(predicate);
  c.write_mask(pair != nullptr ? pair->code : kVccLo, lanes);
  if (i.row->does(kWritesExec)) c.emit(Op::mov, Type::pred, {c.exec()}, {lanes});
}

}  // namespace lanewise::gcn
