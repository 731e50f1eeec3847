// Sums of products of matrix instructions on every driver, against the literal model.
#include <algorithm>
#include <random>

#include "tests/oracle/ptx_matrix.hpp"
#include "tests/support/library_check.hpp"

using namespace lanewise::test;
namespace model = oracle::matrix;

namespace {

const std::string kTypes[] = {"f16", "bf16", "tf32", "e4m3", "e5m2", "s8", "u8", "s4", "u4"};

/// Arguments: the addend, eight words of each factor, how many count, their types, the rule.
enum Place : size_t {
  kC = 0,
  kA = 1,
  kB = 9,
  kWords = 17,
  kMode = 18,
  kRule = 19,
  kArguments = 20
};

std::vector<uint32_t> elements(const uint32_t* words, uint32_t count, const std::string& type) {
  const unsigned n = model::per_register(type), bits = 32 / n;
  std::vector<uint32_t> all;
  for (uint32_t w = 0; w < count; ++w)
    for (unsigned i = 0; i < n; ++i)
      all.push_back(bits == 32 ? words[w] : words[w] >> (i * bits) & ((1U << bits) - 1));
  return all;
}

uint32_t wanted(const uint32_t* in, const std::string& sum) {
  const std::string& a = kTypes[in[kMode] & 15];
  const std::string& b = kTypes[in[kMode] >> 4];
  const auto x = elements(in + kA, in[kWords], a), y = elements(in + kB, in[kWords], b);
  if (sum != "s32") {
    const model::Rule rule{static_cast<int>(in[kRule] & 255), static_cast<int>(in[kRule] >> 8), 32};
    return model::dot(rule, sum, in[kC], a, b, x, y);
  }
  int64_t total = static_cast<int32_t>(in[kC]);
  for (size_t i = 0; i < x.size(); ++i) total += model::integer(a, x[i]) * model::integer(b, y[i]);
  if (in[kRule] != 0) total = std::clamp<int64_t>(total, INT32_MIN, INT32_MAX);
  return static_cast<uint32_t>(total);
}

/// Words of floats near 1, of any floats, of zeros.
uint32_t word(const std::string& type, std::mt19937_64& rng, bool anything) {
  const unsigned n = model::per_register(type), bits = 32 / n;
  if (type[0] == 's' || type[0] == 'u' || anything) return static_cast<uint32_t>(rng());
  const model::Format f = model::format(type);
  const unsigned low = bits - 1 - static_cast<unsigned>(f.exponent + f.fraction);
  const int bias = (1 << (f.exponent - 1)) - 1, spread = std::min(bias - 1, 9);
  uint32_t out = 0;
  for (unsigned i = 0; i < n; ++i) {
    const auto e = static_cast<uint32_t>(bias + static_cast<int>(rng() % (2 * spread)) - spread);
    const uint32_t fraction = static_cast<uint32_t>(rng()) & ((1U << f.fraction) - 1);
    const uint32_t magnitude = rng() % 8 == 0 ? 0 : e << f.fraction | fraction;
    const uint32_t sign = static_cast<uint32_t>(rng() & 1) << (f.exponent + f.fraction);
    out |= (magnitude | sign) << low << (i * bits);
  }
  return out;
}

Words rows(bool integers, const std::string& sum, uint64_t seed) {
  std::mt19937_64 rng(seed);
  Words all;
  for (int n = 0; n < 3000; ++n) {
    const uint32_t first = integers ? 5 : 0, left = first + rng() % (integers ? 4 : 5);
    uint32_t right = left;
    if (left >= 5) right = left < 7 ? 5 + rng() % 2 : 7 + rng() % 2;
    if (left == 3 || left == 4) right = 3 + rng() % 2;
    const uint32_t words = uint32_t{2} << (rng() % 3);
    const bool anything = n % 8 == 0;
    Words row(kArguments);
    row[kC] = integers || anything
                  ? static_cast<uint32_t>(rng()) >> (sum == "f16" ? 16 : 0)
                  : word(sum == "f16" ? "f16" : "tf32", rng, false) & (sum == "f16" ? 0xffff : ~0U);
    if (integers && n % 3 == 0) row[kC] = (row[kC] & 0xff) + 0x7fffff00;
    for (uint32_t i = 0; i < words; ++i) {
      row[kA + i] = word(kTypes[left], rng, anything);
      row[kB + i] = word(kTypes[right], rng, anything);
    }
    row[kWords] = words;
    row[kMode] = left | right << 4;
    constexpr uint32_t kRules[] = {23 | 23 << 8, 24 | 23 << 8, 25 | 23 << 8, 13 | 13 << 8};
    constexpr uint32_t kSaturate = 16;
    row[kRule] = integers ? rng() % 2 * kSaturate : kRules[rng() % (left >= 3 ? 4 : 3)];
    all.insert(all.end(), row.begin(), row.end());
  }
  return all;
}

}  // namespace

TEST_CASE("sums of products: floats by the rule, integers") {
  const std::vector<Driver> drivers = open_drivers();
  uint64_t seed = 1;
  for (const std::string sum : {"f32", "f16", "s32"}) {
    const std::string name = "lw_dot_" + sum;
    check({name.c_str(), [&](const uint32_t* in) { return row(wanted(in, sum)); }},
          rows(sum == "s32", sum, seed++), drivers);
  }
}
