#include "runtime/ir/passes/values/expand_dots.hpp"

#include "runtime/ir/dot.hpp"

namespace lanewise::ir {
namespace {

class Expansion {
 public:
  Expansion(Program& program, const Inst& dot, std::vector<Inst>& out)
      : program_(program), dot_(dot), out_(out) {}

  void run() {
    const unsigned total = dot_rule(static_cast<uint32_t>(dot_.src[1].imm)).total;
    const auto left = static_cast<Element>(dot_.mode & 15),
               right = static_cast<Element>(dot_.mode >> 4);
    const bool half = dot_.type == Type::f16;
    Operand sum = half ? widened(dot_.src[0]) : dot_.src[0];
    for (unsigned word = 0; word < total; ++word)
      for (unsigned i = 0; i < 32 / bits_of(left); ++i) {
        const Operand a = element(dot_.src[2 + word], left, i);
        const Operand b = element(dot_.src[2 + kDotWords + word], right, i);
        sum = emit(Op::ffma, Type::f32, {a, b, sum});
      }
    Inst last = half ? inst(Op::f2f, Type::f16, {sum}) : inst(Op::mov, Type::f32, {sum});
    if (half) last.from = Type::f32;
    last.dst = dot_.dst;
    last.guard = dot_.guard;
    out_.push_back(std::move(last));
  }

 private:
  Inst inst(Op op, Type type, std::vector<Operand> src) const {
    Inst i;
    i.op = op;
    i.type = type;
    i.src = std::move(src);
    i.site = dot_.site;
    return i;
  }
  Operand emit(Inst i, Width width = Width::b32) {
    i.dst = {program_.add_reg(width)};
    out_.push_back(std::move(i));
    return out_.back().dst[0];
  }
  Operand emit(Op op, Type type, std::vector<Operand> src) {
    return emit(inst(op, type, std::move(src)));
  }
  Operand word(Op op, Operand a, uint64_t b) {
    return emit(op, Type::u32, {a, Operand::immediate(b)});
  }
  Operand widened(Operand half) {
    Inst i = inst(Op::f2f, Type::f32, {half});
    i.from = Type::f16;
    return emit(std::move(i));
  }

  /// The f32 with the value of an element.
  Operand element(Operand w, Element e, unsigned i) {
    const unsigned bits = bits_of(e);
    if (e == Element::tf32) return word(Op::and_, w, 0xffffe000);
    if (e == Element::bf16) return i == 0 ? word(Op::shl, w, 16) : word(Op::and_, w, 0xffff0000);
    Operand part = i == 0 ? w : word(Op::shr, w, uint64_t{i} * bits);
    part = word(Op::and_, part, (1U << bits) - 1);
    if (e == Element::f16) return widened(part);
    if (e == Element::e5m2) return widened(word(Op::shl, part, 8));
    // e4m3: an f16 with this fraction, whose exponent 2^8 makes up for.
    const Operand magnitude = word(Op::and_, part, 0x7f);
    const Operand small = widened(word(Op::shl, magnitude, 7));
    const Operand number = emit(Op::fmul, Type::f32, {small, Operand::immediate(0x43800000)});
    const Operand sign = word(Op::shl, word(Op::and_, part, 0x80), 24);
    const Operand value = emit(Op::or_, Type::u32, {number, sign});
    Inst compare = inst(Op::icmp, Type::u32, {magnitude, Operand::immediate(0x7f)});
    compare.cond = Cond::eq;
    const Operand nan = emit(std::move(compare), Width::pred);
    return emit(Op::select, Type::u32, {nan, Operand::immediate(0x7fffffff), value});
  }

  Program& program_;
  const Inst& dot_;
  std::vector<Inst>& out_;
};

}  // namespace

bool expand_dots(Program& program) {
  bool any = false;
  for (Block& block : program.blocks) {
    std::vector<Inst> out;
    out.reserve(block.insts.size());
    for (Inst& inst : block.insts) {
      const bool chain = inst.op == Op::dot && inst.type != Type::s32 &&
                         dot_rule(static_cast<uint32_t>(inst.src[1].imm)).fraction == 0;
      if (chain)
        Expansion(program, inst, out).run();
      else
        out.push_back(std::move(inst));
      any = any || chain;
    }
    block.insts = std::move(out);
  }
  return any;
}

}  // namespace lanewise::ir
