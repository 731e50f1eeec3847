// What the float operations of the IR compute, on register bits. Rules: docs/numerics.md.
#pragma once

#include <cstdint>

#include "runtime/ir/ir.hpp"

namespace lanewise::reference {

struct FloatFlags {
  ir::Round round = ir::Round::rn;
  bool ftz = false, sat = false;
  uint8_t mode = 0;
};

/// fadd fsub fmul ffma fdiv frcp fsqrt fmin fmax fneg fabs fround and the _approx operations.
uint64_t float_op(ir::Op op, ir::Type type, FloatFlags flags, uint64_t a, uint64_t b, uint64_t c);
bool float_compare(ir::Type type, ir::Cond cond, bool ftz, uint64_t a, uint64_t b);
uint64_t float_to_float(ir::Type to, ir::Type from, FloatFlags flags, uint64_t a);
uint64_t float_to_integer(ir::Type to, ir::Type from, FloatFlags flags, uint64_t a);
uint64_t integer_to_float(ir::Type to, ir::Type from, FloatFlags flags, uint64_t a);

/// Zero of the same sign for subnormal values of f16 and f32; everything else unchanged.
uint64_t flush_subnormal(ir::Type type, uint64_t a);
/// Clamped to [0, 1]; NaN and negative values (-0 too) give +0.
uint64_t saturate(ir::Type type, uint64_t a);
/// The smaller or the larger; a NaN operand loses unless nan_wins; -0 < +0.
uint64_t float_min_max(ir::Type type, bool max, bool nan_wins, uint64_t a, uint64_t b);
/// The _approx operations that have no exact counterpart: computed in double, rounded once more.
uint64_t approximate(ir::Op op, ir::Type type, uint64_t a);

}  // namespace lanewise::reference
