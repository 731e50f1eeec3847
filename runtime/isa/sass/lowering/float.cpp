// Single-precision arithmetic.
#include <bit>

#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {

namespace {

void emit_float(LowerContext& c, const Instruction& i, Op op, std::vector<Operand> sources) {
  static constexpr Round kRounds[] = {Round::rn, Round::rm, Round::rp, Round::rz};
  if (c.has_cc(i)) throw Unsupported("floating point with .CC is not supported yet");
  if (i.mod(ModId::ftz) == 2) throw Unsupported(".FMZ is not supported yet");
  ir::Inst& inst = c.emit(op, Type::f32, {c.destination(i)}, std::move(sources));
  inst.round = kRounds[i.mod(ModId::round)];
  inst.ftz = i.mod(ModId::ftz) == 1;
  inst.sat = i.mod(ModId::sat) != 0;
}

}  // namespace

void lower_fadd(LowerContext& c, const Instruction& i) {
  const Operand a = c.fsource(i, Role::a), b = c.fsource(i, Role::b);
  emit_float(c, i, Op::fadd, {a, b});
}

namespace {

/// The product times a power of two, rounded once: a double holds it exactly.
void multiply_scaled(LowerContext& c, const Instruction& i) {
  static constexpr double kScales[] = {1, 0.5, 0.25, 0.125, 8, 4, 2};
  static constexpr Round kRounds[] = {Round::rn, Round::rm, Round::rp, Round::rz};
  if (c.has_cc(i) || i.mod(ModId::ftz) == 2)
    throw Unsupported("FMUL with a scale and .CC or .FMZ is not documented");
  const auto wide = [&](Role role) {
    const Reg r = c.reg(Width::b64);
    ir::Inst& inst = c.emit(Op::f2f, Type::f64, {r}, {c.fsource(i, role)});
    inst.from = Type::f32;
    inst.ftz = i.mod(ModId::ftz) == 1;
    return Operand(r);
  };
  const Reg product = c.make(Op::fmul, Type::f64, {wide(Role::a), wide(Role::b)});
  const uint64_t scale = std::bit_cast<uint64_t>(kScales[i.mod(ModId::scale)]);
  const Reg scaled = c.make(Op::fmul, Type::f64, {product, imm(scale)});
  ir::Inst& inst = c.emit(Op::f2f, Type::f32, {c.destination(i)}, {scaled});
  inst.from = Type::f64;
  inst.round = kRounds[i.mod(ModId::round)];
  inst.ftz = i.mod(ModId::ftz) == 1;
  inst.sat = i.mod(ModId::sat) != 0;
}

}  // namespace

void lower_fmul(LowerContext& c, const Instruction& i) {
  if (i.mod(ModId::scale) != 0) return multiply_scaled(c, i);
  const Operand a = c.fsource(i, Role::a), b = c.fsource(i, Role::b);
  emit_float(c, i, Op::fmul, {a, b});
}

void lower_ffma(LowerContext& c, const Instruction& i) {
  const Operand a = c.fsource(i, Role::a), b = c.fsource(i, Role::b), d = c.fsource(i, Role::c);
  emit_float(c, i, Op::ffma, {a, b, d});
}

}  // namespace lanewise::sass
