// Programs: tables, texts, graphs, switches, structures, functions, atomics, constants, pointers,
// barriers, searches.
#include <array>
#include <bit>
#include <map>
#include <numeric>

#include "tests/pairs/pairs.hpp"

using namespace pairs;

TEST_CASE("pairs: hash_table") {
  auto keys = ints_between<uint32_t>(400, 60, 0, 250);
  for (uint32_t& k : keys) k *= 2654435761U;
  std::map<uint32_t, uint32_t> counts;
  for (const uint32_t k : keys) ++counts[k];
  auto keys64 = ints_between<uint64_t>(300, 61, 1, 200);
  for (uint64_t& k : keys64) k *= 0x123456789abcdefULL;
  const auto values = ints_between<int64_t>(300, 62, 1, INT64_C(1) << 50);
  both("hash_table", [&](lanewise::Module& m) {
    Buffer k = device().buffer(keys), table = zeros<uint32_t>(512, ~0U),
           sums = zeros<uint32_t>(512);
    m.kernel("insert").launch({.grid = {4}, .block = {128}}, k, table, sums, 400).check();
    auto asked = keys;
    asked[3] = 12345;
    asked[99] = 7;
    Buffer a = device().buffer(asked), out = zeros<uint32_t>(400);
    m.kernel("lookup").launch({.grid = {4}, .block = {128}}, table, sums, a, out, 400).check();
    std::vector<uint32_t> want;
    for (const uint32_t x : asked) want.push_back(counts.count(x) != 0 ? counts[x] : 0);
    check_contents(out, want);

    std::vector<uint64_t> empty(1024);
    for (size_t i = 1; i < 1024; i += 2) empty[i] = INT64_MAX;
    std::map<uint64_t, int64_t> least;
    for (size_t i = 0; i < 300; ++i) {
      const auto [at, is_new] = least.try_emplace(keys64[i], values[i]);
      at->second = std::min(at->second, values[i]);
    }
    Buffer k64 = device().buffer(keys64), v64 = device().buffer(values),
           t64 = device().buffer(empty);
    m.kernel("insert64").launch({.grid = {3}, .block = {128}}, k64, v64, t64, 300).check();
    auto asked64 = keys64;
    asked64[17] = 99;
    Buffer a64 = device().buffer(asked64), o64 = zeros<int64_t>(300);
    m.kernel("lookup64").launch({.grid = {3}, .block = {128}}, t64, a64, o64, 300).check();
    std::vector<int64_t> want64;
    for (const uint64_t x : asked64) want64.push_back(least.count(x) != 0 ? least[x] : -1);
    check_contents(o64, want64);
  });
}

namespace {

std::vector<uint8_t> bytes_of(const std::string& s) {
  return {s.begin(), s.end()};
}
std::string some_text(size_t n, uint64_t seed, const std::string& letters) {
  std::string s;
  for (const uint64_t x : random_ints<uint64_t>(n, seed)) s += letters[x % letters.size()];
  return s;
}

}  // namespace

TEST_CASE("pairs: strings") {
  const std::string text = some_text(600, 63, "aab"), word = "abaa";
  const std::string prose = some_text(500, 64, "abcXYZ  z9");
  std::string numbers;
  std::vector<int32_t> starts;
  std::vector<int64_t> parsed = {0, -7, 12345678901234, -9000000000000000000, 42, 5};
  for (const char* s : {"0 ", "-7x", "12345678901234,", "-9000000000000000000 ", "+42;", "0005."}) {
    starts.push_back(static_cast<int32_t>(numbers.size()));
    numbers += s;
  }
  both("strings", [&](lanewise::Module& m) {
    auto pattern = bytes_of(word);
    pattern.resize(16);
    m.write_symbol("pattern", pattern);
    Buffer t = device().buffer(bytes_of(text)), first = zeros<int32_t>(1, 10000),
           count = zeros<int32_t>(1);
    m.kernel("find").launch({.grid = {5}, .block = {128}}, t, 600, 4, first, count).check();
    int32_t hits = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++hits;
    check_contents<int32_t>(first, {static_cast<int32_t>(text.find(word))});
    check_contents<int32_t>(count, {hits});
    CHECK(hits > 5);

    Buffer w = device().buffer(bytes_of(word)), found = zeros<int32_t>(20);
    m.kernel("kmp").launch({.grid = {1}, .block = {20}}, t, 30, w, 4, found).check();
    std::vector<int32_t> per_lane;
    for (size_t lane = 0; lane < 20; ++lane) {
      const std::string mine = text.substr(lane * 30, 30);
      int32_t n = 0;
      for (size_t at = 0; at + 4 <= 30; ++at) n += mine.compare(at, 4, word) == 0;
      per_lane.push_back(n);
    }
    check_contents(found, per_lane);

    Buffer p = device().buffer(bytes_of(prose)), words = zeros<int32_t>(4);
    m.kernel("upper").launch({.grid = {4}, .block = {128}}, p, 128, words).check();
    // One group only: others change what its neighbour looks at.
    std::string big = prose;
    int32_t begins = 0;
    for (size_t i = 0; i < 128; ++i) {
      begins += prose[i] != ' ' && (i == 0 || prose[i - 1] == ' ');
      if (prose[i] >= 'a' && prose[i] <= 'z') big[i] = static_cast<char>(prose[i] - 32);
    }
    check_contents(p, bytes_of(big));
    check_contents<int32_t>(words, {begins, 0, 0, 0});

    Buffer digits = device().buffer(bytes_of(numbers)), s = device().buffer(starts),
           out = zeros<int64_t>(6);
    m.kernel("parse").launch({.grid = {1}, .block = {6}}, digits, s, out).check();
    check_contents(out, parsed);
  });
}

TEST_CASE("pairs: bfs") {
  const int n = 150;
  std::vector<int32_t> rows = {0}, columns;
  for (int v = 0; v < n; ++v) {
    for (const int32_t w : ints_between<int32_t>(3, 65 + static_cast<uint64_t>(v), 0, n - 1))
      if (v % 7 != 0 || w < v) columns.push_back(w);
    rows.push_back(static_cast<int32_t>(columns.size()));
  }
  std::vector<int32_t> depth(n, -1), queue = {1};
  depth[1] = 0;
  for (size_t i = 0; i < queue.size(); ++i) {
    const auto v = static_cast<size_t>(queue[i]);
    for (int32_t e = rows[v]; e < rows[v + 1]; ++e) {
      const auto w = static_cast<size_t>(columns[static_cast<size_t>(e)]);
      if (depth[w] >= 0) continue;
      depth[w] = depth[v] + 1;
      queue.push_back(static_cast<int32_t>(w));
    }
  }
  std::vector<int32_t> start(n, -1);
  start[1] = 0;
  both("bfs", [&](lanewise::Module& m) {
    Buffer r = device().buffer(rows), c = device().buffer(columns), d = device().buffer(start);
    Buffer lists[2] = {zeros<int32_t>(n), zeros<int32_t>(n)};
    lists[0] = device().buffer(std::vector<int32_t>{1});
    const lanewise::Kernel level = m.kernel("level");
    int size = 1;
    for (int step = 1; size > 0; ++step) {
      Buffer found = zeros<int32_t>(1);
      lists[step % 2] = zeros<int32_t>(n);
      level
          .launch({.grid = {3}, .block = {64}}, r, c, d, lists[1 - step % 2], size, lists[step % 2],
                  found, step)
          .check();
      size = found.read<int32_t>()[0];
    }
    check_contents(d, depth);
    Buffer d2 = device().buffer(start);
    m.kernel("whole").launch({.grid = {1}, .block = {64}}, r, c, d2, n).check();
    check_contents(d2, depth);
  });
}

TEST_CASE("pairs: switches") {
  const int n = 128;
  const auto op = ints_between<int32_t>(n, 70, -2, 14);
  const auto x = random_ints<int32_t>(n, 71);
  auto y = ints_between<int32_t>(n, 72, -40, 40);
  auto k = ints_between<int32_t>(n, 73, 0, 30);
  k[5] = -1000000, k[6] = 4096, k[7] = 123456789;
  const std::string text = some_text(32 * 40, 74, "ab1 2_\"+z  9");
  both("switches",
       [&](lanewise::Module& m) {
         Buffer o = device().buffer(op), a = device().buffer(x), b = device().buffer(y),
                out = zeros<int32_t>(n);
         m.kernel("dense").launch({.grid = {2}, .block = {64}}, o, a, b, out).check();
         std::vector<int32_t> want;
         for (size_t i = 0; i < n; ++i) {
           const int32_t p = x[i], q = y[i];
           const auto u = static_cast<uint32_t>(p), v = static_cast<uint32_t>(q);
           const std::array<uint32_t, 12> results = {u + v,
                                                     u - v,
                                                     u * v,
                                                     q == 0 ? 0 : static_cast<uint32_t>(p / q),
                                                     u & v,
                                                     u | v,
                                                     u ^ v,
                                                     u << (v & 31),
                                                     static_cast<uint32_t>(p >> (v & 31)),
                                                     p < q ? 1U : 0U,
                                                     static_cast<uint32_t>(std::popcount(u)) + v,
                                                     static_cast<uint32_t>(std::abs(p) % 97)};
           const auto code = static_cast<size_t>(static_cast<uint32_t>(op[i]));
           want.push_back(code < 12 ? static_cast<int32_t>(results[code]) : -1);
         }
         check_contents(out, want);

         Buffer kk = device().buffer(k);
         m.kernel("falls").launch({.grid = {1}, .block = {n}}, kk, out).check();
         want.clear();
         for (const int32_t v : k) {
           const int32_t low = v & 7;
           int32_t r = 0;
           if (low == 7) r = 7 * 3 + v;
           if (low == 6) r = v;
           if (low >= 5) r ^= 55;
           if (low >= 2 && low <= 4) r = low == 4 ? 1001 : 1000;
           if (low <= 1) r = low == 1 ? v - 9 : -9;
           r += v == -1000000 ? 1 : v == 17 ? 2 : v == 4096 ? 4 : v == 123456789 ? 8 : 0;
           want.push_back(r);
         }
         check_contents(out, want);

         Buffer t = device().buffer(bytes_of(text)), counts = zeros<uint32_t>(32);
         m.kernel("tokens").launch({.grid = {1}, .block = {32}}, t, 40, counts).check();
         std::vector<uint32_t> tokens;
         for (size_t lane = 0; lane < 32; ++lane) {
           const std::string s = text.substr(lane * 40, 40);
           uint32_t found = 0;
           for (size_t i = 0; i < s.size();) {
             const auto name = [&](size_t j) { return std::isalnum(s[j]) != 0 || s[j] == '_'; };
             const auto digit = [&](size_t j) { return std::isdigit(s[j]) != 0; };
             const size_t begin = i++;
             if (s[begin] == ' ') continue;
             if (digit(begin)) {
               found += 1;
               while (i < s.size() && digit(i)) ++i;
             } else if (name(begin)) {
               found += 1 << 8;
               while (i < s.size() && name(i)) ++i;
             } else if (s[begin] == '"') {
               found += 1 << 16;
               const size_t close = s.find('"', i);
               i = close == std::string::npos ? s.size() : close + 1;
             } else {
               found += 1 << 24;
             }
           }
           tokens.push_back(found);
         }
         check_contents(counts, tokens);
       },
       {".ptx", ".cubin", ".rdc.cubin"});
}

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

TEST_CASE("pairs: constants") {
  const auto x = random_floats(64, 131, -2, 2);
  const std::vector<int32_t> keys = {50, 20, 80, 10, 30, 60, 90, 5, 25, 55, 1000, -3};
  both("constants", [&](lanewise::Module& m) {
    Buffer a = device().buffer(x), out = zeros<float>(64);
    m.kernel("polynomial").launch({.grid = {2}, .block = {32}}, a, out).check();
    const float k[] = {1.F, -0.5F, 0.25F, 3.F, -2.F, 0.125F, 7.F, -1.F};
    std::vector<float> want;
    for (size_t i = 0; i < 64; ++i) {
      float r = 0;
      for (size_t j = 0; j < 8; ++j) r = std::fma(r, x[i], k[(j + i) & 7]);
      want.push_back(r + 0.75F);
    }
    check_contents(out, want);

    Buffer q = device().buffer(keys), marks = zeros<int32_t>(12), sums = zeros<int64_t>(12);
    m.kernel("search").launch({.grid = {1}, .block = {12}}, q, marks, sums).check();
    check_contents<int32_t>(marks, {0, 1, 2, 3, 4, 5, 6, 3, 4, 5, 6, 3});
    const std::string pi = "31415926535897932384626433832795";
    const int64_t wide[] = {INT64_C(1) << 40, -5, 12345678901, 0};
    std::vector<int64_t> want_sums;
    for (const int32_t key : keys)
      want_sums.push_back(wide[key & 3] + (pi[static_cast<size_t>(key & 31)] - '0'));
    check_contents(sums, want_sums);

    Buffer v = zeros<uint64_t>(34);
    m.kernel("variables").launch({.grid = {1}, .block = {32}}, v).check();
    std::vector<uint64_t> seen;
    for (uint64_t t = 0; t < 32; ++t) seen.push_back(100 + (t + 1) % 4);
    seen.push_back(5);
    seen.push_back(5 + 64);
    check_contents(v, seen);
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

TEST_CASE("pairs: dynamic_programming") {
  const int n = 40, items = 12, room = 128;
  const std::string a = some_text(3 * n, 134, "abcd"), b = some_text(3 * n, 135, "abcd");
  const auto weights = ints_between<int32_t>(items, 136, 3, 40),
             values = ints_between<int32_t>(items, 137, 1, 1000);
  const auto series = random_ints<int16_t>(32 * 35, 138);
  both("dynamic_programming", [&](lanewise::Module& m) {
    Buffer x = device().buffer(bytes_of(a)), y = device().buffer(bytes_of(b)),
           out = zeros<int32_t>(3);
    m.kernel("edit")
        .launch({.grid = {3}, .block = {32}, .dynamic_shared = 3 * 4 * (n + 1)}, x, y, n, out)
        .check();
    std::vector<int32_t> want;
    for (int s = 0; s < 3; ++s) {
      std::vector<int32_t> row(n + 1);
      std::iota(row.begin(), row.end(), 0);
      for (size_t i = 0; i < n; ++i) {
        int32_t corner = row[0]++;
        for (size_t j = 0; j < n; ++j) {
          const size_t at = static_cast<size_t>(s) * n;
          const int32_t change = corner + (a[at + i] != b[at + j] ? 1 : 0);
          corner = row[j + 1];
          row[j + 1] = std::min(change, std::min(row[j], row[j + 1]) + 1);
        }
      }
      want.push_back(row[n]);
    }
    check_contents(out, want);

    Buffer w = device().buffer(weights), v = device().buffer(values),
           best = zeros<int64_t>(room + 1);
    m.kernel("knapsack").launch({.grid = {1}, .block = {128}}, w, v, items, room, best).check();
    std::vector<int64_t> sums(room + 1);
    for (size_t i = 0; i < items; ++i)
      for (int r = room; r >= weights[i]; --r)
        sums[static_cast<size_t>(r)] = std::max(
            sums[static_cast<size_t>(r)], sums[static_cast<size_t>(r - weights[i])] + values[i]);
    check_contents(best, sums);

    Buffer s = device().buffer(series), lengths = zeros<uint8_t>(32);
    m.kernel("increasing").launch({.grid = {1}, .block = {32}}, s, 35, lengths).check();
    std::vector<uint8_t> longest;
    for (size_t lane = 0; lane < 32; ++lane) {
      std::array<int, 35> length{};
      for (size_t i = 0; i < 35; ++i)
        for (size_t j = 0; j <= i; ++j)
          length[i] =
              std::max(length[i], j == i                                          ? 1
                                  : series[lane * 35 + j] < series[lane * 35 + i] ? length[j] + 1
                                                                                  : 0);
      longest.push_back(static_cast<uint8_t>(*std::max_element(length.begin(), length.end())));
    }
    check_contents(lengths, longest);
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

TEST_CASE("pairs: searches") {
  const auto numbers = ints_between<int32_t>(12, 150, 1, 500);
  auto sorted = random_doubles(100, 151);
  std::sort(sorted.begin(), sorted.end());
  auto keys = random_doubles(32, 152);
  keys[0] = sorted[40], keys[1] = -100, keys[2] = 100;
  std::vector<int32_t> wanted;
  for (const uint64_t x : random_ints<uint64_t>(32, 153)) {
    int32_t sum = 0;
    for (size_t k = 0; k < 12; ++k) sum += (x >> k & 1) != 0 ? numbers[k] : 0;
    wanted.push_back(x % 5 == 0 ? sum + 1 : sum);
  }
  both("searches", [&](lanewise::Module& m) {
    Buffer counts = zeros<int32_t>(7);
    m.kernel("queens").launch({.grid = {1}, .block = {7}}, 7, counts).check();
    check_contents<int32_t>(counts, {4, 7, 6, 6, 6, 7, 4});  // 40 in all

    Buffer a = device().buffer(numbers), w = device().buffer(wanted), masks = zeros<uint32_t>(32);
    m.kernel("subsets").launch({.grid = {1}, .block = {32}}, a, 12, w, masks).check();
    std::vector<uint32_t> want;
    for (const int32_t goal : wanted) {
      uint32_t found = 0;
      for (uint32_t mask = 1; mask < 4096 && found == 0; ++mask) {
        int32_t sum = 0;
        for (size_t k = 0; k < 12; ++k) sum += (mask >> k & 1) != 0 ? numbers[k] : 0;
        if (sum == goal) found = mask;
      }
      want.push_back(found);
    }
    check_contents(masks, want);

    Buffer s = device().buffer(sorted), k = device().buffer(keys), places = zeros<int32_t>(32);
    m.kernel("lower").launch({.grid = {1}, .block = {32}}, s, 100, k, places).check();
    std::vector<int32_t> want_places;
    for (const double key : keys)
      want_places.push_back(static_cast<int32_t>(
          std::lower_bound(sorted.begin(), sorted.end(), key) - sorted.begin()));
    check_contents(places, want_places);

    Buffer sieve = zeros<uint32_t>(128);
    m.kernel("sieve").launch({.grid = {1}, .block = {128}}, sieve, 4096).check();
    std::vector<uint32_t> primes(128);
    primes[0] = 3;  // nobody strikes 0 and 1
    for (uint32_t p = 2; p < 4096; ++p) {
      bool prime = true;
      for (uint32_t d = 2; d * d <= p; ++d) prime = prime && p % d != 0;
      if (prime) primes[p / 32] |= 1U << p % 32;
    }
    check_contents(sieve, primes);
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
  both("device_runtime", [&](lanewise::Module& m) {
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
        CHECK(result.fault_count == (comes_there ? 1 : 0));
        if (comes_there) {
          REQUIRE(!result.faults.empty());
          CHECK(result.faults[0].kind == lanewise::FaultKind::trap);
          CHECK(result.faults[0].lane == 9);
        }
        std::vector<int32_t> want;
        for (size_t i = 0; i < 32; ++i) want.push_back(expected(kernel, i));
        if (comes_there) want[9] = out.read<int32_t>()[9];
        check_contents(out, want);
      }
    }
  });
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
