// The corpus of kernels compiled for sm_50 beside what the host computes: floating point. Numbers
// are such that sums and products are exact where PTX lets compilers fuse them, or order them.
#include <span>

#include "tests/pairs/pairs.hpp"

using namespace pairs;

namespace {

template <typename T>
std::vector<T> whole(size_t n, uint64_t seed, int64_t reach = 30) {
  const auto v = ints_between<int32_t>(n, seed, -reach, reach);
  return {v.begin(), v.end()};
}

/// Approximations: how far a result may be off, beside the larger of its value and 1.
void check_near(const Buffer& buffer, const std::vector<double>& want, double error) {
  const std::vector<float> got = buffer.read<float>();
  REQUIRE(got.size() == want.size());
  for (size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    CHECK(std::fabs(got[i] - want[i]) <= error * std::max(1.0, std::fabs(want[i])));
  }
}

float poly(float x, int d) {
  float r = 1;
  for (int i = 0; i < d; ++i) r = std::fma(r, x, 0.5F);
  return r;
}

struct Particle {  // P of k15_vec4.cu
  float pos[4];
  int32_t id;
  int16_t k;
  int16_t unused;
  double m;
};
static_assert(sizeof(Particle) == 32);

/// Four numbers of a generator in a row.
struct Xorshift {
  uint32_t x, y = 362436069, z = 521288629, w = 88675123;
  float next() {
    const uint32_t t = x ^ (x << 11);
    x = y, y = z, z = w;
    w = w ^ (w >> 19) ^ t ^ (t >> 8);
    return static_cast<float>(w) * 2.3283064e-10F;
  }
};

}  // namespace

TEST_CASE("corpus: saxpy, by lanes and by strides") {
  const auto x = whole<float>(512, 601), y = whole<float>(512, 602);
  both_of_corpus("k01_saxpy", [&](lanewise::Module& m) {
    for (const char* kernel : {"saxpy", "saxpy_gs"}) {
      CAPTURE(kernel);
      std::vector<float> want = y;
      for (size_t i = 0; i < 500; ++i) want[i] = -3 * x[i] + y[i];
      Buffer a = device().buffer(x), b = device().buffer(y);
      const uint32_t groups = kernel == std::string("saxpy") ? 4 : 2;
      m.kernel(kernel).launch({.grid = {groups}, .block = {128}}, 500, -3.0F, a, b).check();
      check_contents(b, want);
    }
  });
}

TEST_CASE("corpus: a sum in shared memory") {
  const auto in = whole<float>(1024, 603);
  std::vector<float> want(2);
  for (size_t i = 0; i < 1000; ++i) want[i / 512] += in[i];
  both_of_corpus("k02_reduce", [&](lanewise::Module& m) {
    Buffer a = device().buffer(in), out = zeros<float>(2);
    m.kernel("reduce").launch({.grid = {2}, .block = {256}}, a, out, 1000U).check();
    check_contents(out, want);
  });
}

TEST_CASE("corpus: a transposition") {
  constexpr size_t kWidth = 70, kHeight = 40;
  const auto in = random_floats(kWidth * kHeight, 604);
  std::vector<float> want(in.size());
  for (size_t y = 0; y < kHeight; ++y)
    for (size_t x = 0; x < kWidth; ++x) want[x * kHeight + y] = in[y * kWidth + x];
  both_of_corpus("k03_transpose", [&](lanewise::Module& m) {
    Buffer a = device().buffer(in), out = zeros<float>(in.size());
    m.kernel("transpose").launch({.grid = {3, 2}, .block = {32, 8}}, a, out, 70, 40).check();
    check_contents(out, want);
  });
}

TEST_CASE("corpus: a sparse matrix by a vector") {
  constexpr size_t kRows = 64;
  const auto lengths = ints_between<int32_t>(kRows, 605, 0, 9);
  std::vector<int32_t> starts = {0};
  for (const int32_t n : lengths) starts.push_back(starts.back() + n);
  const auto entries = static_cast<size_t>(starts.back());
  const auto columns = ints_between<int32_t>(entries, 606, 0, 63);
  const auto values = whole<float>(entries, 607), x = whole<float>(64, 608);
  std::vector<float> want(kRows);
  for (size_t r = 0; r < kRows; ++r)
    for (auto j = static_cast<size_t>(starts[r]); j < static_cast<size_t>(starts[r + 1]); ++j)
      want[r] += values[j] * x[static_cast<size_t>(columns[j])];
  both_of_corpus("k07_spmv", [&](lanewise::Module& m) {
    Buffer rp = device().buffer(starts), ci = device().buffer(columns),
           va = device().buffer(values), vx = device().buffer(x), y = zeros<float>(kRows);
    m.kernel("spmv").launch({.grid = {1}, .block = {kRows}}, 64, rp, ci, va, vx, y).check();
    check_contents(y, want);
  });
}

TEST_CASE("corpus: mandelbrot, with the difference of squares fused or not") {
  constexpr int kWidth = 24, kHeight = 16, kMost = 50;
  const auto count = [&](int px, int py, int fused) {
    const float cx = -2.0F + 3.0F * static_cast<float>(px) / kWidth,
                cy = -1.0F + 2.0F * static_cast<float>(py) / kHeight;
    float a = 0, b = 0;
    int i = 0;
    for (; i < kMost; ++i) {
      const float square = fused == 1   ? std::fma(a, a, -(b * b))
                           : fused == 2 ? std::fma(-b, b, a * a)
                                        : a * a - b * b;
      const float t = square + cx;
      b = std::fma(a + a, b, cy);
      a = t;
      if (std::fma(b, b, a * a) > 4.0F) break;
    }
    return i;
  };
  both_of_corpus("k09_mandel", [&](lanewise::Module& m) {
    Buffer out = zeros<int32_t>(kWidth * kHeight, -1);
    m.kernel("mandel")
        .launch({.grid = {3, 2}, .block = {8, 8}}, out, kWidth, kHeight, kMost)
        .check();
    const auto got = out.read<int32_t>();
    bool equal[] = {true, true, true};  // one way for all pixels
    for (int y = 0; y < kHeight; ++y)
      for (int x = 0; x < kWidth; ++x)
        for (int fused = 0; fused < 3; ++fused)
          equal[fused] =
              equal[fused] && got[static_cast<size_t>(y * kWidth + x)] == count(x, y, fused);
    CHECK((equal[0] || equal[1] || equal[2]));
  });
}

TEST_CASE("corpus: doubles") {
  const auto a = whole<double>(200, 609, 1000), b = whole<double>(200, 610, 1000);
  auto positive = b;  // the sum whose root is taken
  for (size_t i = 0; i < 200; ++i) positive[i] = std::copysign(b[i], a[i]);
  double products[128] = {};
  for (size_t i = 0; i < 200; ++i) products[i % 128] += a[i] * positive[i];
  for (size_t k = 64; k != 0; k >>= 1)
    for (size_t t = 0; t < k; ++t) products[t] += products[t + k];
  const double dot = std::sqrt(products[0]) / 3.0 + std::fmin(products[1], products[2]);

  const auto c = random_doubles(11, 611, -1000, 1000);
  const auto reals = whole<float>(18, 612);
  const auto ints = random_ints<int32_t>(18, 613);
  const auto longs = random_ints<int64_t>(18, 614);
  std::vector<float> want_reals = reals;
  std::vector<int32_t> want_ints = ints;
  std::vector<int64_t> want_longs = longs;
  std::vector<double> want(9);
  for (size_t t = 0; t < 9; ++t) {
    want_reals[t] = static_cast<float>(c[t]);
    want_ints[t] = static_cast<int32_t>(c[t]);
    want_longs[t] = static_cast<int64_t>(c[t]);
    const double sum = static_cast<double>(reals[t + 9]) + static_cast<double>(ints[t + 9]) +
                       static_cast<double>(longs[t + 9]) + std::floor(c[t]);
    want[t] = std::fma(std::fabs(c[t + 1]), c[t] > c[t + 2] ? 1.0 : 2.0, sum);
  }
  both_of_corpus("k11_ddot", [&](lanewise::Module& m) {
    Buffer x = device().buffer(a), y = device().buffer(positive), o = zeros<double>(1);
    m.kernel("ddot").launch({.grid = {1}, .block = {128}}, x, y, o, 200).check();
    check_contents(o, std::vector<double>{dot});
    Buffer bc = device().buffer(c), f = device().buffer(reals), i = device().buffer(ints),
           l = device().buffer(longs), out = zeros<double>(9);
    m.kernel("dconv").launch({.grid = {1}, .block = {9}}, bc, f, i, l, out).check();
    check_contents(f, want_reals);
    check_contents(i, want_ints);
    check_contents(l, want_longs);
    check_contents(out, want);
  });
}

TEST_CASE("corpus: vectors and structures") {
  const auto a = whole<float>(256, 615);
  const auto c = ints_between<int32_t>(128, 616, -50, 50);
  std::vector<float> want(256);
  std::vector<double> doubles(128);
  for (size_t i = 0; i < 64; ++i) {
    const float* v = &a[4 * i];
    want[4 * i] = v[3] + static_cast<float>(c[2 * i]);
    want[4 * i + 1] = v[2];
    want[4 * i + 2] = v[1];
    want[4 * i + 3] = v[0] * static_cast<float>(c[2 * i + 1]);
    doubles[2 * i] = v[0];
    doubles[2 * i + 1] = v[1];
  }
  std::vector<Particle> particles;
  for (size_t i = 0; i < 32; ++i)
    particles.push_back({{a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3]},
                         c[2 * i],
                         static_cast<int16_t>(c[2 * i + 1]),
                         0,
                         static_cast<double>(c[i])});
  const Particle one = {{1, -7, 3, 4}, 5, -300, 0, 6};
  std::vector<float> sums;
  for (const Particle& p : particles)
    sums.push_back(p.pos[0] * p.pos[3] + static_cast<float>(p.id) + static_cast<float>(p.k) +
                   static_cast<float>(p.m) + one.pos[1] + static_cast<float>(one.k));
  both_of_corpus("k15_vec4", [&](lanewise::Module& m) {
    Buffer in = device().buffer(a), ints = device().buffer(c), out = zeros<float>(256),
           pairs_out = zeros<double>(128);
    m.kernel("vec4").launch({.grid = {1}, .block = {64}}, in, out, ints, pairs_out).check();
    check_contents(out, want);
    check_contents(pairs_out, doubles);
    Buffer p = device().buffer(particles), o = zeros<float>(32);
    const auto bytes = std::as_bytes(std::span(&one, 1));
    m.kernel("structs")
        .launch({.grid = {1}, .block = {32}}, p, o, lanewise::Arg::raw(bytes))
        .check();
    check_contents(o, sums);
  });
}

TEST_CASE("corpus: a matrix by a vector, and a softmax") {
  const auto a = whole<float>(800, 617), x = whole<float>(100, 618);
  std::vector<float> want(8);
  for (size_t r = 0; r < 8; ++r)
    for (size_t c = 0; c < 100; ++c) want[r] += a[r * 100 + c] * x[c];
  const auto logits = random_floats(64, 619, -4, 4);
  const double most = *std::ranges::max_element(logits);
  std::vector<double> soft(64);
  for (size_t i = 0; i < 64; ++i) {
    double sum = 1;  // each lane has a sum of its own
    for (size_t k = i % 32; k < 64; k += 32) sum += std::exp(logits[k] - most);
    soft[i] = std::exp(logits[i] - most) / sum;
  }
  both_of_corpus("k21_matvec", [&](lanewise::Module& m) {
    Buffer ba = device().buffer(a), bx = device().buffer(x), y = zeros<float>(8);
    m.kernel("matvec").launch({.grid = {8}, .block = {32}}, ba, bx, y, 8, 100).check();
    check_contents(y, want);
    Buffer in = device().buffer(logits), out = zeros<float>(64);
    m.kernel("softmax")
        .launch({.grid = {1}, .block = {32}, .dynamic_shared = 256}, in, out, 64)
        .check();
    check_near(out, soft, 1e-5);
  });
}

TEST_CASE("corpus: generators of random numbers") {
  uint32_t inside = 5;
  for (uint32_t lane = 0; lane < 64; ++lane) {
    Xorshift random{lane + 1};
    for (int i = 0; i < 40; ++i) {
      const float u = random.next(), v = random.next();
      inside += std::fma(u, u, v * v) < 1.0F ? 1 : 0;
    }
  }
  const auto seeds = random_ints<uint64_t>(32, 620);
  std::vector<uint64_t> states;
  std::vector<float> numbers;
  for (uint64_t x : seeds) {
    for (int i = 0; i < 4; ++i) {
      x = x * 6364136223846793005U + 1442695040888963407U;
      numbers.push_back(static_cast<float>(static_cast<uint32_t>(x >> 33)) * 4.6566e-10F);
    }
    states.push_back(x);
  }
  both_of_corpus("k23_mc", [&](lanewise::Module& m) {
    Buffer o = zeros<uint32_t>(1, 5);
    m.kernel("mcpi").launch({.grid = {2}, .block = {32}}, o, 40).check();
    check_contents(o, std::vector<uint32_t>{inside});
    Buffer s = device().buffer(seeds), f = zeros<float>(128);
    m.kernel("lcg64").launch({.grid = {1}, .block = {32}}, s, f).check();
    check_contents(s, states);
    check_contents(f, numbers);
  });
}

TEST_CASE("corpus: a function called twice") {
  std::vector<float> a, want;
  for (int i = 0; i < 32; ++i) {
    a.push_back(static_cast<float>(i - 16) / 8);
    float s = poly(a.back(), 5);
    if (s > 3) s = poly(s, 2);
    want.push_back(s);
  }
  both_of_corpus("k25_calls", [&](lanewise::Module& m) {
    Buffer in = device().buffer(a), out = zeros<float>(32);
    m.kernel("calls").launch({.grid = {1}, .block = {32}}, in, out, 5).check();
    check_contents(out, want);
  });
}

TEST_CASE("corpus: functions of the mathematics library") {
  auto a = random_floats(34, 621, 0.2F, 3);
  a[33] = -1;
  std::vector<double> want(288);
  for (size_t i = 0; i < 32; ++i) {
    const double x = a[i];
    want[i] = std::sin(x) + std::cos(x);
    want[i + 32] = std::exp(x) * std::log(x);
    want[i + 64] = std::sqrt(x) + 1 / x;
    want[i + 96] = std::pow(x, 2.5);
    want[i + 128] = x / a[i + 1];
    want[i + 160] = std::floor(x) + std::ceil(x) + std::nearbyint(x) + std::trunc(x);
    want[i + 192] = std::fmod(x, 3) + std::tanh(x);
    want[i + 224] = std::sin(x) + std::log2(x) + std::exp2(x);
    want[i + 256] = std::fabs(x) + std::copysign(x, static_cast<double>(a[i + 2]));
  }
  both_of_corpus("k27_math", [&](lanewise::Module& m) {
    Buffer in = device().buffer(a), out = zeros<float>(288);
    m.kernel("mathf").launch({.grid = {1}, .block = {32}}, in, out, 32).check();
    check_near(out, want, 2e-6);
  });
}

TEST_CASE("corpus: conversions") {
  const auto a = random_floats(9, 622, -1000, 1000);
  const auto ints = random_ints<int32_t>(41, 623);
  const auto words = random_ints<uint32_t>(18, 624);
  const auto longs = random_ints<int64_t>(18, 625);
  std::vector<int32_t> want_ints = ints;
  std::vector<uint32_t> want_words = words;
  std::vector<int64_t> want_longs = longs;
  std::vector<float> want(9);
  for (size_t i = 0; i < 9; ++i) {
    want_ints[i] = static_cast<int32_t>(a[i]);
    want_words[i] = a[i] < 0 ? 0 : static_cast<uint32_t>(a[i]);  // saturates
    want_longs[i] = static_cast<int64_t>(a[i]);
    want[i] = static_cast<float>(ints[i + 9]) + static_cast<float>(words[i + 9]) +
              static_cast<float>(longs[i + 9]);
    const auto nearest = static_cast<int32_t>(std::nearbyint(a[i])),
               down = static_cast<int32_t>(std::floor(a[i]));
    want_ints[i + 32] = static_cast<int32_t>(static_cast<uint32_t>(nearest) +
                                             static_cast<uint32_t>(down) + kernels::bits(a[i]));
  }
  both_of_corpus("k27_math", [&](lanewise::Module& m) {
    Buffer in = device().buffer(a), o = device().buffer(ints), u = device().buffer(words),
           l = device().buffer(longs), f = zeros<float>(9);
    m.kernel("cvts").launch({.grid = {1}, .block = {9}}, in, o, u, l, f).check();
    check_contents(o, want_ints);
    check_contents(u, want_words);
    check_contents(l, want_longs);
    check_contents(f, want);
  });
}
