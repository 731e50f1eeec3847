// Arithmetic of every width: floats, doubles, halves, bytes, shorts, 64 bits; what lanes exchange
// with each other.
#include <bit>
#include <cfenv>
#include <limits>

#include "tests/pairs/pairs.hpp"

using namespace pairs;

namespace {

/// Rounds one operation in a direction. The operands are hidden from the optimiser.
template <typename T, typename F>
T rounded(int direction, F operation) {
  std::fesetround(direction);
  volatile T result = operation();
  std::fesetround(FE_TONEAREST);
  return result;
}
template <typename T>
T hidden(T x) {
  volatile T y = x;
  return y;
}

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Numbers of all sizes, and those at the limits.
std::vector<double> some_doubles(size_t n, uint64_t seed) {
  std::vector<double> out;
  for (const double x : {0.0, -0.0, 1.0, -1.5, 0.5, 2.5, -2.5, 1e300, -1e-300, 5e-324, kInf, -kInf,
                         std::nan(""), 2147483648.0, -2147483649.0, 4294967295.5, 9.3e18, 1.9e19})
    out.push_back(x);
  const auto bits = random_ints<uint64_t>(n, seed);
  for (size_t i = out.size(); i < n; ++i)
    out.push_back(i % 3 == 0 ? std::bit_cast<double>(bits[i])
                             : std::ldexp(static_cast<double>(static_cast<int64_t>(bits[i])),
                                          static_cast<int>(bits[i] % 90) - 75));
  return out;
}

/// What a conversion to an integer gives on this kind of GPU: the nearest limit; NaN gives zero,
/// but the highest bit where 64 bits take part.
template <typename T>
T clamped(double x, bool wide = false) {
  if (std::isnan(x)) return wide ? static_cast<T>(T{1} << (8 * sizeof(T) - 1)) : T{0};
  if (x <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (x >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(x);
}

}  // namespace

TEST_CASE("pairs: doubles") {
  const int n = 200;
  const auto a = some_doubles(n, 30);
  auto b = some_doubles(n, 31);
  std::rotate(b.begin(), b.begin() + 5, b.end());
  both("doubles", [&](lanewise::Module& m) {
    Buffer x = device().buffer(a), y = device().buffer(b), out = zeros<double>(7 * n);
    m.kernel("arithmetic").launch({.grid = {4}, .block = {64}}, x, y, out, n).check();
    std::vector<double> want(7 * n);
    for (size_t i = 0; i < n; ++i) {
      const double p = hidden(a[i]), q = hidden(b[i]);
      want[i] = p / q;
      want[n + i] = std::sqrt(std::fabs(p)) - q;
      want[2 * n + i] = std::fma(p, q, -p);
      want[3 * n + i] = std::floor(p) + std::ceil(q) * std::trunc(p) - std::rint(q);
      want[4 * n + i] = std::fmin(p, q) - std::fmax(p, 0.5) * std::copysign(1.5, q);
      want[5 * n + i] = p > q ? 1.0 / p : p == q ? 7.0 : -q;
      const double sum = rounded<double>(FE_DOWNWARD, [&] { return hidden(p) + hidden(q); }),
                   product = rounded<double>(FE_UPWARD, [&] { return hidden(p) * hidden(q); }),
                   quotient = rounded<double>(FE_TOWARDZERO, [&] { return hidden(p) / hidden(q); });
      want[6 * n + i] = sum + product + quotient + std::fma(p, p, q);
    }
    check_contents(out, want);

    Buffer i32 = zeros<int32_t>(2 * n), u32 = zeros<uint32_t>(n), i64 = zeros<int64_t>(n),
           u64 = zeros<uint64_t>(n), f32 = zeros<float>(n);
    m.kernel("conversions")
        .launch({.grid = {1}, .block = {n}}, x, i32, u32, i64, u64, f32, n)
        .check();
    std::vector<int32_t> want_i32(2 * n);
    std::vector<uint32_t> want_u32(n);
    std::vector<int64_t> want_i64(n);
    std::vector<uint64_t> want_u64(n);
    std::vector<float> want_f32(n);
    for (size_t i = 0; i < n; ++i) {
      want_i32[i] = clamped<int32_t>(std::trunc(a[i]), true);
      const auto bits = std::bit_cast<uint64_t>(a[i]);
      want_i32[n + i] = static_cast<int32_t>(static_cast<uint32_t>(bits >> 32 ^ bits));
      want_u32[i] = clamped<uint32_t>(std::rint(a[i]), true);
      want_i64[i] = clamped<int64_t>(std::floor(a[i]), true);
      want_u64[i] = clamped<uint64_t>(std::ceil(a[i]), true);
      want_f32[i] = static_cast<float>(a[i]);
    }
    check_contents(i32, want_i32);
    check_contents(u32, want_u32);
    check_contents(i64, want_i64);
    check_contents(u64, want_u64);
    check_contents(f32, want_f32);

    Buffer again = zeros<double>(5 * n);
    m.kernel("back").launch({.grid = {1}, .block = {n}}, i32, u32, i64, u64, f32, again).check();
    std::vector<double> want_back;
    for (size_t i = 0; i < n; ++i) want_back.push_back(want_i32[i]);
    for (const uint32_t v : want_u32) want_back.push_back(v);
    for (const int64_t v : want_i64) want_back.push_back(static_cast<double>(v));
    for (const uint64_t v : want_u64) want_back.push_back(static_cast<double>(v));
    for (const float v : want_f32) want_back.push_back(v);
    check_contents(again, want_back);

    const auto positive = random_doubles(64, 32, 0.001, 1e6);
    Buffer p = device().buffer(positive), r = zeros<double>(64);
    m.kernel("roots").launch({.grid = {1}, .block = {64}}, p, r).check();
    std::vector<double> want_roots;
    for (const double v : positive) {
      double root = v > 1 ? v : 1;
      for (int steps = 0;;) {
        const double next = 0.5 * (root + v / root);
        if (next == root || ++steps == 100) break;
        root = next;
      }
      want_roots.push_back(root);
    }
    check_contents(r, want_roots);
  });
}

TEST_CASE("pairs: floats") {
  const int n = 192;
  std::vector<float> a, b;
  for (const double x : some_doubles(n, 33)) a.push_back(static_cast<float>(x));
  for (const double x : some_doubles(n, 34)) b.push_back(static_cast<float>(x));
  std::rotate(b.begin(), b.begin() + 7, b.end());
  both("floats", [&](lanewise::Module& m) {
    Buffer x = device().buffer(a), y = device().buffer(b), out = zeros<float>(9 * n);
    m.kernel("arithmetic").launch({.grid = {3}, .block = {64}}, x, y, out, n).check();
    std::vector<float> want(9 * n);
    for (size_t i = 0; i < n; ++i) {
      const float p = hidden(a[i]), q = hidden(b[i]);
      want[i] = p / q;
      want[n + i] = std::sqrt(std::fabs(p)) * q - p;
      want[2 * n + i] = std::fma(p, q, -q);
      want[3 * n + i] = std::floor(p) + std::ceil(q) - std::trunc(p) * std::rint(q);
      want[4 * n + i] = std::fmin(p, q) + std::fmax(p, -1.F) + std::copysign(2.F, p);
      const float sum = rounded<float>(FE_UPWARD, [&] { return hidden(p) + hidden(q); }),
                  product = rounded<float>(FE_DOWNWARD, [&] { return hidden(p) * hidden(q); }),
                  quotient = rounded<float>(FE_DOWNWARD, [&] { return hidden(p) / hidden(q); }),
                  fused = rounded<float>(FE_TOWARDZERO, [&] { return std::fma(p, q, p); }),
                  root = rounded<float>(FE_TOWARDZERO, [&] { return std::sqrt(std::fabs(q)); });
      want[5 * n + i] = sum - product + fused + quotient;
      want[6 * n + i] = 1.F / p + root;
      const float clamped01 = std::isnan(p) ? 0.F : std::fmin(std::fmax(p, 0.F), 1.F);
      want[7 * n + i] = clamped01 - (p < q ? p : q >= 0 ? 1.F : -1.F);
      want[8 * n + i] = std::fmod(p, 3.25F);
    }
    check_contents(out, want);

    Buffer i32 = zeros<int32_t>(2 * n), u32 = zeros<uint32_t>(2 * n), i64 = zeros<int64_t>(n),
           u8 = zeros<uint8_t>(n), i16 = zeros<int16_t>(n);
    m.kernel("conversions")
        .launch({.grid = {1}, .block = {n}}, x, i32, u32, i64, u8, i16, n)
        .check();
    std::vector<int32_t> want_i32(2 * n);
    std::vector<uint32_t> want_u32(2 * n);
    std::vector<int64_t> want_i64(n);
    std::vector<uint8_t> want_u8(n);
    std::vector<int16_t> want_i16(n);
    for (size_t i = 0; i < n; ++i) {
      const double v = a[i];
      want_i32[i] = clamped<int32_t>(std::trunc(v));
      want_i32[n + i] = clamped<int32_t>(std::ceil(v));
      want_u32[i] = clamped<uint32_t>(std::trunc(v));
      want_u32[n + i] = clamped<uint32_t>(std::floor(v));
      want_i64[i] = clamped<int64_t>(std::trunc(v), true);
      want_u8[i] = static_cast<uint8_t>(clamped<int32_t>(std::trunc(v)));
      want_i16[i] = static_cast<int16_t>(clamped<int32_t>(std::rint(v)));
    }
    check_contents(i32, want_i32);
    check_contents(u32, want_u32);
    check_contents(i64, want_i64);
    check_contents(u8, want_u8);
    check_contents(i16, want_i16);

    Buffer again = zeros<float>(7 * n);
    m.kernel("back").launch({.grid = {1}, .block = {n}}, i32, i64, u8, i16, again).check();
    std::vector<float> want_back(7 * n);
    for (size_t i = 0; i < n; ++i) {
      want_back[i] = static_cast<float>(want_i32[i]);
      want_back[n + i] =
          rounded<float>(FE_TOWARDZERO, [&] { return static_cast<float>(hidden(want_i32[i])); });
      want_back[2 * n + i] = static_cast<float>(want_i64[i]);
      const auto u = static_cast<uint64_t>(want_i64[i]);
      const auto near = static_cast<float>(u);  // the next one where it lies below
      const bool below = near < 0x1p64F && static_cast<uint64_t>(near) < u;
      want_back[3 * n + i] = below ? std::nextafter(near, 0x1p65F) : near;
      want_back[4 * n + i] = static_cast<float>(want_u8[i]) * 0.5F;
      want_back[5 * n + i] = want_i16[i];
      want_back[6 * n + i] = -static_cast<float>(want_u8[i]);
    }
    check_contents(again, want_back);
  });
}

namespace {

double half_value(uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 0x3ff;
  const double sign = h >> 15 != 0 ? -1 : 1;
  if (exponent == 31) return fraction != 0 ? std::nan("") : sign * kInf;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

/// By search: halves of one sign are in the order of their bits.
uint16_t half_of(double x, int direction) {
  if (std::isnan(x)) return 0x7fff;
  const uint16_t sign = std::signbit(x) ? 0x8000 : 0;
  const double size = std::fabs(x);
  uint16_t below = 0;  // the largest half that is not above
  for (int bit = 14; bit >= 0; --bit)
    if (const auto next = static_cast<uint16_t>(below | 1 << bit);
        next <= 0x7c00 && half_value(next) <= size)
      below = next;
  if (half_value(below) == size || below == 0x7c00) return sign | below;
  const bool away = direction == FE_UPWARD ? sign == 0 : direction == FE_DOWNWARD && sign != 0;
  const auto above = static_cast<uint16_t>(below + 1);
  if (direction != FE_TONEAREST) return sign | (away ? above : below);
  // The step above the largest number counts as one more.
  const double up = above == 0x7c00 ? 65536.0 : half_value(above), down = half_value(below);
  const bool nearer = size - down > up - size, tie = size - down == up - size;
  return sign | (nearer || (tie && (below & 1) != 0) ? above : below);
}

}  // namespace

TEST_CASE("pairs: half") {
  auto x = random_ints<uint16_t>(256, 35), y = random_ints<uint16_t>(256, 36);
  x[0] = 0x7c00;
  x[1] = 0x7e01;
  std::vector<float> reals = random_floats(120, 37, -70000, 70000);
  for (const float v :
       {0.F, -0.F, 65504.F, 65519.9F, 65520.F, 1e9F, 6e-8F, 3e-8F, -2e-8F, 6.1e-5F, 1.F})
    reals.push_back(v);
  for (const float v : random_floats(61, 38, -1, 1)) reals.push_back(v * 1e-4F);
  const int n = static_cast<int>(reals.size());
  both("half", [&](lanewise::Module& m) {
    Buffer a = device().buffer(x), b = device().buffer(y), r = device().buffer(reals);
    m.kernel("axpy").launch({.grid = {2}, .block = {128}}, a, b, 1.375F, 250).check();
    std::vector<uint16_t> want = y;
    for (size_t i = 0; i < 250; ++i)
      want[i] = half_of(
          1.375F * static_cast<float>(half_value(x[i])) + static_cast<float>(half_value(y[i])),
          FE_TONEAREST);
    check_contents(b, want);
    Buffer c = device().buffer(y), sums = zeros<float>(256);
    m.kernel("pairs").launch({.grid = {1}, .block = {128}}, a, c, sums).check();
    std::vector<uint16_t> crossed(256);
    std::vector<float> values(256);
    for (size_t i = 0; i < 256; ++i) {
      const float v = static_cast<float>(half_value(x[i])),
                  w = static_cast<float>(half_value(y[i ^ 1]));
      crossed[i] = half_of(i % 2 == 0 ? v - w : v + w, FE_TONEAREST);
      values[i] = static_cast<float>(half_value(crossed[i]));
    }
    check_contents(c, crossed);
    check_contents(sums, values);
    Buffer h = zeros<uint16_t>(4 * reals.size());
    m.kernel("roundings")
        .launch({.grid = {1}, .block = {static_cast<uint32_t>(n)}}, r, h, n)
        .check();
    std::vector<uint16_t> all;
    for (const int direction : {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD})
      for (const float v : reals) all.push_back(half_of(v, direction));
    check_contents(h, all);
  });
}
