// The corpus of kernels compiled for sm_50 beside what the host computes: integers, atomics, lanes,
// barriers, calls.
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "tests/pairs/pairs.hpp"

using namespace pairs;

namespace {

template <typename T>
std::vector<T> slice(const Buffer& b, size_t from, size_t n) {
  const std::vector<T> all = b.read<T>();
  return {all.begin() + static_cast<std::ptrdiff_t>(from),
          all.begin() + static_cast<std::ptrdiff_t>(from + n)};
}
template <typename T>
std::multiset<T> bag(const std::vector<T>& v) {
  return {v.begin(), v.end()};
}
/// first, first + step, ...
template <typename T>
std::multiset<T> steps(T first, T step, size_t n) {
  std::multiset<T> out;
  for (size_t i = 0; i < n; ++i) out.insert(static_cast<T>(first + step * static_cast<T>(i)));
  return out;
}

uint32_t crc_step(uint32_t c) {
  for (int bit = 0; bit < 8; ++bit) c = (c >> 1) ^ (0xedb88320U & (0U - (c & 1U)));
  return c;
}

int32_t fibonacci(int32_t n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

}  // namespace

TEST_CASE("corpus: a sum over lanes and an atomic addition") {
  const auto in = ints_between<int32_t>(1000, 501, -1000000, 1000000);
  both_of_corpus("k02_reduce", [&](lanewise::Module& m) {
    Buffer a = device().buffer(in), out = zeros<int32_t>(1, 17);
    m.kernel("reduce_shfl_atomic").launch({.grid = {2}, .block = {64}}, a, out, 1000).check();
    check_contents(out, std::vector<int32_t>{std::accumulate(in.begin(), in.end(), 17)});
  });
}

TEST_CASE("corpus: a histogram") {
  const auto data = ints_between<uint8_t>(3000, 502, 0, 255);
  std::vector<uint32_t> want(256, 3);
  for (const uint8_t d : data) ++want[d];
  both_of_corpus("k05_hist", [&](lanewise::Module& m) {
    Buffer d = device().buffer(data), h = zeros<uint32_t>(256, 3);
    m.kernel("hist").launch({.grid = {2}, .block = {128}}, d, h, 3000).check();
    check_contents(h, want);
  });
}

TEST_CASE("corpus: atomics, what no order of lanes can change") {
  both_of_corpus("k05_hist", [&](lanewise::Module& m) {
    std::vector<int32_t> p(320);
    std::vector<uint32_t> u(256);
    std::vector<uint64_t> q(192);
    p[0] = 100, p[1] = -5, p[2] = 7;
    u[0] = 3, u[2] = ~0U, u[4] = 0x55;
    q[1] = 10;
    Buffer bp = device().buffer(p), bu = device().buffer(u), bq = device().buffer(q),
           bf = zeros<float>(96);
    m.kernel("atoms_mix").launch({.grid = {1}, .block = {32}}, bp, bu, bq, bf).check();
    check_contents(bp, std::vector<int32_t>{0, slice<int32_t>(bp, 1, 1)[0], 9});
    check_contents(bu, std::vector<uint32_t>{31, 0, 0, 31, 0x55});
    check_contents(bq, std::vector<uint64_t>{5, 106});
    check_contents(bf, std::vector<float>{48});
    CHECK(bag(slice<int32_t>(bp, 64, 32)).count(100) == 1);
    CHECK(bag(slice<uint32_t>(bu, 64, 32)).count(3) >= 1);
    for (const uint64_t old : slice<uint64_t>(bq, 64, 32)) CHECK((old == 0 || old == 5));
    CHECK(bag(slice<float>(bf, 64, 32)) == steps(0.0F, 1.5F, 32));
    auto exchanged = bag(slice<int32_t>(bp, 128, 32));
    exchanged.insert(slice<int32_t>(bp, 1, 1)[0]);
    auto given = steps(0, 1, 32);
    given.insert(-5);
    CHECK(exchanged == given);
    std::multiset<uint32_t> counted;
    for (uint32_t i = 0; i < 32; ++i) counted.insert(i % 8);
    CHECK(bag(slice<uint32_t>(bu, 128, 32)) == counted);
    CHECK(bag(slice<uint32_t>(bu, 192, 32)).count(~0U) == 1);
    CHECK(bag(slice<uint64_t>(bq, 128, 32)) == steps<uint64_t>(10, 3, 32));
    for (const int32_t old : slice<int32_t>(bp, 256, 32)) CHECK((old == 7 || old == 9));
    CHECK(slice<int32_t>(bp, 256 + 7, 1)[0] == 7);
  });
}

TEST_CASE("corpus: atomics on shared memory") {
  both_of_corpus("k05_hist", [&](lanewise::Module& m) {
    Buffer b = zeros<int32_t>(101, -77);
    m.kernel("atoms_shared").launch({.grid = {1}, .block = {32}}, b).check();
    const std::vector<int32_t> got = b.read<int32_t>();
    // Who was first, and who was last, the results of the lanes show.
    int32_t first = 0, last = 31 * 32 / 2;
    for (int32_t t = 0; t < 32; ++t) {
      const auto at = static_cast<size_t>(t);
      if (t != 0 && got[32 + at] == 0) first += t;
      last -= got[64 + at];
    }
    CHECK((first > 0 && first < 32));
    CHECK((last >= 0 && last < 32));
    CHECK(got[100] == 31 + first + last - 31 + 496 + 496);
    for (size_t t = 0; t < 32; ++t) CHECK((got[t] >= 0 && got[t] <= 31));
  });
}

TEST_CASE("corpus: quotients and remainders") {
  auto a = random_ints<int32_t>(100, 503);
  auto b = random_ints<uint32_t>(100, 504);
  a[0] = INT32_MIN, a[1] = INT32_MAX, a[2] = 0, b[0] = ~0U, b[1] = 0;
  std::vector<int32_t> want(5100);
  for (size_t i = 0; i < 100; ++i) {
    want[i] = a[i] / -13;
    want[i + 1000] = a[i] % -13;
    want[i + 2000] = static_cast<int32_t>(b[i] / 77777U);
    want[i + 3000] = static_cast<int32_t>(b[i] % 77777U);
    want[i + 4000] = a[i] / 7;
    want[i + 5000] = static_cast<int32_t>(b[i] % 10);
  }
  const auto c = random_ints<int64_t>(32, 505);
  std::vector<uint64_t> wide(131);
  for (size_t i = 0; i < 32; ++i) {
    wide[i] = static_cast<uint64_t>(c[i] / -12345678901LL);
    wide[i + 99] = static_cast<uint64_t>(c[i]) % 77777777777ULL;
  }
  both_of_corpus("k13_divmod", [&](lanewise::Module& m) {
    Buffer ba = device().buffer(a), bb = device().buffer(b), out = zeros<int32_t>(5100);
    m.kernel("divmod").launch({.grid = {1}, .block = {100}}, ba, bb, out, -13, 77777U).check();
    check_contents(out, want);
    Buffer bc = device().buffer(c), wide_out = zeros<uint64_t>(131);
    m.kernel("div64")
        .launch({.grid = {1}, .block = {32}}, bc, wide_out, int64_t{-12345678901},
                uint64_t{77777777777})
        .check();
    check_contents(wide_out, wide);
  });
}

TEST_CASE("corpus: votes, shuffles and bits") {
  auto a = ints_between<int32_t>(64, 506, 1, 9);
  a[40] = 0, a[50] = -3;
  std::vector<uint32_t> want(192);
  for (uint32_t i = 0; i < 64; ++i) {
    const uint32_t wave = i / 32 * 32, lane = i % 32;
    uint32_t ballot = 0, all = 1, any = 0;
    for (uint32_t k = 0; k < 32; ++k) {
      const int32_t v = a[wave + k];
      ballot |= static_cast<uint32_t>(v > 3) << k;
      all &= static_cast<uint32_t>(v > 0);
      any |= static_cast<uint32_t>(v == 7);
    }
    const auto v = static_cast<uint32_t>(a[i]);
    const int first = v == 0 ? 0 : std::countr_zero(v) + 1;
    uint32_t reversed = 0;
    for (unsigned k = 0; k < 32; ++k) reversed |= (v >> k & 1) << (31 - k);
    want[i] = ballot + static_cast<uint32_t>(std::popcount(ballot & ((1U << lane) - 1))) + all * 2 +
              any + static_cast<uint32_t>(first + std::countl_zero(v)) + reversed;
    want[i + 64] = ~0U;
    want[i + 128] = static_cast<uint32_t>(a[wave + (lane ^ 5)] + a[wave + (i & 7)]);
  }
  both_of_corpus("k17_vote", [&](lanewise::Module& m) {
    Buffer in = device().buffer(a), out = zeros<uint32_t>(192);
    m.kernel("vote").launch({.grid = {1}, .block = {64}}, in, out).check();
    check_contents(out, want);
    // Nothing says what a clock shows; its reader must come to an end, and stores in every lane.
    Buffer clocks = zeros<int64_t>(64, -1), sums = zeros<uint32_t>(64);
    m.kernel("clocky").launch({.grid = {1}, .block = {64}}, clocks, sums).check();
    for (const int64_t c : clocks.read<int64_t>()) CHECK(c >= 0);
  });
}

TEST_CASE("corpus: checksums, by bits and by a table in constant memory") {
  const auto data = random_ints<uint8_t>(1024, 507);
  std::vector<uint32_t> want(64), table(256);
  for (uint32_t i = 0; i < 256; ++i) table[i] = crc_step(i);
  for (size_t i = 0; i < 64; ++i) {
    uint32_t c = ~0U;
    for (size_t k = 0; k < 16; ++k) c = crc_step(c ^ data[i * 16 + k]);
    want[i] = ~c;
  }
  both_of_corpus("k19_crc32", [&](lanewise::Module& m) {
    m.write_symbol("tab", table);
    Buffer d = device().buffer(data);
    for (const char* kernel : {"crc32", "crc32t"}) {
      CAPTURE(kernel);
      Buffer out = zeros<uint32_t>(64);
      m.kernel(kernel).launch({.grid = {1}, .block = {64}}, d, out, 16).check();
      check_contents(out, want);
    }
  });
}

TEST_CASE("corpus: recursion and calls through a table") {
  const auto a = ints_between<int32_t>(32, 508, 0, 11);
  std::vector<int32_t> numbers, called;
  for (int32_t i = 0; i < 32; ++i) {
    const int32_t x = a[static_cast<size_t>(i)];
    numbers.push_back(fibonacci(x));
    called.push_back((x & 1) != 0 ? i * i : i + 1);
  }
  both_of_corpus("k25_calls", [&](lanewise::Module& m) {
    Buffer in = device().buffer(a), out = zeros<int32_t>(32);
    m.kernel("recfib").launch({.grid = {1}, .block = {32}}, in, out).check();
    check_contents(out, numbers);
    m.kernel("indirect").launch({.grid = {1}, .block = {32}}, in, out).check();
    check_contents(out, called);
  });
}

TEST_CASE("corpus: fences, barriers that count, dynamic shared memory") {
  const auto a = ints_between<int32_t>(64, 509, -2, 5);
  int32_t positive = 0;
  for (const int32_t x : a) positive += x > 0 ? 1 : 0;
  const int32_t counted = positive + (positive == 64 ? 1000 : 0) + (positive != 0 ? 10000 : 0);
  both_of_corpus("k28_fence", [&](lanewise::Module& m) {
    // The other group has come already: two that wait for each other need not both run.
    Buffer flags = device().buffer(std::vector<int32_t>{0, 1}),
           data = device().buffer(std::vector<int32_t>{0, 4711}), out = zeros<int32_t>(32);
    const auto waited = m.kernel("fence").launch({.grid = {1}, .block = {32}}, flags, data, out);
    waited.check();
    CHECK(waited.wave_mode != "serial");
    check_contents(out, std::vector<int32_t>(32, 4711));
    check_contents(flags, std::vector<int32_t>{1, 1});
    check_contents(data, std::vector<int32_t>{7, 4711});

    Buffer in = device().buffer(std::vector<float>{1, 2.5F, -4, 8}), part = zeros<float>(4),
           count = zeros<uint32_t>(1), sum = zeros<float>(1);
    m.kernel("lastblock").launch({.grid = {4}, .block = {32}}, in, part, count, sum).check();
    check_contents(part, std::vector<float>{2, 5, -8, 16});
    check_contents(count, std::vector<uint32_t>{4});
    check_contents(sum, std::vector<float>{15});

    Buffer signs = device().buffer(a), votes = zeros<int32_t>(64);
    m.kernel("barred").launch({.grid = {1}, .block = {64}}, signs, votes).check();
    check_contents(votes, std::vector<int32_t>(64, counted));

    Buffer turned = device().buffer(a);
    m.kernel("dynsm").launch({.grid = {1}, .block = {64}, .dynamic_shared = 256}, turned).check();
    check_contents(turned, std::vector<int32_t>(a.rbegin(), a.rend()));
  });
}

TEST_CASE("corpus: loads and stores of every cache operator") {
  const auto a = random_ints<int32_t>(1024, 510);
  std::vector<int32_t> want(128);
  for (size_t i = 0; i < 32; ++i) {
    const auto sum = [&](size_t x, size_t y) {
      return static_cast<int32_t>(static_cast<uint32_t>(a[x]) + static_cast<uint32_t>(a[y]));
    };
    want[i] = sum(i, i + 32);
    want[i + 32] = a[i + 64];
    want[i + 64] = sum(i + 96, i + 128);
    want[i + 96] = a[i + 160];
  }
  const auto small = ints_between<int32_t>(2048, 511, -99, 99);
  const std::vector<float> reals(small.begin(), small.end());
  std::vector<float> sums(32);
  for (size_t i = 0; i < 256; ++i) sums[i % 32] += reals[i];
  both_of_corpus("k29_cacheops", [&](lanewise::Module& m) {
    Buffer in = device().buffer(a), out = zeros<int32_t>(128);
    m.kernel("cacheops").launch({.grid = {1}, .block = {32}}, in, out).check();
    check_contents(out, want);
    Buffer x = device().buffer(reals), y = zeros<float>(32);
    m.kernel("prefetch_loop").launch({.grid = {1}, .block = {32}}, x, y, 256).check();
    check_contents(y, sums);
  });
}
