// Floats against the host's FPU in all four directions. Operands and results go through volatile
// objects, so that the compiler neither folds nor moves an operation across a change of direction.
#include <doctest/doctest.h>

#include <bit>
#include <cfenv>
#include <cmath>
#include <vector>

#include "runtime/reference/numbers/float_ops.hpp"
#include "runtime/reference/numbers/soft_float.hpp"
#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::Round;
using reference::FloatFlags;
using reference::kF16;
using reference::kF32;
using reference::kF64;

namespace {

constexpr Round kDirected[] = {Round::rn, Round::rz, Round::rm, Round::rp};
constexpr Op kBinary[] = {Op::fadd, Op::fsub, Op::fmul, Op::fdiv};

class HostRounding {
 public:
  explicit HostRounding(Round r) : old_(fegetround()) {
    fesetround(r == Round::rn   ? FE_TONEAREST
               : r == Round::rz ? FE_TOWARDZERO
               : r == Round::rm ? FE_DOWNWARD
                                : FE_UPWARD);
  }
  ~HostRounding() { fesetround(old_); }

 private:
  int old_;
};

template <typename Real>
Real host(Op op, Real x, Real y, Real z) {
  volatile Real a = x, b = y, c = z, r = 0;
  switch (op) {
    case Op::fadd:
      r = a + b;
      break;
    case Op::fsub:
      r = a - b;
      break;
    case Op::fmul:
      r = a * b;
      break;
    case Op::fdiv:
      r = a / b;
      break;
    case Op::frcp:
      r = Real{1} / a;
      break;
    case Op::ffma:
      r = std::fma(a, b, c);
      break;
    default:
      r = std::sqrt(a);
  }
  return r;
}

float f32(uint64_t v) {
  return std::bit_cast<float>(static_cast<uint32_t>(v));
}
double f64(uint64_t v) {
  return std::bit_cast<double>(v);
}
uint64_t bits(float v) {
  return std::isnan(v) ? kF32.nan : std::bit_cast<uint32_t>(v);
}
uint64_t bits(double v) {
  return std::isnan(v) ? kF64.nan : std::bit_cast<uint64_t>(v);
}

/// Float bit patterns: corners, neighbours in exponent, and plain random ones.
std::vector<uint64_t> patterns(const reference::Format& f, size_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  const uint64_t one = f.one(), inf = f.infinity();
  const uint64_t corner[] = {0,
                             1,
                             2,
                             one,
                             one + 1,
                             one - 1,
                             inf,
                             inf - 1,
                             inf + 1,
                             f.nan,
                             uint64_t{1} << f.fraction,
                             (uint64_t{1} << f.fraction) - 1};
  std::vector<uint64_t> v;
  for (const uint64_t c : corner) {
    v.push_back(c);
    v.push_back(c ^ f.sign_bit());
  }
  const uint64_t all = f.sign_bit() | (f.sign_bit() - 1);
  const uint64_t reach = f.bits == 16 ? 16 : 64;
  while (v.size() < count) {
    const uint64_t raw = random() & all;
    const uint64_t near_one = ((f.one() >> f.fraction) + random() % reach - reach / 2)
                              << f.fraction;
    const uint64_t fraction = raw % (uint64_t{1} << f.fraction);
    const bool clustered = random() % 2 == 0;  // half of them within some binades of 1
    v.push_back(clustered ? ((near_one + fraction) & (f.sign_bit() - 1)) | (raw & f.sign_bit())
                          : raw);
  }
  return v;
}

FloatFlags flags_toward(Round r) {
  FloatFlags flags;
  flags.round = r;
  return flags;
}

template <typename Real>
size_t compare_arithmetic(Type type, const std::vector<uint64_t>& v, Real (*real)(uint64_t)) {
  size_t wrong = 0;
  const auto check = [&](Op op, Round r, uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t got = reference::float_op(op, type, flags_toward(r), a, b, c);
    uint64_t want = 0;
    {
      const HostRounding scope(r);
      want = bits(host<Real>(op, real(a), real(b), real(c)));
    }
    if (got == want) return;
    if (wrong++ == 0) {
      INFO("op " << static_cast<int>(op) << " round " << static_cast<int>(r) << std::hex << " a "
                 << a << " b " << b << " c " << c << " got " << got << " want " << want);
      CHECK(got == want);
    }
  };
  for (const Round r : kDirected) {
    for (size_t i = 0; i < v.size(); ++i) {
      check(Op::fsqrt, r, v[i], 0, 0);
      check(Op::frcp, r, v[i], 0, 0);
      for (size_t j = 1; j < v.size(); j += 1 + i % 7) {
        for (const Op op : kBinary) check(op, r, v[i], v[j], 0);
        check(Op::ffma, r, v[i], v[j], v[(i + 3 * j) % v.size()]);
      }
    }
  }
  return wrong;
}

// --- an f16 oracle in doubles ------------------------------------------------------------------

double f16(uint64_t v) {
  const int exponent = static_cast<int>(v >> 10 & 31);
  const double fraction = static_cast<double>(v & 1023);
  double m = exponent == 0    ? std::ldexp(fraction, -24)
             : exponent == 31 ? (fraction == 0 ? HUGE_VAL : NAN)
                              : std::ldexp(1024 + fraction, exponent - 25);
  return (v & 0x8000) != 0 ? -m : m;
}

/// Rounds an exact (or jammed) double to f16 in the host's current direction.
uint64_t to_f16(double x, Round r) {
  if (std::isnan(x)) return kF16.nan;
  const uint64_t sign = std::signbit(x) ? 0x8000 : 0;
  if (std::isinf(x)) return sign | 0x7c00;
  if (x == 0) return sign;
  const int exponent = std::max(std::ilogb(x) - 10, -24);
  volatile double scaled = std::ldexp(x, -exponent);
  volatile double whole = std::nearbyint(scaled);
  const double y = std::fabs(std::ldexp(whole, exponent));
  if (y > 65504) {
    const bool away =
        r == Round::rn || (r == Round::rp && sign == 0) || (r == Round::rm && sign != 0);
    return sign | (away ? 0x7c00 : 0x7bff);
  }
  if (y < std::ldexp(1.0, -14)) return sign | static_cast<uint64_t>(std::ldexp(y, 24));
  const int e = std::ilogb(y);
  return sign | uint64_t(e + 15) << 10 | (static_cast<uint64_t>(std::ldexp(y, 10 - e)) & 1023);
}

/// a * b + c of finite f16 values as a double that rounds the same way: odd in its last place when
/// something was cut off.
double jammed_fma(double a, double b, double c) {
  const auto fixed = [](double x, int scale) {
    return static_cast<__int128>(std::ldexp(x, scale));  // exact: at most 53 bits
  };
  __int128 sum = fixed(a * b, 48) + fixed(c, 48);
  const bool negative = sum < 0;
  auto magnitude = static_cast<unsigned __int128>(negative ? -sum : sum);
  int up = 0;
  while (magnitude >> 53 != 0) {
    magnitude = magnitude >> 1 | (magnitude & 1);
    ++up;
  }
  const double m = std::ldexp(static_cast<double>(static_cast<uint64_t>(magnitude)), up - 48);
  return negative ? -m : m;
}

}  // namespace

TEST_CASE("f32 arithmetic equals the FPU in every direction") {
  CHECK(compare_arithmetic<float>(Type::f32, patterns(kF32, 400, 1), f32) == 0);
}

TEST_CASE("f64 arithmetic equals the FPU in every direction") {
  CHECK(compare_arithmetic<double>(Type::f64, patterns(kF64, 400, 2), f64) == 0);
}

TEST_CASE("f16 arithmetic equals an oracle in doubles") {
  const std::vector<uint64_t> v = patterns(kF16, 300, 3);
  size_t wrong = 0;
  for (const Round r : kDirected) {
    const HostRounding scope(r);
    for (const uint64_t a : v) {
      for (const uint64_t b : v) {
        for (const Op op : kBinary) {
          const uint64_t want = to_f16(host<double>(op, f16(a), f16(b), 0), r);
          wrong += reference::float_op(op, Type::f16, flags_toward(r), a, b, 0) != want;
        }
        const uint64_t c = v[(a * 7 + b) % v.size()];
        const double x = f16(a), y = f16(b), z = f16(c);
        if (!std::isfinite(x) || !std::isfinite(y) || !std::isfinite(z)) continue;
        const double sum = jammed_fma(x, y, z);
        if (sum == 0) continue;  // signs of zero have a test of their own
        wrong +=
            reference::float_op(Op::ffma, Type::f16, flags_toward(r), a, b, c) != to_f16(sum, r);
      }
      const uint64_t root = to_f16(host<double>(Op::fsqrt, f16(a), 0, 0), r);
      wrong += reference::float_op(Op::fsqrt, Type::f16, flags_toward(r), a, 0, 0) != root;
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("all f16 values survive the way to f32 and f64 and back") {
  size_t wrong = 0;
  for (uint64_t v = 0; v < 65536; ++v) {
    const uint64_t wide = reference::float_to_float(Type::f32, Type::f16, {}, v);
    const uint64_t wider = reference::float_to_float(Type::f64, Type::f16, {}, v);
    wrong += wide != bits(static_cast<float>(f16(v)));
    wrong += wider != bits(f16(v));
    const uint64_t expected = kF16.is_nan(v) ? kF16.nan : v;
    wrong += reference::float_to_float(Type::f16, Type::f32, {}, wide) != expected;
    wrong += reference::float_to_float(Type::f16, Type::f64, {}, wider) != expected;
  }
  CHECK(wrong == 0);
}

TEST_CASE("narrowing conversions round once") {
  size_t wrong = 0;
  for (const Round r : kDirected) {
    const HostRounding scope(r);
    for (const uint64_t a : patterns(kF64, 20000, 4)) {
      volatile double wide = f64(a);
      volatile float narrow = static_cast<float>(wide);
      wrong += reference::float_to_float(Type::f32, Type::f64, flags_toward(r), a) != bits(narrow);
      wrong +=
          reference::float_to_float(Type::f16, Type::f64, flags_toward(r), a) != to_f16(wide, r);
    }
    for (const uint64_t a : patterns(kF32, 20000, 5)) {
      const uint64_t got = reference::float_to_float(Type::f16, Type::f32, flags_toward(r), a);
      wrong += got != to_f16(static_cast<double>(f32(a)), r);
    }
  }
  CHECK(wrong == 0);
  // Halfway cases: to even, away, and one unit above half (where rounding twice goes wrong).
  const auto narrow = [](uint64_t v, Round r) {
    return reference::float_to_float(Type::f32, Type::f64, flags_toward(r), v);
  };
  CHECK(narrow(0x3ff0000010000000, Round::rn) == 0x3f800000);
  CHECK(narrow(0x3ff0000010000000, Round::rna) == 0x3f800001);
  CHECK(narrow(0x3ff000000fffffff, Round::rna) == 0x3f800000);
  CHECK(narrow(0x3ff0000010000001, Round::rn) == 0x3f800001);
  CHECK(narrow(0x47efffffffffffff, Round::rn) == 0x7f800000);
  CHECK(narrow(0x47efffffffffffff, Round::rz) == 0x7f7fffff);
}

TEST_CASE("rounding to integral values") {
  size_t wrong = 0;
  for (const uint64_t a : patterns(kF32, 20000, 6)) {
    for (const Round r : kDirected) {
      const HostRounding scope(r);
      volatile float x = f32(a);
      volatile float want = std::nearbyint(x);
      wrong += reference::float_op(Op::fround, Type::f32, flags_toward(r), a, 0, 0) != bits(want);
    }
    const float away = std::round(f32(a));
    wrong +=
        reference::float_op(Op::fround, Type::f32, flags_toward(Round::rna), a, 0, 0) != bits(away);
  }
  CHECK(wrong == 0);
}

TEST_CASE("zero keeps the sign that IEEE gives it") {
  const auto op = [](Op o, Round r, uint64_t a, uint64_t b, uint64_t c = 0) {
    return reference::float_op(o, Type::f32, flags_toward(r), a, b, c);
  };
  const uint64_t one = 0x3f800000, minus_one = 0xbf800000, minus_zero = 0x80000000;
  for (const Round r : {Round::rn, Round::rz, Round::rp}) {
    CHECK(op(Op::fadd, r, one, minus_one) == 0);
    CHECK(op(Op::ffma, r, one, one, minus_one) == 0);
    CHECK(op(Op::fadd, r, 0, minus_zero) == 0);
  }
  CHECK(op(Op::fadd, Round::rm, one, minus_one) == minus_zero);
  CHECK(op(Op::ffma, Round::rm, one, one, minus_one) == minus_zero);
  CHECK(op(Op::fadd, Round::rn, minus_zero, minus_zero) == minus_zero);
  CHECK(op(Op::fmul, Round::rz, 0, minus_one) == minus_zero);
  CHECK(op(Op::fsqrt, Round::rp, minus_zero, 0) == minus_zero);
  CHECK(op(Op::frcp, Round::rz, minus_zero, 0) == 0xff800000);
}

TEST_CASE("fused means one rounding") {
  // (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24 exactly; two roundings would give 0.
  const uint64_t x = 0x3f800800, minus_y = 0xbf801000;
  CHECK(reference::float_op(Op::ffma, Type::f32, {}, x, x, minus_y) == 0x33800000);
}

TEST_CASE("NaN results are canonical, sign operations only touch the sign") {
  const uint64_t odd32 = 0xff812345, odd64 = 0x7ff0000000000001, odd16 = 0xfc01;
  for (const Round r : {Round::rn, Round::rz}) {
    CHECK(reference::float_op(Op::fadd, Type::f32, flags_toward(r), odd32, 0, 0) == 0x7fffffff);
    CHECK(reference::float_op(Op::ffma, Type::f64, flags_toward(r), odd64, 0, 0) ==
          0xfff8000000000000);
    CHECK(reference::float_op(Op::fmul, Type::f16, flags_toward(r), odd16, 0, 0) == 0x7fff);
    CHECK(reference::float_op(Op::fround, Type::f32, flags_toward(r), odd32, 0, 0) == 0x7fffffff);
    CHECK(reference::float_op(Op::fmul, Type::f32, flags_toward(r), 0x7f800000, 0, 0) ==
          0x7fffffff);
    CHECK(reference::float_op(Op::fsqrt, Type::f64, flags_toward(r), 0xbff0000000000000, 0, 0) ==
          0xfff8000000000000);
  }
  CHECK(reference::float_to_float(Type::f64, Type::f32, {}, odd32) == 0xfff8000000000000);
  CHECK(reference::float_to_float(Type::f16, Type::f64, {}, odd64) == 0x7fff);
  CHECK(reference::float_op(Op::fneg, Type::f32, {}, odd32, 0, 0) == 0x7f812345);
  CHECK(reference::float_op(Op::fabs, Type::f32, {}, odd32, 0, 0) == 0x7f812345);
  CHECK(reference::float_op(Op::fneg, Type::f16, {}, odd16, 0, 0) == 0x7c01);
}

TEST_CASE("minimum and maximum") {
  const uint64_t nan = 0x7fc00000, one = 0x3f800000, two = 0x40000000, minus_zero = 0x80000000;
  const auto f = [](Op o, uint64_t a, uint64_t b, uint8_t mode = 0) {
    FloatFlags flags;
    flags.mode = mode;
    return reference::float_op(o, Type::f32, flags, a, b, 0);
  };
  CHECK(f(Op::fmin, one, two) == one);
  CHECK(f(Op::fmax, one, two) == two);
  CHECK(f(Op::fmin, nan, two) == two);
  CHECK(f(Op::fmax, two, nan) == two);
  CHECK(f(Op::fmin, nan, nan) == 0x7fffffff);
  CHECK(f(Op::fmin, one, nan, 1) == 0x7fffffff);
  CHECK(f(Op::fmin, 0, minus_zero) == minus_zero);
  CHECK(f(Op::fmin, minus_zero, 0) == minus_zero);
  CHECK(f(Op::fmax, 0, minus_zero) == 0);
  CHECK(f(Op::fmax, minus_zero, 0) == 0);
  CHECK(f(Op::fmin, one | minus_zero, two | minus_zero) == (two | minus_zero));
}

TEST_CASE("flushing and saturation") {
  FloatFlags ftz;
  ftz.ftz = true;
  const auto f = [](Op o, FloatFlags flags, uint64_t a, uint64_t b) {
    return reference::float_op(o, Type::f32, flags, a, b, 0);
  };
  CHECK(f(Op::fadd, {}, 0x80000001, 0) == 0x80000001);
  CHECK(f(Op::fadd, ftz, 0x80000001, 0x80000000) == 0x80000000);
  CHECK(f(Op::fmul, ftz, 0x00800000, 0x3f000000) == 0);  // subnormal result
  CHECK(f(Op::fmul, {}, 0x00800000, 0x3f000000) == 0x00400000);
  // Rounded as if exponents had no end, then flushed.
  CHECK(f(Op::fmul, ftz, 0x80ffffff, 0x3f000000) == 0x80000000);
  CHECK(f(Op::fmul, {}, 0x80ffffff, 0x3f000000) == 0x80800000);
  CHECK(f(Op::fmul, ftz, 0x90341366, 0x2fb5f7c4) == 0x80000000);
  FloatFlags down = ftz;
  down.round = ir::Round::rm;
  CHECK(f(Op::fmul, down, 0x90341366, 0x2fb5f7c4) == 0x80800000);
  CHECK(reference::float_op(Op::fadd, Type::f64, ftz, 1, 0, 0) == 1);
  CHECK(reference::float_to_float(Type::f32, Type::f16, ftz, 1) == 0x33800000);  // f16 side is kept
  CHECK(reference::float_to_float(Type::f64, Type::f32, ftz, 0x80000001) == 0x8000000000000000);
  CHECK(reference::float_compare(Type::f32, ir::Cond::eq, true, 1, 0x80000002));
  CHECK_FALSE(reference::float_compare(Type::f32, ir::Cond::eq, false, 1, 0x80000002));
  FloatFlags sat;
  sat.sat = true;
  CHECK(f(Op::fadd, sat, 0x3f000000, 0x3f800000) == 0x3f800000);
  CHECK(f(Op::fadd, sat, 0x3f000000, 0xbf800000) == 0);
  CHECK(f(Op::fadd, sat, 0x80000000, 0x80000000) == 0);
  CHECK(f(Op::fadd, sat, 0x7fc00000, 0) == 0);
  CHECK(f(Op::fadd, sat, 0x7f800000, 0) == 0x3f800000);
  CHECK(f(Op::fadd, sat, 0x3e800000, 0) == 0x3e800000);
}

TEST_CASE("comparisons") {
  using ir::Cond;
  for (const Type type : {Type::f16, Type::f32, Type::f64}) {
    const reference::Format& f = reference::format_of(type);
    const uint64_t one = f.one(), two = f.one() + (uint64_t{1} << f.fraction), sign = f.sign_bit();
    const auto outcome = [&](uint64_t a, uint64_t b) {
      uint32_t set = 0;
      for (unsigned c = 0; c < 14; ++c) {
        set |= uint32_t{reference::float_compare(type, static_cast<Cond>(c), false, a, b)} << c;
      }
      return set;
    };
    // Bit order: eq ne lt le gt ge equ neu ltu leu gtu geu num nan
    CHECK(outcome(one, two) == 0b01'001110'001110);
    CHECK(outcome(two, one) == 0b01'110010'110010);
    CHECK(outcome(one, one) == 0b01'101001'101001);
    CHECK(outcome(0, sign) == 0b01'101001'101001);
    CHECK(outcome(f.nan, one) == 0b10'111111'000000);
    CHECK(outcome(one, f.nan) == 0b10'111111'000000);
    CHECK(outcome(two | sign, one | sign) == outcome(one, two));
    CHECK(outcome(f.infinity() | sign, 0) == outcome(one, two));
  }
}

TEST_CASE("approximate operations stay inside their bounds") {
  const auto f = [](Op o, float x) {
    return f32(reference::float_op(o, Type::f32, {}, std::bit_cast<uint32_t>(x), 0, 0));
  };
  for (float x = 0.001f; x < 100; x *= 1.37f) {
    const double d = x;
    CHECK(f(Op::fex2_approx, x) == doctest::Approx(std::exp2(d)).epsilon(1e-7));
    CHECK(f(Op::flg2_approx, x) == doctest::Approx(std::log2(d)).epsilon(1e-7));
    CHECK(f(Op::fsin_approx, x) == doctest::Approx(std::sin(d)).epsilon(1e-7));
    CHECK(f(Op::fcos_approx, x) == doctest::Approx(std::cos(d)).epsilon(1e-7));
    CHECK(f(Op::ftanh_approx, x) == doctest::Approx(std::tanh(d)).epsilon(0x1p-11));
    CHECK(f(Op::frsqrt_approx, x) == doctest::Approx(1 / std::sqrt(d)).epsilon(1e-7));
    CHECK(f(Op::frcp_approx, x) == 1 / x);
    CHECK(f(Op::fsqrt_approx, x) == std::sqrt(x));
  }
  CHECK(f(Op::fex2_approx, -HUGE_VALF) == 0);
  CHECK(f(Op::flg2_approx, 0) == -HUGE_VALF);
  CHECK(std::isnan(f(Op::fsin_approx, HUGE_VALF)));
  CHECK(f(Op::frsqrt_approx, 0) == HUGE_VALF);
}
