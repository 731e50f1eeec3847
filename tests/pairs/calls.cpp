// Functions that call themselves, and those that pointers lead to, in linked and in relocatable
// code.
#include "tests/pairs/pairs.hpp"

using namespace pairs;

namespace {

uint32_t walk(uint32_t x, uint32_t depth) {
  std::array<uint32_t, 6> own{};
  for (uint32_t k = 0; k < 6; ++k) own[k] = x * (k + 1) + depth;
  if (depth == 0) return own[x % 6];
  uint32_t sum = walk(own[x % 6], depth - 1);
  if ((x & 1) != 0) sum += 3 * walk(own[(x >> 1) % 6], depth - 1);
  return sum + own[sum % 6];
}
uint32_t ackermann(uint32_t m, uint32_t n) {
  if (m == 0) return n + 1;
  return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

}  // namespace

TEST_CASE("pairs: recursion") {
  const auto a = random_ints<uint32_t>(32, 91);
  std::vector<uint32_t> walked, deep;
  for (uint32_t i = 0; i < a.size(); ++i) {
    walked.push_back(walk(a[i], i % 7));
    deep.push_back(ackermann(i % 3, i % 5));
  }
  both("recursion",
       [&](lanewise::Module& m) {
         Buffer in = device().buffer(a), out = zeros<uint32_t>(32);
         m.kernel("walks").launch({.grid = {1}, .block = {32}}, in, out).check();
         check_contents(out, walked);
         m.kernel("deep").launch({.grid = {1}, .block = {32}}, out).check();
         check_contents(out, deep);
       },
       {".ptx", ".cubin", ".rdc.cubin"});
}

TEST_CASE("pairs: indirect") {
  const auto step = [](uint32_t which, uint32_t x) {
    return which == 0 ? x + 1 : which == 1 ? x * x : (x ^ 77) * 3;
  };
  constexpr uint32_t kNumbers[] = {2, 3, 5, 7, 11, 13, 17, 19}, kPlaces[] = {0, 3, 7};
  const auto a = random_ints<uint32_t>(32, 92);
  std::vector<uint32_t> by_table, chosen, followed;
  for (uint32_t i = 0; i < a.size(); ++i) {
    uint32_t x = i;
    for (uint32_t k = 0; k < 3; ++k) x = step((a[i] + k) % 3, x);
    by_table.push_back(x);
    const uint32_t which = (a[i] & 1) != 0 ? 0 : 2;
    chosen.push_back(step(which, i) + step(which, a[i]));
    followed.push_back(kNumbers[kPlaces[a[i] % 3]] * 100 + kNumbers[kPlaces[1 + (a[i] & 1)]]);
  }
  const std::pair<const char*, const std::vector<uint32_t>*> kernels[] = {
      {"table", &by_table}, {"chosen", &chosen}, {"follow", &followed}};
  both("indirect",
       [&](lanewise::Module& m) {
         Buffer in = device().buffer(a), out = zeros<uint32_t>(32);
         for (const auto& k : kernels) {
           CAPTURE(k.first);
           m.kernel(k.first).launch({.grid = {1}, .block = {32}}, in, out).check();
           check_contents(out, *k.second);
         }
       },
       {".ptx", ".cubin", ".rdc.cubin", ".linked.cubin"});
}
