// f32 and f64 arithmetic. `add.f32` without a rounding qualifier rounds to nearest and is never
// fused; engines get every operation separately.
#include <algorithm>

#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/packed.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

template <Op kOp>
void xorsign(Emit& e) {
  const ir::Operand a = e.raw(1, kF32), b = e.raw(2, kF32);
  e.set(0, kF32, signed_extreme(e, kOp, Type::f32, a, b));
}

void copysign(Emit& e) {
  const PType t = e.type();
  const Type bits = t.bits == 64 ? Type::u64 : Type::u32;
  const uint64_t sign = uint64_t{1} << (t.bits - 1);
  const ir::Reg s = e.op(Op::and_, bits, {e.raw(1, t), imm(sign)});
  const ir::Reg magnitude = e.op(Op::and_, bits, {e.raw(2, t), imm(sign - 1)});
  e.set(0, t, e.op(Op::or_, bits, {s, magnitude}));
}

struct Layout {
  uint64_t exponent, mantissa;
};

ir::Operand is_zero(Emit& e, Type bits, ir::Operand v) {
  return e.op(Op::icmp, bits, {v, imm(0)});
}

void testp(Emit& e) {
  const PType t = e.type();
  const Type bits = t.bits == 64 ? Type::u64 : Type::u32;
  const Layout l = t.bits == 64 ? Layout{0x7ff0000000000000, 0x000fffffffffffff}
                                : Layout{0x7f800000, 0x007fffff};
  const ir::Operand v = e.raw(1, t);
  const ir::Operand magnitude = e.op(Op::and_, bits, {v, imm(l.exponent | l.mantissa)});
  const std::string_view what = e.get("what");
  const auto compare = [&](ir::Cond cond, uint64_t with) {
    return e.op(Op::icmp, bits, {magnitude, imm(with)}, {.cond = cond});
  };
  const auto both = [&](ir::Reg a, ir::Reg b) { return e.op(Op::and_, Type::pred, {a, b}); };
  if (what == "finite") return e.set(0, kPred, compare(ir::Cond::lt, l.exponent));
  if (what == "infinite") return e.set(0, kPred, compare(ir::Cond::eq, l.exponent));
  if (what == "number") return e.set(0, kPred, compare(ir::Cond::le, l.exponent));
  if (what == "notanumber") return e.set(0, kPred, compare(ir::Cond::gt, l.exponent));
  // Zeros count as normal numbers.
  const ir::Reg small = compare(ir::Cond::le, l.mantissa);
  const ir::Reg subnormal = both(small, compare(ir::Cond::ne, 0));
  if (what == "subnormal") return e.set(0, kPred, subnormal);
  const ir::Reg other = e.op(Op::not_, Type::pred, {subnormal});
  e.set(0, kPred, both(other, compare(ir::Cond::lt, l.exponent)));
}

/// The machine multiplies by the divisor's reciprocal, which is 0 beyond 2^126: such divisors act
/// as infinities, so that a number gives 0 and an infinity NaN.
void div_approx(Emit& e) {
  constexpr uint64_t kLargest = 0x7e800000, kInfinity = 0x7f800000, kSign = 0x80000000;
  const auto u32 = [&](Op op, ir::Operand a, uint64_t b) {
    return e.op(op, Type::u32, {a, imm(b)});
  };
  const ir::Operand a = e.raw(1, kF32), b = e.raw(2, kF32);
  const ir::Reg beyond = u32(Op::sub, u32(Op::and_, b, ~kSign & 0xffffffff), kLargest + 1);
  const ir::Reg large =
      e.op(Op::icmp, Type::u32, {beyond, imm(kInfinity - kLargest - 1)}, {.cond = ir::Cond::lt});
  const ir::Reg infinity = u32(Op::or_, u32(Op::and_, b, kSign), kInfinity);
  const ir::Reg divisor = e.op(Op::select, Type::u32, {large, infinity, b});
  e.set(0, kF32, e.op(Op::fdiv_approx, Type::f32, {a, divisor}, e.mods()));
}

// --- the coarse f64 reciprocals ------------------------------------------------------------------

constexpr uint64_t kHighWord = 0xffffffff00000000;
constexpr uint64_t kExponent64 = 0x7ff0000000000000;
constexpr uint64_t kSign64 = 0x8000000000000000;

/// Subnormals become zero of their sign.
ir::Operand flush64(Emit& e, ir::Operand v) {
  const ir::Operand exponent = e.op(Op::and_, Type::u64, {v, imm(kExponent64)});
  const ir::Reg zero = e.op(Op::and_, Type::u64, {v, imm(kSign64)});
  return e.op(Op::select, Type::u64, {is_zero(e, Type::u64, exponent), zero, v});
}

ir::Operand top_half(Emit& e, ir::Operand v) {
  return e.op(Op::and_, Type::u64, {v, imm(kHighWord)});
}

/// Only the upper word of the operand counts and only that of the result is given.
void rcp_coarse(Emit& e) {
  const ir::Operand in = flush64(e, top_half(e, e.raw(1, kF64)));
  const ir::Reg out = e.op(Op::frcp, Type::f64, {in});
  e.set(0, kF64, flush64(e, top_half(e, out)));
}

void rsqrt_double(Emit& e) {
  const bool coarse = e.has("ftz");
  ir::Operand in = e.raw(1, kF64);
  if (coarse) in = flush64(e, top_half(e, in));
  const ir::Reg root = e.op(Op::fsqrt, Type::f64, {in});
  const ir::Reg out = e.op(Op::frcp, Type::f64, {root});
  e.set(0, kF64, coarse ? top_half(e, out) : ir::Operand(out));
}

constexpr auto kApprox = isa::Claim::approximate;
constexpr const char* kDivApprox =
    "at most 2 ulp for divisors from 2^-126 to 2^126, 0 for larger ones";
constexpr const char* kDivFull = "correctly rounded, where the ISA asks for 2 ulp";
constexpr const char* kRcpApprox = "at most 1 ulp";
constexpr const char* kSqrtApprox = "relative error at most 2^-23";
constexpr const char* kRsqrtApprox = "relative error at most 2^-22.9";
constexpr const char* kTrig = "absolute error at most 2^-20.9 from -pi to pi";
constexpr const char* kLg2 = "absolute error at most 2^-22 from 0.5 to 2, relative 2^-22 elsewhere";
constexpr const char* kEx2 = "at most 2 ulp";
constexpr const char* kTanh = "relative error at most 2^-11";
constexpr const char* kCoarse = "upper 32 bits correctly rounded down, lower 32 bits zero";
constexpr const char* kRsqrt64 = "at most 2 ulp";

/// GPUs before sm_20 had one rounding of `mad.f32`, which stands for itself there.
void mad_rule(legal::Context& c) {
  if (c.env.sm != 0 && c.env.sm < 20 &&
      std::ranges::find(c.in.mods, c.get("rnd")) != c.in.mods.end())
    c.error("a rounding of `mad.f32` needs sm_20 or higher, found " + c.env.target);
}

constexpr Row kFloatRows[] = {
    {"add", "?rnd:$rnd ?ftz ?sat+ type:f32", "d s s", plain<Op::fadd, 2>},
    {"add", "?rnd:$rnd type:f64", "d s s", plain<Op::fadd, 2>},
    {"sub", "?rnd:$rnd ?ftz ?sat+ type:f32", "d s s", plain<Op::fsub, 2>},
    {"sub", "?rnd:$rnd type:f64", "d s s", plain<Op::fsub, 2>},
    {"mul", "?rnd:$rnd ?ftz ?sat+ type:f32", "d s s", plain<Op::fmul, 2>},
    {"mul", "?rnd:$rnd type:f64", "d s s", plain<Op::fmul, 2>},
    {"fma", "rnd:$rnd ?ftz ?sat+ type:f32", "d s s s", plain<Op::ffma, 3>},
    {"fma", "rnd:$rnd type:f64", "d s s s", plain<Op::ffma, 3>},
    {"mad", "rnd:$rnd ?ftz ?sat+ type:f32", judged("d s s s", mad_rule), plain<Op::ffma, 3>},
    {"mad", "rnd:$rnd type:f64", "d s s s", plain<Op::ffma, 3>},
    {"div", "rnd:$rnd ?ftz type:f32", "d s s", plain<Op::fdiv, 2>},
    {"div", "rnd:$rnd type:f64", "d s s", plain<Op::fdiv, 2>},
    {"div", "^full ?ftz type:f32", "d s s", plain<Op::fdiv, 2>, kDivFull},
    {"div", "approx+ ?ftz type:f32", "d s s", div_approx, kDivApprox, kApprox},
    {"rcp", "rnd:$rnd ?ftz type:f32", "d s", plain<Op::frcp, 1>},
    {"rcp", "rnd:$rnd type:f64", "d s", plain<Op::frcp, 1>},
    {"rcp", "approx+ ?ftz type:f32", "d s", plain<Op::frcp_approx, 1>, kRcpApprox, kApprox},
    {"rcp", "approx+ ftz type:f64", "d s", rcp_coarse, kCoarse, kApprox},
    {"sqrt", "rnd:$rnd ?ftz type:f32", "d s", plain<Op::fsqrt, 1>},
    {"sqrt", "rnd:$rnd type:f64", "d s", plain<Op::fsqrt, 1>},
    {"sqrt", "approx+ ?ftz type:f32", "d s", plain<Op::fsqrt_approx, 1>, kSqrtApprox, kApprox},
    {"rsqrt", "approx+ ?ftz type:f32", "d s", plain<Op::frsqrt_approx, 1>, kRsqrtApprox, kApprox},
    {"rsqrt", "approx+ ?ftz type:f64", "d s", rsqrt_double, kRsqrt64, kApprox},
    {"sin", "approx+ ?ftz type:f32", "d s", plain<Op::fsin_approx, 1>, kTrig, kApprox},
    {"cos", "approx+ ?ftz type:f32", "d s", plain<Op::fcos_approx, 1>, kTrig, kApprox},
    {"lg2", "approx+ ?ftz type:f32", "d s", plain<Op::flg2_approx, 1>, kLg2, kApprox},
    {"ex2", "approx+ ?ftz type:f32", "d s", plain<Op::fex2_approx, 1>, kEx2, kApprox},
    {"tanh@75.70", "approx+ type:f32", "d s", plain<Op::ftanh_approx, 1>, kTanh, kApprox},
    {"neg", "?ftz type:f32", "d s", plain<Op::fneg, 1>},
    {"neg", "type:f64", "d s", plain<Op::fneg, 1>},
    {"abs", "?ftz type:f32", "d s", plain<Op::fabs, 1>},
    {"abs", "type:f64", "d s", plain<Op::fabs, 1>},
    {"min", "?ftz ?NaN@80.70+ type:f32", "d s s", plain<Op::fmin, 2>},
    {"min", "type:f64", "d s s", plain<Op::fmin, 2>},
    {"max", "?ftz ?NaN@80.70+ type:f32", "d s s", plain<Op::fmax, 2>},
    {"max", "type:f64", "d s s", plain<Op::fmax, 2>},
    {"min", "?ftz ?NaN+ xorsign@86.72 abs type:f32", "d s s", xorsign<Op::fmin>},
    {"max", "?ftz ?NaN+ xorsign@86.72 abs type:f32", "d s s", xorsign<Op::fmax>},
    {"copysign", "type:f32|f64", "d s s", copysign},
    {"testp", "what:finite|infinite|number|notanumber|normal|subnormal type:f32|f64", "d:pred s",
     testp},
};

}  // namespace

constinit Rows float_rows = kFloatRows;

}  // namespace lanewise::ptx
