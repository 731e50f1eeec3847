// Vector compares of every type, and tests of a float's class.
#include "runtime/isa/gcn/lowering/values.hpp"

namespace lanewise::gcn {

namespace {

/// The integer type of the registers that a 16-bit compare works on.
Type widened(Type t) {
  return t == Type::u16 ? Type::u32 : t == Type::s16 ? Type::s32 : t;
}

constexpr uint8_t kNever = 0, kAlways = 2;

}  // namespace

void lower_vcmp_any(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Meaning& m = i.row->meaning;
  if (i.clamp) throw Unsupported("clamp on a compare is not supported");
  if (m.count == kNever) return v.put_mask(imm(0));
  if (m.count == kAlways) return v.put_mask(imm(1));
  const bool real = ir::is_float(m.type);
  const auto read = [&](size_t n) { return real ? v.input(n, m.type) : v.integer(n, m.type); };
  const ir::Operand x = read(0), y = read(1);
  const Reg r = c.reg(Width::pred);
  ir::Inst& inst = c.emit(m.op, real ? m.type : widened(m.type), {r}, {x, y});
  inst.cond = m.cond;
  inst.ftz = real && m.type != Type::f64 && v.mode.flushes(m.type);
  v.put_mask(r);
}

/// Bits of S1: signalling and quiet NaN, then -infinity, -normal, -subnormal, -0, +0, +subnormal,
/// +normal, +infinity.
void lower_vcmp_class(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type t = i.row->meaning.type;
  const bool wide = t == Type::f64;
  const Type bits = wide ? Type::u64 : Type::u32;
  const uint64_t sign = wide ? uint64_t{1} << 63 : t == Type::f16 ? 0x8000 : 0x80000000;
  const uint64_t infinity = wide ? 0x7ff0000000000000 : t == Type::f16 ? 0x7c00 : 0x7f800000;
  const uint64_t normal = wide ? uint64_t{1} << 52 : t == Type::f16 ? 0x400 : 0x800000;
  const uint64_t quiet = infinity | normal >> 1;
  const ir::Operand x = v.real(0, t);
  const Reg size = c.make(Op::and_, bits, {x, imm(sign - 1)});
  const auto at_least = [&](uint64_t limit) { return c.compare(Cond::ge, bits, size, imm(limit)); };
  // How many steps the magnitude is above zero: its bit counted from that of +0.
  Reg step = v.select(at_least(1), imm(1), imm(0));
  step = v.select(at_least(normal), imm(2), step);
  step = v.select(at_least(infinity), imm(3), step);
  const Reg negative = c.compare(Cond::ne, bits, c.make(Op::and_, bits, {x, imm(sign)}), imm(0));
  Reg which = v.select(negative, v.make(Op::sub, {imm(5), step}), v.make(Op::add, {imm(6), step}));
  which = v.select(at_least(infinity + 1), imm(0), which);
  which = v.select(at_least(quiet), imm(1), which);
  const ir::Operand tests = t == Type::f16 ? v.u16(1) : v.u32(1);
  const Reg bit = v.make(Op::and_, {v.make(Op::shr, {tests, which}), imm(1)});
  v.put_mask(c.compare(Cond::ne, Type::u32, bit, imm(0)));
}

}  // namespace lanewise::gcn
