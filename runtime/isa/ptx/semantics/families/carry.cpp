// Extended precision: the carry flag CC.CF is one predicate register of the kernel. A difference is
// a + ~b + 1, as the hardware computes it, so it leaves 1 where it did not borrow: compilers mix
// both kinds (`sub.cc`, then `addc` of zeros asks whether a >= b).
#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;

/// a + b + carry in, or a - b - borrow in, into operand 0 and (with .cc) the flag.
void with_carry(Emit& e, Op op, PType t, ir::Operand a, ir::Operand b, bool uses_carry) {
  const bool borrows = op == Op::subb;
  ir::Operand in = imm(0);
  if (uses_carry) {
    in = e.kernel.carry();
    if (borrows) in = e.op(Op::not_, ir::Type::pred, {in});
  }
  const bool flag = e.has("cc");
  const ir::Reg out = flag && !borrows ? e.kernel.carry() : e.temp(ir::Width::pred);
  const ir::Reg sum = e.temp_like(t);
  e.emit(op, t.ir(), {sum, out}, {a, b, in});
  e.set(0, t, sum);
  if (flag && borrows) e.emit(Op::not_, ir::Type::pred, {e.kernel.carry()}, {out});
}

template <Op kOp, bool kCarryIn>
void sum_or_difference(Emit& e) {
  const PType t = e.type();
  const ir::Operand a = e.raw(1, t), b = e.raw(2, t);
  with_carry(e, kOp, t, a, b, kCarryIn);
}

template <bool kCarryIn>
void multiply_add(Emit& e) {
  const PType t = e.type();
  const ir::Operand a = e.raw(1, t), b = e.raw(2, t), c = e.raw(3, t);
  const ir::Reg p = e.op(e.get("part") == "hi" ? Op::mulhi : Op::mul, t.ir(), {a, b});
  with_carry(e, Op::addc, t, p, c, kCarryIn);
}

constexpr Row kCarryRows[] = {
    {"add", "cc+ type:$int32up", "d s s", sum_or_difference<Op::addc, false>},
    {"addc", "?cc+ type:$int32up", "d s s", sum_or_difference<Op::addc, true>},
    {"sub", "cc+ type:$int32up", "d s s", sum_or_difference<Op::subb, false>},
    {"subc", "?cc+ type:$int32up", "d s s", sum_or_difference<Op::subb, true>},
    {"mad", "^part:lo|hi cc+ type:$int32up", "d s s s", multiply_add<false>},
    {"madc", "^part:lo|hi ?cc+ type:$int32up", "d s s s", multiply_add<true>},
};

}  // namespace

constinit Rows carry_rows = kCarryRows;

}  // namespace lanewise::ptx
