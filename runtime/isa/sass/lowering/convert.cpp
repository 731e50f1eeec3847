// Conversions, special functions, float compares.
#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {

namespace {

constexpr Type kFloats[] = {Type::none, Type::f16, Type::f32, Type::f64};
constexpr Round kRounds[] = {Round::rn, Round::rm, Round::rp, Round::rz};

/// Size in two bits, sign above.
Type integer_type(uint64_t code) {
  static constexpr Type kUnsigned[] = {Type::u8, Type::u16, Type::u32, Type::u64};
  static constexpr Type kSigned[] = {Type::s8, Type::s16, Type::s32, Type::s64};
  return code >= 4 ? kSigned[code & 3] : kUnsigned[code];
}

bool wide(Type t) {
  return ir::size_of(t) == 8;
}

/// The half or byte of the second operand that its suffix chooses, at the bottom.
Operand chosen_part(LowerContext& c, const Instruction& i, Type type) {
  const Operand x = c.raw(i, Role::b);
  const Field select = i.operand(Role::b)->part;
  const uint64_t part = select.present() ? select.get(i.word) : 0;
  if (part == 0) return x;
  const bool is_half = type == Type::f16, byte = ir::size_of(type) == 1;
  refuse(!is_half && !byte && (ir::size_of(type) != 2 || part != 2),
         "a part of this size does not exist");
  return c.make(Op::shr, Type::u32, {x, imm(byte ? 8 * part : 16)});
}

/// The second operand as a value of the type: a pair for 64 bits.
Operand value(LowerContext& c, const Instruction& i, Type type) {
  const OperandSpec& o = *i.operand(Role::b);
  if (!wide(type)) {
    const bool number = o.kind == OperandSpec::Kind::fimm && type == Type::f16;
    return number ? imm(o.field.get(i.word) & 0xffff) : chosen_part(c, i, type);
  }
  refuse(o.part.present() && o.part.get(i.word) != 0, "64 bits have no parts");
  return c.wide_raw(i, Role::b);
}

Operand with_sign(LowerContext& c, const Instruction& i, Operand x, Type type, Op abs, Op neg) {
  if (c.absolute(i, Role::b)) x = c.make(abs, type, {x});
  if (c.negated(i, Role::b)) x = c.make(neg, type, {x});
  return x;
}

Operand float_value(LowerContext& c, const Instruction& i, Type type) {
  return with_sign(c, i, value(c, i, type), type, Op::fabs, Op::fneg);
}

/// The low bits of a word as a number of the type, extended to the word by the type's sign.
Operand extended(LowerContext& c, Type type, Operand x) {
  switch (type) {
    case Type::u8:
      return c.make(Op::zext8, Type::u32, {x});
    case Type::s8:
      return c.make(Op::sext8, Type::u32, {x});
    case Type::u16:
      return c.make(Op::zext16, Type::u32, {x});
    case Type::s16:
      return c.make(Op::sext16, Type::u32, {x});
    default:
      return x;
  }
}

/// An integer of any format, extended to 32 bits. Its sign is computed in the format's own width:
/// compilers put neg.s16 and abs.s16 into the conversion behind them.
Operand integer_value(LowerContext& c, const Instruction& i, Type type, bool modular = false) {
  const bool sign = c.absolute(i, Role::b) || c.negated(i, Role::b);
  refuse(!ir::is_signed(type) && !modular && sign,
         "what the sign of an unsigned number does in a conversion is not documented");
  const Operand x = extended(c, type, value(c, i, type));
  if (!sign) return x;
  return extended(c, type,
                  with_sign(c, i, x, wide(type) ? Type::s64 : Type::s32, Op::abs, Op::neg));
}

Type computed(Type narrow) {
  if (wide(narrow)) return narrow;
  return ir::is_signed(narrow) ? Type::s32 : Type::u32;
}

/// F2I extends a narrow integer to the register by its own sign: compilers use the 32 bits as they
/// are. (I2I does not, see lower_i2i.)
void write(LowerContext& c, const Instruction& i, Type type, Reg result) {
  refuse(c.has_cc(i), "conversions of floating point with .CC are not documented");
  if (wide(type)) return c.write_wide(i, result);
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {extended(c, type, result)});
}

ir::Inst& convert(LowerContext& c, Op op, Type to, Type from, Reg d, Operand x) {
  ir::Inst& inst = c.emit(op, to, {d}, {x});
  inst.from = from;
  return inst;
}

/// A 32-bit value of one type, brought into the range of another.
Operand in_range(LowerContext& c, Operand x, Type from, Type to) {
  const unsigned bits = 8 * ir::size_of(to);
  const bool to_signed = ir::is_signed(to), from_signed = ir::is_signed(from);
  const uint64_t top = uint64_t{1} << (bits - (to_signed ? 1 : 0));
  const Type type = from_signed ? Type::s32 : Type::u32;
  // No limit where all values of the source fit.
  if (from_signed && !to_signed) x = c.make(Op::max, type, {x, imm(0)});
  if (from_signed && to_signed && bits < 32)
    x = c.make(Op::max, type, {x, imm((0 - top) & 0xffffffff)});
  if (bits < 32 || (to_signed && !from_signed)) x = c.make(Op::min, type, {x, imm(top - 1)});
  return x;
}

}  // namespace

void lower_i2f(LowerContext& c, const Instruction& i) {
  const Type to = kFloats[i.mod(ModId::type)];
  const Type from = integer_type(i.mod(ModId::size));
  const Reg r = c.reg(ir::width_of(to));
  const Operand x = integer_value(c, i, from);
  convert(c, Op::i2f, to, computed(from), r, x).round = kRounds[i.mod(ModId::round)];
  write(c, i, to, r);
}

void lower_f2i(LowerContext& c, const Instruction& i) {
  static constexpr Round kIntegral[] = {Round::rn, Round::rm, Round::rp, Round::rz};
  const Type from = kFloats[i.mod(ModId::type)];
  const Type to = integer_type(i.mod(ModId::size));
  const Reg r = c.reg(ir::width_of(to));
  const Operand x = float_value(c, i, from);
  ir::Inst& inst = convert(c, Op::f2i, to, from, r, x);
  inst.round = kIntegral[i.mod(ModId::round)];
  inst.ftz = i.mod(ModId::ftz) != 0;
  write(c, i, to, r);
}

/// Without .SAT the upper bits are lost. Compilers need zeros above 16 bits, signed or not: they
/// leave out I2I.U32.U16 behind I2I.S16. Above 8 bits they need nothing, and always extend again.
void lower_i2i(LowerContext& c, const Instruction& i) {
  const Type to = integer_type(i.mod(ModId::size)), from = integer_type(i.mod(ModId::type));
  const bool sat = i.mod(ModId::sat) != 0, absolute = c.absolute(i, Role::b);
  refuse(sat && c.has_cc(i), "I2I.SAT with .CC is not documented");
  // sub.u16 d, 0, x; and the lowest word of a wide number's negation, in code that is not
  // optimised.
  const bool modular = from == to && !sat && !c.has_cc(i) && !absolute;
  Operand x = integer_value(c, i, from, modular);
  // The absolute value of the smallest number is that number, or as unsigned its magnitude.
  if (to == Type::u32 && !sat && absolute && !c.negated(i, Role::b))
    x = extended(c, from == Type::s16 ? Type::u16 : from == Type::s8 ? Type::u8 : from, x);
  if (sat) x = in_range(c, x, from, to);
  x = extended(c, to == Type::s16 ? Type::u16 : to, x);
  set_flags(c, i, x, imm(0), imm(0));
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {x});
}

void lower_f2f(LowerContext& c, const Instruction& i) {
  const Type to = kFloats[i.mod(ModId::type)], from = kFloats[i.mod(ModId::size)];
  const uint64_t code = i.mod(ModId::round);
  const bool integral = to == from && code >= 4;
  refuse(to == from && code > 0 && code < 4, "F2F.PASS is not documented");
  refuse(integral && to == Type::f16 && i.mod(ModId::ftz) != 0,
         "what .FTZ does where F2F rounds half precision is not documented");
  const Reg r = c.reg(ir::width_of(to));
  const Operand x = float_value(c, i, from);
  ir::Inst& inst =
      convert(c, integral ? Op::fround : Op::f2f, to, integral ? Type::none : from, r, x);
  inst.round = kRounds[code & 3];
  inst.ftz = i.mod(ModId::ftz) != 0;
  inst.sat = i.mod(ModId::sat) != 0;
  write(c, i, to, r);
}

/// MUFU takes any argument here, so reducing its range changes nothing.
void lower_rro(LowerContext& c, const Instruction& i) {
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {c.fsource(i, Role::b)});
}

namespace {

/// The upper word of a double: a subnormal number becomes a zero of its sign.
Operand flushed_upper_word(LowerContext& c, Operand x) {
  const Reg exponent = c.make(Op::and_, Type::u32, {x, imm(0x7ff00000)}), tiny = c.reg(Width::pred);
  c.emit(Op::icmp, Type::u32, {tiny}, {exponent, imm(0)}).cond = Cond::eq;
  return c.make(Op::select, Type::u32,
                {tiny, c.make(Op::and_, Type::u32, {x, imm(0x80000000)}), x});
}

/// The upper word of 1/x or 1/sqrt(x) of the double whose upper word this is.
void upper_word_of_inverse(LowerContext& c, const Instruction& i, Operand a, bool of_root) {
  refuse(i.mod(ModId::sat) != 0, "MUFU.RCP64H and RSQ64H have no .SAT");
  Operand x = c.make(Op::pack64, Type::u64, {imm(0), flushed_upper_word(c, a)});
  if (of_root) x = c.make(Op::fsqrt, Type::f64, {x});
  const Reg inverse = c.make(Op::frcp, Type::f64, {x}), upper = c.reg(Width::b32);
  c.emit(Op::unpack64, Type::u32, {c.reg(Width::b32), upper}, {inverse});
  c.emit(Op::mov, Type::u32, {c.destination(i)}, {flushed_upper_word(c, upper)});
}

}  // namespace

/// The unit takes subnormal operands as zeros and gives no subnormal results. Compilers scale
/// around it where a program wants them: rcp.approx.ftz is a bare MUFU.RCP, rcp.approx is not.
void lower_mufu(LowerContext& c, const Instruction& i) {
  static constexpr Op kOps[] = {Op::fcos_approx, Op::fsin_approx, Op::fex2_approx,
                                Op::flg2_approx, Op::frcp_approx, Op::frsqrt_approx};
  constexpr uint64_t kRsq64h = 7, kSqrt = 8;
  const uint64_t op = i.mod(ModId::op);
  const Operand a = c.fsource(i, Role::a);
  if (op >= std::size(kOps) && op <= kRsq64h) return upper_word_of_inverse(c, i, a, op == kRsq64h);
  ir::Inst& inst =
      c.emit(op == kSqrt ? Op::fsqrt_approx : kOps[op], Type::f32, {c.destination(i)}, {a});
  inst.ftz = true;
  inst.sat = i.mod(ModId::sat) != 0;
}

Operand float_compare(LowerContext& c, const Instruction& i, Type type, Operand x, Operand y) {
  static constexpr Cond kConds[] = {Cond::eq,  Cond::lt,  Cond::eq,  Cond::le,  Cond::gt,
                                    Cond::ne,  Cond::ge,  Cond::num, Cond::nan, Cond::ltu,
                                    Cond::equ, Cond::leu, Cond::gtu, Cond::neu, Cond::geu};
  const uint64_t code = i.mod(ModId::cond);
  if (code == 0 || code == 15) return imm(code == 15 ? 1 : 0);
  const Reg r = c.reg(Width::pred);
  ir::Inst& inst = c.emit(Op::fcmp, type, {r}, {x, y});
  inst.cond = kConds[code];
  inst.ftz = i.mod(ModId::ftz) != 0;
  return r;
}

void lower_fsetp(LowerContext& c, const Instruction& i) {
  write_test(c, i, float_compare(c, i, Type::f32, c.fsource(i, Role::a), c.fsource(i, Role::b)));
}

void lower_fset(LowerContext& c, const Instruction& i) {
  const Operand test = float_compare(c, i, Type::f32, c.fsource(i, Role::a), c.fsource(i, Role::b));
  write_truth(c, i, combine(c, i.mod(ModId::bop), test, c.pred_source(i, Role::r)));
}

void lower_fcmp(LowerContext& c, const Instruction& i) {
  const Operand test = float_compare(c, i, Type::f32, c.raw(i, Role::c), imm(0));
  c.emit(Op::select, Type::u32, {c.destination(i)}, {test, c.raw(i, Role::a), c.raw(i, Role::b)});
}

void lower_fmnmx(LowerContext& c, const Instruction& i) {
  refuse(c.has_cc(i), "FMNMX with .CC is not supported yet");
  const Operand a = c.fsource(i, Role::a), b = c.fsource(i, Role::b);
  const Reg low = c.reg(Width::b32), high = c.reg(Width::b32);
  c.emit(Op::fmin, Type::f32, {low}, {a, b}).ftz = i.mod(ModId::ftz) != 0;
  c.emit(Op::fmax, Type::f32, {high}, {a, b}).ftz = i.mod(ModId::ftz) != 0;
  c.emit(Op::select, Type::u32, {c.destination(i)}, {c.pred_source(i, Role::p), low, high});
}

}  // namespace lanewise::sass
