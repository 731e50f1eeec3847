// Hash tables, texts, graphs, switches, constants, dynamic programming, searches.
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

TEST_CASE("pairs: dynamic_programming") {
  const int n = 40, items = 12, capacity = 128;
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
           best = zeros<int64_t>(capacity + 1);
    m.kernel("knapsack").launch({.grid = {1}, .block = {128}}, w, v, items, capacity, best).check();
    std::vector<int64_t> sums(capacity + 1);
    for (size_t i = 0; i < items; ++i)
      for (int r = capacity; r >= weights[i]; --r)
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
