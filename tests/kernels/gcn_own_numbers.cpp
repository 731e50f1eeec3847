// OpenCL kernels of our own in four kinds of code objects: doubles, halves, integers, floats and
// library functions, against the host's arithmetic.
#include <bit>
#include <climits>
#include <numeric>

#include "tests/kernels/gcn_support.hpp"

using namespace kernels;
using namespace kernels::gcn;

namespace {

/// Numbers of all sizes, and those that are none.
std::vector<double> doubles(size_t n, uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::vector<double> v(n);
  for (double& x : v)
    x = std::ldexp(static_cast<double>(static_cast<int64_t>(rng())) * 0x1p-63,
                   static_cast<int>(rng() % 80) - 40);
  const double special[] = {
      INFINITY, -INFINITY, NAN,  1e308, -1e308,   0x1p-1074, -0x1p-1030,
      1,        -1,        0.5,  -2.5,  3.5,      1e-310,    4503599627370497.5,
      0x1p63,   0.1,       -0.3, 2.0,   0x1p-1022};
  for (size_t k = 0; k < n; ++k)
    if (k % 7 == seed % 7) v[k] = special[(k / 7 + seed) % std::size(special)];
  return v;
}

std::vector<uint16_t> halves(size_t n, uint64_t seed) {
  std::vector<uint16_t> v = random_ints<uint16_t>(n, seed);
  const uint16_t special[] = {0x7c00, 0xfc00, 0x7e00, 1, 0x8001, 0x3c00, 0x7bff, 0x0400, 0x4248};
  for (size_t k = 0; k < n; ++k)
    if (k % 5 == seed % 5) v[k] = special[(k / 5 + seed) % std::size(special)];
  return v;
}

/// Near enough for a library function: relative, or absolute where that is more.
template <typename T>
auto within(T relative, T absolute) {
  return [=](T got, T want) {
    return same_value(got, want) ||
           std::fabs(got - want) <= std::max(absolute, relative * std::fabs(want));
  };
}

}  // namespace

TEST_CASE("gcn own: operations on doubles") {
  constexpr uint32_t n = 250;
  const std::vector<double> a = doubles(n, 1), b = doubles(n, 2);
  std::vector<double> want(12 * n);
  for (uint32_t i = 0; i < n; ++i) {
    const double x = a[i], y = b[i];
    const double values[] = {x + y,
                             x - y,
                             x * y,
                             x / y,
                             std::fma(x, y, x),
                             std::fmin(x, y),
                             std::fmax(x, y),
                             std::floor(x) + std::ceil(y),
                             std::trunc(x) - std::nearbyint(y),
                             std::ldexp(x, static_cast<int>(i % 40) - 20),
                             std::fabs(x) < std::fabs(y) ? std::copysign(x, y) : y - std::floor(y),
                             std::isnan(x) ? 1.0
                             : x == y      ? 2.0
                             : x > y       ? 3.0
                                           : 4.0};
    std::copy(std::begin(values), std::end(values), want.begin() + 12 * i);
  }
  each_kind("own/", "doubles", "operations", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(a), y = buffer(b), out = buffer(std::vector<double>(12 * n));
    k.launch({.grid = {4}, .block = {64}}, x, y, out, n).check();
    check_all(out.read<double>(), want);
  });
}

TEST_CASE("gcn own: conversions of doubles") {
  constexpr uint32_t n = 128;
  std::mt19937_64 rng(5);
  std::vector<double> in(n), back(4 * n);
  std::vector<int64_t> longs(2 * n);
  std::vector<int32_t> ints(4 * n);
  std::vector<float> floats(n);
  for (uint32_t i = 0; i < n; ++i) {
    const double x = in[i] =
        std::ldexp(static_cast<double>(static_cast<int64_t>(rng())), -static_cast<int>(i % 50));
    const double small = x * 0x1p-32;
    ints[4 * i] = static_cast<int32_t>(small);
    ints[4 * i + 1] = static_cast<int32_t>(static_cast<uint32_t>(std::fabs(small)));
    ints[4 * i + 2] = small > 1.0 && small < 1e6;
    ints[4 * i + 3] = static_cast<int16_t>(static_cast<int32_t>(small));
    longs[2 * i] = static_cast<int64_t>(x);
    longs[2 * i + 1] = static_cast<int64_t>(static_cast<uint64_t>(std::fabs(x)));
    floats[i] = static_cast<float>(x);
    back[4 * i] = ints[4 * i];
    back[4 * i + 1] = static_cast<double>(longs[2 * i]);
    back[4 * i + 2] = static_cast<double>(static_cast<uint64_t>(std::fabs(x)) * 3);
    back[4 * i + 3] = static_cast<double>(floats[i]);
  }
  each_kind("own/", "doubles", "conversions", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(in), l = buffer(std::vector<int64_t>(2 * n)),
         w = buffer(std::vector<int32_t>(4 * n)), f = buffer(std::vector<float>(n)),
         d = buffer(std::vector<double>(4 * n));
    k.launch({.grid = {2}, .block = {64}}, x, l, w, f, d).check();
    check_all(l.read<int64_t>(), longs);
    check_all(w.read<int32_t>(), ints);
    check_all(f.read<float>(), floats);
    check_all(d.read<double>(), back);
  });
}

TEST_CASE("gcn own: a product of matrices of doubles in local memory") {
  constexpr uint32_t n = 16;
  std::vector<double> a = doubles(n * n, 3), b = doubles(n * n, 4), want(n * n);
  for (double* x : {a.data(), b.data()})
    for (uint32_t i = 0; i < n * n; ++i)
      if (!(std::fabs(x[i]) < 1e30)) x[i] = i;
  for (uint32_t y = 0; y < n; ++y)
    for (uint32_t x = 0; x < n; ++x) {
      double sum = 0;
      for (uint32_t k = 0; k < n; ++k) sum = std::fma(a[y * n + k], b[k * n + x], sum);
      want[y * n + x] = sum;
    }
  each_kind("own/", "doubles", "product", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(a), y = buffer(b), out = buffer(std::vector<double>(n * n));
    k.launch({.grid = {n / 8, n / 8}, .block = {8, 8}}, x, y, out, n).check();
    check_all(out.read<double>(), want);
  });
}

TEST_CASE("gcn own: iterations of doubles that lanes leave at different times") {
  constexpr uint32_t width = 32, n = 256, most = 60;
  const double x0 = -2.1, y0 = -0.6, scale = 0.09;
  std::vector<uint32_t> want(n);
  for (uint32_t i = 0; i < n; ++i) {
    const double cx = x0 + scale * (i % width), cy = y0 + scale * (i / width);
    double x = 0, y = 0;
    uint32_t k = 0;
    for (; k < most; ++k) {
      const double xx = x * x, yy = y * y;
      if (xx + yy > 4.0) break;
      y = std::fma(x + x, y, cy);
      x = xx - yy + cx;
    }
    want[i] = k;
  }
  each_kind("own/", "doubles", "escape", [&](lanewise::Kernel& k, const std::string&) {
    auto out = buffer(std::vector<uint32_t>(n));
    k.launch({.grid = {2}, .block = {128}}, out, width, x0, y0, scale, most).check();
    check_all(out.read<uint32_t>(), want);
  });
}

TEST_CASE("gcn own: operations on halves") {
  constexpr uint32_t n = 256;
  const std::vector<uint16_t> a = halves(n, 1), b = halves(n, 2);
  std::vector<uint16_t> want(8 * n);
  std::vector<uint32_t> tests(n);
  for (uint32_t i = 0; i < n; ++i) {
    const double x = from_half(a[i]), y = from_half(b[i]);
    const bool small = std::fabs(x) < 1000 && std::fabs(y) < 1000;
    const uint16_t values[] = {
        to_half(x + y),      to_half(x - y),
        to_half(x * y),      to_half(x / y),
        x < y ? a[i] : b[i], static_cast<uint16_t>(a[i] ^ 0x8000),
        to_half(i * 37U),    small ? to_half(static_cast<int>(x * 4)) : a[i]};
    std::copy(std::begin(values), std::end(values), want.begin() + 8 * i);
    tests[i] = (x < y) | (x <= y) << 1 | (x == y) << 2 | (x != y) << 3 | (x > y) << 4 |
               (x >= y) << 5 | std::isnan(x) << 6;
    if (small)
      tests[i] |= static_cast<uint32_t>(static_cast<uint16_t>(static_cast<int16_t>(y))) << 16;
  }
  each_kind("own/", "halves", "operations", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(a), y = buffer(b), out = buffer(std::vector<uint16_t>(8 * n)),
         t = buffer(std::vector<uint32_t>(n));
    k.launch({.grid = {4}, .block = {64}}, x, y, out, t).check();
    check_all(out.read<uint16_t>(), want, same_half);
    check_all(t.read<uint32_t>(), tests);
  });
}

TEST_CASE("gcn own: vectors of halves") {
  constexpr uint32_t n = 64;
  std::vector<uint16_t> a = halves(4 * n, 3), b = halves(4 * n, 4), sums(4 * n), dots(n);
  std::vector<float> wide(4 * n);
  for (uint32_t i = 0; i < n; ++i) {
    const auto part = [&](const std::vector<uint16_t>& v, uint32_t k) {
      return static_cast<float>(from_half(v[4 * i + k]));
    };
    float dot = 0;
    for (uint32_t k = 0; k < 4; ++k) {
      const float x = part(a, k), y = part(b, k);
      sums[4 * i + 3 - k] = to_half(static_cast<double>(x) + y);
      wide[4 * i + k] = x * y + 1.0F;
      dot = k == 0 ? x * y : dot + x * y;
    }
    dots[i] = to_half(dot);
  }
  each_kind("own/", "halves", "vectors", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(a), y = buffer(b), s = buffer(std::vector<uint16_t>(4 * n)),
         w = buffer(std::vector<float>(4 * n)), d = buffer(std::vector<uint16_t>(n));
    k.launch({.grid = {1}, .block = {64}}, x, y, s, w, d).check();
    check_all(s.read<uint16_t>(), sums, same_half);
    check_all(w.read<float>(), wide);
    check_all(d.read<uint16_t>(), dots, same_half);
  });
}

TEST_CASE("gcn own: floats stored as halves in all directions") {
  constexpr uint32_t n = 256;
  std::vector<float> in = random_floats(n, 8, -1, 1), back(n);
  std::vector<uint16_t> want[4];
  for (std::vector<uint16_t>& v : want) v.resize(n);
  for (uint32_t i = 0; i < n; ++i) {
    in[i] = i % 31 == 0   ? INFINITY
            : i % 37 == 0 ? NAN
                          : std::ldexp(in[i], static_cast<int>(i % 40) - 22);
    // Below the smallest half the library rounds towards zero in every direction.
    if (std::fabs(in[i]) < 0x1p-24F) in[i] = 0x1.8p-20F;
    static constexpr Direction kDirections[] = {Direction::nearest, Direction::zero, Direction::up,
                                                Direction::down};
    for (int d = 0; d < 4; ++d) want[d][i] = to_half(in[i], kDirections[d]);
    back[i] = static_cast<float>(from_half(want[0][i]));
  }
  each_kind("own/", "halves", "storage", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(in), back_buffer = buffer(std::vector<float>(n));
    std::vector<lanewise::Buffer> out;
    for (int d = 0; d < 4; ++d) out.push_back(buffer(std::vector<uint16_t>(n)));
    k.launch({.grid = {4}, .block = {64}}, x, out[0], out[1], out[2], out[3], back_buffer).check();
    for (int d = 0; d < 4; ++d) {
      CAPTURE(d);
      check_all(out[d].read<uint16_t>(), want[d], same_half);
    }
    check_all(back_buffer.read<float>(), back);
  });
}

TEST_CASE("gcn own: integers of 32 bits") {
  constexpr uint32_t n = 128;
  std::vector<uint32_t> a = random_ints<uint32_t>(n, 1), b = random_ints<uint32_t>(n, 2);
  for (uint32_t i = 0; i < n; i += 5) a[i] = i % 2 == 0 ? 0x80000000U : 0x7fffffffU, b[i] = ~0U;
  for (uint32_t i = 3; i < n; i += 9) a[i] = i, b[i] = 0;
  std::vector<uint32_t> want(20 * n);
  const auto saturated = [](int64_t x) {
    return static_cast<uint32_t>(std::clamp<int64_t>(x, INT32_MIN, INT32_MAX));
  };
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t x = a[i], y = b[i];
    const auto sx = static_cast<int32_t>(x), sy = static_cast<int32_t>(y);
    const uint64_t wx = x, wy = y;
    const int64_t lx = sx, ly = sy;
    const auto short24 = [](uint32_t v) { return static_cast<int32_t>(v << 8) >> 8; };
    const uint32_t values[] = {
        static_cast<uint32_t>(std::popcount(x) | std::countl_zero(y) << 8),
        static_cast<uint32_t>(wx * wy >> 32),
        static_cast<uint32_t>(lx * ly >> 32),
        static_cast<uint32_t>(wx * wy >> 32) + x,
        std::rotl(x, static_cast<int>(y & 31)),
        static_cast<uint32_t>(std::min<uint64_t>(wx + wy, ~0U)),
        saturated(lx + ly),
        x > y ? x - y : 0,
        saturated(lx - ly),
        static_cast<uint32_t>((wx + wy) >> 1),
        static_cast<uint32_t>((lx + ly + 1) >> 1),
        static_cast<uint32_t>(int64_t{short24(x)} * short24(y)),
        static_cast<uint32_t>((wx & 0xffffff) * (wy & 0xffffff) + x),
        static_cast<uint32_t>(std::max(lx, ly) - std::min(lx, ly)),
        x / (y | 1),
        static_cast<uint32_t>(sx / static_cast<int32_t>((y & 0xffff) | 1)),
        x % (y >> 16 | 1),
        static_cast<uint32_t>(std::min(std::max(sx, -1000), static_cast<int32_t>(y & 0xfffff))),
        (x & 0xffff) << 16 | (y & 0xffff),
        (x & y) | (~x & (y >> 3))};
    std::copy(std::begin(values), std::end(values), want.begin() + 20 * i);
  }
  each_kind("own/", "numbers", "integers", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(a), y = buffer(b), out = buffer(std::vector<uint32_t>(20 * n));
    k.launch({.grid = {2}, .block = {64}}, x, y, out).check();
    check_all(out.read<uint32_t>(), want);
  });
}

TEST_CASE("gcn own: integers of 64 bits") {
  __extension__ using Wide = unsigned __int128;
  __extension__ using SignedWide = __int128;
  constexpr uint32_t n = 128;
  std::vector<uint64_t> a = random_ints<uint64_t>(n, 3), b = random_ints<uint64_t>(n, 4);
  for (uint32_t i = 0; i < n; i += 6) b[i] >>= i / 2;
  for (uint32_t i = 1; i < n; i += 8)
    a[i] = (uint64_t{1} << 63) + 1, b[i] = ~uint64_t{0} >> (i % 3);
  std::vector<uint64_t> want(12 * n);
  for (uint32_t i = 0; i < n; ++i) {
    const uint64_t x = a[i], y = b[i];
    const auto sx = static_cast<int64_t>(x), sy = static_cast<int64_t>(y);
    const auto difference = static_cast<SignedWide>(sx) - sy;
    const unsigned shift = y & 63;
    const uint64_t values[] = {
        x * y,
        static_cast<uint64_t>(static_cast<Wide>(x) * y >> 64),
        x / (y | 1),
        static_cast<uint64_t>(sx / (sy >> 20 | 1)),
        x % (y >> 13 | 1),
        x << shift | x >> (63 - shift),
        static_cast<uint64_t>(sx >> shift),
        static_cast<uint64_t>(std::popcount(x) | std::countl_zero(y) << 8),
        x + y < x ? ~uint64_t{0} : x + y,
        static_cast<uint64_t>(difference > INT64_MAX   ? INT64_MAX
                              : difference < INT64_MIN ? INT64_MIN
                                                       : static_cast<int64_t>(difference)),
        std::max(x, y) ^ static_cast<uint64_t>(std::min(sx, sy)),
        uint64_t{sx < sy} | uint64_t{x < y} << 1 | uint64_t{x == y} << 2};
    std::copy(std::begin(values), std::end(values), want.begin() + 12 * i);
  }
  each_kind("own/", "numbers", "longs", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(a), y = buffer(b), out = buffer(std::vector<uint64_t>(12 * n));
    k.launch({.grid = {2}, .block = {64}}, x, y, out).check();
    check_all(out.read<uint64_t>(), want);
  });
}

TEST_CASE("gcn own: floats, correctly rounded") {
  constexpr uint32_t n = 256;
  std::vector<float> a = random_floats(n, 5, -1, 1), b = random_floats(n, 6, -1, 1), want(12 * n);
  for (uint32_t i = 0; i < n; ++i) {
    a[i] = std::ldexp(a[i], static_cast<int>(i % 80) - 35);
    b[i] = i % 40 == 39 ? INFINITY : std::ldexp(b[i], static_cast<int>(i * 7 % 60) - 25);
  }
  std::vector<int32_t> ints(6 * n);
  const auto saturated = [](double x, double least, double most) {
    return static_cast<int32_t>(static_cast<int64_t>(std::clamp(std::trunc(x), least, most)));
  };
  for (uint32_t i = 0; i < n; ++i) {
    const float x = a[i], y = b[i];
    const float values[] = {
        x / y,
        std::sqrt(std::fabs(x)),
        std::fma(x, y, x),
        x + y * 3.0F,
        std::floor(x) - std::ceil(y),
        std::nearbyint(x) + std::trunc(y),
        std::fmin(x, y) - std::fmax(x, 0.5F),
        static_cast<float>(bits(x)),
        static_cast<float>(static_cast<int32_t>(bits(y))),
        static_cast<float>(uint64_t{bits(x)} * bits(y)),
        static_cast<float>(int64_t{static_cast<int32_t>(bits(x))} * static_cast<int32_t>(bits(y))),
        1.0F / x};
    std::copy(std::begin(values), std::end(values), want.begin() + 12 * i);
    const int32_t whole[] = {saturated(x, INT32_MIN, INT32_MAX),
                             saturated(y, 0, UINT32_MAX),
                             static_cast<int32_t>(std::nearbyint(std::clamp(x, -1e6F, 1e6F))),
                             (x < y) | (x >= y) << 1 | 8 | std::signbit(y) << 4,
                             saturated(y, SHRT_MIN, SHRT_MAX),
                             saturated(x * 16.0F, 0, 255)};
    std::copy(std::begin(whole), std::end(whole), ints.begin() + 6 * i);
  }
  each_kind("own/", "numbers", "floats", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(a), y = buffer(b), out = buffer(std::vector<float>(12 * n)),
         w = buffer(std::vector<int32_t>(6 * n));
    k.launch({.grid = {4}, .block = {64}}, x, y, out, w).check();
    check_all(out.read<float>(), want);
    check_all(w.read<int32_t>(), ints);
  });
}

TEST_CASE("gcn own: library functions") {
  constexpr uint32_t n = 64;
  const std::vector<float> in = random_floats(n, 7, -20, 20);
  std::vector<float> want(12 * n);
  std::vector<double> wide_in(n), wide(8 * n);
  for (uint32_t i = 0; i < n; ++i) {
    const double x = in[i], p = std::fabs(in[i]) + 0.01F;
    const double values[] = {std::sin(x),  std::cos(x),        std::exp(x),
                             std::log(p),  std::pow(p, x / 2), std::atan2(x, 2),
                             std::tanh(x), std::cbrt(x),       std::exp2(x),
                             std::log2(p), std::hypot(x, 3),   std::fmod(x, 0.7F)};
    std::ranges::transform(values, want.begin() + 12 * i,
                           [](double v) { return static_cast<float>(v); });
    const double y = wide_in[i] = x * 1.25, q = std::fabs(y) + 0.01;
    const double more[] = {std::sin(y),        std::cos(y),  std::exp(y),  std::log(q),
                           std::pow(q, y / 2), std::atan(y), std::sqrt(q), 1 / std::sqrt(q)};
    std::ranges::copy(more, wide.begin() + 8 * i);
  }
  each_kind(
      "own/", "functions", "narrow",
      [&](lanewise::Kernel& k, const std::string&) {
        auto x = buffer(in), out = buffer(std::vector<float>(12 * n));
        k.launch({.grid = {1}, .block = {n}}, x, out).check();
        check_all(out.read<float>(), want, within(2e-5F, 4e-6F));
      },
      false);
  each_kind(
      "own/", "functions", "wide",
      [&](lanewise::Kernel& k, const std::string&) {
        auto x = buffer(wide_in), out = buffer(std::vector<double>(8 * n));
        k.launch({.grid = {1}, .block = {n}}, x, out).check();
        check_all(out.read<double>(), wide, within(1e-13, 1e-14));
      },
      false);
}
