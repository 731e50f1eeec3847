// What threads of a block do together: atomics, fractals by rows, dynamic shared memory, barriers.
#include <numeric>

#include "tests/pairs/pairs.hpp"

using namespace pairs;

TEST_CASE("pairs: atomics") {
  const int n = 150;
  const auto in = random_ints<int32_t>(n, 80);
  const auto in64 = random_ints<int64_t>(n, 81);
  std::vector<float> reals;
  for (const int32_t v : ints_between<int32_t>(n, 82, -500, 500))
    reals.push_back(static_cast<float>(v));
  both("atomics", [&](lanewise::Module& m) {
    Buffer a = device().buffer(in), s = device().buffer(std::vector<int32_t>{1, 2, 3, 4, -1, 6, 7}),
           u = device().buffer(std::vector<uint32_t>{~0U, 0, 5, 3});
    m.kernel("integers").launch({.grid = {3}, .block = {64}}, a, s, u, n).check();
    uint32_t sum = 0, all = ~0U, any = 6, odd = 7, counter = 5, down = 3;
    for (const int32_t v : in) {
      const auto w = static_cast<uint32_t>(v);
      sum += w;
      all &= w | 0xff;
      any |= w & 0xf0f0;
      odd ^= w;
      counter = counter >= 99 ? 0 : counter + 1;
      down = down == 0 || down > 77 ? 77 : down - 1;
    }
    const auto [least, most] = std::minmax_element(in.begin(), in.end());
    const auto order = [](int32_t p, int32_t q) {
      return static_cast<uint32_t>(p) < static_cast<uint32_t>(q);
    };
    const auto [least_u, most_u] = std::minmax_element(in.begin(), in.end(), order);
    check_contents<int32_t>(s, {static_cast<int32_t>(1 + sum), static_cast<int32_t>(2 - sum),
                                std::min(3, *least), std::max(4, *most), static_cast<int32_t>(all),
                                static_cast<int32_t>(any), static_cast<int32_t>(odd)});
    check_contents<uint32_t>(
        u, {static_cast<uint32_t>(*least_u), static_cast<uint32_t>(*most_u), counter, down});

    Buffer b = device().buffer(in64),
           w = device().buffer(std::vector<uint64_t>{9, ~0ULL, 0, ~0ULL, 1, 2}),
           ws = device().buffer(std::vector<int64_t>{5, 6});
    m.kernel("wide").launch({.grid = {3}, .block = {64}}, b, w, ws, n).check();
    std::vector<uint64_t> cells = {9, ~0ULL, 0, ~0ULL, 1, 2};
    std::vector<int64_t> cells_s = {5, 6};
    for (const int64_t v : in64) {
      const auto x = static_cast<uint64_t>(v);
      cells[0] += x;
      cells[1] = std::min(cells[1], x);
      cells[2] = std::max(cells[2], x);
      cells[3] &= x | 0xffff;
      cells[4] |= x;
      cells[5] ^= x;
      cells_s[0] = std::min(cells_s[0], v);
      cells_s[1] = std::max(cells_s[1], v);
    }
    check_contents(w, cells);
    check_contents(ws, cells_s);

    Buffer f = device().buffer(reals), f32 = zeros<float>(1), f64 = zeros<double>(1);
    m.kernel("floats").launch({.grid = {3}, .block = {64}}, f, f32, f64, n).check();
    const float total = std::accumulate(reals.begin(), reals.end(), 0.F);
    check_contents<float>(f32, {total});
    check_contents<double>(f64, {static_cast<double>(total)});

    Buffer taken = zeros<int32_t>(16), slots = zeros<int32_t>(64, -1);
    m.kernel("tickets").launch({.grid = {1}, .block = {64}}, taken, slots, 16).check();
    check_contents(taken, std::vector<int32_t>(16, 4));
    auto lanes = slots.read<int32_t>();
    std::sort(lanes.begin(), lanes.end());
    std::vector<int32_t> each(64);
    std::iota(each.begin(), each.end(), 0);
    CHECK(lanes == each);

    Buffer out = zeros<int32_t>(12);
    m.kernel("shared_ones").launch({.grid = {1}, .block = {96}}, a, out).check();
    uint32_t add = 0, low_or = 0, low_and = ~0U, low_xor = 0;
    int32_t smallest = 0, largest = 0;
    uint64_t shifted = 0, top = 0;
    for (size_t i = 0; i < 96; ++i) {
      const auto v = static_cast<uint32_t>(in[i]);
      add += v, low_or |= v, low_and &= v, low_xor ^= v;
      smallest = std::min(smallest, in[i]), largest = std::max(largest, in[i]);
      shifted += static_cast<uint64_t>(static_cast<int64_t>(in[i])) << 16;
      top = std::max(top, static_cast<uint64_t>(v) << 8);
    }
    const auto s32 = [](uint64_t v) { return static_cast<int32_t>(static_cast<uint32_t>(v)); };
    check_contents<int32_t>(
        out, {s32(add), smallest, largest, s32(low_or), s32(low_and), s32(low_xor), 96, 0,
              s32(shifted), s32(shifted >> 32), s32(top), s32(top >> 32)});
  });
}

TEST_CASE("pairs: fractals") {
  const int w = 24, h = 10, limit = 60;
  std::vector<uint64_t> numbers = ints_between<uint64_t>(32, 132, 1, 100000);
  numbers[3] = 1;
  std::vector<int32_t> list = ints_between<int32_t>(30, 133, 1, 60);
  std::sort(list.begin(), list.end());
  both("fractals", [&](lanewise::Module& m) {
    Buffer out = zeros<int32_t>(w * h);
    m.kernel("fixed").launch({.grid = {3, 2}, .block = {8, 8}}, out, w, h, limit).check();
    std::vector<int32_t> fixed, floating;
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        const int64_t one = INT64_C(1) << 28, cx = -2 * one + 3 * one * x / w,
                      cy = -one + 2 * one * y / h;
        int64_t a = 0, b = 0;
        int n = 0;
        for (; n < limit && (a * a >> 28) + (b * b >> 28) <= 4 * one; ++n) {
          const int64_t next = (a * a >> 28) - (b * b >> 28) + cx;
          b = (a * b >> 27) + cy;
          a = next;
        }
        fixed.push_back(n);
        const float fx = -2.F + 3.F * static_cast<float>(x) / static_cast<float>(w),
                    fy = -1.F + 2.F * static_cast<float>(y) / static_cast<float>(h);
        float p = 0, q = 0;
        for (n = 0; n < limit; ++n) {
          const float t = p * p - q * q + fx;
          q = 2.F * p * q + fy;
          p = t;
          if (p * p + q * q > 4.F) break;
        }
        floating.push_back(n);
      }
    check_contents(out, fixed);
    m.kernel("floating").launch({.grid = {3, 2}, .block = {8, 8}}, out, w, h, limit).check();
    check_contents(out, floating);

    Buffer in = device().buffer(numbers), steps = zeros<int32_t>(32), top = zeros<uint64_t>(32);
    m.kernel("collatz").launch({.grid = {1}, .block = {32}}, in, steps, top).check();
    std::vector<int32_t> want_steps;
    std::vector<uint64_t> want_top;
    for (uint64_t v : numbers) {
      uint64_t high = v;
      int32_t n = 0;
      for (; v != 1 && n < 500; ++n) {
        v = v % 2 != 0 ? 3 * v + 1 : v / 2;
        high = std::max(high, v);
      }
      want_steps.push_back(n);
      want_top.push_back(high);
    }
    check_contents(steps, want_steps);
    check_contents(top, want_top);

    Buffer l = device().buffer(list), pairs_found = zeros<int32_t>(64);
    m.kernel("pairs").launch({.grid = {1}, .block = {32}}, l, 30, pairs_found).check();
    std::vector<int32_t> want;
    for (int t = 0; t < 32; ++t) {
      const int wanted = t * 5 + 20;
      int found = -1, tried = 0;
      for (int i = 0; i < 30 && found < 0; ++i) {
        const int a = list[static_cast<size_t>(i)];
        if (a % 3 == 0) continue;
        for (int j = i + 1; j < 30; ++j) {
          const int b = list[static_cast<size_t>(j)];
          if (b % 3 == 0) continue;
          ++tried;
          if (a + b > wanted + 60) break;
          if (a + b == wanted) {
            found = i * 1000 + j;
            break;
          }
        }
      }
      want.push_back(found);
      want.push_back(tried);
    }
    check_contents(pairs_found, want);
  });
}

TEST_CASE("pairs: dynamic_shared") {
  const int n = 64;
  const auto in = random_ints<int32_t>(2 * n, 146);
  const auto shorts = random_ints<int16_t>(2 * 3 * 4 * 5, 147);
  const auto start = random_ints<int32_t>(32, 148);
  both("dynamic_shared", [&](lanewise::Module& m) {
    Buffer a = device().buffer(in), out = zeros<double>(2 * n);
    m.kernel("cut")
        .launch({.grid = {2}, .block = {n}, .dynamic_shared = n * 13}, a, out, n)
        .check();
    std::vector<double> want;
    for (int g = 0; g < 2; ++g)
      for (int t = 0; t < n; ++t) {
        double sum = 0;
        for (int i = 0; i < n; i += 8) {
          const double real = in[static_cast<size_t>(g * n + (t + i) % n)] * 0.5;
          sum += real * static_cast<uint8_t>((n - 1 - i) * 7) -
                 in[static_cast<size_t>(g * n + (t * 3 + i) % n)];
        }
        want.push_back(sum);
      }
    check_contents(out, want);

    Buffer s = device().buffer(shorts), turned = zeros<int16_t>(shorts.size());
    m.kernel("transpose3")
        .launch({.grid = {1, 2}, .block = {3, 4, 5}, .dynamic_shared = 120}, s, turned)
        .check();
    std::vector<int16_t> swapped(shorts.size());
    for (size_t g = 0; g < 2; ++g)
      for (size_t i = 0; i < 60; ++i)
        swapped[g * 60 + (i % 3 * 4 + i / 3 % 4) * 5 + i / 12] = shorts[g * 60 + i];
    check_contents(turned, swapped);

    Buffer d = device().buffer(start);
    m.kernel("ring").launch({.grid = {1}, .block = {32}, .dynamic_shared = 256}, d, 7).check();
    std::vector<int32_t> moved(32);
    for (size_t t = 0; t < 32; ++t)
      moved[(t + 7) % 32] = static_cast<int32_t>(static_cast<uint32_t>(start[t]) + 21);
    check_contents(d, moved);
  });
}

TEST_CASE("pairs: barriers") {
  auto in = ints_between<int32_t>(256, 149, -80, 80);
  in[100] = 42;
  both("barriers", [&](lanewise::Module& m) {
    Buffer a = device().buffer(in), out = zeros<int32_t>(128);
    m.kernel("reductions").launch({.grid = {1}, .block = {128}}, a, out).check();
    const auto above = std::count_if(in.begin(), in.begin() + 128, [](int32_t v) { return v > 0; });
    check_contents(out, std::vector<int32_t>(128, static_cast<int32_t>(above) + 11000));

    Buffer sums = zeros<int32_t>(32);
    m.kernel("stages").launch({.grid = {1}, .block = {64}}, a, sums).check();
    std::vector<int32_t> want(32);
    for (size_t k = 0; k < 8; ++k)
      for (size_t lane = 0; lane < 32; ++lane)
        want[lane] = want[lane] * 2 + in[k * 32 + 31 - lane] * 3;
    check_contents(sums, want);

    Buffer parts = zeros<int32_t>(4), done = zeros<uint32_t>(1), all = zeros<int32_t>(1);
    m.kernel("last_block").launch({.grid = {4}, .block = {64}}, a, parts, done, all).check();
    check_contents<int32_t>(all, {std::accumulate(in.begin(), in.end(), 0)});

    Buffer mutex = zeros<int32_t>(1), counter = zeros<int32_t>(1);
    m.kernel("lock").launch({.grid = {3}, .block = {32}}, mutex, counter, 4).check();
    check_contents<int32_t>(counter, {4 * (1 + 2 + 3)});
  });
}
