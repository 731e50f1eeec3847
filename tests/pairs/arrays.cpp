// Reductions, prefix sums, sorts, histograms, products, stencils, sparse and dense matrices.
#include <numeric>

#include "tests/pairs/pairs.hpp"

using namespace pairs;

TEST_CASE("pairs: reduce") {
  const auto in = random_ints<int32_t>(1000, 1);
  const auto wide = random_ints<uint64_t>(777, 2);
  both("reduce", [&](lanewise::Module& m) {
    Buffer a = device().buffer(in), parts = zeros<uint32_t>(3);
    m.kernel("tree").launch({.grid = {3}, .block = {128}}, a, parts, 1000).check();
    std::vector<uint32_t> sums(3);
    for (size_t i = 0; i < in.size(); ++i) sums[i / 128 % 3] += static_cast<uint32_t>(in[i]);
    check_contents(parts, sums);
    Buffer b = device().buffer(wide), both_sums = zeros<uint64_t>(2);
    m.kernel("shuffles").launch({.grid = {2}, .block = {64}}, b, both_sums, 777).check();
    check_contents<uint64_t>(both_sums, {std::accumulate(wide.begin(), wide.end(), uint64_t{0}),
                                         *std::max_element(wide.begin(), wide.end())});
  });
}

TEST_CASE("pairs: scan") {
  const auto in = random_ints<uint32_t>(512, 3);
  both("scan", [&](lanewise::Module& m) {
    Buffer a = device().buffer(in), out = zeros<uint32_t>(512);
    m.kernel("inclusive").launch({.grid = {2}, .block = {256}}, a, out).check();
    std::vector<uint32_t> want(512);
    for (size_t i = 0; i < 512; ++i) want[i] = in[i] + (i % 256 != 0 ? want[i - 1] : 0);
    check_contents(out, want);
    m.kernel("exclusive").launch({.grid = {1}, .block = {128}}, a, out).check();
    uint32_t sum = 0;
    for (size_t i = 0; i < 256; ++i) {
      want[i] = sum;
      sum += in[i];
    }
    check_contents(out, want);
    m.kernel("by_warps").launch({.grid = {1}, .block = {256}}, a, out).check();
    std::partial_sum(in.begin(), in.begin() + 256, want.begin());
    check_contents(out, want);
  });
}

TEST_CASE("pairs: radix") {
  auto in = random_ints<uint32_t>(512, 4);
  for (size_t i = 0; i < in.size(); i += 3) in[i] &= 0xff;  // equal ones keep their order
  both("radix", [&](lanewise::Module& m) {
    Buffer keys = device().buffer(in), order = zeros<uint16_t>(512);
    m.kernel("radix").launch({.grid = {2}, .block = {256}}, keys, order).check();
    std::vector<uint32_t> sorted(512);
    std::vector<uint16_t> places(512);
    for (size_t b = 0; b < 512; b += 256) {
      const auto first = places.begin() + static_cast<ptrdiff_t>(b);
      std::iota(first, first + 256, uint16_t{0});
      std::stable_sort(first, first + 256,
                       [&](uint16_t x, uint16_t y) { return in[b + x] < in[b + y]; });
      for (size_t i = b; i < b + 256; ++i) sorted[i] = in[b + places[i]];
    }
    check_contents(keys, sorted);
    check_contents(order, places);
  });
}

namespace {

template <typename T>
void sorts(lanewise::Module& m, const char* kernel, std::vector<T> values) {
  Buffer data = device().buffer(values);
  m.kernel(kernel).launch({.grid = {2}, .block = {256}}, data).check();
  std::sort(values.begin(), values.begin() + 256);
  std::sort(values.begin() + 256, values.end());
  check_contents(data, values);
}

}  // namespace

TEST_CASE("pairs: bitonic") {
  both("bitonic", [&](lanewise::Module& m) {
    sorts(m, "sort_i64", random_ints<int64_t>(512, 5));
    sorts(m, "sort_u64", random_ints<uint64_t>(512, 6));
    sorts(m, "sort_f64", random_doubles(512, 7, -1e9, 1e9));
  });
}

TEST_CASE("pairs: histogram") {
  const auto words = random_ints<uint32_t>(700, 8);
  const auto small = random_ints<uint8_t>(3000, 9);
  auto reals = random_doubles(300, 10, -1, 5);
  reals[7] = std::nan("");
  both("histogram", [&](lanewise::Module& m) {
    Buffer in = device().buffer(words), bins = zeros<uint32_t>(256);
    m.kernel("bytes").launch({.grid = {3}, .block = {96}}, in, bins, 700).check();
    std::vector<uint32_t> counts(256);
    for (const uint32_t w : words)
      for (int shift = 0; shift < 32; shift += 8) ++counts[w >> shift & 255];
    check_contents(bins, counts);

    Buffer in8 = device().buffer(small), bins16 = zeros<uint32_t>(16);
    m.kernel("private_bytes").launch({.grid = {1}, .block = {64}}, in8, bins16, 3000).check();
    counts.assign(16, 0);
    for (const uint8_t b : small) ++counts[b >> 4];
    check_contents(bins16, counts);

    Buffer in64 = device().buffer(reals), bins35 = zeros<int32_t>(35);
    m.kernel("binned").launch({.grid = {5}, .block = {64}}, in64, bins35, 300, 0.5, 3.75).check();
    std::vector<int32_t> want(35);
    for (const double x : reals) {
      const bool inside = x >= 0.5 && x < 3.75;
      ++want[inside      ? static_cast<size_t>((x - 0.5) / (3.75 - 0.5) * 32.0)
             : x < 0.5   ? 32
             : x >= 3.75 ? 33
                         : 34];
    }
    check_contents(bins35, want);
  });
}

TEST_CASE("pairs: matmul") {
  const auto a = random_floats(64 * 64, 11), b = random_floats(64 * 64, 12);
  const auto small_a = random_ints<int8_t>(8 * 32, 13), small_b = random_ints<int8_t>(8 * 32, 14);
  const auto product = [&](size_t n, bool fused) {
    std::vector<float> c(n * n);
    for (size_t r = 0; r < n; ++r)
      for (size_t q = 0; q < n; ++q) {
        float sum = 0;
        for (size_t k = 0; k < n; ++k)
          sum =
              fused ? std::fma(a[r * n + k], b[k * n + q], sum) : sum + a[r * n + k] * b[k * n + q];
        c[r * n + q] = sum;
      }
    return c;
  };
  both("matmul", [&](lanewise::Module& m) {
    Buffer x = device().buffer(a), y = device().buffer(b), z = zeros<float>(64 * 64);
    m.kernel("tiles").launch({.grid = {3, 3}, .block = {16, 16}}, x, y, z, 40).check();
    check_contents(z, product(40, false));
    m.kernel("blocked").launch({.grid = {2, 2}, .block = {128}}, x, y, z, 64).check();
    check_contents(z, product(64, true));
    Buffer p = device().buffer(small_a), q = device().buffer(small_b), r = zeros<int32_t>(64);
    m.kernel("bytes").launch({.grid = {1}, .block = {8, 8}}, p, q, r, 32).check();
    std::vector<int32_t> want(64);
    for (size_t i = 0; i < 64; ++i)
      for (size_t k = 0; k < 32; ++k) want[i] += small_a[i / 8 * 32 + k] * small_b[i % 8 * 32 + k];
    check_contents(r, want);
  });
}

TEST_CASE("pairs: stencil") {
  const int nx = 13, ny = 9, nz = 4;
  const auto grid = random_doubles(nx * ny * nz, 15);
  const auto line = random_floats(300, 16);
  const auto cells = ints_between<uint8_t>(20 * 19, 17, 0, 1);
  both("stencil", [&](lanewise::Module& m) {
    Buffer in = device().buffer(grid), out = zeros<double>(grid.size());
    m.kernel("seven").launch({.grid = {2, 2}, .block = {8, 8}}, in, out, nx, ny, nz, 0.1).check();
    std::vector<double> want(grid.size());
    for (int z = 0; z < nz; ++z)
      for (int y = 0; y < ny; ++y)
        for (int x = 0; x < nx; ++x) {
          const auto at = [&](int i, int j, int k) {
            return grid[static_cast<size_t>((k * ny + j) * nx + i)];
          };
          const double c = at(x, y, z);
          double sum = -6.0 * c;
          sum += x > 0 ? at(x - 1, y, z) : c;
          sum += x < nx - 1 ? at(x + 1, y, z) : c;
          sum += y > 0 ? at(x, y - 1, z) : c;
          sum += y < ny - 1 ? at(x, y + 1, z) : c;
          sum += z > 0 ? at(x, y, z - 1) : c;
          sum += z < nz - 1 ? at(x, y, z + 1) : c;
          want[static_cast<size_t>((z * ny + y) * nx + x)] = c + 0.1 * sum;
        }
    check_contents(out, want);

    Buffer in32 = device().buffer(line), out32 = zeros<float>(300);
    m.kernel("halo").launch({.grid = {3}, .block = {128}}, in32, out32, 300).check();
    std::vector<float> smooth(300);
    for (int i = 0; i < 300; ++i) {
      float sum = 0;
      for (int d = -4; d <= 4; ++d) {
        const float v = i + d < 0 || i + d >= 300 ? 0.F : line[static_cast<size_t>(i + d)];
        sum += v * (1.F / static_cast<float>(1 + d * d));
      }
      smooth[static_cast<size_t>(i)] = sum;
    }
    check_contents(out32, smooth);

    const int w = 20, h = 19;
    Buffer before = device().buffer(cells), after = zeros<uint8_t>(cells.size());
    m.kernel("life").launch({.grid = {2, 2}, .block = {16, 16}}, before, after, w, h).check();
    std::vector<uint8_t> next(cells.size());
    for (int y = 0; y < h; ++y)
      for (int x = 0; x < w; ++x) {
        int alive = 0;
        for (int k = 0; k < 9; ++k)
          if (k != 4)
            alive +=
                cells[static_cast<size_t>((y + k / 3 - 1 + h) % h * w + (x + k % 3 - 1 + w) % w)];
        const auto i = static_cast<size_t>(y * w + x);
        next[i] = alive == 3 || (alive == 2 && cells[i] != 0);
      }
    check_contents(after, next);
  });
}

TEST_CASE("pairs: sparse") {
  const int n = 40;
  std::vector<int32_t> rows = {0}, columns;
  const auto lengths = ints_between<int32_t>(n, 18, 0, 70);
  for (const int32_t l : lengths) rows.push_back(rows.back() + l);
  columns = ints_between<int32_t>(static_cast<size_t>(rows.back()), 19, 0, 99);
  const auto values = random_doubles(columns.size(), 20), x = random_doubles(100, 21);
  const auto values32 = random_floats(columns.size(), 22), x32 = random_floats(100, 23);
  auto keys = ints_between<int32_t>(64, 24, 0, 6);
  std::sort(keys.begin(), keys.end());
  const auto amounts = random_ints<int32_t>(64, 25);
  both("sparse", [&](lanewise::Module& m) {
    Buffer r = device().buffer(rows), c = device().buffer(columns), v = device().buffer(values),
           vx = device().buffer(x), y = zeros<double>(n);
    m.kernel("by_warps").launch({.grid = {10}, .block = {128}}, r, c, v, vx, y, n).check();
    std::vector<double> want(n);
    std::vector<float> want32(n);
    for (size_t row = 0; row < n; ++row) {
      double lanes[64] = {};
      for (int32_t e = rows[row]; e < rows[row + 1]; ++e) {
        const auto k = static_cast<size_t>(e);
        lanes[(e - rows[row]) % 32] += values[k] * x[static_cast<size_t>(columns[k])];
        want32[row] += values32[k] * x32[static_cast<size_t>(columns[k])];
      }
      for (int o = 16; o > 0; o /= 2)
        for (int l = 0; l < o; ++l) lanes[l] += lanes[l + o];
      want[row] = lanes[0];
    }
    check_contents(y, want);
    Buffer v32 = device().buffer(values32), vx32 = device().buffer(x32), y32 = zeros<float>(n);
    m.kernel("by_threads").launch({.grid = {1}, .block = {64}}, r, c, v32, vx32, y32, n).check();
    check_contents(y32, want32);
    Buffer k = device().buffer(keys), a = device().buffer(amounts), s = zeros<int32_t>(64);
    m.kernel("segments").launch({.grid = {1}, .block = {64}}, k, a, s).check();
    std::vector<int32_t> sums(64);
    for (size_t i = 0; i < 64; ++i) {
      if (i % 32 != 31 && keys[i + 1] == keys[i]) continue;
      uint32_t sum = 0;
      for (size_t j = i / 32 * 32; j <= i; ++j)
        if (keys[j] == keys[i]) sum += static_cast<uint32_t>(amounts[j]);
      sums[i] = static_cast<int32_t>(sum);
    }
    check_contents(s, sums);
  });
}

TEST_CASE("pairs: linear") {
  const int n = 12, w = n + 1;
  const auto systems = random_doubles(2 * n * w, 26);
  const auto numbers = ints_between<uint32_t>(32, 27, 0, 1000000);
  std::vector<float> positive(256);
  const auto factor = random_floats(256, 28, -1, 1);
  for (size_t r = 0; r < 16; ++r)
    for (size_t c = 0; c < 16; ++c) {
      for (size_t k = 0; k < 16; ++k)
        positive[r * 16 + c] += factor[r * 16 + k] * factor[c * 16 + k];
      if (r == c) positive[r * 16 + c] += 4;
    }
  both("linear", [&](lanewise::Module& m) {
    Buffer a = device().buffer(systems), x = zeros<double>(2 * n);
    m.kernel("eliminate").launch({.grid = {2}, .block = {32}}, a, x, n).check();
    std::vector<double> want(2 * n);
    for (int s = 0; s < 2; ++s) {
      std::vector<double> g(systems.begin() + s * n * w, systems.begin() + (s + 1) * n * w);
      const auto at = [&](int r, int c) -> double& { return g[static_cast<size_t>(r * w + c)]; };
      for (int k = 0; k < n; ++k) {
        int best = k;
        for (int r = k + 1; r < n; ++r)
          if (std::fabs(at(r, k)) > std::fabs(at(best, k))) best = r;
        for (int c = 0; best != k && c < w; ++c) std::swap(at(k, c), at(best, c));
        for (int r = k + 1; r < n; ++r) {
          const double f = at(r, k) / at(k, k);
          for (int c = k; c < w; ++c) at(r, c) -= f * at(k, c);
        }
      }
      for (int r = n - 1; r >= 0; --r) {
        double sum = at(r, n);
        for (int c = r + 1; c < n; ++c) sum -= at(r, c) * want[static_cast<size_t>(s * n + c)];
        want[static_cast<size_t>(s * n + r)] = sum / at(r, r);
      }
    }
    check_contents(x, want);

    Buffer p = device().buffer(positive), l = zeros<float>(256);
    m.kernel("cholesky").launch({.grid = {1}, .block = {16, 16}}, p, l).check();
    std::vector<float> low = positive;
    for (size_t k = 0; k < 16; ++k) {
      low[k * 17] = std::sqrt(low[k * 17]);
      for (size_t r = k + 1; r < 16; ++r) low[r * 16 + k] /= low[k * 17];
      for (size_t r = k + 1; r < 16; ++r)
        for (size_t c = k + 1; c <= r; ++c) low[r * 16 + c] -= low[r * 16 + k] * low[c * 16 + k];
    }
    for (size_t r = 0; r < 16; ++r)
      for (size_t c = r + 1; c < 16; ++c) low[r * 16 + c] = 0;
    check_contents(l, low);

    Buffer e = device().buffer(numbers), f = zeros<uint64_t>(32);
    m.kernel("fibonacci").launch({.grid = {1}, .block = {32}}, e, f).check();
    std::vector<uint64_t> fib;
    for (const uint32_t count : numbers) {
      uint64_t before = 0, now = 1;  // by single steps
      for (uint32_t i = 0; i < count; ++i) {
        const uint64_t next = (before + now) % 1000000007;
        before = now;
        now = next;
      }
      fib.push_back(before);
    }
    check_contents(f, fib);
  });
}
