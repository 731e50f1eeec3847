// What families of narrow floats share: halves of a word, rounding to bf16, signs put back.
#pragma once

#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {

ir::Reg word_op(Emit& e, ir::Op op, ir::Operand a, ir::Operand b);
ir::Reg choose(Emit& e, ir::Operand when, ir::Operand yes, ir::Operand no);
/// The low or high 16 bits of a word, alone in a word.
ir::Operand half_of_word(Emit& e, ir::Operand word, unsigned i);
/// Two halves, alone in a word each, as one word.
ir::Operand joined_halves(Emit& e, ir::Operand low, ir::Operand high);
/// A bf16 as the f32 that it is the upper half of.
ir::Operand widened_bf16(Emit& e, ir::Operand half);
/// Rounds the bits of an f32 to the nearest bf16; the one NaN is 0x7fff.
ir::Operand bf16_nearest(Emit& e, ir::Operand f32);
/// A negative half is 0.
ir::Operand half_relu(Emit& e, ir::Operand half);
/// min or max, with `.xorsign.abs` of the magnitudes, the result then having the product's sign.
/// `type` is f32 or f16.
ir::Operand signed_extreme(Emit& e, ir::Op op, ir::Type type, ir::Operand a, ir::Operand b);

/// Operands 1 to n through `compute`, as one half or as two. Those of bf16 are bits.
template <typename F>
void each_half(Emit& e, size_t n, F&& compute) {
  const PType own = e.type(), t = own.alternative ? own.untyped() : own;
  std::vector<ir::Operand> in = e.sources(n, t);
  if (!own.packed) {
    for (ir::Operand& x : in)
      if (own.alternative) x = e.extend(x, 16, false);
    return e.set(0, t, compute(in), Fit::exact, true);
  }
  ir::Operand out[2];
  for (unsigned h = 0; h < 2; ++h) {
    std::vector<ir::Operand> halves;
    for (const ir::Operand& pair : in) halves.push_back(half_of_word(e, pair, h));
    out[h] = compute(halves);
  }
  e.set(0, t, joined_halves(e, out[0], out[1]));
}

}  // namespace lanewise::ptx
