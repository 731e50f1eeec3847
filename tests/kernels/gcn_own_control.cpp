// OpenCL kernels of our own in four kinds of code objects: bytes and shorts, divergent loops,
// calls, local memory and atomics, against the host.
#include <array>
#include <bit>
#include <numeric>

#include "tests/kernels/gcn_support.hpp"

using namespace kernels;
using namespace kernels::gcn;

namespace {

using Words = std::vector<uint32_t>;

template <typename T>
T saturated(int x) {
  return static_cast<T>(
      std::clamp<int>(x, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
}

uint32_t mix(uint32_t x, uint32_t y) {
  return (x ^ y >> 3) * 0x9e3779b1U + (x << 7);
}
uint64_t wide(uint64_t x, uint32_t n) {
  return n % 3 == 0 ? x * 0x100000001b3U : mix(static_cast<uint32_t>(x), n) + (x >> n % 61);
}

}  // namespace

TEST_CASE("gcn own: vectors of bytes") {
  constexpr uint32_t n = 64;
  constexpr uint8_t alpha = 77;
  const auto a = random_ints<uint8_t>(16 * n, 1), b = random_ints<uint8_t>(16 * n, 2);
  std::vector<uint8_t> want(64 * n);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t k = 0; k < 16; ++k) {
      const int x = a[16 * i + k], y = b[16 * i + k];
      uint8_t* o = want.data() + 64 * i + k;
      o[0] = saturated<uint8_t>(x + y);
      o[16] = saturated<uint8_t>(x - y);
      o[32] = static_cast<uint8_t>(((x * alpha + y * (255 - alpha)) & 0xffff) >> 8);
      o[48] = static_cast<uint8_t>(std::max((x + y + 1) >> 1, std::abs(x - y)));
    }
  each_kind("own/", "chars", "blend", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(a), y = buffer(b), out = buffer(std::vector<uint8_t>(64 * n));
    k.launch({.grid = {1}, .block = {64}}, x, y, out, alpha).check();
    check_all(out.read<uint8_t>(), want);
  });
}

TEST_CASE("gcn own: vectors of signed bytes") {
  constexpr uint32_t n = 64;
  const auto a = random_ints<int8_t>(8 * n, 3), b = random_ints<int8_t>(8 * n, 4);
  std::vector<int8_t> want(32 * n);
  std::vector<int16_t> products(8 * n);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t k = 0; k < 8; ++k) {
      const int x = a[8 * i + k], y = b[8 * i + k];
      int8_t* o = want.data() + 32 * i;
      o[k] = saturated<int8_t>(x + y);
      o[8 + k] = saturated<int8_t>(x - y);
      o[16 + 7 - k] = static_cast<int8_t>(x > y ? y : x);
      o[24 + k] = static_cast<int8_t>((x >> 3) ^ static_cast<int8_t>(y * 2));
      products[8 * i + k] = static_cast<int16_t>(x * y);
    }
  each_kind("own/", "chars", "signedbytes", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(a), y = buffer(b), out = buffer(std::vector<int8_t>(32 * n)),
         w = buffer(std::vector<int16_t>(8 * n));
    k.launch({.grid = {1}, .block = {64}}, x, y, out, w).check();
    check_all(out.read<int8_t>(), want);
    check_all(w.read<int16_t>(), products);
  });
}

TEST_CASE("gcn own: a filter over bytes") {
  constexpr int w = 40, h = 16;
  const auto in = random_ints<uint8_t>(w * h, 5);
  std::vector<uint8_t> want(w * h);
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      const auto p = [&](int k) { return int{in[(y + k / 3 - 1) * w + x + k % 3 - 1]}; };
      const int gx = p(2) + 2 * p(5) + p(8) - p(0) - 2 * p(3) - p(6);
      const int gy = p(6) + 2 * p(7) + p(8) - p(0) - 2 * p(1) - p(2);
      want[y * w + x] = saturated<uint8_t>(std::abs(gx) + std::abs(gy));
    }
  each_kind("own/", "chars", "sobel", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(in), out = buffer(std::vector<uint8_t>(w * h));
    k.launch({.grid = {w * h / 64}, .block = {64}}, x, out, w, h).check();
    check_all(out.read<uint8_t>(), want);
  });
}

TEST_CASE("gcn own: vectors of shorts") {
  constexpr uint32_t n = 64;
  const auto a = random_ints<int16_t>(4 * n, 6);
  const auto b = random_ints<uint16_t>(4 * n, 7);
  std::vector<int16_t> want(24 * n);
  for (uint32_t i = 0; i < n; ++i)
    for (uint32_t k = 0; k < 4; ++k) {
      const int x = a[4 * i + k], u = b[4 * i + k], y = static_cast<int16_t>(u);
      static constexpr int kTurns[] = {3, 5, 7, 11}, kDivisors[] = {3, 10, 255, 1000},
                           kModuli[] = {7, -9, 100, 2};
      int16_t* o = want.data() + 24 * i + k;
      o[0] = saturated<int16_t>(x + y);
      o[4] = static_cast<int16_t>((x * y) >> 16);
      o[8] = static_cast<int16_t>(std::rotl(b[4 * i + k], kTurns[k]));
      o[12] = static_cast<int16_t>(std::min(x, y) - std::max(x, static_cast<int>(i)));
      o[16] = static_cast<int16_t>(u / kDivisors[k]);
      o[20] = static_cast<int16_t>(x % kModuli[k]);
    }
  each_kind("own/", "chars", "shorts", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(a), y = buffer(b), out = buffer(std::vector<int16_t>(24 * n));
    k.launch({.grid = {1}, .block = {64}}, x, y, out).check();
    check_all(out.read<int16_t>(), want);
  });
}

TEST_CASE("gcn own: loops with several exits") {
  constexpr uint32_t n = 192, cap = 90;
  Words in = random_ints<uint32_t>(n, 8), want(2 * n);
  for (uint32_t i = 0; i < n; ++i) {
    in[i] = (in[i] >> (i % 28)) | 1;
    uint32_t x = in[i], s = 0, most = x;
    while (x != 1) {
      if (s >= cap) {
        s = ~0U;
        break;
      }
      if ((x & 1) != 0) {
        if (x > 0x55555554U) {
          s |= 0x80000000U;
          break;
        }
        x = 3 * x + 1;
      } else {
        x >>= 1;
      }
      most = std::max(most, x);
      ++s;
    }
    want[2 * i] = s;
    want[2 * i + 1] = most;
  }
  // Half of each group's second wave is not there. Unoptimised code keeps scalar registers in lanes
  // of vector registers, also in those.
  for (const std::string source : {"loops", "loops_O0"}) {
    if (too_slow_here(source)) continue;
    each_kind("own/", source, "collatz", [&](lanewise::Kernel& k, const std::string&) {
      auto x = buffer(in), out = buffer(Words(2 * n));
      k.launch({.grid = {2}, .block = {96}}, x, out, cap).check();
      check_all(out.read<uint32_t>(), want);
    });
  }
}

TEST_CASE("gcn own: loops in loops with continue and break") {
  constexpr uint32_t n = 128;
  Words in = random_ints<uint32_t>(n, 9), want(n);
  for (uint32_t i = 0; i < n; ++i) {
    in[i] = in[i] % 3000 + 1;
    uint32_t rest = in[i], count = 0, sum = 0;
    for (uint32_t p = 2; p * p <= rest; ++p) {
      uint32_t power = 0;
      while (rest % p == 0) rest /= p, ++power;
      if (power == 0) continue;
      sum += p * power;
      if (++count == 6) break;
    }
    if (rest > 1) sum += rest;
    want[i] = sum + (count << 24);
  }
  each_kind("own/", "loops", "factors", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(in), out = buffer(Words(n));
    k.launch({.grid = {2}, .block = {64}}, x, out).check();
    check_all(out.read<uint32_t>(), want);
  });
}

TEST_CASE("gcn own: rounds with a barrier, scalar registers in lanes") {
  constexpr uint32_t kLanes = 128;
  constexpr int32_t kRounds = 5;
  const Words in = random_ints<uint32_t>(kLanes, 30);
  Words want = in;
  for (uint32_t& v : want)
    for (uint32_t r = 0; r < kRounds; ++r) {
      if (v % 2 == 1) {
        v = v * 3 + 1;
        continue;
      }
      for (uint32_t q = 0; q < (v & 7); ++q) v += q * 3 ^ r;
    }
  each_kind(
      "own/", "spills", "rounds",
      [&](lanewise::Kernel& k, const std::string&) {
        auto from = buffer(in), to = buffer(Words(kLanes));
        k.launch({.grid = {2}, .block = {64}}, from, to, kRounds).check();
        check_all(to.read<uint32_t>(), want);
      },
      false);
}

// Compilers without optimisation keep everything in memory, and lavapipe took 8 to 22 s for such
// kernels while each access stood there for every slot of a wave.
TEST_CASE("gcn own: loops and conditions in each other, left lane by lane") {
  constexpr int n = 60, lanes = 64;
  std::vector<int32_t> nodes, edges(3 * lanes), in(200), cost(lanes), sums(lanes);
  std::vector<int8_t> mask(lanes), updating(lanes), visited(lanes), over(4);
  for (int i = 0; i < lanes; ++i) {
    nodes.insert(nodes.end(), {3 * i, i % 4});
    mask[i] = i % 3 == 0;
    // Nobody reads what another lane of the same launch writes.
    visited[i] = static_cast<int8_t>(mask[i] != 0 || i % 5 == 1);
    cost[i] = 7;
  }
  for (int e = 0; e < 3 * lanes; ++e) edges[e] = e * 37 % lanes;
  for (int k = 0; k < 200; ++k) in[k] = k * k * 77 + 3 * k;
  auto cost_after = cost;
  auto reached = updating;
  for (int i = 0; i < n; ++i)
    for (int e = 3 * i; mask[i] != 0 && e < 3 * i + i % 4; ++e)
      if (visited[edges[e]] == 0) {
        cost_after[edges[e]] = 8;
        reached[edges[e]] = 1;
      }
  for (int i = 0; i < lanes; ++i) {
    std::array<int32_t, 200> a;
    for (int k = 0; k < 200; ++k) a[k] = in[k] + i;
    for (int k = 0; k < n + (i & 3); ++k) {
      const int at = (a[k % 200] & 0x7fffffff) % 200;
      if (at == 7) continue;
      if (at > 190 + (i & 7)) break;
      a[at] += k;
    }
    uint32_t sum = 0;
    for (int k = 0; k < 200; ++k) sum = sum * 31 + static_cast<uint32_t>(a[k]);
    sums[i] = static_cast<int32_t>(sum);
  }
  const lanewise::LaunchOptions one = {.grid = {1}, .block = {lanes}};
  for (const char* gpu : {"gfx600", "gfx803"}) {
    CAPTURE(gpu);
    if (device().info().tier != "cpu" && std::string(gpu) != "gfx803") continue;
    const auto file =
        device().load_file(corpus("gcn/own/nested_O0." + std::string(gpu) + ".hsaco"));
    auto m = buffer(mask), u = buffer(updating), v = buffer(visited), o = buffer(over);
    auto nd = buffer(nodes), ed = buffer(edges), c = buffer(cost);
    const auto searched = file.kernel("bfs").launch(one, nd, ed, m, u, v, c, n, o);
    searched.check();
    CHECK(searched.wave_mode != "packed");
    check_all(c.read<int32_t>(), cost_after);
    auto i = buffer(in), out = buffer(std::vector<int32_t>(lanes));
    const auto summed = file.kernel("array").launch(one, i, out, n);
    summed.check();
    CHECK(summed.wave_mode != "packed");
    check_all(out.read<int32_t>(), sums);
  }
}

TEST_CASE("gcn own: a search that returns from within") {
  const std::string text =
      "a rose is a rose is a rose, and what is lost in the wood is found in the roots of it";
  const char* words[] = {"rose", "is a", "wood",  "lost in ", "x",
                         "it",   "",     "roots", "founder",  "t"};
  constexpr uint32_t n = 64;
  std::vector<uint8_t> haystack(text.begin(), text.end()), needles(8 * n);
  std::vector<int32_t> want(n);
  for (uint32_t i = 0; i < n; ++i) {
    const std::string word = words[i * 7 % 10];
    std::ranges::copy(word, needles.begin() + 8 * i);
    const size_t at = text.find(word);
    want[i] = at == std::string::npos ? -1 : static_cast<int32_t>(at);
  }
  each_kind("own/", "loops", "find", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(haystack), y = buffer(needles), out = buffer(std::vector<int32_t>(n));
    k.launch({.grid = {1}, .block = {n}}, x, static_cast<uint32_t>(text.size()), y, out).check();
    check_all(out.read<int32_t>(), want);
  });
}

TEST_CASE("gcn own: a machine whose lanes run programs of their own") {
  constexpr uint32_t n = 96, most = 40;
  Words code = random_ints<uint32_t>(64, 10), want(n);
  for (uint32_t& word : code) word &= 0x7f;
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t a = i, b = 1, pc = 0, steps = 0;
    bool done = false;
    while (!done && steps++ < most) {
      const uint32_t word = code[(i % 4) * 16 + (pc & 15)], value = word >> 3;
      ++pc;
      switch (word & 7) {
        case 0:
          a += value;
          break;
        case 1:
          b ^= a;
          break;
        case 2:
          a = a * 5 + b;
          break;
        case 3:
          pc += (a & 1) != 0 ? value : 0;
          break;
        case 4:
          b = b << 3 | b >> 29;
          [[fallthrough]];
        case 5:
          a -= b;
          break;
        case 6:
          done = b > a;
          break;
        default:
          pc = value;
          break;
      }
    }
    want[i] = a ^ b * 3 ^ pc << 20 ^ steps << 8;
  }
  each_kind("own/", "loops", "machine", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(code), out = buffer(Words(n));
    k.launch({.grid = {1}, .block = {n}}, x, out, most).check();
    check_all(out.read<uint32_t>(), want);
  });
}

TEST_CASE("gcn own: calls with a record in private memory") {
  constexpr uint32_t n = 64, rounds = 5;
  const Words in = random_ints<uint32_t>(n, 11);
  std::vector<uint64_t> want(2 * n);
  std::vector<float> floats(4 * n);
  for (uint32_t i = 0; i < n; ++i) {
    uint32_t a = in[i], b = i;
    uint64_t c = in[i] * uint64_t{0x10001};
    float d[] = {0, 1, 2, 3};
    for (uint32_t step = 0; step < rounds + (i & 3); ++step) {
      const uint32_t m = step + i;
      a = mix(a, m);
      b += a & 15;
      c = wide(c, m);
      for (uint32_t k = 0; k < 4; ++k) {
        const float x = static_cast<float>(m & 7) * 0.25F;
        d[(k + m) & 3] += ((1 * x + 2) * x + 3) * x + static_cast<float>(k);
      }
    }
    want[2 * i] = uint64_t{a} << 32 | b;
    want[2 * i + 1] = c;
    std::ranges::copy(d, floats.begin() + 4 * i);
  }
  each_kind(
      "own/", "calls", "records",
      [&](lanewise::Kernel& k, const std::string&) {
        auto x = buffer(in), out = buffer(std::vector<uint64_t>(2 * n)),
             f = buffer(std::vector<float>(4 * n));
        k.launch({.grid = {1}, .block = {n}}, x, out, f, rounds).check();
        check_all(out.read<uint64_t>(), want);
        check_all(f.read<float>(), floats);
      },
      false);
}

TEST_CASE("gcn own: addresses of private memory are plain arithmetic, not a decoded descriptor") {
  for (const char* gpu : {"gfx600", "gfx700", "gfx803"}) {
    const lanewise::Module m =
        device().load_file(corpus("gcn/own/calls." + std::string(gpu) + ".hsaco"));
    const std::string text = m.kernel("records").optimised_ir({.grid = {1}, .block = {64}});
    CHECK(text.find("buffer_address") == std::string::npos);
    CHECK(text.find("store.u32") != std::string::npos);
  }
}

TEST_CASE("gcn own: calls with arguments in registers and on the stack") {
  constexpr uint32_t n = 128;
  const Words in = random_ints<uint32_t>(n, 12);
  Words want(n);
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t x = in[i];
    uint32_t s = 0;
    if ((x & 1) != 0) {
      // g.x * g.w is x * 4, h.s7 is x + i, i.s0 * j.s3 is i * (3 + i).
      s = x + 3 * i + 5 * (x >> 3) + 7 * 4 + static_cast<uint32_t>((uint64_t{x} << 9) >> 13) +
          (x & 255) + x * 4 + (x + i) + i * (3 + i) + 11 * (x >> 5) + 13 * (i * i);
    }
    for (uint32_t k = 0; k < (i & 7); ++k) s = mix(s, k);
    want[i] = s;
  }
  each_kind(
      "own/", "calls", "arguments",
      [&](lanewise::Kernel& k, const std::string&) {
        auto x = buffer(in), out = buffer(Words(n));
        k.launch({.grid = {2}, .block = {64}}, x, out).check();
        check_all(out.read<uint32_t>(), want);
      },
      false);
}

TEST_CASE("gcn own: a sort in local memory") {
  Words in = random_ints<uint32_t>(512, 13), want = in;
  std::sort(want.begin(), want.begin() + 256);
  std::sort(want.begin() + 256, want.end());
  each_kind("own/", "local", "sort", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(in);
    k.launch({.grid = {2}, .block = {128}}, x).check();
    check_all(x.read<uint32_t>(), want);
  });
}

TEST_CASE("gcn own: a scan in local memory that the launch gives") {
  constexpr uint32_t n = 200;
  const auto in = random_ints<int32_t>(2 * n, 14);
  std::vector<uint32_t> unsigned_in(in.begin(), in.end()), want(2 * n);
  for (uint32_t group = 0; group < 2; ++group)
    std::partial_sum(unsigned_in.begin() + group * n, unsigned_in.begin() + (group + 1) * n,
                     want.begin() + group * n);
  each_kind("own/", "local", "scan", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(in), out = buffer(Words(2 * n));
    const uint32_t place = 0;
    k.launch({.grid = {2}, .block = {n}, .dynamic_shared = 4 * n}, x, out, place).check();
    check_all(out.read<uint32_t>(), want);
  });
}

TEST_CASE("gcn own: a histogram with atomics on local and global memory") {
  constexpr uint32_t n = 1500, groups = 3;
  const auto in = random_ints<uint8_t>(n, 15);
  Words want(68);
  std::array<uint8_t, groups> most{};
  want[64] = ~0U;
  for (uint32_t i = 0; i < n; ++i) {
    ++want[in[i] & 63];
    want[64] = std::min<uint32_t>(want[64], in[i]);
    want[65] = std::max<uint32_t>(want[65], in[i]);
    uint8_t& m = most[i / 128 % groups];
    m = std::max(m, in[i]);
  }
  for (uint32_t g = 0; g < groups; ++g) {
    want[66] |= 1U << g;
    want[67] ^= most[g] * 3U;
  }
  Words before(68);
  before[64] = ~0U;
  each_kind("own/", "local", "histogram", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(in), out = buffer(before);
    k.launch({.grid = {groups}, .block = {128}}, x, out, n).check();
    check_all(out.read<uint32_t>(), want);
  });
}

TEST_CASE("gcn own: a sum of floats by compare and exchange, and tickets") {
  constexpr uint32_t n = 64, groups = 2;
  Words in = random_ints<uint32_t>(n * groups, 16);
  std::vector<float> values(n * groups), want(groups);
  for (uint32_t i = 0; i < n * groups; ++i) {
    values[i] = static_cast<float>(in[i] & 1023);  // sums are exact in any order
    want[i / n] += values[i];
  }
  each_kind("own/", "local", "sums", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(values), total = buffer(std::vector<float>(groups)),
         tickets = buffer(Words(n * groups));
    k.launch({.grid = {groups}, .block = {n}}, x, total, tickets).check();
    check_all(total.read<float>(), want);
    Words drawn = tickets.read<uint32_t>(), all(n * groups);
    for (uint32_t i = 0; i < n * groups; ++i) all[i] = i % n;
    for (uint32_t g = 0; g < groups; ++g)
      std::sort(drawn.begin() + g * n, drawn.begin() + (g + 1) * n);
    check_all(drawn, all);
  });
}
