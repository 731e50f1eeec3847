// Arithmetic of bf16 and pairs of it, by way of f32: the f32 result is rounded to odd, which keeps
// the second rounding right whatever was cut off.
#include "runtime/isa/ptx/semantics/packed.hpp"

namespace lanewise::ptx {

using ir::Op;
using ir::Type;

ir::Reg word_op(Emit& e, Op op, ir::Operand a, ir::Operand b) {
  return e.op(op, Type::u32, {a, b});
}
ir::Reg choose(Emit& e, ir::Operand when, ir::Operand yes, ir::Operand no) {
  return e.op(Op::select, Type::u32, {when, yes, no});
}

ir::Operand half_of_word(Emit& e, ir::Operand word, unsigned i) {
  if (i == 0) return e.op(Op::zext16, Type::u32, {word});
  return e.op(Op::shr, Type::u32, {word, imm(16)});
}

ir::Operand joined_halves(Emit& e, ir::Operand low, ir::Operand high) {
  const ir::Reg upper = e.op(Op::shl, Type::u32, {high, imm(16)});
  return e.op(Op::or_, Type::u32, {low, upper});
}

ir::Operand signed_extreme(Emit& e, Op op, Type type, ir::Operand a, ir::Operand b) {
  const Mods mods{.ftz = e.has("ftz"), .mode = static_cast<uint8_t>(e.has("NaN"))};
  if (!e.has("xorsign")) return e.op(op, type, {a, b}, mods);
  const uint64_t sign = type == Type::f16 ? 0x8000 : 0x80000000;
  const uint64_t infinity = type == Type::f16 ? 0x7c00 : 0x7f800000;
  const ir::Reg product = e.op(Op::and_, Type::u32, {e.op(Op::xor_, Type::u32, {a, b}), imm(sign)});
  const ir::Reg x = e.op(Op::and_, Type::u32, {a, imm(sign - 1)});
  const ir::Reg y = e.op(Op::and_, Type::u32, {b, imm(sign - 1)});
  const ir::Reg found = e.op(op, type, {x, y}, mods);
  const ir::Reg number = e.op(Op::icmp, Type::u32, {found, imm(infinity)}, {.cond = ir::Cond::le});
  const ir::Reg with_sign = e.op(Op::or_, Type::u32, {found, product});
  return e.op(Op::select, Type::u32, {number, with_sign, found});
}

ir::Operand widened_bf16(Emit& e, ir::Operand half) {
  return word_op(e, Op::shl, half, imm(16));
}

namespace {

/// Of the f32 numbers below and above the exact result the odd one, or the result where it is
/// exact.
ir::Operand rounded_to_odd(Emit& e, Op op, const std::vector<ir::Operand>& in) {
  const ir::Reg below = e.op(op, Type::f32, in, {.round = ir::Round::rm});
  const ir::Reg above = e.op(op, Type::f32, in, {.round = ir::Round::rp});
  const ir::Reg last = e.op(Op::and_, Type::u32, {below, imm(1)});
  const ir::Reg odd = e.op(Op::icmp, Type::u32, {last, imm(0)}, {.cond = ir::Cond::ne});
  return e.op(Op::select, Type::u32, {odd, below, above});
}

template <Op kOp, size_t kOperands>
void bf16_arithmetic(Emit& e) {
  each_half(e, kOperands, [&](std::vector<ir::Operand> in) {
    for (ir::Operand& x : in) x = widened_bf16(e, x);
    const ir::Operand result = bf16_nearest(e, rounded_to_odd(e, kOp, in));
    return e.has("relu") ? half_relu(e, result) : result;
  });
}

template <Op kOp>
void bf16_extreme(Emit& e) {
  each_half(e, 2, [&](const std::vector<ir::Operand>& in) {
    const ir::Operand a = widened_bf16(e, in[0]);
    const ir::Operand b = widened_bf16(e, in[1]);
    return e.op(Op::shr, Type::u32, {signed_extreme(e, kOp, Type::f32, a, b), imm(16)});
  });
}

/// Only the sign changes, NaN included.
template <Op kOp, uint32_t kBits>
void bf16_sign(Emit& e) {
  each_half(e, 1, [&](const std::vector<ir::Operand>& in) {
    return e.op(kOp, Type::u32, {in[0], imm(kBits)});
  });
}

template <Op kOp>
void bf16_function(Emit& e) {
  each_half(e, 1, [&](const std::vector<ir::Operand>& in) {
    const ir::Operand wide = widened_bf16(e, in[0]);
    return bf16_nearest(e, e.op(kOp, Type::f32, {wide}, {.ftz = e.has("ftz")}));
  });
}

constexpr auto kApproxBf16 = isa::Claim::approximate;
constexpr const char* kEx2Bf16 = "relative error at most 2^-7";
constexpr const char* kTanhBf16 = "absolute error at most 2^-8";

constexpr Row kBfloatRows[] = {
    {"add@90.78", "?rn type:bf16|bf16x2", "d s s", bf16_arithmetic<Op::fadd, 2>},
    {"sub@90.78", "?rn type:bf16|bf16x2", "d s s", bf16_arithmetic<Op::fsub, 2>},
    {"mul@90.78", "?rn type:bf16|bf16x2", "d s s", bf16_arithmetic<Op::fmul, 2>},
    {"fma@80.70", "rn ?relu+ type:bf16|bf16x2", "d s s s", bf16_arithmetic<Op::ffma, 3>},
    {"neg@80.70", "type:bf16|bf16x2", "d s", bf16_sign<Op::xor_, 0x8000>},
    {"abs@80.70", "type:bf16|bf16x2", "d s", bf16_sign<Op::and_, 0x7fff>},
    {"min@80.70", "?NaN+ type:bf16|bf16x2", "d s s", bf16_extreme<Op::fmin>},
    {"max@80.70", "?NaN+ type:bf16|bf16x2", "d s s", bf16_extreme<Op::fmax>},
    {"min@80.70", "?NaN+ xorsign@86.72 abs type:bf16|bf16x2", "d s s", bf16_extreme<Op::fmin>},
    {"max@80.70", "?NaN+ xorsign@86.72 abs type:bf16|bf16x2", "d s s", bf16_extreme<Op::fmax>},
    {"ex2@90.78", "approx+ ftz type:bf16|bf16x2", "d s", bf16_function<Op::fex2_approx>, kEx2Bf16,
     kApproxBf16},
    {"tanh@90.78", "approx+ type:bf16|bf16x2", "d s", bf16_function<Op::ftanh_approx>, kTanhBf16,
     kApproxBf16},
};

}  // namespace

constinit Rows bfloat_rows = kBfloatRows;

}  // namespace lanewise::ptx
