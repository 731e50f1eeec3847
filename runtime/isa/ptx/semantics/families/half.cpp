// f16 and f16x2: pairs are split into halves, computed one by one and joined again.
#include "runtime/isa/ptx/semantics/packed.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

template <Op kOp, size_t kOperands>
void half(Emit& e) {
  each_half(e, kOperands,
            [&](const std::vector<ir::Operand>& in) { return e.op(kOp, Type::f16, in, e.mods()); });
}

void half_fma_relu(Emit& e) {
  each_half(e, 3, [&](const std::vector<ir::Operand>& in) {
    return half_relu(e, e.op(Op::ffma, Type::f16, in, e.mods()));
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
    {"add@53.42", "?rn ?ftz ?sat+ type:f16|f16x2", "d s s", half<Op::fadd, 2>},
    {"sub@53.42", "?rn ?ftz ?sat+ type:f16|f16x2", "d s s", half<Op::fsub, 2>},
    {"mul@53.42", "?rn ?ftz ?sat+ type:f16|f16x2", "d s s", half<Op::fmul, 2>},
    {"fma@53.42", "rn ?ftz ?sat+ type:f16|f16x2", "d s s s", half<Op::ffma, 3>},
    {"fma@53.42", "rn ?ftz relu@80.70 type:f16|f16x2", "d s s s", half_fma_relu},
    {"min@80.70", "?ftz ?NaN+ xorsign@86.72 abs type:f16|f16x2", "d s s", half_xorsign<Op::fmin>},
    {"max@80.70", "?ftz ?NaN+ xorsign@86.72 abs type:f16|f16x2", "d s s", half_xorsign<Op::fmax>},
    {"neg@53.60", "?ftz type:f16|f16x2", "d s", half<Op::fneg, 1>},
    {"abs@53.65", "?ftz type:f16|f16x2", "d s", half<Op::fabs, 1>},
    {"min@80.70", "?ftz ?NaN+ type:f16|f16x2", "d s s", half<Op::fmin, 2>},
    {"max@80.70", "?ftz ?NaN+ type:f16|f16x2", "d s s", half<Op::fmax, 2>},
    {"ex2@75.70", "approx+ type:f16|f16x2", "d s", through_f32<Op::fex2_approx>, kEx2Half,
     kApproxHalf},
    {"tanh@75.70", "approx+ type:f16|f16x2", "d s", through_f32<Op::ftanh_approx>, kTanhHalf,
     kApproxHalf},
};

}  // namespace

constinit Rows half_rows = kHalfRows;

}  // namespace lanewise::ptx
