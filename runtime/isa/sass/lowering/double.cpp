// Double precision.
#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {

namespace {

Operand source(LowerContext& c, const Instruction& i, Role role) {
  Operand x = c.wide_raw(i, role);
  if (c.absolute(i, role)) x = c.make(Op::fabs, Type::f64, {x});
  if (c.negated(i, role)) x = c.make(Op::fneg, Type::f64, {x});
  return x;
}

void arithmetic(LowerContext& c, const Instruction& i, Op op, std::vector<Operand> sources) {
  static constexpr Round kRounds[] = {Round::rn, Round::rm, Round::rp, Round::rz};
  refuse(c.has_cc(i), "floating point with .CC is not documented");
  const Reg r = c.reg(Width::b64);
  c.emit(op, Type::f64, {r}, std::move(sources)).round = kRounds[i.mod(ModId::round)];
  c.write_wide(i, r);
}

Operand doubles_compared(LowerContext& c, const Instruction& i) {
  return float_compare(c, i, Type::f64, source(c, i, Role::a), source(c, i, Role::b));
}

}  // namespace

void lower_dadd(LowerContext& c, const Instruction& i) {
  arithmetic(c, i, Op::fadd, {source(c, i, Role::a), source(c, i, Role::b)});
}
void lower_dmul(LowerContext& c, const Instruction& i) {
  arithmetic(c, i, Op::fmul, {source(c, i, Role::a), source(c, i, Role::b)});
}
void lower_dfma(LowerContext& c, const Instruction& i) {
  arithmetic(c, i, Op::ffma, {source(c, i, Role::a), source(c, i, Role::b), source(c, i, Role::c)});
}

void lower_dmnmx(LowerContext& c, const Instruction& i) {
  refuse(c.has_cc(i), "DMNMX with .CC is not documented");
  const Operand a = source(c, i, Role::a), b = source(c, i, Role::b);
  const Reg low = c.make(Op::fmin, Type::f64, {a, b}), high = c.make(Op::fmax, Type::f64, {a, b});
  c.write_wide(i, c.make(Op::select, Type::u64, {c.pred_source(i, Role::r), low, high}));
}

void lower_dsetp(LowerContext& c, const Instruction& i) {
  write_test(c, i, doubles_compared(c, i));
}

void lower_dset(LowerContext& c, const Instruction& i) {
  write_truth(c, i,
              combine(c, i.mod(ModId::bop), doubles_compared(c, i), c.pred_source(i, Role::r)));
}

/// May the compiled sequence of a division (an approximate reciprocal and fused steps) not be used?
/// True where a step could leave the range of normal numbers. The vendor does not say where exactly
/// its test begins; what a program makes of it is right on both sides.
void lower_fchk(LowerContext& c, const Instruction& i) {
  const auto exponent = [&](Role role) {
    const Reg bits = c.make(Op::and_, Type::u32, {c.raw(i, role), imm(0x7f800000)});
    return Operand(c.make(Op::shr, Type::u32, {bits, imm(23)}));
  };
  const auto above = [&](Operand x, uint32_t limit) {
    return c.compare(Cond::gt, Type::u32, x, imm(limit));
  };
  const auto outside = [&](Operand x, uint32_t low, uint32_t high) {
    return above(c.make(Op::sub, Type::u32, {x, imm(low)}), high - low);
  };
  const Operand a = exponent(Role::a), b = exponent(Role::b);
  const Operand numerator = outside(a, 26, 254), divisor = outside(b, 2, 252);
  // Exponent of the quotient, 127 times two too large.
  const Reg quotient = c.make(Op::sub, Type::u32, {c.make(Op::add, Type::u32, {a, imm(254)}), b});
  const Operand range = outside(quotient, 254 - 124, 254 + 126);
  c.write_predicate(i, Role::p, combine(c, 1, combine(c, 1, numerator, divisor), range));
}

}  // namespace lanewise::sass
