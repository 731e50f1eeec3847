// Single-precision arithmetic.
#include "runtime/isa/sass/semantics.hpp"

namespace lanewise::sass {

using ir::Op;
using ir::Operand;
using ir::Type;

namespace {

void emit_float(LowerContext& c, const Instruction& i, Op op, std::vector<Operand> sources) {
  static constexpr ir::Round kRounds[] = {ir::Round::rn, ir::Round::rm, ir::Round::rp,
                                          ir::Round::rz};
  if (c.has_cc(i)) throw Unsupported("floating point with .CC is not supported yet");
  if (i.mod(ModId::ftz) == 2) throw Unsupported(".FMZ is not supported yet");
  ir::Inst& inst = c.b.emit(op, Type::f32, {c.destination(i)}, std::move(sources));
  inst.round = kRounds[i.mod(ModId::round)];
  inst.ftz = i.mod(ModId::ftz) == 1;
  inst.sat = i.mod(ModId::sat) != 0;
}

}  // namespace

void lower_fadd(LowerContext& c, const Instruction& i) {
  const Operand a = c.fsource(i, Role::a), b = c.fsource(i, Role::b);
  emit_float(c, i, Op::fadd, {a, b});
}

void lower_fmul(LowerContext& c, const Instruction& i) {
  if (i.mod(ModId::scale) != 0) throw Unsupported("FMUL with a scale is not supported yet");
  const Operand a = c.fsource(i, Role::a), b = c.fsource(i, Role::b);
  emit_float(c, i, Op::fmul, {a, b});
}

void lower_ffma(LowerContext& c, const Instruction& i) {
  const Operand a = c.fsource(i, Role::a), b = c.fsource(i, Role::b), d = c.fsource(i, Role::c);
  emit_float(c, i, Op::ffma, {a, b, d});
}

}  // namespace lanewise::sass
