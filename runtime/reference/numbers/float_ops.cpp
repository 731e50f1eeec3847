#include "runtime/reference/numbers/float_ops.hpp"

#include "runtime/reference/numbers/host_float.hpp"
#include "runtime/reference/numbers/soft_float.hpp"

namespace lanewise::reference {
namespace {

using ir::Cond;
using ir::Op;
using ir::Round;
using ir::Type;

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
    case Op::fdiv_approx:
      return pack(f, divide(x, y), round, flags.ftz);
    case Op::frcp:
    case Op::frcp_approx:
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

/// Round to nearest even is what the host does in its default mode; the host is several times
/// faster than soft_float, and the tests compare the two.
uint64_t arithmetic(Op op, Type type, FloatFlags flags, uint64_t a, uint64_t b, uint64_t c) {
  if (flags.round == Round::rn && type == Type::f64) return host::arithmetic(op, a, b, c);
  if (flags.round == Round::rn && type == Type::f32) {
    const auto word = [](uint64_t v) { return static_cast<uint32_t>(v); };
    const uint32_t r = host::arithmetic(op, word(a), word(b), word(c));
    if (!may_be_flushed(r, flags)) return r;
  }
  return soft_arithmetic(op, format_of(type), flags, a, b, c);
}

/// By the order of ir/ops.def.
uint64_t compute(Op op, Type type, FloatFlags flags, uint64_t a, uint64_t b, uint64_t c) {
  const Format& f = format_of(type);
  if (op <= Op::fsqrt) return arithmetic(op, type, flags, a, b, c);
  if (op <= Op::fmax) return float_min_max(type, op == Op::fmax, flags.mode == 1, a, b);
  if (op == Op::fround) return pack(f, round_to_integral(unpack(f, a), flags.round), flags.round);
  if (op <= Op::fsqrt_approx) return arithmetic(op, type, {.round = Round::rn}, a, b, c);
  return approximate(op, type, a);
}

/// Bits in an order that compares like the numbers, -0 just below +0; NaN excluded.
int64_t ordered(const Format& f, uint64_t v) {
  const auto magnitude = static_cast<int64_t>(f.magnitude(v));
  return (v & f.sign_bit()) != 0 ? ~magnitude : magnitude;
}

/// As host::order().
uint32_t order(const Format& f, uint64_t a, uint64_t b) {
  if (f.is_nan(a) || f.is_nan(b)) return 8;
  const int64_t x = ordered(f, a), y = ordered(f, b);
  if (x == y || (f.magnitude(a) | f.magnitude(b)) == 0) return 2;
  return x < y ? 1 : 4;
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
  return (order(format_of(type), a, b) & host::truth(cond)) != 0;
}

}  // namespace lanewise::reference
