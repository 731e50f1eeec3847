#include "runtime/reference/numbers/float_ops.hpp"

#include <bit>
#include <cmath>

#include "runtime/reference/numbers/soft_float.hpp"

namespace lanewise::reference {
namespace {

using ir::Cond;
using ir::Op;
using ir::Round;
using ir::Type;

/// Round to nearest even is what the host does in its default mode; the host is several times
/// faster than soft_float, and the tests compare the two.
template <typename Real>
Real host_arithmetic(Op op, Real a, Real b, Real c) {
  switch (op) {
    case Op::fadd:
      return a + b;
    case Op::fsub:
      return a - b;
    case Op::fmul:
      return a * b;
    case Op::ffma:
      return std::fma(a, b, c);
    case Op::fdiv:
      return a / b;
    case Op::frcp:
      return Real{1} / a;
    default:
      return std::sqrt(a);
  }
}

uint64_t host_f32(Op op, uint64_t a, uint64_t b, uint64_t c) {
  const auto real = [](uint64_t v) { return std::bit_cast<float>(static_cast<uint32_t>(v)); };
  const float r = host_arithmetic(op, real(a), real(b), real(c));
  return r != r ? kF32.nan : std::bit_cast<uint32_t>(r);
}

uint64_t host_f64(Op op, uint64_t a, uint64_t b, uint64_t c) {
  const auto real = [](uint64_t v) { return std::bit_cast<double>(v); };
  const double r = host_arithmetic(op, real(a), real(b), real(c));
  return r != r ? kF64.nan : std::bit_cast<uint64_t>(r);
}

uint64_t soft_arithmetic(Op op, const Format& f, FloatFlags flags, uint64_t a, uint64_t b,
                         uint64_t c) {
  const Round round = flags.round;
  const Number x = unpack(f, a), y = unpack(f, b);
  switch (op) {
    case Op::fadd:
      return pack(f, add(x, y, round), round);
    case Op::fsub:
      return pack(f, add(x, unpack(f, b ^ f.sign_bit()), round), round);
    case Op::fmul:
      return pack(f, multiply(x, y), round, flags.ftz);
    case Op::ffma:
      return pack(f, add(multiply(x, y), unpack(f, c), round), round, flags.ftz);
    case Op::fdiv:
      return pack(f, divide(x, y), round, flags.ftz);
    case Op::frcp:
      return pack(f, divide(unpack(f, f.one()), x), round, flags.ftz);
    default:
      return pack(f, square_root(x), round);
  }
}

/// What the host gives for the smallest normal number may have been rounded up to it, which .ftz
/// has to know.
bool may_be_flushed(uint64_t result, FloatFlags flags) {
  return flags.ftz && kF32.magnitude(result) == 0x00800000;
}

uint64_t arithmetic(Op op, Type type, FloatFlags flags, uint64_t a, uint64_t b, uint64_t c) {
  if (flags.round == Round::rn && type == Type::f64) return host_f64(op, a, b, c);
  if (flags.round == Round::rn && type == Type::f32) {
    const uint64_t r = host_f32(op, a, b, c);
    if (!may_be_flushed(r, flags)) return r;
  }
  return soft_arithmetic(op, format_of(type), flags, a, b, c);
}

uint64_t compute(Op op, Type type, FloatFlags flags, uint64_t a, uint64_t b, uint64_t c) {
  const Format& f = format_of(type);
  const FloatFlags nearest{.round = Round::rn};
  switch (op) {
    case Op::fadd:
    case Op::fsub:
    case Op::fmul:
    case Op::ffma:
    case Op::fdiv:
    case Op::frcp:
    case Op::fsqrt:
      return arithmetic(op, type, flags, a, b, c);
    case Op::fdiv_approx:
      return arithmetic(Op::fdiv, type, nearest, a, b, c);
    case Op::frcp_approx:
      return arithmetic(Op::frcp, type, nearest, a, b, c);
    case Op::fsqrt_approx:
      return arithmetic(Op::fsqrt, type, nearest, a, b, c);
    case Op::fmin:
    case Op::fmax:
      return float_min_max(type, op == Op::fmax, flags.mode == 1, a, b);
    case Op::fround:
      return pack(f, round_to_integral(unpack(f, a), flags.round), flags.round);
    default:
      return approximate(op, type, a);
  }
}

/// Bits in an order that compares like the numbers, -0 just below +0; NaN excluded.
int64_t ordered(const Format& f, uint64_t v) {
  const auto magnitude = static_cast<int64_t>(f.magnitude(v));
  return (v & f.sign_bit()) != 0 ? ~magnitude : magnitude;
}

/// -1, 0, 1, or 2 when either is NaN.
int three_way(const Format& f, uint64_t a, uint64_t b) {
  if (f.is_nan(a) || f.is_nan(b)) return 2;
  if (f.magnitude(a) == 0 && f.magnitude(b) == 0) return 0;
  const int64_t x = ordered(f, a), y = ordered(f, b);
  return x < y ? -1 : x > y ? 1 : 0;
}

}  // namespace

uint64_t flush_subnormal(Type type, uint64_t a) {
  if (type == Type::f64) return a;
  const Format& f = format_of(type);
  return f.is_subnormal(a) ? a & f.sign_bit() : a;
}

uint64_t saturate(Type type, uint64_t a) {
  const Format& f = format_of(type);
  if (f.is_nan(a) || (a & f.sign_bit()) != 0) return 0;
  return a > f.one() ? f.one() : a;
}

uint64_t float_min_max(Type type, bool max, bool nan_wins, uint64_t a, uint64_t b) {
  const Format& f = format_of(type);
  if (f.is_nan(a) || f.is_nan(b)) {
    if (nan_wins || (f.is_nan(a) && f.is_nan(b))) return f.nan;
    return f.is_nan(a) ? b : a;
  }
  return (ordered(f, a) < ordered(f, b)) != max ? a : b;
}

uint64_t float_op(Op op, Type type, FloatFlags flags, uint64_t a, uint64_t b, uint64_t c) {
  const Format& f = format_of(type);
  if (flags.ftz) {
    a = flush_subnormal(type, a);
    b = flush_subnormal(type, b);
    c = flush_subnormal(type, c);
  }
  uint64_t r = 0;
  if (op == Op::fneg) {
    r = a ^ f.sign_bit();
  } else if (op == Op::fabs) {
    r = f.magnitude(a);
  } else {
    r = compute(op, type, flags, a, b, c);
  }
  if (flags.ftz) r = flush_subnormal(type, r);
  return flags.sat ? saturate(type, r) : r;
}

bool float_compare(Type type, Cond cond, bool ftz, uint64_t a, uint64_t b) {
  if (ftz) {
    a = flush_subnormal(type, a);
    b = flush_subnormal(type, b);
  }
  const int order = three_way(format_of(type), a, b);
  const bool unordered = order == 2;
  switch (cond) {
    case Cond::eq:
      return order == 0;
    case Cond::ne:
      return !unordered && order != 0;
    case Cond::lt:
      return order == -1;
    case Cond::le:
      return order <= 0;
    case Cond::gt:
      return order == 1;
    case Cond::ge:
      return order == 0 || order == 1;
    case Cond::equ:
      return unordered || order == 0;
    case Cond::neu:
      return order != 0;
    case Cond::ltu:
      return unordered || order == -1;
    case Cond::leu:
      return unordered || order <= 0;
    case Cond::gtu:
      return order >= 1;
    case Cond::geu:
      return order >= 0;
    case Cond::num:
      return !unordered;
    case Cond::nan:
      return unordered;
  }
  return false;
}

}  // namespace lanewise::reference
