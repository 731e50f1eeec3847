// Float operations that the device does exactly as the guest wants them: round to nearest even,
// subnormals kept (or flushed where the guest says so), canonical NaNs. What a device does not
// promise is computed with integers in the shader library.
#include <spirv/unified1/GLSL.std.450.h>

#include <bit>
#include <cmath>

#include "runtime/spirv/lane/emit_float.hpp"

namespace lanewise::spirv {
namespace {

using ir::Cond;
using ir::Op;
using ir::Type;

constexpr uint32_t kFloats = kF32 | kF64 | bit(Type::f16);

bool wide(const LaneEmitter& e) {
  return e.inst().type == Type::f64;
}

// What the device was seen to do exactly (Target::native_*), rounding to nearest even.
bool nearest(const LaneEmitter& e) {
  return e.inst().round == ir::Round::rn;
}
bool exact(const LaneEmitter& e) {
  const Target& t = e.target();
  return nearest(e) && (wide(e) ? t.float64 && t.native_add64 : t.native_add);
}
bool exact_fma(const LaneEmitter& e) {
  const Target& t = e.target();
  return nearest(e) && (wide(e) ? t.float64 && t.native_fma64 : t.native_fma);
}
bool soft_add(const LaneEmitter& e) {
  return nearest(e) && !exact(e);
}
/// The device's own sums are exact but for subnormals.
bool scaled_add(const LaneEmitter& e) {
  return soft_add(e) && e.target().normal_sums;
}
/// The device's own fma is exact but for subnormals.
bool guarded_fma(const LaneEmitter& e) {
  return nearest(e) && e.target().normal_fma;
}
bool double_fma(const LaneEmitter& e) {
  return nearest(e) && e.target().fma_by_double;
}
// Whatever the direction says: approximate operations round to nearest.
bool good_div(const LaneEmitter& e) {
  const Target& t = e.target();
  return wide(e) ? t.float64 && t.native_div64 : t.native_div;
}
bool good_sqrt(const LaneEmitter& e) {
  const Target& t = e.target();
  return wide(e) ? t.float64 && t.native_sqrt64 : t.native_sqrt;
}
bool good_inverse_root(const LaneEmitter& e) {
  return good_div(e) && good_sqrt(e);
}
/// Quotients and roots of what is exact: the device's own are only close. None of their steps has a
/// subnormal operand or result but by sums and products, or one that decides anything.
bool good_fma(const LaneEmitter& e) {
  const Target& t = e.target();
  return t.native_add && (t.normal_fma || (t.native_fma && t.native_compare));
}
bool exact_div(const LaneEmitter& e) {
  return nearest(e) && good_div(e);
}
bool exact_sqrt(const LaneEmitter& e) {
  return nearest(e) && good_sqrt(e);
}
bool nearest_fma(const LaneEmitter& e) {
  return nearest(e) && good_fma(e);
}
bool quick_good(const LaneEmitter& e) {
  return good_fma(e) && !e.target().quirks.runs_both_sides;
}
bool quick_nearest(const LaneEmitter& e) {
  return nearest(e) && quick_good(e);
}
bool takes_any_zero(const LaneEmitter& e) {
  return e.inst().mode == static_cast<uint8_t>(ir::ExtremeMode::any_zero);
}
/// A sum that is as exact as the fma: one device instruction more, but no fma to be computed.
bool exact_product(const LaneEmitter& e) {
  return e.inst().mode == static_cast<uint8_t>(ir::FmaMode::exact_product) && exact(e);
}
bool split_fma(const LaneEmitter& e) {
  const Target& t = e.target();
  return nearest(e) && t.float64 && !t.native_fma64 && t.fma_wide;
}
bool exact_compare(const LaneEmitter& e) {
  const Target& t = e.target();
  return wide(e) ? t.float64 && t.native_compare64 : t.native_compare;
}

bool exact_extreme(const LaneEmitter& e) {
  const Target& t = e.target();
  return exact_compare(e) && (wide(e) ? t.native_minmax64 : t.native_minmax);
}
/// Of zeros either one, and the second operand is a number: a comparison is enough.
bool compares_extreme(const LaneEmitter& e) {
  const ir::Operand& second = e.inst().src[1];
  const bool number = second.is_imm() && (second.imm & 0x7fffffff) <= 0x7f800000;
  return takes_any_zero(e) && number && exact_compare(e);
}
Id float_type(LaneEmitter& e) {
  return spirv::float_type(e, e.inst().type);
}
Id operand(LaneEmitter& e, size_t index) {
  return float_operand(e, index, e.inst().type);
}

/// An arithmetic instruction that the driver must not fuse with its neighbours.
Id arithmetic(LaneEmitter& e, spv::Op code, Id a, Id b) {
  const Id value = e.module().op(code, float_type(e), {a, b});
  e.module().add_decoration(value, spv::DecorationNoContraction);
  return value;
}
/// llvmpipe folds x * 0, 0 / x and 0 + x for a zero it knows at compile time, whatever x is (NaN,
/// infinity, -0). Where the device does that, operands that may be constant pass through an OR with
/// a zero that the compiler cannot see, if they have not where they were moved to a register.
Id opaque(LaneEmitter& e, size_t index, Id value) {
  if (!e.target().quirks.folds_zero || !e.may_be_constant(index)) return value;
  const ir::Width width = ir::width_of(e.inst().type);
  const Id bits = e.module().op(spv::OpBitcast, e.module().type_of(width), {value});
  return e.module().op(spv::OpBitcast, float_type(e), {e.hidden(bits, width)});
}
/// The same for the bits of an f32 on their way to the library.
Id opaque_bits(LaneEmitter& e, size_t index, Id bits) {
  if (!e.target().quirks.folds_zero || !e.may_be_constant(index)) return bits;
  return e.hidden(bits, ir::Width::b32);
}
Values float_binary(LaneEmitter& e, spv::Op code) {
  const Id a = opaque(e, 0, operand(e, 0)), b = opaque(e, 1, operand(e, 1));
  return finish_float(e, arithmetic(e, code, a, b));
}

// Products, fma and quotients of f32 are flushed where they would round below the normal numbers if
// exponents had no end. A device whose own flush is used was seen to do the same.
bool flushes(const LaneEmitter& e) {
  return e.inst().ftz && !wide(e) && !e.target().flushes;
}
/// A quotient that was rounded to 2^-126 and whose dividend has the smaller significand was below
/// it.
Id flush_quotient(ModuleBuilder& m, Id a, Id b, Id quotient) {
  const auto magnitude = [&](Id bits) {
    return m.word(spv::OpBitwiseAnd, {bits, m.u(0x7fffffff)});
  };
  const Id least = m.equals(magnitude(quotient), 0x00800000);
  const Id dividend = m.word(spv::OpIAdd, {magnitude(a), m.u(126U << 23)});
  const Id below = m.test(spv::OpULessThan, {dividend, magnitude(b)});
  const Id tiny = m.test(spv::OpLogicalAnd, {least, below});
  const Id sign = m.word(spv::OpBitwiseAnd, {quotient, m.u(0x80000000)});
  return flush_subnormal(m, m.select(tiny, sign, quotient));
}
Values quotient(LaneEmitter& e, spv::Op code) {
  ModuleBuilder& m = e.module();
  const Id a = opaque(e, 0, operand(e, 0)), b = opaque(e, 1, operand(e, 1));
  const Id value = arithmetic(e, code, a, b);
  if (!flushes(e)) return finish_float(e, value);
  const auto bits = [&](Id x) { return m.word(spv::OpBitcast, {x}); };
  return {finish_bits(e, flush_quotient(m, bits(a), bits(b), bits(value)), false)};
}

/// x * 2^32, exact or infinite.
Id scaled(LaneEmitter& e, Id x) {
  const Id factor = e.module().op(spv::OpBitcast, float_type(e), {e.module().u(0x4f800000)});
  return arithmetic(e, spv::OpFMul, x, factor);
}
/// The result, or a zero where the same of scaled operands says so.
Values flushed_product(LaneEmitter& e, Id value, Id scaled) {
  ModuleBuilder& m = e.module();
  const Id bits = m.word(spv::OpBitcast, {value});
  const Id size = m.glsl(GLSLstd450FAbs, float_type(e), {scaled});
  const Id least = m.op(spv::OpBitcast, float_type(e), {m.u(0x10800000)});  // 2^-94
  const Id tiny = m.test(spv::OpFOrdLessThan, {size, least});
  const Id sign = m.word(spv::OpBitwiseAnd, {bits, m.u(0x80000000)});
  const Id flushed = m.select(tiny, sign, bits);
  m.note_flushed(flushed);
  return {finish_bits(e, flushed, false)};
}
Values product(LaneEmitter& e, spv::Op code) {
  const Id a = opaque(e, 0, operand(e, 0)), b = opaque(e, 1, operand(e, 1));
  const Id value = arithmetic(e, code, a, b);
  if (!flushes(e)) return finish_float(e, value);
  return flushed_product(e, value, arithmetic(e, code, scaled(e, a), b));
}
Values fused(LaneEmitter& e, spv::Op code) {
  const auto of = [&](Id a, Id b, Id c) {
    return e.module().glsl(static_cast<int>(code), float_type(e), {a, b, c});
  };
  const Id a = operand(e, 0), b = operand(e, 1), c = operand(e, 2);
  if (!flushes(e)) return finish_float(e, of(a, b, c));
  return flushed_product(e, of(a, b, c), of(scaled(e, a), b, scaled(e, c)));
}

constexpr const char* kAdd = "lw_fadd_rn_f32";
constexpr const char* kAddScaled = "lw_fadd_scaled_rn_f32";
constexpr const char* kMul = "lw_fmul_rn_f32";
constexpr const char* kFmaSoft = "lw_ffma_rn_f32";
constexpr const char* kDivFma = "lw_fdiv_fma_f32";
constexpr const char* kRcpFma = "lw_frcp_fma_f32";
constexpr const char* kSqrtFma = "lw_fsqrt_fma_f32";
constexpr const char* kDivUsual = "lw_fdiv";
constexpr const char* kRcpUsual = "lw_frcp";
constexpr const char* kSqrtUsual = "lw_fsqrt";
constexpr const char* kRsqrtUsual = "lw_frsqrt";
constexpr const char* kRsqrtFma = "lw_frsqrt_fma_f32";

/// The operands' bits for the library, flushed where the instruction says so.
Ids bits_of_sources(LaneEmitter& e) {
  Ids bits;
  for (size_t i = 0; i < e.inst().src.size(); ++i) {
    const Id source = opaque_bits(e, i, e.src(i));
    bits.push_back(e.inst().ftz ? flush_subnormal(e.module(), source) : source);
  }
  return bits;
}
/// What the library's short versions give for these operands, flushed.
Values finish_soft(LaneEmitter& e, Ids args, Id bits, bool canonical) {
  const Op op = e.inst().op;
  if (e.inst().ftz && op == Op::fdiv) bits = flush_quotient(e.module(), args[0], args[1], bits);
  if (e.inst().ftz && (op == Op::fmul || op == Op::ffma)) {
    args.push_back(bits);
    bits = e.library(op == Op::fmul ? "lw_ftz_fmul_f32" : "lw_ftz_ffma_f32", e.module().uint_type,
                     args);
    e.module().note_flushed(bits);
  }
  return {finish_bits(e, bits, canonical)};
}
/// The library's short version for round to nearest even.
template <const char* const& name>
Values nearest_soft(LaneEmitter& e, spv::Op code) {
  ModuleBuilder& m = e.module();
  Ids args = bits_of_sources(e);
  if (code == spv::OpFSub) args[1] = m.word(spv::OpBitwiseXor, {args[1], m.u(0x80000000)});
  return finish_soft(e, args, e.library(name, m.uint_type, args), true);
}
Values fma_guarded(LaneEmitter& e, spv::Op) {
  const Ids args = bits_of_sources(e);
  return finish_soft(e, args, e.library("lw_ffma_guarded_f32", e.module().uint_type, args), false);
}
/// The same where a branch that is hardly ever taken costs next to nothing: few steps for usual
/// numbers, which give usual results; all others, subnormal ones among them, take the slow path.
template <const char* const& name, const char* const& slow>
Values nearest_quick(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  Ids args;
  for (size_t i = 0; i < e.inst().src.size(); ++i) args.push_back(opaque_bits(e, i, e.src(i)));
  return quick_or_slow(e, name, args, [&, args]() mutable {
    for (Id& arg : args)
      if (e.inst().ftz) arg = flush_subnormal(m, arg);
    const Id bits = e.library(slow, m.uint_type, args);
    if (!e.inst().ftz) return bits;
    return e.inst().op == Op::fdiv ? flush_quotient(m, args[0], args[1], bits)
                                   : flush_subnormal(m, bits);
  });
}
/// f32 fma by way of doubles.
Values double_rounded_once(LaneEmitter& e, spv::Op) {
  const Ids args = bits_of_sources(e);
  const char* name =
      e.target().quirks.runs_both_sides ? "lw_ffma_double_straight_f32" : "lw_ffma_double_f32";
  return finish_soft(e, args, e.library(name, e.module().uint_type, args), false);
}

/// Known to be of 2^-900 to 2^100: fma has less to take care of.
bool mild(const ir::Operand& addend) {
  if (!addend.is_imm()) return false;
  const double size = std::abs(std::bit_cast<double>(addend.imm));
  return size >= 0x1p-900 && size < 0x1p100;
}
/// f64 fma of exact sums and products.
Values wide_fma(LaneEmitter& e, spv::Op) {
  Ids args;
  for (size_t i = 0; i < e.inst().src.size(); ++i) {
    const Id value = opaque(e, i, operand(e, i));
    args.push_back(e.module().op(spv::OpBitcast, e.module().b64_type, {value}));
  }
  const bool straight = e.target().quirks.runs_both_sides;
  const char* name = mild(e.inst().src[2])
                         ? straight ? "lw_ffma_wide_mild_straight_f64" : "lw_ffma_wide_mild_f64"
                     : straight ? "lw_ffma_wide_straight_f64"
                                : "lw_ffma_wide_f64";
  return {finish_bits(e, e.library(name, e.module().b64_type, args), false)};
}

constexpr auto kMin = static_cast<spv::Op>(GLSLstd450NMin);
constexpr auto kMax = static_cast<spv::Op>(GLSLstd450NMax);

/// The product needs no rounding.
Values product_and_sum(LaneEmitter& e, spv::Op) {
  const Id a = opaque(e, 0, operand(e, 0)), b = opaque(e, 1, operand(e, 1));
  const Id product = arithmetic(e, spv::OpFMul, a, b);
  return finish_float(e, arithmetic(e, spv::OpFAdd, product, opaque(e, 2, operand(e, 2))));
}

/// The smaller or larger of two.
Values extreme(LaneEmitter& e, spv::Op code) {
  ModuleBuilder& m = e.module();
  const Id a = operand(e, 0), b = operand(e, 1);
  Id value = m.glsl(static_cast<int>(code), float_type(e), {a, b});
  if (takes_any_zero(e)) return finish_float(e, value);
  // Equal numbers differ in the sign of zero at most.
  const Id type = m.type_of(e.inst().type);
  const Id equal = m.test(spv::OpFOrdEqual, {a, b});
  Id both = m.op(code == kMin ? spv::OpBitwiseOr : spv::OpBitwiseAnd, type,
                 {m.op(spv::OpBitcast, type, {a}), m.op(spv::OpBitcast, type, {b})});
  // Where the device flushes, numbers that it takes for zeros are equal, too.
  if (e.target().flushes && !wide(e)) both = flush_subnormal(m, both);
  value = m.select(equal, m.op(spv::OpBitcast, float_type(e), {both}), value);
  if (e.inst().mode == static_cast<uint8_t>(ir::ExtremeMode::nan)) {
    const Id nan_a = m.test(spv::OpIsNan, {a});
    const Id nan_b = m.test(spv::OpIsNan, {b});
    value = m.select(nan_a, a, m.select(nan_b, b, value));
  }
  return finish_float(e, value);
}

/// The same where compares_extreme(): a NaN does not compare, so the second operand stays.
Values compared(LaneEmitter& e, spv::Op code) {
  ModuleBuilder& m = e.module();
  const Id a = operand(e, 0), b = operand(e, 1);
  const Id first = m.test(code, {a, b});
  return finish_float(e, m.select(first, a, b));
}

/// The extended instruction `code` (a GLSL.std.450 number) over all operands.
Values extended(LaneEmitter& e, spv::Op code) {
  Ids args;
  for (size_t i = 0; i < e.inst().src.size(); ++i) args.push_back(operand(e, i));
  return finish_float(e, e.module().glsl(static_cast<uint32_t>(code), float_type(e), args));
}

/// 1 / a.
Id inverse(LaneEmitter& e, Id a) {
  ModuleBuilder& m = e.module();
  const Id one_bits = wide(e) ? m.b64(0x3ff0000000000000) : m.u(0x3f800000);
  const Id one = m.op(spv::OpBitcast, float_type(e), {one_bits});
  return arithmetic(e, spv::OpFDiv, one, a);
}
Values reciprocal(LaneEmitter& e, spv::Op) {
  return finish_float(e, inverse(e, operand(e, 0)));
}
/// The root, rounded, and its reciprocal, rounded, as the library has it. A root is never
/// subnormal, so nothing is flushed in between.
Values inverse_root(LaneEmitter& e, spv::Op code) {
  const Id root = e.module().glsl(static_cast<int>(code), float_type(e), {operand(e, 0)});
  return finish_float(e, inverse(e, root));
}

uint64_t sign_bit(const LaneEmitter& e) {
  return uint64_t{1} << (8 * ir::size_of(e.inst().type) - 1);
}
uint64_t all_bits(const LaneEmitter& e) {
  return sign_bit(e) | (sign_bit(e) - 1);
}
/// Sign changes are bit operations: they keep NaN payloads and never round.
Values sign_op(LaneEmitter& e, spv::Op code) {
  ModuleBuilder& m = e.module();
  const ir::Width width = ir::width_of(e.inst().type);
  Id bits = e.src(0);
  if (e.inst().ftz && e.inst().type == Type::f32) bits = flush_subnormal(m, bits);
  if (e.inst().ftz && e.inst().type == Type::f16) bits = flush_subnormal(m, bits, 0x7c00, 0x8000);
  const uint64_t mask = code == spv::OpBitwiseXor ? sign_bit(e) : all_bits(e) & ~sign_bit(e);
  const Id changed = m.op(code, m.type_of(width), {bits, m.constant(width, mask)});
  if (m.is_flushed(bits)) m.note_flushed(changed);
  return {changed};
}
bool no_saturation(const LaneEmitter& e) {
  return !e.inst().sat;
}

/// By condition; `num` and `nan` have none.
constexpr spv::Op kCompareCodes[] = {
    spv::OpFOrdEqual,           spv::OpFOrdNotEqual,      spv::OpFOrdLessThan,
    spv::OpFOrdLessThanEqual,   spv::OpFOrdGreaterThan,   spv::OpFOrdGreaterThanEqual,
    spv::OpFUnordEqual,         spv::OpFUnordNotEqual,    spv::OpFUnordLessThan,
    spv::OpFUnordLessThanEqual, spv::OpFUnordGreaterThan, spv::OpFUnordGreaterThanEqual};
Values float_compare(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const Id a = operand(e, 0), b = operand(e, 1);
  const auto cond = static_cast<size_t>(e.inst().cond);
  if (cond < std::size(kCompareCodes)) return {m.test(kCompareCodes[cond], {a, b})};
  const Id nan_a = m.test(spv::OpIsNan, {a});
  const Id nan_b = m.test(spv::OpIsNan, {b});
  const Id any = m.test(spv::OpLogicalOr, {nan_a, nan_b});
  return {e.inst().cond == Cond::nan ? any : m.negated(any)};
}

constexpr auto kFmaOp = static_cast<spv::Op>(GLSLstd450Fma);
constexpr auto kSqrtOp = static_cast<spv::Op>(GLSLstd450Sqrt);

constexpr NativeRow kFloatRows[] = {
    {Op::fadd, kF32 | kF64, exact, float_binary, spv::OpFAdd},
    {Op::fsub, kF32 | kF64, exact, float_binary, spv::OpFSub},
    {Op::fmul, kF32 | kF64, exact, product, spv::OpFMul},
    {Op::ffma, kF32 | kF64, exact_fma, fused, kFmaOp},
    {Op::ffma, kF32 | kF64, exact_product, product_and_sum},
    {Op::fadd, kF32, scaled_add, nearest_soft<kAddScaled>, spv::OpFAdd},
    {Op::fsub, kF32, scaled_add, nearest_soft<kAddScaled>, spv::OpFSub},
    {Op::fadd, kF32, soft_add, nearest_soft<kAdd>, spv::OpFAdd},
    {Op::fsub, kF32, soft_add, nearest_soft<kAdd>, spv::OpFSub},
    {Op::fmul, kF32, soft_add, nearest_soft<kMul>, spv::OpFMul},
    {Op::ffma, kF32, guarded_fma, fma_guarded},
    {Op::ffma, kF32, double_fma, double_rounded_once},
    {Op::ffma, kF32, nearest, nearest_soft<kFmaSoft>, kFmaOp},
    {Op::ffma, kF64, split_fma, wide_fma},
    {Op::fmin, kF32 | kF64, exact_extreme, extreme, kMin},
    {Op::fmax, kF32 | kF64, exact_extreme, extreme, kMax},
    {Op::fmin, kF32, compares_extreme, compared, spv::OpFOrdLessThan},
    {Op::fmax, kF32, compares_extreme, compared, spv::OpFOrdGreaterThan},
    {Op::fdiv, kF32 | kF64, exact_div, quotient, spv::OpFDiv},
    {Op::frcp, kF32 | kF64, exact_div, reciprocal},
    {Op::fsqrt, kF32 | kF64, exact_sqrt, extended, kSqrtOp},
    {Op::fdiv_approx, kF32 | kF64, good_div, float_binary, spv::OpFDiv},
    {Op::frcp_approx, kF32 | kF64, good_div, reciprocal},
    {Op::fsqrt_approx, kF32 | kF64, good_sqrt, extended, kSqrtOp},
    {Op::frsqrt_approx, kF32 | kF64, good_inverse_root, inverse_root, kSqrtOp},
    {Op::fdiv, kF32, quick_nearest, nearest_quick<kDivUsual, kDivFma>},
    {Op::frcp, kF32, quick_nearest, nearest_quick<kRcpUsual, kRcpFma>},
    {Op::fsqrt, kF32, quick_nearest, nearest_quick<kSqrtUsual, kSqrtFma>},
    {Op::fdiv_approx, kF32, quick_good, nearest_quick<kDivUsual, kDivFma>},
    {Op::frcp_approx, kF32, quick_good, nearest_quick<kRcpUsual, kRcpFma>},
    {Op::fsqrt_approx, kF32, quick_good, nearest_quick<kSqrtUsual, kSqrtFma>},
    {Op::frsqrt_approx, kF32, quick_good, nearest_quick<kRsqrtUsual, kRsqrtFma>},
    {Op::fdiv, kF32, nearest_fma, nearest_soft<kDivFma>},
    {Op::frcp, kF32, nearest_fma, nearest_soft<kRcpFma>},
    {Op::fsqrt, kF32, nearest_fma, nearest_soft<kSqrtFma>},
    {Op::fdiv_approx, kF32, good_fma, nearest_soft<kDivFma>},
    {Op::frcp_approx, kF32, good_fma, nearest_soft<kRcpFma>},
    {Op::fsqrt_approx, kF32, good_fma, nearest_soft<kSqrtFma>},
    {Op::frsqrt_approx, kF32, good_fma, nearest_soft<kRsqrtFma>},
    {Op::fneg, kFloats, no_saturation, sign_op, spv::OpBitwiseXor},
    {Op::fabs, kFloats, no_saturation, sign_op, spv::OpBitwiseAnd},
    {Op::fcmp, kF32 | kF64, exact_compare, float_compare},
};

}  // namespace

Id float_type(LaneEmitter& e, ir::Type type) {
  return e.module().make_float_type(is_wide(type) ? 64 : 32);
}

/// Exponent 0: keep the sign only.
Id flush_subnormal(ModuleBuilder& m, Id bits, uint32_t exponent_bits, uint32_t sign_bit) {
  if (const uint32_t* known = m.known(bits))
    return (*known & exponent_bits) == 0 ? m.u(*known & sign_bit) : bits;
  const bool single = sign_bit == 0x80000000;
  if (single && m.is_flushed(bits)) return bits;
  const Id exponent = m.word(spv::OpBitwiseAnd, {bits, m.u(exponent_bits)});
  const Id small = m.equals(exponent, 0);
  const Id sign = m.word(spv::OpBitwiseAnd, {bits, m.u(sign_bit)});
  const Id flushed = m.select(small, sign, bits);
  if (single) m.note_flushed(flushed);
  return flushed;
}

Id exact_conversion(LaneEmitter& e, spv::Op code, Id type, Id value) {
  const Id result = e.module().op(code, type, {value});
  e.module().add_decoration(result, spv::DecorationNoContraction);
  return result;
}

Id float_operand(LaneEmitter& e, size_t index, ir::Type type) {
  ModuleBuilder& m = e.module();
  Id bits = e.src(index);
  if (e.inst().ftz && !is_wide(type) && !e.target().flushes) bits = flush_subnormal(m, bits);
  return m.op(spv::OpBitcast, float_type(e, type), {bits});
}

namespace {
Id canonical_nan(LaneEmitter& e, Id bits) {
  ModuleBuilder& m = e.module();
  const bool wide = is_wide(e.inst().type);
  if (wide || e.target().native_compare) {
    const Id value = m.op(spv::OpBitcast, float_type(e, e.inst().type), {bits});
    const Id nan = m.test(spv::OpIsNan, {value});
    const Id canonical = m.select(nan, wide ? m.b64(0xfff8000000000000ULL) : m.u(0x7fffffff), bits);
    if (m.is_flushed(bits)) m.note_flushed(canonical);
    return canonical;
  }
  const Id magnitude = m.word(spv::OpBitwiseAnd, {bits, m.u(0x7fffffff)});
  const Id nan = m.test(spv::OpUGreaterThan, {magnitude, m.u(0x7f800000)});
  return m.select(nan, m.u(0x7fffffff), bits);
}

/// As integers, NaNs and negative numbers are larger than infinity.
Id saturate(ModuleBuilder& m, Id bits) {
  const Id outside = m.test(spv::OpUGreaterThan, {bits, m.u(0x7f800000)});
  const Id least = m.glsl(GLSLstd450UMin, m.uint_type, {bits, m.u(0x3f800000)});
  const Id inside = m.select(outside, m.u(0), least);
  m.note_unit(inside);
  return inside;
}
}  // namespace

Id finish_bits(LaneEmitter& e, Id bits, bool canonical, bool native) {
  const ir::Inst& inst = e.inst();
  const bool wide = is_wide(inst.type);
  if (inst.ftz && !wide && !(native && e.target().flushes))
    bits = flush_subnormal(e.module(), bits);
  if (!canonical && !inst.any_nan && !inst.sat) bits = canonical_nan(e, bits);
  if (!inst.sat) return bits;
  return wide ? e.library("lw_sat_f64", e.module().b64_type, {bits}) : saturate(e.module(), bits);
}

Values finish_float(LaneEmitter& e, Id value) {
  const Id type = e.module().type_of(e.inst().type);
  return {finish_bits(e, e.module().op(spv::OpBitcast, type, {value}), false, true)};
}

constinit NativeTable float_rows = kFloatRows;

}  // namespace lanewise::spirv
