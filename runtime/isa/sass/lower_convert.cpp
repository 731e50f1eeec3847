// Conversions, special functions, float compares.
#include "runtime/isa/sass/semantics.hpp"

namespace lanewise::sass {

using ir::Cond;
using ir::imm;
using ir::Op;
using ir::Operand;
using ir::Reg;
using ir::Round;
using ir::Type;
using ir::Width;

namespace {

void refuse(bool condition, const char* what) {
  if (condition) throw Unsupported(what);
}

constexpr Type kFloats[] = {Type::none, Type::f16, Type::f32, Type::f64};
constexpr Round kRounds[] = {Round::rn, Round::rm, Round::rp, Round::rz};

/// Integer format of a row: the sign is a fixed bit of it.
Type integer_type(uint64_t size, bool is_signed) {
  static constexpr Type kUnsigned[] = {Type::u8, Type::u16, Type::u32, Type::u64};
  static constexpr Type kSigned[] = {Type::s8, Type::s16, Type::s32, Type::s64};
  return is_signed ? kSigned[size] : kUnsigned[size];
}

bool wide(Type t) {
  return ir::size_of(t) == 8;
}

/// The second operand as a value of the type: a pair for 64 bits.
Operand value(LowerContext& c, const Instruction& i, Type type) {
  if (!wide(type)) return c.raw(i, Role::b);
  const OperandSpec& o = *i.operand(Role::b);
  if (o.kind == OperandSpec::Kind::reg) return c.pair(c.reg_number(i, Role::b));
  const auto place = static_cast<unsigned>(o.field.get(i.word));
  const unsigned bank = place >> 14, offset = (place & 0x3fff) * 4;
  refuse(offset % 8 != 0, "a 64-bit constant lies at a multiple of 8");
  return c.make(Op::pack64, Type::u64, {c.constant(bank, offset), c.constant(bank, offset + 4)});
}

Operand with_sign(LowerContext& c, const Instruction& i, Operand x, Type type, Op abs, Op neg) {
  if (c.absolute(i, Role::b)) x = c.make(abs, type, {x});
  if (c.negated(i, Role::b)) x = c.make(neg, type, {x});
  return x;
}

Operand float_value(LowerContext& c, const Instruction& i, Type type) {
  return with_sign(c, i, value(c, i, type), type, Op::fabs, Op::fneg);
}

/// An integer of any format, extended to 32 bits.
Operand integer_value(LowerContext& c, const Instruction& i, Type type) {
  refuse(!ir::is_signed(type) && (c.absolute(i, Role::b) || c.negated(i, Role::b)),
         "what the sign of an unsigned number does in a conversion is not documented");
  Operand x = value(c, i, type);
  switch (type) {
    case Type::u8:
      x = c.make(Op::zext8, Type::u32, {x});
      break;
    case Type::s8:
      x = c.make(Op::sext8, Type::s32, {x});
      break;
    case Type::u16:
      x = c.make(Op::zext16, Type::u32, {x});
      break;
    case Type::s16:
      x = c.make(Op::sext16, Type::s32, {x});
      break;
    default:
      break;
  }
  return with_sign(c, i, x, wide(type) ? Type::s64 : Type::s32, Op::abs, Op::neg);
}

Type computed(Type narrow) {
  if (wide(narrow)) return narrow;
  return ir::is_signed(narrow) ? Type::s32 : Type::u32;
}

void check_destination(LowerContext& c, const Instruction& i, Type type) {
  if (wide(type)) c.check_vector(c.reg_number(i, Role::d), 2);
}
void write(LowerContext& c, const Instruction& i, Type type, Reg result) {
  const unsigned d = c.reg_number(i, Role::d);
  if (d == kRZ) return;
  if (wide(type))
    c.b.emit(Op::unpack64, Type::u32, {c.writable(d), c.writable(d + 1)}, {result});
  else
    c.b.emit(Op::mov, Type::u32, {c.writable(d)}, {result});
}

ir::Inst& convert(LowerContext& c, Op op, Type to, Type from, Reg d, Operand x) {
  ir::Inst& inst = c.b.emit(op, to, {d}, {x});
  inst.from = from;
  return inst;
}

}  // namespace

void lower_i2f(LowerContext& c, const Instruction& i) {
  const Type to = kFloats[i.mod(ModId::type)];
  const Type from = integer_type(i.mod(ModId::size), Field{13, 1}.get(i.word) != 0);
  check_destination(c, i, to);
  const Reg r = c.b.reg(ir::width_of(to));
  const Operand x = integer_value(c, i, from);
  convert(c, Op::i2f, to, computed(from), r, x).round = kRounds[i.mod(ModId::round)];
  write(c, i, to, r);
}

void lower_f2i(LowerContext& c, const Instruction& i) {
  static constexpr Round kIntegral[] = {Round::rn, Round::rm, Round::rp, Round::rz};
  const Type from = kFloats[i.mod(ModId::type)];
  const Type to = integer_type(i.mod(ModId::size), Field{12, 1}.get(i.word) != 0);
  refuse(ir::size_of(to) < 4, "F2I to 8 and 16 bits is not supported yet");
  check_destination(c, i, to);
  const Reg r = c.b.reg(ir::width_of(to));
  const Operand x = float_value(c, i, from);
  ir::Inst& inst = convert(c, Op::f2i, to, from, r, x);
  inst.round = kIntegral[i.mod(ModId::round)];
  inst.ftz = i.mod(ModId::ftz) != 0;
  write(c, i, to, r);
}

void lower_i2i(LowerContext& c, const Instruction& i) {
  const Type to = integer_type(i.mod(ModId::size), Field{12, 1}.get(i.word) != 0);
  const Type from = integer_type(i.mod(ModId::type), Field{13, 1}.get(i.word) != 0);
  refuse(i.mod(ModId::sat) != 0, "I2I.SAT is not supported yet");
  refuse(ir::size_of(to) != 4 || ir::size_of(from) > 4,
         "I2I is supported to 32 bits from at most 32 bits");
  const Operand value = integer_value(c, i, from);
  set_flags(c, i, value, imm(0), imm(0));
  c.b.emit(Op::mov, Type::u32, {c.destination(i)}, {value});
}

void lower_f2f(LowerContext& c, const Instruction& i) {
  const Type to = kFloats[i.mod(ModId::type)], from = kFloats[i.mod(ModId::size)];
  const uint64_t code = i.mod(ModId::round);
  const bool integral = code >= 8;
  refuse(integral && to != from, "F2F rounds to integers within one format only");
  refuse(integral && to == Type::f16 && i.mod(ModId::ftz) != 0,
         "what .FTZ does where F2F rounds half precision is not documented");
  check_destination(c, i, to);
  const Reg r = c.b.reg(ir::width_of(to));
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
  c.b.emit(Op::mov, Type::u32, {c.destination(i)}, {c.fsource(i, Role::b)});
}

namespace {

/// The upper word of a double: a subnormal number becomes a zero of its sign.
Operand flushed_upper_word(LowerContext& c, Operand x) {
  const Reg exponent = c.make(Op::and_, Type::u32, {x, imm(0x7ff00000)}),
            tiny = c.b.reg(Width::pred);
  c.b.emit(Op::icmp, Type::u32, {tiny}, {exponent, imm(0)}).cond = Cond::eq;
  return c.make(Op::select, Type::u32,
                {tiny, c.make(Op::and_, Type::u32, {x, imm(0x80000000)}), x});
}

/// The upper word of 1/x or 1/sqrt(x) of the double whose upper word this is.
void upper_word_of_inverse(LowerContext& c, const Instruction& i, Operand a, bool of_root) {
  refuse(i.mod(ModId::sat) != 0, "MUFU.RCP64H and RSQ64H have no .SAT");
  Operand x = c.make(Op::pack64, Type::u64, {imm(0), flushed_upper_word(c, a)});
  if (of_root) x = c.make(Op::fsqrt, Type::f64, {x});
  const Reg inverse = c.make(Op::frcp, Type::f64, {x}), upper = c.b.reg(Width::b32);
  c.b.emit(Op::unpack64, Type::u32, {c.b.reg(Width::b32), upper}, {inverse});
  c.b.emit(Op::mov, Type::u32, {c.destination(i)}, {flushed_upper_word(c, upper)});
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
      c.b.emit(op == kSqrt ? Op::fsqrt_approx : kOps[op], Type::f32, {c.destination(i)}, {a});
  inst.ftz = true;
  inst.sat = i.mod(ModId::sat) != 0;
}

namespace {

Operand float_compare(LowerContext& c, const Instruction& i, Operand x, Operand y) {
  static constexpr Cond kConds[] = {Cond::eq,  Cond::lt,  Cond::eq,  Cond::le,  Cond::gt,
                                    Cond::ne,  Cond::ge,  Cond::num, Cond::nan, Cond::ltu,
                                    Cond::equ, Cond::leu, Cond::gtu, Cond::neu, Cond::geu};
  const uint64_t code = i.mod(ModId::cond);
  if (code == 0 || code == 15) return imm(code == 15 ? 1 : 0);
  const Reg r = c.b.reg(Width::pred);
  ir::Inst& inst = c.b.emit(Op::fcmp, Type::f32, {r}, {x, y});
  inst.cond = kConds[code];
  inst.ftz = i.mod(ModId::ftz) != 0;
  return r;
}

}  // namespace

void lower_fsetp(LowerContext& c, const Instruction& i) {
  write_test(c, i, float_compare(c, i, c.fsource(i, Role::a), c.fsource(i, Role::b)));
}

void lower_fset(LowerContext& c, const Instruction& i) {
  refuse(c.has_cc(i), "FSET with .CC is not supported yet");
  const Operand test = float_compare(c, i, c.fsource(i, Role::a), c.fsource(i, Role::b));
  const Operand result = combine(c, i.mod(ModId::bop), test, c.pred_source(i, Role::r));
  c.b.emit(Op::select, Type::u32, {c.destination(i)},
           {result, imm(i.mod(ModId::parts) != 0 ? 0x3f800000 : 0xffffffff), imm(0)});
}

void lower_fcmp(LowerContext& c, const Instruction& i) {
  const Operand test = float_compare(c, i, c.raw(i, Role::c), imm(0));
  c.b.emit(Op::select, Type::u32, {c.destination(i)}, {test, c.raw(i, Role::a), c.raw(i, Role::b)});
}

void lower_fmnmx(LowerContext& c, const Instruction& i) {
  refuse(c.has_cc(i), "FMNMX with .CC is not supported yet");
  const Operand a = c.fsource(i, Role::a), b = c.fsource(i, Role::b);
  const Reg low = c.b.reg(Width::b32), high = c.b.reg(Width::b32);
  c.b.emit(Op::fmin, Type::f32, {low}, {a, b}).ftz = i.mod(ModId::ftz) != 0;
  c.b.emit(Op::fmax, Type::f32, {high}, {a, b}).ftz = i.mod(ModId::ftz) != 0;
  c.b.emit(Op::select, Type::u32, {c.destination(i)}, {c.pred_source(i, Role::p), low, high});
}

}  // namespace lanewise::sass
