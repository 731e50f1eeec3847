// Code objects of three GCN generations: scratch, flat addresses, LDS, atomics, 64-bit integers.
#include "tests/kernels/support.hpp"

using namespace kernels;

namespace {

constexpr const char* kAll[] = {"gfx600", "gfx700", "gfx803"};
constexpr const char* kFlat[] = {"gfx700", "gfx803"};

lanewise::Kernel object(const std::string& file, const std::string& target,
                        const std::string& kernel) {
  CAPTURE(target);
  return device().load_file(corpus("gcn/" + file + "." + target + ".hsaco")).kernel(kernel);
}

using Words = std::vector<uint32_t>;

Words small_numbers(size_t n, uint64_t seed) {
  Words v = random_ints<uint32_t>(n, seed);
  for (uint32_t& x : v) x >>= 8;
  return v;
}

uint32_t expected_words(const Words& in, uint32_t i) {
  uint32_t copy[24], sum = 0;
  for (uint32_t k = 0; k < 24; ++k) copy[(k * 7 + i) % 24] = in[(i + k) & 255] + k;
  uint32_t at = i % 24;
  for (uint32_t k = 0; k < 24; ++k) {
    sum = sum * 31 + copy[at];
    copy[(at + 5) % 24] ^= sum;
    at = (at + in[k]) % 24;
  }
  return sum;
}

uint32_t expected_bytes(const Words& in, uint32_t i) {
  uint8_t box[40];
  uint64_t wide[6];
  for (uint32_t k = 0; k < 40; ++k) box[(k * 3 + i) % 40] = static_cast<uint8_t>(in[k] + i);
  for (uint32_t k = 0; k < 6; ++k) wide[(k + i) % 6] = uint64_t{box[k]} << (8 * k) | in[k];
  uint32_t sum = 0;
  for (uint32_t k = 0; k < 6; ++k)
    sum = sum * 17 + static_cast<uint32_t>(wide[(i + 5 * k) % 6] >> 3) + box[(in[k] + k) % 40];
  return sum;
}

/// Four waves, the last one partial in each of the three groups.
template <typename Expected>
void run_own(const char* kernel, Expected expected) {
  constexpr uint32_t kGroups = 3, kLanes = 200;
  const Words in = small_numbers(256, 7);
  Words want(kGroups * kLanes);
  for (uint32_t i = 0; i < want.size(); ++i) want[i] = expected(in, i);
  for (const char* target : kAll) {
    CAPTURE(target);
    auto source = device().buffer(in, "in");
    auto out = device().buffer(Words(want.size()), "out");
    object("own_scratch", target, kernel)
        .launch({.grid = {kGroups}, .block = {kLanes}}, out, source)
        .check();
    check_equal(out.read<uint32_t>(), want);
  }
}

uint32_t expected_compiled(const Words& a, uint32_t i, uint32_t n) {
  uint32_t st[64];
  for (uint32_t k = 0; k < 64; ++k) st[k] = a[i + k];
  uint32_t sp = a[i] & 63;
  for (uint32_t k = 0; k < n; ++k) {
    const uint32_t t = st[sp];
    st[(sp + k) & 63] = t * 3;
    sp = t >> 2 & 63;
  }
  uint32_t s = 0;
  for (uint32_t k = 0; k < 64; ++k) s += st[k] * k;
  return s;
}

}  // namespace

TEST_CASE("gcn scratch: arrays of words with dynamic indices") {
  run_own("words", expected_words);
}

TEST_CASE("gcn scratch: bytes and 64-bit values") {
  run_own("bytes", expected_bytes);
}

TEST_CASE("gcn scratch: the corpus kernel") {
  // Hundreds of accesses in a row: minutes for some drivers' compilers.
  if (device().info().tier != "cpu") return;
  // One work-item a group, 256 words apart: its own words are all that it reads.
  constexpr uint32_t kSteps = 50;
  const Words in = random_ints<uint32_t>(3 * 256, 21);
  for (const char* target : kAll) {
    CAPTURE(target);
    Words want = in;
    for (uint32_t i = 0; i < 3 * 256; i += 256) want[i] = expected_compiled(in, i, kSteps);
    auto a = device().buffer(in, "a");
    object("k21_scratch", target, "scratch").launch({.grid = {3}, .block = {1}}, a, kSteps).check();
    check_equal(a.read<uint32_t>(), want);
  }
}

TEST_CASE("gcn flat pointers to private, local and global memory") {
  constexpr uint32_t kGroups = 2, kLanes = 64;
  const Words in = random_ints<uint32_t>(80, 9);
  Words want(kGroups * kLanes);
  for (uint32_t i = 0; i < want.size(); ++i) {
    const uint32_t t = i % kLanes;
    uint32_t mine[8], shared[64];
    for (uint32_t k = 0; k < 8; ++k) mine[(k + i) % 8] = in[k] + i;
    for (uint32_t k = 0; k < 64; ++k) shared[k] = in[k] ^ 0x55;
    Words global(in.begin() + 64, in.end());
    uint32_t* p = (i & 3) == 1 ? mine : (i & 3) == 2 ? shared + (t & 56) : global.data();
    const uint32_t sum = p[i % 8];
    if ((i & 3) == 1) p[(i + 1) % 8] = sum * 5;
    uint8_t byte = 0;
    std::memcpy(&byte, reinterpret_cast<const char*>(p) + i % 13, 1);
    want[i] = sum * 3 + p[(i + 1) % 8] + byte + mine[(i + 1) & 7];
  }
  for (const char* target : kFlat) {
    CAPTURE(target);
    auto source = device().buffer(in, "in");
    auto out = device().buffer(Words(want.size()), "out");
    object("own_flat", target, "flat")
        .launch({.grid = {kGroups}, .block = {kLanes}}, out, source)
        .check();
    check_equal(out.read<uint32_t>(), want);
  }
}

TEST_CASE("gcn flat: histogram in LDS and 64-bit integers") {
  constexpr uint32_t kCount = 1000;
  const Words in = random_ints<uint32_t>(kCount, 5);
  Words want(256);
  for (const uint32_t x : in) ++want[x & 255];
  const std::vector<uint64_t> a = random_ints<uint64_t>(256, 1), b = random_ints<uint64_t>(256, 2);
  const uint64_t factor = 0x123456789abcdef1;
  std::vector<uint64_t> mixed(256);
  for (size_t i = 0; i < 256; ++i) {
    uint64_t x = a[i] * b[i] + factor;
    x ^= x >> 33;
    x = x << 13 | x >> 51;
    mixed[i] = x > b[i] ? x - b[i] : b[i] - x;
  }
  for (const char* target : kFlat) {
    CAPTURE(target);
    auto source = device().buffer(in, "in");
    auto histogram = device().buffer(Words(256), "hist");
    object("k05_histogram", target, "histogram")
        .launch({.grid = {4}, .block = {256}}, source, histogram, kCount)
        .check();
    check_equal(histogram.read<uint32_t>(), want);
    auto x = device().buffer(a, "a"), y = device().buffer(b, "b");
    object("k13_i64", target, "i64mix").launch({.grid = {1}, .block = {256}}, x, y, factor).check();
    check_equal(x.read<uint64_t>(), mixed);
  }
}

TEST_CASE("objects of version 2: arguments by their metadata, hidden ones behind them") {
  constexpr uint32_t kLanes = 64, kGroups = 2, kCount = kLanes * kGroups;
  for (const char* target : kAll) {
    CAPTURE(target);
    const std::vector<float> x = random_floats(kCount, 31), y = random_floats(kCount, 32);
    auto dx = device().buffer(x, "x"), dy = device().buffer(y, "y");
    object("version2", target, "saxpy")
        .launch({.grid = {kGroups}, .block = {kLanes}}, dy, dx, 2.5F, kCount - 3)
        .check();
    std::vector<float> want = y;
    for (uint32_t i = 0; i < kCount - 3; ++i) want[i] = 2.5F * x[i] + y[i];
    const std::vector<float> got = dy.read<float>();
    // One product and one sum; the compiler may have fused them.
    for (uint32_t i = 0; i < kCount; ++i) CHECK(std::abs(got[i] - want[i]) <= 1e-5F * 30);

    auto out = device().buffer(std::vector<int32_t>(kCount), "out");
    const uint32_t three_chars = 0x00030201;
    object("version2", target, "locals")
        .launch({.grid = {kGroups}, .block = {kLanes}, .dynamic_shared = 4 * kLanes}, out, 0U,
                three_chars)
        .check();
    std::vector<int32_t> sums(kCount);
    for (uint32_t i = 0; i < kCount; ++i)
      sums[i] = static_cast<int32_t>((kLanes - 1 - i % kLanes) * 3 + 2 + kGroups);
    check_equal(out.read<int32_t>(), sums);
  }
}
