// What families of narrow floats share: halves of a word, rounding to bf16, signs put back.
#pragma once

#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {

/// The low or high 16 bits of a word, alone in a word.
ir::Operand half_of_word(Emit& e, ir::Operand word, unsigned i);
/// Two halves, alone in a word each, as one word.
ir::Operand joined_halves(Emit& e, ir::Operand low, ir::Operand high);
/// Rounds the bits of an f32 to the nearest bf16; the one NaN is 0x7fff.
ir::Operand bf16_nearest(Emit& e, ir::Operand f32);
/// A negative half is 0.
ir::Operand half_relu(Emit& e, ir::Operand half);
/// min or max, with `.xorsign.abs` of the magnitudes, the result then having the product's sign.
/// `type` is f32 or f16.
ir::Operand signed_extreme(Emit& e, ir::Op op, ir::Type type, ir::Operand a, ir::Operand b);

}  // namespace lanewise::ptx
