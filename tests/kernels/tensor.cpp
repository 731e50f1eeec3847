// Programs of CUDA for sm_80, by two generations of nvcc, and sm_90 (data/ptx/tensor.cu,
// pipeline.cu): matrices on tensor cores, copies that overlap with work, warps with roles.
#include <algorithm>
#include <cmath>

#include "tests/kernels/copy_times.hpp"

using namespace kernels;

namespace {

constexpr const char* kVariants[] = {"sm80", "cuda11", "sm90"};

std::vector<int> small_numbers(size_t n, uint64_t seed) {
  std::vector<int> v = random_ints<int>(n, seed);
  for (int& x : v) x = static_cast<int>(static_cast<unsigned>(x) % 9) - 4;
  return v;
}
/// Small whole numbers are the upper half of a float; those of f16 are a part of it.
uint16_t bf16_of(int x) {
  return static_cast<uint16_t>(bits(static_cast<float>(x)) >> 16);
}
uint16_t f16_of(float x) {
  const uint32_t b = bits(x);
  if ((b & 0x7fffffff) == 0) return static_cast<uint16_t>(b >> 16);
  return static_cast<uint16_t>((b >> 16 & 0x8000) | ((b & 0x7fffffff) - (112U << 23)) >> 13);
}

template <typename T, typename F>
std::vector<T> each(const std::vector<int>& v, F convert) {
  std::vector<T> out;
  for (const int x : v) out.push_back(convert(x));
  return out;
}

/// A (rows of k) times B (columns of k), twice.
std::vector<int> product(const std::vector<int>& a, const std::vector<int>& b, int m, int n, int k,
                         int factor) {
  std::vector<int> c(m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      for (int x = 0; x < k; ++x) c[i * n + j] += a[i * k + x] * b[j * k + x];
      c[i * n + j] *= factor;
    }
  return c;
}

lanewise::LaunchOptions copying(const std::string& time, lanewise::Dim3 grid, uint32_t block) {
  return {.grid = grid, .block = {block}, .policies = {{"async.copy", time}}};
}

template <typename In, typename Sum, typename F>
void check_gemm(const char* variant, const char* name, uint32_t tile_m, uint32_t tile_n, int k,
                uint32_t block, int factor, F convert) {
  CAPTURE(variant);
  CAPTURE(name);
  const int m = static_cast<int>(2 * tile_m), n = static_cast<int>(2 * tile_n);
  const std::vector<int> a = small_numbers(m * k, 1), b = small_numbers(n * k, 2);
  auto da = device().buffer(each<In>(a, convert)), db = device().buffer(each<In>(b, convert));
  const bool copies = std::string_view(name) == "gemm_f16";
  for (const std::string& time : copies ? copy_times() : std::vector<std::string>{"immediate"}) {
    auto dc = device().buffer(std::vector<Sum>(m * n));
    ptx("tensor", variant, name).launch(copying(time, {2, 2}, block), da, db, dc, n, k).check();
    check_equal(dc.template read<Sum>(), each<Sum>(product(a, b, m, n, k, factor),
                                                   [](int x) { return static_cast<Sum>(x); }));
  }
}

}  // namespace

TEST_CASE("gemm: f16 by mma and ldmatrix, bf16 and tf32 by wmma") {
  for (const char* variant : kVariants) {
    check_gemm<uint16_t, float>(variant, "gemm_f16", 32, 8, 64, 64, 1,
                                [](int x) { return f16_of(static_cast<float>(x)); });
    check_gemm<uint16_t, float>(variant, "gemm_bf16", 16, 16, 32, 32, 2, bf16_of);
    check_gemm<float, float>(variant, "gemm_tf32", 16, 16, 16, 32, 2,
                             [](int x) { return static_cast<float>(x); });
  }
}

TEST_CASE("gemm: f64 and s8 by wmma") {
  for (const char* variant : kVariants) {
    check_gemm<double, double>(variant, "gemm_f64", 8, 8, 8, 32, 2,
                               [](int x) { return static_cast<double>(x); });
    check_gemm<int8_t, int>(variant, "gemm_s8", 16, 16, 32, 32, 2,
                            [](int x) { return static_cast<int8_t>(x); });
  }
}

TEST_CASE("attention with an online softmax") {
  constexpr int kKeys = 24, kSize = 16;
  const auto numbers = [](size_t n, uint64_t seed) {
    std::vector<float> v(n);
    const std::vector<int> from = small_numbers(n, seed);
    for (size_t i = 0; i < n; ++i) v[i] = static_cast<float>(from[i]) / 4;
    return v;
  };
  const auto q = numbers(16 * kSize, 3), k = numbers(kKeys * kSize, 4),
             v = numbers(kKeys * kSize, 5);
  const auto narrow = [](const std::vector<float>& from) {
    std::vector<uint16_t> to;
    for (const float x : from) to.push_back(f16_of(x));
    return to;
  };
  for (const char* variant : kVariants) {
    CAPTURE(variant);
    auto dq = device().buffer(narrow(q)), dk = device().buffer(narrow(k)),
         dv = device().buffer(narrow(v)), out = device().buffer(std::vector<float>(16 * kSize));
    ptx("tensor", variant, "attention")
        .launch({.grid = {1}, .block = {32}}, dq, dk, dv, out, kKeys)
        .check();
    const std::vector<float> got = out.read<float>();
    for (int row = 0; row < 16; ++row) {
      std::vector<double> weight(kKeys);
      double total = 0;
      for (int key = 0; key < kKeys; ++key) {
        double s = 0;
        for (int i = 0; i < kSize; ++i) s += double{q[row * kSize + i]} * k[key * kSize + i];
        total += weight[key] = std::exp(s / 4);
      }
      for (int i = 0; i < kSize; ++i) {
        double want = 0;
        for (int key = 0; key < kKeys; ++key) want += weight[key] * v[key * kSize + i];
        CHECK(got[row * kSize + i] == doctest::Approx(want / total).epsilon(0.01));
      }
    }
  }
}

TEST_CASE("sums of f16 and bf16 by atomics") {
  const std::vector<int> from = small_numbers(96, 6);
  const std::vector<float> in = each<float>(from, [](int x) { return static_cast<float>(x); });
  for (const char* variant : kVariants) {
    CAPTURE(variant);
    auto din = device().buffer(in), h = device().buffer(std::vector<uint16_t>(4)),
         b = device().buffer(std::vector<uint16_t>(4)),
         h2 = device().buffer(std::vector<uint16_t>(4)),
         b2 = device().buffer(std::vector<uint16_t>(4));
    ptx("tensor", variant, "reduce_narrow")
        .launch({.grid = {2}, .block = {64}}, din, h, b, h2, b2, 96)
        .check();
    std::vector<int> sums(4), pairs(2);
    for (size_t i = 0; i < from.size(); ++i) sums[i % 4] += from[i], pairs[i % 2] += from[i];
    const auto half = [](int x) { return f16_of(static_cast<float>(x)); };
    check_equal(h.read<uint16_t>(), each<uint16_t>(sums, half));
    check_equal(b.read<uint16_t>(), each<uint16_t>(sums, bf16_of));
    check_equal(h2.read<uint16_t>(), each<uint16_t>({pairs[0], 48, pairs[1], 48}, half));
    check_equal(b2.read<uint16_t>(), each<uint16_t>({48, pairs[0], 48, pairs[1]}, bf16_of));
  }
}

TEST_CASE("cuda::pipeline of four stages") {
  constexpr int kChunks = 7, kGroups = 2;
  const std::vector<int> in = small_numbers(kGroups * kChunks * 64, 7);
  std::vector<int> want(kGroups * 64);
  for (int g = 0; g < kGroups; ++g)
    for (int c = 0; c < kChunks; ++c)
      for (int i = 0; i < 64; ++i)
        want[g * 64 + i] = want[g * 64 + i] * 3 + in[(g * kChunks + c) * 64 + i];
  for (const char* variant : kVariants)
    for (const std::string& time : copy_times()) {
      CAPTURE(variant);
      CAPTURE(time);
      auto din = device().buffer(in), out = device().buffer(std::vector<int>(kGroups * 64));
      ptx("pipeline", variant, "four_stages")
          .launch(copying(time, {kGroups}, 64), din, out, kChunks)
          .check();
      check_equal(out.read<int>(), want);
    }
}

TEST_CASE("cuda::barrier: copies that report to it") {
  constexpr int kGroups = 2;
  const std::vector<int> in = small_numbers(kGroups * 128, 7);
  std::vector<int> want;
  for (int i = 0; i < kGroups * 128; ++i) want.push_back(in[i / 128 * 128 + 127 - i % 128]);
  for (const char* variant : kVariants)
    for (const uint32_t threads : {32U, 64U}) {
      if (threads == 32 && device().info().type != "reference") continue;  // the larger one has all
      CAPTURE(variant);
      CAPTURE(threads);
      for (const std::string& time : copy_times()) {
        CAPTURE(time);
        auto din = device().buffer(in), copied = device().buffer(std::vector<int>(kGroups * 128));
        ptx("pipeline", variant, "barrier_copy")
            .launch(copying(time, {kGroups}, threads), din, copied)
            .check();
        check_equal(copied.read<int>(), want);
      }
    }
}

TEST_CASE("cuda::barrier: warps with roles") {
  constexpr int kChunks = 7, kGroups = 2;
  const std::vector<int> in = small_numbers(kGroups * kChunks * 32, 7);
  std::vector<int> want(kGroups * 32);
  for (int g = 0; g < kGroups; ++g)
    for (int c = 0; c < kChunks; ++c)
      for (int i = 0; i < 32; ++i)
        want[g * 32 + i] = want[g * 32 + i] * 3 + in[(g * kChunks + c) * 32 + 31 - i];
  for (const char* variant : kVariants) {
    CAPTURE(variant);
    auto din = device().buffer(in), roles = device().buffer(std::vector<int>(kGroups * 32));
    ptx("pipeline", variant, "warp_roles")
        .launch({.grid = {kGroups}, .block = {64}}, din, roles, kChunks)
        .check();
    check_equal(roles.read<int>(), want);
  }
}

TEST_CASE("gemm: half of A is stored, with cp.async in two stages, by mma.sp") {
  constexpr int kM = 32, kN = 16, kK = 96, kSteps = kK / 32;
  const std::vector<int> stored = small_numbers(kM * kK / 2, 8), b = small_numbers(kN * kK, 9),
                         c = small_numbers(kM * kN, 10);
  std::vector<int> a(kM * kK);
  std::vector<uint32_t> words(kM / 16 * kSteps * 16);
  std::mt19937_64 rng(11);
  for (int row = 0; row < kM; ++row)
    for (int chunk = 0; chunk < kK / 4; ++chunk) {
      const auto first = static_cast<uint32_t>(rng() % 3);
      const auto second = static_cast<uint32_t>(first + 1 + rng() % (3 - first));
      a[row * kK + chunk * 4 + static_cast<int>(first)] = stored[row * kK / 2 + 2 * chunk];
      a[row * kK + chunk * 4 + static_cast<int>(second)] = stored[row * kK / 2 + 2 * chunk + 1];
      // Eight rows of words, of two lanes each, for a step of eight chunks.
      const int step = chunk / 8, lane = chunk / 4 % 2, tile = row / 16;
      const int shift = chunk % 4 * 4 + (row % 16 >= 8 ? 16 : 0);
      words[(tile * kSteps + step) * 16 + row % 8 * 2 + lane] |= (first | second << 2) << shift;
    }
  std::vector<int> want = product(a, b, kM, kN, kK, 1);
  for (size_t i = 0; i < want.size(); ++i) want[i] += c[i];
  const auto half = [](int x) { return f16_of(static_cast<float>(x)); };
  const auto single = [](int x) { return static_cast<float>(x); };
  for (const char* variant : kVariants) {
    CAPTURE(variant);
    auto da = device().buffer(each<uint16_t>(stored, half)), de = device().buffer(words),
         db = device().buffer(each<uint16_t>(b, half));
    for (const std::string& time : copy_times()) {
      CAPTURE(time);
      auto dc = device().buffer(each<float>(c, single));
      ptx("sparse_gemm", variant, "gemm_sparse")
          .launch(copying(time, {kN / 8, kM / 16}, 32), da, de, db, dc, kN, kK)
          .check();
      check_equal(dc.read<float>(), each<float>(want, single));
    }
  }
}
