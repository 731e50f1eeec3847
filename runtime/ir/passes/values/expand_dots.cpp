#include "runtime/ir/passes/values/expand_dots.hpp"

#include "runtime/ir/passes/values/dot_cut.hpp"

namespace lanewise::ir {
namespace {

/// c and one fma after the other.
Operand chained_sum(DotCode& code, const Inst& dot) {
  const unsigned total = dot_rule(static_cast<uint32_t>(dot.src[1].imm)).total;
  const auto left = static_cast<Element>(dot.mode & 15),
             right = static_cast<Element>(dot.mode >> 4);
  const bool half = dot.type == Type::f16;
  Operand sum = half ? code.widened(dot.src[0]) : dot.src[0];
  for (unsigned word = 0; word < total; ++word)
    for (unsigned i = 0; i < 32 / bits_of(left); ++i) {
      const Operand a = code.element(dot.src[2 + word], left, i);
      const Operand b = code.element(dot.src[2 + kDotWords + word], right, i);
      sum = code.emit(Op::ffma, Type::f32, {a, b, sum});
    }
  return half ? code.convert(Op::f2f, Type::f16, Type::f32, sum) : sum;
}

/// c and the products, which do not overflow among themselves; a clamped sum clamps once.
Operand sum_of_integers(DotCode& code, const Inst& dot) {
  const unsigned total = dot_rule(static_cast<uint32_t>(dot.src[1].imm)).total;
  const auto left = static_cast<Element>(dot.mode & 15),
             right = static_cast<Element>(dot.mode >> 4);
  const Operand c = dot.src[0];
  Operand sum = Operand::immediate(0);
  for (unsigned word = 0; word < total; ++word)
    for (unsigned i = 0; i < 32 / bits_of(left); ++i) {
      const Operand a = code.integer(dot.src[2 + word], left, i);
      const Operand b = code.integer(dot.src[2 + kDotWords + word], right, i);
      sum = code.word(Op::add, sum, code.word(Op::mul, a, b));
    }
  const Operand all = code.word(Op::add, c, sum);
  if (!dot.sat) return all;
  const Operand wraps =
      code.word(Op::and_, code.word(Op::xor_, c, all), code.word(Op::xor_, sum, all));
  const Operand limit =
      code.word(Op::xor_, code.emit(Op::shr, Type::s32, {c, Operand::immediate(31)}), 0x7fffffff);
  return code.select(code.is(Cond::ge, wraps, Operand::immediate(0x80000000)), limit, all);
}

}  // namespace

bool expand_dots(Program& program, DotExpansion which) {
  bool any = false;
  for (Block& block : program.blocks) {
    std::vector<Inst> out;
    out.reserve(block.insts.size());
    DotCode code(program, out);
    Factors factors(code);
    for (Inst& inst : block.insts) {
      const bool integers = inst.op == Op::dot && inst.type == Type::s32 && which.integers;
      const bool floats = inst.op == Op::dot && inst.type != Type::s32;
      const bool by_fma = floats && dot_rule(static_cast<uint32_t>(inst.src[1].imm)).fraction == 0;
      const bool chain = which.chains && by_fma;
      const bool cut = which.cuts && floats && !by_fma;
      if (!chain && !cut && !integers) {
        factors.note(inst);
        out.push_back(std::move(inst));
        continue;
      }
      code.set_site(inst.site);
      const bool fit = products_fit(static_cast<Element>(inst.mode & 15));
      const Operand sum = integers ? sum_of_integers(code, inst)
                          : chain  ? chained_sum(code, inst)
                          : fit    ? cut_sum(code, factors, inst)
                                   : wide_sum(code, factors, inst);
      Inst last = code.inst(Op::mov, inst.type, {sum});
      last.dst = inst.dst;
      last.guard = inst.guard;
      factors.note(last);
      out.push_back(std::move(last));
      any = true;
    }
    block.insts = std::move(out);
  }
  return any;
}

}  // namespace lanewise::ir
