// Every kernel of the OpenCL corpus in its four kinds of code objects, against the host.
#include <numeric>
#include <span>
#include <utility>

#include "tests/kernels/gcn_support.hpp"

using namespace kernels;
using namespace kernels::gcn;

namespace {

using Words = std::vector<uint32_t>;

void each(const std::string& source, const std::string& kernel,
          const std::function<void(lanewise::Kernel&)>& body) {
  each_kind("corpus/", source, kernel, [&](lanewise::Kernel& k, const std::string&) { body(k); });
}

/// A buffer descriptor: `stride` 0 is bytes, else elements of one unsigned dword.
lanewise::Arg descriptor(const lanewise::Buffer& b, uint32_t stride, uint32_t records) {
  constexpr uint32_t kXyzw = 4 | 5 << 3 | 6 << 6 | 7 << 9, kUint = 4 << 12, kOneDword = 4 << 15;
  const uint64_t at = b.address();
  const uint32_t words[] = {static_cast<uint32_t>(at),
                            static_cast<uint32_t>(at >> 32 & 0xffff) | stride << 16, records,
                            kXyzw | kUint | kOneDword};
  return lanewise::Arg::raw(std::as_bytes(std::span(words)));
}

}  // namespace

TEST_CASE("gcn corpus: saxpy") {
  constexpr uint32_t n = 700;
  const std::vector<float> x = random_floats(n, 1), y = random_floats(n, 2);
  std::vector<float> want(n);
  for (uint32_t i = 0; i < n; ++i) want[i] = 1.5F * x[i] + y[i];
  each("k01_saxpy", "saxpy", [&](lanewise::Kernel& k) {
    auto a = buffer(y), b = buffer(x);
    k.launch({.grid = {3}, .block = {256}}, a, b, 1.5F, n).check();
    check_all(a.read<float>(), want);
  });
}

TEST_CASE("gcn corpus: a reduction in local memory") {
  constexpr uint32_t n = 700;
  std::vector<float> in(n), want(3);
  for (uint32_t i = 0; i < n; ++i) want[i / 256] += in[i] = static_cast<float>(i * 37 % 101);
  each("k02_reduce", "reduce", [&](lanewise::Kernel& k) {
    auto a = buffer(in), out = buffer(std::vector<float>(3));
    k.launch({.grid = {3}, .block = {256}}, a, out, n).check();
    check_all(out.read<float>(), want);
  });
}

TEST_CASE("gcn corpus: a transposition") {
  constexpr uint32_t w = 40, h = 23;
  const std::vector<float> in = random_floats(w * h, 3);
  std::vector<float> want(w * h);
  for (uint32_t y = 0; y < h; ++y)
    for (uint32_t x = 0; x < w; ++x) want[x * h + y] = in[y * w + x];
  each("k03_transpose", "transpose", [&](lanewise::Kernel& k) {
    auto a = buffer(in), out = buffer(std::vector<float>(w * h));
    k.launch({.grid = {3, 2}, .block = {16, 16}}, a, out, w, h).check();
    check_all(out.read<float>(), want);
  });
}

TEST_CASE("gcn corpus: a histogram") {
  constexpr uint32_t n = 1000;
  const Words in = random_ints<uint32_t>(n, 4);
  Words want(256);
  for (const uint32_t x : in) ++want[x & 255];
  each("k05_histogram", "histogram", [&](lanewise::Kernel& k) {
    auto a = buffer(in), out = buffer(Words(256));
    k.launch({.grid = {4}, .block = {256}}, a, out, n).check();
    check_all(out.read<uint32_t>(), want);
  });
}

TEST_CASE("gcn corpus: atomics on global memory, one after another") {
  const uint32_t v = 0x1234567;
  for (const uint32_t compared : {5U, 6U}) {
    CAPTURE(compared);
    Words p = random_ints<uint32_t>(17, 5);
    p[9] = compared;
    p[11] = 62;
    std::vector<int32_t> q = {-5, 7};
    std::vector<uint64_t> r = {0xfffffff0, 0};
    const Words p_before = p;
    const auto q_before = q;
    const auto r_before = r;
    const auto change = [](uint32_t& word, uint32_t to) { return std::exchange(word, to); };
    uint32_t o = change(p[0], p[0] + v);
    o += change(p[8], p[8] ^ o);
    q[0] = std::max(q[0], static_cast<int32_t>(o));
    q[1] = std::min(q[1], static_cast<int32_t>(o));
    const uint32_t seen = p[9];
    if (seen == 5) p[9] = o;
    o = seen;
    o += change(p[10], o);
    r[1] = std::exchange(r[0], r[0] + o);
    p[16] = change(p[11], p[11] >= 63 ? 0 : p[11] + 1);
    each("k05_histogram", "gatomics", [&](lanewise::Kernel& k) {
      auto words = buffer(p_before), ints = buffer(q_before), longs = buffer(r_before);
      k.launch({.grid = {1}, .block = {1}}, words, ints, longs, v).check();
      check_all(words.read<uint32_t>(), p);
      check_all(ints.read<int32_t>(), q);
      check_all(longs.read<uint64_t>(), r);
    });
  }
}

TEST_CASE("gcn corpus: atomics on global memory, all at once") {
  constexpr uint32_t n = 256, v = 3;
  each("k05_histogram", "gatomics", [&](lanewise::Kernel& k) {
    auto words = buffer(Words(16 + n)), ints = buffer(std::vector<int32_t>(2)),
         longs = buffer(std::vector<uint64_t>(1 + n));
    k.launch({.grid = {1}, .block = {n}}, words, ints, longs, v).check();
    const Words p = words.read<uint32_t>();
    for (uint32_t i = 0; i < 8; ++i) CHECK(p[i] == n / 8 * v);
    CHECK(p[11] == n % 64);
    // The counter wraps behind 63, so each value was handed out as often as any other.
    Words handed(p.begin() + 16, p.end()), all(n);
    for (uint32_t i = 0; i < n; ++i) all[i] = i / (n / 64);
    std::ranges::sort(handed);
    check_all(handed, all);
  });
}

TEST_CASE("gcn corpus: bodies that attract each other") {
  constexpr uint32_t n = 256, bodies = 24;
  const std::vector<float> pos = random_floats(4 * n, 6, 0.1F, 2), vel = random_floats(4 * n, 7);
  std::vector<float> want = vel;
  for (uint32_t i = 0; i < n; ++i) {
    double a[3] = {};
    for (uint32_t j = 0; j < bodies; ++j) {
      double d[3], square = 1e-4;
      for (int c = 0; c < 3; ++c) {
        d[c] = double{pos[4 * j + c]} - pos[4 * i + c];
        square += d[c] * d[c];
      }
      for (int c = 0; c < 3; ++c) a[c] += d[c] * pos[4 * j + 3] / (square * std::sqrt(square));
    }
    for (int c = 0; c < 3; ++c) want[4 * i + c] += static_cast<float>(a[c] * 0.01);
  }
  each("k07_nbody", "nbody", [&](lanewise::Kernel& k) {
    auto p = buffer(pos), w = buffer(vel);
    k.launch({.grid = {1}, .block = {n}}, p, w, bodies, 0.01F).check();
    check_all(w.read<float>(), want, [](float got, float should) {
      return std::fabs(got - should) <= 2e-5F * std::max(1.0F, std::fabs(should));
    });
  });
}

TEST_CASE("gcn corpus: bitonic sorting, a step and all of it") {
  const Words in = random_ints<uint32_t>(512, 8);
  Words step = in, sorted = in;
  for (uint32_t i = 0; i < 512; ++i)
    if ((i ^ 8) > i && (step[i] > step[i ^ 8]) == ((i & 64) == 0)) std::swap(step[i], step[i ^ 8]);
  std::sort(sorted.begin(), sorted.begin() + 256);
  std::sort(sorted.begin() + 256, sorted.end());
  each("k09_bitonic", "bitonic", [&](lanewise::Kernel& k) {
    auto a = buffer(in);
    k.launch({.grid = {2}, .block = {256}}, a, 64U, 8U).check();
    check_all(a.read<uint32_t>(), step);
  });
  each("k09_bitonic", "bitonic_lds", [&](lanewise::Kernel& k) {
    auto a = buffer(in);
    k.launch({.grid = {2}, .block = {256}}, a).check();
    check_all(a.read<uint32_t>(), sorted);
  });
}

TEST_CASE("gcn corpus: vectors and structures") {
  constexpr uint32_t n = 256;
  const Words in = random_ints<uint32_t>(4 * n, 9);
  Words pairs(in.begin(), in.begin() + 2 * n);
  for (uint32_t& x : pairs) ++x;
  const std::vector<float> triples = random_floats(3 * n, 10);
  std::vector<float> moved = triples;
  for (uint32_t i = 0; i < n; ++i) moved[3 * i] += 1;
  each("k11_vec4", "vec4copy", [&](lanewise::Kernel& k) {
    auto a = buffer(in), b = buffer(Words(4 * n));
    k.launch({.grid = {1}, .block = {n}}, a, b).check();
    check_all(b.read<uint32_t>(), in);
  });
  each("k11_vec4", "vec2copy", [&](lanewise::Kernel& k) {
    auto a = buffer(in), b = buffer(Words(2 * n));
    k.launch({.grid = {1}, .block = {n}}, a, b).check();
    check_all(b.read<uint32_t>(), pairs);
  });
  each("k11_vec4", "vec3copy", [&](lanewise::Kernel& k) {
    auto a = buffer(triples), b = buffer(std::vector<float>(3 * n));
    k.launch({.grid = {1}, .block = {n}}, a, b).check();
    check_all(b.read<float>(), moved);
  });
}

TEST_CASE("gcn corpus: integers of 64 bits") {
  constexpr uint32_t n = 256;
  const uint64_t factor = 0x123456789abcdef1;
  const auto a = random_ints<uint64_t>(n, 11), b = random_ints<uint64_t>(n, 12);
  std::vector<uint64_t> want(n);
  for (uint32_t i = 0; i < n; ++i) {
    uint64_t x = a[i] * b[i] + factor;
    x ^= x >> 33;
    x = x << 13 | x >> 51;
    want[i] = x > b[i] ? x - b[i] : b[i] - x;
  }
  each("k13_i64", "i64mix", [&](lanewise::Kernel& k) {
    auto x = buffer(a), y = buffer(b);
    k.launch({.grid = {1}, .block = {n}}, x, y, factor).check();
    check_all(x.read<uint64_t>(), want);
  });
}

TEST_CASE("gcn corpus: a stencil") {
  constexpr int w = 300, h = 5;
  const std::vector<float> in = random_floats(w * h, 13);
  std::vector<float> want(w * h);
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      const int i = y * w + x;
      want[i] = 0.2F * (in[i] + in[i - 1] + in[i + 1] + in[i - w] + in[i + w]);
    }
  each("k15_stencil", "stencil", [&](lanewise::Kernel& k) {
    auto a = buffer(in), out = buffer(std::vector<float>(w * h));
    k.launch({.grid = {2, h}, .block = {256}}, a, out, w, h).check();
    check_all(out.read<float>(), want);
  });
}

TEST_CASE("gcn corpus: a scan") {
  const Words in = random_ints<uint32_t>(512, 14);
  Words want(512);
  for (uint32_t g = 0; g < 512; g += 256)
    std::partial_sum(in.begin() + g, in.begin() + g + 256, want.begin() + g);
  each("k17_scan", "scan", [&](lanewise::Kernel& k) {
    auto a = buffer(in), out = buffer(Words(512)), sums = buffer(Words(2));
    k.launch({.grid = {2}, .block = {256}}, a, out, sums).check();
    check_all(out.read<uint32_t>(), want);
    check_all(sums.read<uint32_t>(), Words{want[255], want[511]});
  });
}

TEST_CASE("gcn corpus: loops that lanes leave in several places") {
  constexpr uint32_t n = 256, cap = 60;
  Words in = random_ints<uint32_t>(n + 1, 15), want(n + 1);
  for (uint32_t i = 0; i <= n; ++i) in[i] = (in[i] >> (i % 30)) | 1;
  want[n] = in[n];
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t x = in[i], s = 0;
    while (x != 1) {
      if (s >= cap) {
        s = ~0U;
        break;
      }
      if ((x & 1) != 0 && x > 0x55555555U) {
        s |= 0x80000000U;
        break;
      }
      x = (x & 1) != 0 ? 3 * x + 1 : x >> 1;
      ++s;
    }
    want[i] = s;
  }
  each("k19_loopbreak", "collatz", [&](lanewise::Kernel& k) {
    auto v = buffer(in);
    k.launch({.grid = {1}, .block = {n}}, v, cap).check();
    check_all(v.read<uint32_t>(), want);
  });
  Words sorted = random_ints<uint32_t>(500, 16), wanted = random_ints<uint32_t>(n, 17), places(n);
  std::ranges::sort(sorted);
  for (uint32_t i = 0; i < n; ++i) {
    if (i % 2 == 0) wanted[i] = sorted[wanted[i] % 500];
    places[i] = static_cast<uint32_t>(std::ranges::lower_bound(sorted, wanted[i]) - sorted.begin());
  }
  each("k19_loopbreak", "bsearch", [&](lanewise::Kernel& k) {
    auto a = buffer(sorted), q = buffer(wanted), out = buffer(Words(n));
    k.launch({.grid = {1}, .block = {n}}, a, q, out, 500U).check();
    check_all(out.read<uint32_t>(), places);
  });
}

TEST_CASE("gcn corpus: arrays in scratch") {
  constexpr uint32_t steps = 50;
  Words in = random_ints<uint32_t>(256 + 64, 18), want = in;
  uint32_t st[64], sp = in[0] & 63, sum = 0;
  std::copy_n(in.begin(), 64, st);
  for (uint32_t k = 0; k < steps; ++k) {
    const uint32_t t = st[sp];
    st[(sp + k) & 63] = t * 3;
    sp = t >> 2 & 63;
  }
  for (uint32_t k = 0; k < 64; ++k) sum += st[k] * k;
  want[0] = sum;
  each("k21_scratch", "scratch", [&](lanewise::Kernel& k) {
    auto a = buffer(in);
    k.launch({.grid = {1}, .block = {1}}, a, steps).check();
    check_all(a.read<uint32_t>(), want);
  });
  std::vector<uint8_t> bytes = random_ints<uint8_t>(256, 19), after = bytes,
                       box(bytes.begin(), bytes.begin() + 128);
  for (uint32_t k = 0; k < steps; ++k)
    box[bytes[k] & 127] = static_cast<uint8_t>(box[bytes[k] & 127] + box[k * 7 & 127]);
  after[0] = box[steps & 127];
  each("k21_scratch", "scratch8", [&](lanewise::Kernel& k) {
    auto a = buffer(bytes);
    k.launch({.grid = {1}, .block = {1}}, a, steps).check();
    check_all(a.read<uint8_t>(), after);
  });
}

TEST_CASE("gcn corpus: buffer descriptors as arguments") {
  constexpr uint32_t n = 256, there = 200;
  const Words in = random_ints<uint32_t>(n, 20);
  Words want = in;
  std::fill(want.begin() + there, want.end(), 0U);  // past the descriptor's end zeros are read
  each("k23_rsrc", "rsrc_copy", [&](lanewise::Kernel& k) {
    auto a = buffer(in), b = buffer(Words(n, 7U));
    k.launch({.grid = {1}, .block = {n}}, {descriptor(a, 0, 4 * there), descriptor(b, 0, 4 * n)})
        .check();
    check_all(b.read<uint32_t>(), want);
  });
  each_kind("corpus/", "k23_rsrc", "rsrc_idx", [&](lanewise::Kernel& k, const std::string& kind) {
    const uint32_t unit = kind == "gfx803" ? 4 : 1;  // GCN3 counts records in bytes
    auto a = buffer(in), b = buffer(Words(n, 7U));
    k.launch({.grid = {1}, .block = {n}},
             {descriptor(a, 4, unit * there), descriptor(b, 4, unit * n)})
        .check();
    check_all(b.read<uint32_t>(), want);
  });
}
