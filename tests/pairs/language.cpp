// What the language has: structures, functions, arrays of a thread, pointers, separate compilation,
// frames.
#include <array>

#include "tests/pairs/pairs.hpp"

using namespace pairs;

namespace {

struct Item {
  char tag;
  int16_t size;
  int32_t count;
  double weight;
  uint8_t name[5];
  int64_t key;
};
static_assert(sizeof(Item) == 32);
struct Box {
  float a[3], b[3];
  int32_t ranges[6];
};

std::vector<Item> some_items(size_t n) {
  const auto bits = random_ints<uint64_t>(n, 75);
  std::vector<Item> items(n);
  for (size_t i = 0; i < n; ++i) {
    std::memset(&items[i], 0, sizeof(Item));
    items[i].tag = static_cast<char>(bits[i]);
    items[i].size = static_cast<int16_t>(bits[i] >> 8);
    items[i].count = static_cast<int32_t>(bits[i] >> 20);
    items[i].weight = static_cast<double>(bits[i] >> 40) * 0.5;
    for (unsigned k = 0; k < 5; ++k) items[i].name[k] = static_cast<uint8_t>(bits[i] >> (7 * k));
    items[i].key = static_cast<int64_t>(bits[i] * 0x9e3779b97f4a7c15);
  }
  return items;
}

/// Members, not the holes between them.
void check_items(const Buffer& buffer, const std::vector<Item>& want) {
  const auto got = buffer.read<Item>();
  for (size_t i = 0; i < want.size(); ++i) {
    CAPTURE(i);
    REQUIRE(got[i].tag == want[i].tag);
    REQUIRE(got[i].size == want[i].size);
    REQUIRE(got[i].count == want[i].count);
    REQUIRE(got[i].weight == want[i].weight);
    REQUIRE(std::memcmp(got[i].name, want[i].name, 5) == 0);
    REQUIRE(got[i].key == want[i].key);
  }
}

}  // namespace

TEST_CASE("pairs: structs") {
  const int n = 70;
  const auto items = some_items(n);
  both("structs", [&](lanewise::Module& m) {
    Buffer in = device().buffer(items), out = zeros<Item>(n);
    m.kernel("copy").launch({.grid = {2}, .block = {64}}, in, out, n).check();
    std::vector<Item> want(items.rbegin(), items.rend());
    check_items(out, want);

    m.kernel("change").launch({.grid = {2}, .block = {64}}, out, n).check();
    const auto change = [](Item& x, int by) {
      x.count = static_cast<int32_t>(static_cast<uint32_t>(x.count) + static_cast<uint32_t>(by));
      x.weight *= 2;
      x.name[by % 5] = static_cast<uint8_t>(x.tag + by);
      x.size = static_cast<int16_t>(x.size - by * 3);
    };
    for (int i = 0; i < n; ++i) {
      Item& x = want[static_cast<size_t>(i)];
      change(x, i);
      if (x.key < 0) change(x, 2);
    }
    check_items(out, want);

    const Box box = {{1.5F, -7.25F, 3}, {0, 9, 100.75F}, {1, 2, -3, 4, 5, -6}};
    Buffer sums = zeros<int32_t>(64);
    m.kernel("by_value")
        .launch({.grid = {1}, .block = {64}},
                {lanewise::Arg::raw(std::as_bytes(std::span(&box, 1))),
                 lanewise::Arg::raw(std::as_bytes(std::span(&items[4], 1))), sums})
        .check();
    std::vector<int32_t> want_sums;
    for (int t = 0; t < 64; ++t) {
      const Item& x = items[4];
      want_sums.push_back(box.ranges[t % 3 * 2] + box.ranges[t % 3 * 2 + 1] * t - 7 + 100 +
                          x.name[t % 5] + x.size + static_cast<int32_t>(x.key >> 20) + x.tag);
    }
    check_contents(sums, want_sums);

    Buffer best = zeros<Item>(1);
    m.kernel("best").launch({.grid = {1}, .block = {32}}, in, n, best).check();
    check_items(best,
                {*std::max_element(items.begin(), items.end(),
                                   [](const Item& a, const Item& b) { return a.key < b.key; })});
  });
}

TEST_CASE("pairs: functions") {
  const int n = 64;
  const auto in = ints_between<int32_t>(n, 76, -2000, 2000);
  const auto which = random_ints<int32_t>(n, 77), x = ints_between<int32_t>(n, 78, -999, 999),
             y = ints_between<int32_t>(n, 79, -999, 999);
  both("functions", [&](lanewise::Module& m) {
    Buffer a = device().buffer(in), out = zeros<int32_t>(2 * n), reals = zeros<double>(n);
    m.kernel("calls").launch({.grid = {1}, .block = {n}}, a, out, reals, n).check();
    std::vector<int32_t> want(2 * n);
    std::vector<double> want_reals(n);
    std::array<int32_t, n> box{};
    const auto local = [&](int t, int i) { return in[static_cast<size_t>(t)] >> (7 - i); };
    for (int t = 0; t < n; ++t) box[static_cast<size_t>(t)] = local(t, t & 7);
    for (size_t t = 0; t < 32; ++t) std::swap(box[t], box[63 - t]);
    const auto power = [](uint32_t v, int k) {
      uint32_t r = 1;
      for (int i = 0; i < k; ++i) r *= v;
      return r;
    };
    for (int t = 0; t < n; ++t) {
      const auto i = static_cast<size_t>(t);
      const int32_t v = in[i];
      int32_t r = t - v * 3 + box[i] / (local(t, 1) | 1) - (6 ^ local(t, 7)) + (8 << 2) +
                  static_cast<int32_t>(static_cast<int64_t>(v) * 2) +
                  static_cast<int32_t>(2.75 * t);
      uint32_t more = (v & 1) != 0 ? power(static_cast<uint32_t>(v), 5) : 0;
      for (int k = 0; (v & 1) == 0 && k < 6; ++k)
        more += power(static_cast<uint32_t>((v & 15) + k), k);
      want[i] = static_cast<int32_t>(static_cast<uint32_t>(r) + more);
      want[n + i] = box[i];
      double term = 1, sum = 1;
      for (int k = 1; k < 5 + (t & 3); ++k) {
        term *= v * 0.001 / k;
        sum += term;
      }
      want_reals[i] = sum;
    }
    check_contents(out, want);
    check_contents(reals, want_reals);

    Buffer w = device().buffer(which), p = device().buffer(x), q = device().buffer(y);
    m.kernel("pointers").launch({.grid = {1}, .block = {n}}, w, p, q, out).check();
    want.clear();
    for (size_t i = 0; i < n; ++i) {
      const std::array<int32_t, 4> r = {x[i] + y[i], x[i] - y[i], x[i] * y[i],
                                        std::max(x[i], y[i])};
      want.push_back(r[static_cast<size_t>(which[i] & 3)]);
    }
    check_contents(out, want);
  });
}

TEST_CASE("pairs: local_arrays") {
  const auto in = random_ints<int32_t>(64 * 24, 83);
  std::vector<uint8_t> digits;
  for (uint8_t lane = 0; lane < 32; ++lane)
    for (const uint8_t d : ints_between<uint8_t>(7, 84 + lane, 0, 4)) digits.push_back(d);
  auto code = ints_between<uint8_t>(32 * 20, 130, 0, 12);
  for (uint8_t& c : code) c = c > 6 ? static_cast<uint8_t>(100 + (c - 7) % 4) : c;
  both("local_arrays", [&](lanewise::Module& m) {
    Buffer a = device().buffer(in), out = zeros<int32_t>(in.size());
    m.kernel("insertion").launch({.grid = {2}, .block = {32}}, a, out).check();
    auto sorted = in;
    for (auto at = sorted.begin(); at != sorted.end(); at += 24) std::sort(at, at + 24);
    check_contents(out, sorted);

    Buffer d = device().buffer(digits), h = zeros<uint64_t>(32);
    m.kernel("permutations").launch({.grid = {1}, .block = {32}}, d, h).check();
    std::vector<uint64_t> hashes;
    for (size_t lane = 0; lane < 32; ++lane) {
      std::vector<uint8_t> p(digits.begin() + static_cast<ptrdiff_t>(lane * 7),
                             digits.begin() + static_cast<ptrdiff_t>(lane * 7 + 7));
      uint64_t hash = 0;
      for (int round = 0; round < 50; ++round) {
        std::next_permutation(p.begin(), p.end());
        for (const uint8_t x : p) hash = hash * 31 + x;
      }
      hashes.push_back(hash);
    }
    check_contents(h, hashes);

    Buffer c = device().buffer(code), sums = zeros<int64_t>(32);
    m.kernel("postfix").launch({.grid = {1}, .block = {32}}, c, 20, sums).check();
    std::vector<int64_t> want;
    for (size_t lane = 0; lane < 32; ++lane) {
      std::vector<uint64_t> stack;
      for (size_t i = 0; i < 20; ++i) {
        const uint8_t x = code[lane * 20 + i];
        const size_t top = stack.size();
        if (x < 100) {
          if (top < 16) stack.push_back(x);
        } else if (x == 103) {
          if (top > 0 && top < 16) stack.push_back(uint64_t{stack.back()});
        } else if (top > 1) {
          if (x == 102) {
            std::swap(stack[top - 1], stack[top - 2]);
          } else {
            const uint64_t b = stack.back();
            stack.pop_back();
            stack.back() = x == 100 ? stack.back() + b : stack.back() * b;
          }
        }
      }
      uint64_t sum = stack.size();
      for (const uint64_t v : stack) sum = sum * 17 + v;
      want.push_back(static_cast<int64_t>(sum));
    }
    check_contents(sums, want);
  });
}

TEST_CASE("pairs: pointers") {
  const auto which = random_ints<int32_t>(32, 140);
  const auto values = random_ints<int32_t>(32, 141);
  auto next = ints_between<int32_t>(32, 142, -1, 31);
  const auto bits = random_ints<uint64_t>(32, 143);
  const auto shorts = random_ints<int16_t>(100, 144);
  const auto offsets = ints_between<int32_t>(32, 145, 0, 99);
  both("pointers", [&](lanewise::Module& m) {
    // Each lane's target is its own, so that their order does not matter.
    std::vector<int32_t> chosen = which;
    for (size_t t = 0; t < 32; ++t)
      if ((chosen[t] & 3) == 0) chosen[t] = static_cast<int32_t>(t << 2 | (chosen[t] & ~0x7fU));
    Buffer w = device().buffer(chosen), out = zeros<int32_t>(64, 5);
    m.kernel("generic").launch({.grid = {1}, .block = {32}}, w, out, 32).check();
    std::vector<int32_t> want(64, 5);
    for (int t = 0; t < 32; ++t) {
      const auto i = static_cast<size_t>(t);
      const uint32_t u = static_cast<uint32_t>(chosen[i]);
      std::array<int32_t, 4> local{};
      for (int k = 0; k < 4; ++k) local[static_cast<size_t>(k)] = t + k * 1000;
      int32_t got = 0;
      if ((u & 3) == 0) got = t * 10 + 7;
      if ((u & 3) == 1) got = t * 100 + 7;
      if ((u & 3) == 2) got = local[u >> 2 & 3] += 7;
      if ((u & 3) == 3) got = want[32 + i] += 7;
      want[i] = got + local[u >> 4 & 3];
    }
    check_contents(out, want);

    Buffer links = zeros<uint64_t>(64), n = device().buffer(next), v = device().buffer(values);
    m.kernel("link").launch({.grid = {1}, .block = {32}}, links, n, v, 32).check();
    Buffer walked = zeros<int32_t>(64);
    m.kernel("walk").launch({.grid = {1}, .block = {32}}, links, walked).check();
    want.clear();
    for (int32_t t = 0; t < 32; ++t) {
      uint32_t sum = 0;
      int32_t steps = 0;
      for (int32_t at = t; at >= 0 && steps < 100; at = next[static_cast<size_t>(at)], ++steps)
        sum = sum * 3 + static_cast<uint32_t>(values[static_cast<size_t>(at)]);
      want.push_back(static_cast<int32_t>(sum));
      want.push_back(steps);
    }
    check_contents(walked, want);

    Buffer s = device().buffer(shorts), o = device().buffer(offsets), table = zeros<uint64_t>(32),
           r = zeros<int64_t>(32);
    m.kernel("rows").launch({.grid = {1}, .block = {32}}, s, o, table, r).check();
    std::vector<int64_t> rows;
    for (size_t t = 0; t < 32; ++t)
      rows.push_back(shorts[static_cast<size_t>(offsets[31 - t])] +
                     (offsets[(t + 1) % 32] - offsets[t]) * INT64_C(1000));
    check_contents(r, rows);

    Buffer in = device().buffer(bits), u = zeros<uint32_t>(64);
    m.kernel("unions").launch({.grid = {1}, .block = {32}}, in, u).check();
    std::vector<uint32_t> words;
    for (const uint64_t x : bits) {
      const auto low = static_cast<uint32_t>(x);
      words.push_back((low & 0xff0000) | ((low + 3) & 0xffff) |
                      ((low >> 24 ^ (low >> 16 & 0xff)) << 24));
      words.push_back(static_cast<uint32_t>(x >> 32) ^ 0x80000000);
    }
    check_contents(u, words);
  });
}

TEST_CASE("pairs: separate") {
  const int n = 32;
  const auto in = ints_between<int32_t>(n, 160, -1000, 1000);
  const auto reals = random_doubles(n, 161, 0.01, 1e5);
  const auto exchanged = [&](lanewise::Module& m) {
    Buffer a = device().buffer(in), out = zeros<int32_t>(n);
    m.kernel("exchanged")
        .launch({.grid = {1}, .block = {n}, .dynamic_shared = 256}, a, out)
        .check();
    std::vector<int32_t> want;
    for (size_t i = 0; i < n; ++i) want.push_back(in[i ^ 1] * 3 + 1 + in[31 - i] * 200 - in[i ^ 3]);
    check_contents(out, want);
  };
  const auto all = [&](lanewise::Module& m) {
    exchanged(m);
    Buffer a = device().buffer(in), out = zeros<int32_t>(n);
    m.kernel("nested").launch({.grid = {1}, .block = {n}}, a, out).check();
    const int32_t table[] = {10, 200, 3000, 40000};
    std::vector<int32_t> want;
    for (int i = 0; i < n; ++i) {
      int32_t r = in[static_cast<size_t>(i)] * 3 + 1 + table[i & 3];
      const int count = 1 + i % 5;
      std::array<int32_t, 8> mine{};
      for (int k = 0; k < 8; ++k)
        mine[static_cast<size_t>(k * 3 & 7)] = in[static_cast<size_t>(k % count)] + k;
      uint32_t sum = 0;
      for (int k = 0; k < 8; ++k)
        sum = sum * 5 + static_cast<uint32_t>(mine[static_cast<size_t>((k + count) & 7)]);
      if (i % 3 == 0) r = static_cast<int32_t>(static_cast<uint32_t>(r + r * 3 + 1) - sum);
      want.push_back(
          static_cast<int32_t>(static_cast<uint32_t>(r) + static_cast<uint32_t>(i * 3 + 1)));
    }
    check_contents(out, want);
    Buffer x = device().buffer(reals), y = zeros<double>(n);
    m.kernel("roots").launch({.grid = {1}, .block = {n}}, x, y).check();
    std::vector<double> want_reals;
    for (size_t i = 0; i < n; ++i) {
      double r = reals[i];
      for (size_t k = 0; k < 4 + (i & 3); ++k) r = 0.5 * (r + reals[i] / r);
      want_reals.push_back(r);
    }
    check_contents(y, want_reals);
  };
  both("separate", all, {".ptx", ".cubin", ".linked.cubin"});
}

TEST_CASE("pairs: device_runtime") {
  auto in = ints_between<int32_t>(32, 162, -1000, 1000);
  // PTX has a heap for malloc(); in a cubin malloc() is a function that is not there.
  const auto check = [&](lanewise::Module& m, bool has_heap) {
    const auto expected = [&](const std::string& kernel, size_t i) {
      if (kernel == "prints") return in[i] + 1;
      if (kernel == "asserts") return in[i] * 2;
      int32_t sum = 0;
      for (size_t k = 0; k < 8; ++k)
        sum = sum * 3 + static_cast<int32_t>(k + 1) + (k == i % 8 ? in[i] : 0);
      return sum;
    };
    for (const char* kernel : {"prints", "asserts", "allocates"}) {
      CAPTURE(kernel);
      for (const bool comes_there : {false, true}) {
        in[9] = comes_there ? 1001 : 7;
        Buffer a = device().buffer(in), out = zeros<int32_t>(32);
        const lanewise::Result result =
            m.kernel(kernel).launch({.grid = {1}, .block = {32}}, a, out);
        const bool prints = std::string_view(kernel) == "prints",
                   gets_memory = has_heap && std::string_view(kernel) == "allocates",
                   traps = comes_there && !prints && !gets_memory;
        CHECK(result.fault_count == (traps ? 1 : 0));
        CHECK(result.printed == (comes_there && prints ? "1001 is large: 500.500000\n" : ""));
        if (traps) {
          REQUIRE(!result.faults.empty());
          CHECK(result.faults[0].kind == lanewise::FaultKind::trap);
          CHECK(result.faults[0].lane == 9);
          const bool asserts = std::string_view(kernel) == "asserts";
          CHECK(result.faults[0].assertion == (asserts ? "in[i] <= 1000" : ""));
          CHECK(result.faults[0].function ==
                (asserts ? "void asserts(const int *, int *)" : "malloc"));
          const std::string source = result.faults[0].source;
          if (asserts) CHECK(source.ends_with("device_runtime.cu:11"));
        }
        std::vector<int32_t> want;
        for (size_t i = 0; i < 32; ++i) want.push_back(expected(kernel, i));
        // What it allocated holds anything.
        if (traps || (comes_there && gets_memory)) want[9] = out.read<int32_t>()[9];
        check_contents(out, want);
      }
    }
  };
  both("device_runtime", [&](lanewise::Module& m) { check(m, true); }, {".ptx"});
  both("device_runtime", [&](lanewise::Module& m) { check(m, false); }, {".cubin"});
}

namespace {

uint32_t tree(uint32_t x, uint32_t depth) {
  if (depth > 3) return x * 3 + 1;
  uint32_t sum = x;
  for (uint32_t k = 0; k < depth; ++k) sum = sum * 5 + tree(x ^ k, depth + 2);
  return sum;
}

}  // namespace

TEST_CASE("pairs: frames") {
  constexpr std::array<uint32_t, 64> kTable = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3,
                                               5, 8, 9, 7, 9, 3, 2, 3, 8, 4};
  const auto a = random_ints<uint32_t>(128, 90);
  std::vector<uint32_t> looked, mixed, grown;
  for (uint32_t i = 0; i < a.size(); ++i) {
    const uint32_t x = a[i];
    uint32_t sum = 0;
    for (uint32_t k = 0; k < (x & 15); ++k) sum = sum * 7 + kTable[(x + k) & 63];
    looked.push_back(sum + ((x & 16) != 0 ? kTable[i & 63] : a[i & 63]));
    const uint32_t own = x >> 1 & 7, window = (x & 1) != 0 ? a[i ^ 1] : x + own * own;
    mixed.push_back(((x & 2) != 0 ? window : a[i ^ 1]) * 3 + window);
    grown.push_back(tree(x, x & 3));
  }
  both("frames",
       [&](lanewise::Module& m) {
         const LaunchOptions launch = {.grid = {2}, .block = {64}};
         Buffer in = device().buffer(a), out = zeros<uint32_t>(a.size());
         m.kernel("lookup").launch(launch, in, out).check();
         check_contents(out, looked);
         m.kernel("mixed").launch(launch, in, out).check();
         check_contents(out, mixed);
         m.kernel("grow").launch(launch, in, out).check();
         check_contents(out, grown);
       },
       {".ptx", ".cubin"});
}
