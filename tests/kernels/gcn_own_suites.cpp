// OpenCL kernels of our own like those of public suites, compiled with and without optimisation,
// against the host: elements at any byte, functions on both sides of a kernel, local memory of the
// kernel's own beside that of an argument, reads past the last argument.
#include <array>
#include <numeric>

#include "tests/kernels/gcn_support.hpp"

using namespace kernels;
using namespace kernels::gcn;

namespace {

using Words = std::vector<uint32_t>;

void both_builds(const std::string& kernel,
                 const std::function<void(lanewise::Kernel&, const std::string&)>& body) {
  for (const std::string source : {"suites", "suites_O0"})
    if (!too_slow_here(source)) each_kind("own/", source, kernel, body, false);
}

bool is_prime(uint32_t n) {
  if (n < 2) return false;
  for (uint64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return false;
  return true;
}

/// A record of 15 bytes, as a packed structure has it.
struct Record {
  uint8_t kind;
  uint32_t number;
  uint16_t part;
  uint64_t wide;
  static constexpr size_t kBytes = 15;

  static Record read(const uint8_t* at) {
    Record r{};
    std::memcpy(&r.kind, at, 1);
    std::memcpy(&r.number, at + 1, 4);
    std::memcpy(&r.part, at + 5, 2);
    std::memcpy(&r.wide, at + 7, 8);
    return r;
  }
  void write(uint8_t* at) const {
    std::memcpy(at, &kind, 1);
    std::memcpy(at + 1, &number, 4);
    std::memcpy(at + 5, &part, 2);
    std::memcpy(at + 7, &wide, 8);
  }
};

}  // namespace

// On gfx700 and gfx803 code for the HSA reads shorts at odd addresses and dwords at any.
TEST_CASE("gcn own: vectors of three bytes and three shorts") {
  constexpr size_t n = 64;
  const auto in = random_ints<uint8_t>(3 * n, 21);
  const auto pairs = random_ints<int16_t>(3 * n, 22);
  std::vector<uint8_t> want(3 * n);
  std::vector<int16_t> turned(3 * n);
  for (size_t i = 0; i < 3 * n; i += 3)
    for (size_t k = 0; k < 3; ++k) {
      want[i + k] = static_cast<uint8_t>(in[i + (k + 2) % 3] + k + 1);
      turned[i + k] = static_cast<int16_t>(pairs[i + (k + 1) % 3] * static_cast<int>(2 * k + 3));
    }
  both_builds("bytes3", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(in), out = buffer(std::vector<uint8_t>(3 * n)), p = buffer(pairs),
         t = buffer(std::vector<int16_t>(3 * n));
    k.launch({.grid = {1}, .block = {n}}, x, out, p, t).check();
    check_all(out.read<uint8_t>(), want);
    check_all(t.read<int16_t>(), turned);
  });
}

TEST_CASE("gcn own: packed records at any byte") {
  constexpr size_t n = 64;
  const auto in = random_ints<uint8_t>(Record::kBytes * n, 23);
  std::vector<uint8_t> want(in.size());
  Words sums(n);
  for (size_t i = 0; i < n; ++i) {
    Record r = Record::read(in.data() + Record::kBytes * i);
    sums[i] = r.kind + r.number + r.part + static_cast<uint32_t>(r.wide >> 32);
    r.wide = r.wide * 3 + r.number;
    r.number ^= r.part;
    r.part = static_cast<uint16_t>(r.part + r.kind);
    r.write(want.data() + Record::kBytes * (i ^ 1));
  }
  both_builds("packed", [&](lanewise::Kernel& k, const std::string& kind) {
    // Without optimisation the compiler copies the record by unaligned dwords here, too, which
    // this generation does not have.
    if (kind == "gfx600") return;
    auto x = buffer(in), out = buffer(std::vector<uint8_t>(in.size())), s = buffer(Words(n));
    k.launch({.grid = {1}, .block = {n}}, x, out, s).check();
    check_all(out.read<uint8_t>(), want);
    check_all(s.read<uint32_t>(), sums);
  });
}

TEST_CASE("gcn own: primes by functions that call functions") {
  Words in = random_ints<uint32_t>(64, 24);
  for (size_t i = 0; i < in.size(); i += 2) in[i] %= 300;
  const std::array<uint32_t, 6> hard = {4294967291U, 65537, 25326001, 3215031751U, 2147483647, 1};
  std::ranges::copy(hard, in.begin() + 7);
  std::vector<int32_t> want(in.size());
  for (size_t i = 0; i < in.size(); ++i) want[i] = is_prime(in[i]) ? 1 : 0;
  both_builds("primes", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(in), out = buffer(std::vector<int32_t>(in.size()));
    k.launch({.grid = {1}, .block = {64}}, x, out).check();
    check_all(out.read<int32_t>(), want);
  });
}

TEST_CASE("gcn own: functions in front of the kernel and behind the one before") {
  Words a = random_ints<uint32_t>(64, 25), b = random_ints<uint32_t>(64, 26), want(64);
  for (uint32_t i = 0; i < 64; ++i) {
    a[i] = (a[i] >> 8) * (i % 5 + 1) * 6;
    b[i] = (b[i] >> 8) * (i % 3) * 6;
    want[i] = std::gcd(a[i], b[i]) + (is_prime(i) ? 1000000U : 0U);
  }
  both_builds("divisors", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(a), y = buffer(b), out = buffer(Words(64));
    k.launch({.grid = {1}, .block = {64}}, x, y, out).check();
    check_all(out.read<uint32_t>(), want);
  });
}

TEST_CASE("gcn own: local memory of the kernel's own and of an argument") {
  const std::string text = "The quick brown fox tHE lazy theme, the fox; THE end of then and there";
  const std::string pattern = "tHe";
  constexpr int32_t most = 30, lanes = 16;
  const std::vector<uint8_t> haystack(text.begin(), text.end()),
      needle(pattern.begin(), pattern.end());
  std::vector<int32_t> want(text.size());
  for (size_t i = 0; i + pattern.size() <= text.size(); ++i) {
    size_t k = 0;
    while (k < pattern.size() && (text[i + k] | 32) == (pattern[k] | 32)) ++k;
    want[i] = k == pattern.size() ? 1 : 0;
  }
  const int32_t found = std::accumulate(want.begin(), want.end(), 0);
  REQUIRE(found == 7);
  both_builds("search", [&](lanewise::Kernel& k, const std::string&) {
    auto x = buffer(haystack), y = buffer(needle), hits = buffer(std::vector<int32_t>(text.size())),
         count = buffer(std::vector<int32_t>(1));
    const uint32_t place = 0;  // from where the launch's own memory begins
    k.launch({.grid = {3}, .block = {lanes}, .dynamic_shared = 16}, x,
             static_cast<int32_t>(text.size()), y, static_cast<int32_t>(pattern.size()), hits,
             count, place, most)
        .check();
    check_all(hits.read<int32_t>(), want);
    check_all(count.read<int32_t>(), std::vector<int32_t>{found});
  });
}

TEST_CASE("gcn own: an argument block that is read past its end") {
  constexpr int32_t width = 9;
  const auto in = random_floats(width * 8, 27);
  for (const int32_t flip : {0, 1}) {
    std::vector<float> want(width * 8);
    for (size_t j = 0; j < 8; ++j)
      for (size_t i = 0; i < 8; ++i)
        want[j * width + i] = flip != 0 ? in[i * width + j] * 2 : in[j * width + i];
    both_builds("tail", [&](lanewise::Kernel& k, const std::string&) {
      auto x = buffer(in), out = buffer(std::vector<float>(width * 8));
      const uint32_t place = 0;
      k.launch({.grid = {1}, .block = {8, 8}, .dynamic_shared = 256}, x, out, width, flip, place)
          .check();
      check_all(out.read<float>(), want);
    });
  }
}
