// Output modifiers of the long vector form: the float result times 2, times 4 or halved.
#include "runtime/isa/gcn/lowering/values.hpp"

namespace lanewise::gcn {

namespace {

/// Codes past the guest's registers, and past those of DPP and SDWA.
constexpr unsigned kUnscaled = kVgpr0 + 260;

/// 2, 4 and a half.
uint64_t factor(unsigned omod, Type type) {
  static constexpr unsigned kAboveOne[] = {0, 1, 2};
  const unsigned mantissa = type == Type::f64 ? 52 : type == Type::f16 ? 10 : 23;
  const uint64_t one = type == Type::f64   ? 0x3ff0000000000000
                       : type == Type::f16 ? 0x3c00
                                           : 0x3f800000;
  const uint64_t step = uint64_t{1} << mantissa;
  return omod == 3 ? one - step : one + kAboveOne[omod] * step;
}

ir::Operand value_of(LowerContext& c, unsigned code, bool wide) {
  if (!wide) return c.vgpr(code);
  return c.make(Op::pack64, Type::u64, {c.vgpr(code), c.vgpr(code + 1)});
}

/// The instruction with its result in registers of our own, neither scaled nor clamped.
unsigned redirected(LowerContext& c, Instruction& plain) {
  unsigned to = 0;
  plain.omod = 0;
  plain.clamp = false;
  for (size_t n = 0; n < plain.operands.size(); ++n) {
    if (plain.row->operands[n].slot != Slot::vdst) continue;
    to = plain.operands[n].code;
    plain.operands[n].code = kUnscaled;
    for (unsigned k = 0; k < plain.operands[n].count && plain.row->does(kReadsDst); ++k)
      c.emit(Op::mov, Type::u32, {c.vgpr(kUnscaled + k)}, {c.vgpr(to + k)});
  }
  return to;
}

}  // namespace

/// IEEE mode turns the modifier off, and so do modes that keep the result's subnormals. Else the
/// rounded and flushed result is scaled; what that makes subnormal, and -0, becomes +0. The clamp
/// comes last.
void lower_scaled_output(LowerContext& c, const Instruction& i) {
  const Row& row = *i.row;
  const Type type = row.meaning.type;
  if (!row.gives_float())
    throw Unsupported("mul and div are for results that are one float; what " + row.name +
                      " does with them is not documented");
  Instruction plain = i;
  const FloatMode mode = c.mode();
  if (mode.ieee || mode.keeps_results(type)) {
    if (!mode.ieee && row.does(kNeverSubnormal))
      throw Unsupported("whether " + row.name +
                        ", which never gives subnormals, is scaled while the mode keeps them is "
                        "not documented");
    plain.omod = 0;
    return row.lower(c, plain);
  }
  const unsigned to = redirected(c, plain);
  row.lower(c, plain);
  for (size_t n = 0; n < plain.operands.size(); ++n)
    if (row.operands[n].slot == Slot::vdst) plain.operands[n].code = to;
  plain.clamp = i.clamp;
  Values v(c, plain);
  const ir::Operand whole = value_of(c, kUnscaled, type == Type::f64);
  const Reg scaled = v.compute(Op::fmul, type, {v.flushed(whole, type), imm(factor(i.omod, type))});
  const Reg zero = v.compare(Op::fcmp, Cond::eq, type, scaled, imm(0));
  const Type bits = type == Type::f64 ? Type::u64 : Type::u32;
  v.put_real(v.select(zero, imm(0), scaled, bits), type);
}

}  // namespace lanewise::gcn
