// f16 and f16x2: pairs are split into halves, computed one by one and joined again.
#include "runtime/isa/ptx/semantics/packed.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

constexpr PType kF16x2{PType::Class::flt, 32, true};

Mods half_mods(Emit& e) {
  return {.ftz = e.has("ftz"), .sat = e.has("sat"), .mode = static_cast<uint8_t>(e.has("NaN"))};
}

/// Operands 1..n through `compute`, as one half or as two.
template <typename F>
void each_half(Emit& e, size_t n, F&& compute) {
  const PType t = e.type();
  std::vector<ir::Operand> in;
  for (size_t i = 0; i < n; ++i) in.push_back(e.raw(i + 1, t));
  if (!t.packed) return e.set(0, kF16, compute(in), Fit::exact, true);
  ir::Operand out[2];
  for (unsigned h = 0; h < 2; ++h) {
    std::vector<ir::Operand> halves;
    halves.reserve(n);
    for (const ir::Operand& pair : in) halves.push_back(half_of_word(e, pair, h));
    out[h] = compute(halves);
  }
  e.set(0, kF16x2, joined_halves(e, out[0], out[1]));
}

template <Op kOp, size_t kOperands>
void half(Emit& e) {
  each_half(e, kOperands, [&](const std::vector<ir::Operand>& in) {
    return e.op(kOp, Type::f16, in, half_mods(e));
  });
}

void half_fma_relu(Emit& e) {
  each_half(e, 3, [&](const std::vector<ir::Operand>& in) {
    return half_relu(e, e.op(Op::ffma, Type::f16, in, half_mods(e)));
  });
}

template <Op kOp>
void half_xorsign(Emit& e) {
  each_half(e, 2, [&](const std::vector<ir::Operand>& in) {
    const ir::Operand a = e.extend(in[0], 16, false);
    const ir::Operand b = e.extend(in[1], 16, false);
    return signed_extreme(e, kOp, Type::f16, a, b);
  });
}

/// Functions that exist in f32 only: exact widening, the function, one rounding.
template <Op kOp>
void through_f32(Emit& e) {
  each_half(e, 1, [&](const std::vector<ir::Operand>& in) {
    const ir::Reg wide = e.op(Op::f2f, Type::f32, in, {.from = Type::f16});
    const ir::Reg value = e.op(kOp, Type::f32, {wide});
    return e.op(Op::f2f, Type::f16, {value}, {.from = Type::f32});
  });
}

constexpr auto kApproxHalf = isa::Claim::approximate;
constexpr const char* kEx2Half = "relative error at most 2^-9.9";
constexpr const char* kTanhHalf = "absolute error at most 2^-10.987";

constexpr Row kHalfRows[] = {
    Row{"add", "?rn ?ftz ?sat+ type:f16|f16x2", "d s s", half<Op::fadd, 2>}.in("53.42"),
    Row{"sub", "?rn ?ftz ?sat+ type:f16|f16x2", "d s s", half<Op::fsub, 2>}.in("53.42"),
    Row{"mul", "?rn ?ftz ?sat+ type:f16|f16x2", "d s s", half<Op::fmul, 2>}.in("53.42"),
    Row{"fma", "rn ?ftz ?sat+ type:f16|f16x2", "d s s s", half<Op::ffma, 3>}.in("53.42"),
    Row{"fma", "rn ?ftz relu@80.70 type:f16|f16x2", "d s s s", half_fma_relu}.in("53.42"),
    Row{"min", "?ftz ?NaN+ xorsign@86.72 abs type:f16|f16x2", "d s s", half_xorsign<Op::fmin>}.in(
        "80.70"),
    Row{"max", "?ftz ?NaN+ xorsign@86.72 abs type:f16|f16x2", "d s s", half_xorsign<Op::fmax>}.in(
        "80.70"),
    Row{"neg", "?ftz type:f16|f16x2", "d s", half<Op::fneg, 1>}.in("53.60"),
    Row{"abs", "?ftz type:f16|f16x2", "d s", half<Op::fabs, 1>}.in("53.65"),
    Row{"min", "?ftz ?NaN+ type:f16|f16x2", "d s s", half<Op::fmin, 2>}.in("80.70"),
    Row{"max", "?ftz ?NaN+ type:f16|f16x2", "d s s", half<Op::fmax, 2>}.in("80.70"),
    Row{"ex2", "approx+ type:f16|f16x2", "d s", through_f32<Op::fex2_approx>, kEx2Half, nullptr,
        kApproxHalf}
        .in("75.70"),
    Row{"tanh", "approx+ type:f16|f16x2", "d s", through_f32<Op::ftanh_approx>, kTanhHalf, nullptr,
        kApproxHalf}
        .in("75.70"),
};

}  // namespace

std::span<const Row> half_rows() {
  return kHalfRows;
}

}  // namespace lanewise::ptx
