// Quotients and roots of fused sums, and other operations with few steps for usual numbers, against
// the host's own.
#include <bit>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <random>

#include "kernel_quotient.inc"
#include "tests/support/library_check.hpp"

using namespace lanewise::test;

namespace {

enum Operation : uint32_t {
  quotient,
  root,
  inverse_root,
  usual_quotient,
  usual_root,
  usual_inverse_root,
  usual_inverse,
  toward_zero,
  down,
  up,
  dominated,  ///< the same three, where the addend is 4 times as large and one factor 0 to 1
  power = dominated + 3,
  logarithm
};
constexpr uint32_t kSlowPath = 0xdeadbeef;  // kernels/quotient.comp
constexpr uint32_t kGroup = 64;

float float_of(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
uint32_t expected(const uint32_t* row) {
  volatile float a = float_of(row[1]), b = float_of(row[2]);
  const uint32_t op = row[0] >= usual_quotient ? row[0] - usual_quotient : row[0];
  volatile float r = op == quotient ? a / b : std::sqrt(a);
  if (op == inverse_root) r = 1.0F / r;
  if (row[0] == usual_inverse) r = 1.0F / a;
  const float result = r;
  return std::isnan(result) ? 0x7fffffff : std::bit_cast<uint32_t>(result);
}

/// fma in a direction; volatile operands keep the compiler from moving it.
uint32_t directed_fma(const uint32_t* row) {
  constexpr int kDirections[] = {FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  volatile float a = float_of(row[1]), b = float_of(row[2]), c = float_of(row[3]);
  std::fesetround(kDirections[(row[0] - toward_zero) % 3]);
  volatile float r = std::fma(a, b, c);
  std::fesetround(FE_TONEAREST);
  return std::bit_cast<uint32_t>(float{r});
}
/// The bounds of PTX: 2 ulp, also of subnormal numbers; 2^-22 near 1, relative elsewhere. A NaN is
/// inside of none but a NaN's.
bool is_close(const uint32_t* row, uint32_t bits) {
  const double a = float_of(row[1]);
  if (std::isnan(a)) return bits == 0x7fffffff;
  const double want = row[0] == power ? static_cast<float>(std::exp2(a)) : std::log2(a);
  const double size = row[0] == logarithm && a >= 0.5 && a <= 2 ? 1 : std::fabs(want);
  return float_of(bits) == want ||
         std::fabs(float_of(bits) - want) <= std::fmax(size * 0x1p-22, 0x1p-149);
}
bool is_right(const uint32_t* row, uint32_t bits) {
  if (row[0] >= power) return is_close(row, bits);
  return bits == (row[0] >= toward_zero ? directed_fma(row) : expected(row));
}

class Rows {
 public:
  explicit Rows(unsigned seed) : rng_(seed) {}

  void add(Operation op, uint32_t a, uint32_t b) {
    words_.insert(words_.end(), {op, a, b, 0});
    if (words_.size() % 8 == 0) words_.insert(words_.end(), {op + usual_quotient, a, b, 0});
    if (op == quotient && words_.size() % 32 == 0)
      words_.insert(words_.end(), {usual_inverse, b, 0, 0});
  }
  void add_toward(uint32_t a, uint32_t b, uint32_t c) {
    for (const Operation op : {toward_zero, down, up}) words_.insert(words_.end(), {op, a, b, c});
  }
  void add_dominated(uint32_t unit, uint32_t factor, uint32_t addend) {
    for (uint32_t n = 0; n < 3; ++n)
      words_.insert(words_.end(), {dominated + n, unit, factor, addend});
  }
  void add_one(Operation op, uint32_t a) { words_.insert(words_.end(), {op, a, 0, 0}); }
  uint32_t any() { return static_cast<uint32_t>(rng_()); }
  /// Of close exponents, with many ones or zeros at the end.
  uint32_t plain() {
    const uint32_t low = any() >> rng_() % 32;
    return (rng_() % 2 << 31) | ((100 + any() % 60) << 23) | ((low ^ (0U - any() % 2)) & 0x7fffff);
  }
  /// A quotient that is about half way between two subnormal numbers, or near the largest.
  void add_edge() {
    const uint32_t b = plain() & 0x7fffffff, q = any() % 2 == 0 ? any() % 0x1000000 : 0x7f7fffff;
    const double half = float_of(q) + (q < 0x1000000 ? std::ldexp(0.5, -149) : 0);
    add(quotient, std::bit_cast<uint32_t>(static_cast<float>(half * float_of(b))) + any() % 3 - 1,
        b);
  }
  /// Quotients half way between two multiples of 2^-149 and next to that, of every length: both
  /// ties, to even upwards and downwards. `bits`: how many bits the halves count, 1 to 24.
  void add_tie(uint32_t bits) {
    const uint32_t halves = (any() & ((1U << bits) - 1)) | 1U << (bits - 1) | 1U;
    const uint32_t factor = bits < 21 ? (any() % 8) | 1U : 1U;
    const int up = 24 + static_cast<int>(any() % 120);
    const auto b = static_cast<float>(std::ldexp(factor, up));
    const auto a = static_cast<float>(std::ldexp(static_cast<double>(halves) * factor, up - 150));
    const uint32_t sign = any() & 0x80000000;
    for (const uint32_t off : {0U, 1U, 0xffffffffU}) {
      add(quotient, (std::bit_cast<uint32_t>(a) + off) | sign, std::bit_cast<uint32_t>(b));
      add(quotient, std::bit_cast<uint32_t>(a), (std::bit_cast<uint32_t>(b) + off) | sign);
    }
  }
  const Words& padded() {
    while (words_.size() / 4 % kGroup != 0) words_.insert(words_.end(), {root, 0x3f800000, 0, 0});
    return words_;
  }

 private:
  std::mt19937 rng_;
  Words words_;
};

/// The first row that is wrong, as text; and how many are. Where the lavapipes take turns, `part`
/// says whose it is.
void check_rows(Rows& rows, std::optional<size_t> part = {}) {
  size_t tried = 0;
  for (const Driver& d : drivers()) {
    if (!d.compute->facts().float64 || (part && !takes(d, *part))) continue;
    ++tried;
    CAPTURE(d.compute->facts().name);
    Words in = rows.padded(), out(in.size() / 4);
    Compute::Job job;
    job.spirv.assign(std::begin(kernel_quotient), std::end(kernel_quotient));
    job.buffers = {&in, &out};
    job.groups = static_cast<uint32_t>(out.size() / kGroup);
    REQUIRE(d.compute->run(job).empty());
    size_t wrong = 0, usual = 0, slow_path = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      const uint32_t* row = &rows.padded()[4 * i];
      if (row[0] >= usual_quotient) ++usual;
      if (row[0] >= usual_quotient && out[i] == kSlowPath) {
        ++slow_path;
        continue;
      }
      if (is_right(row, out[i])) continue;
      if (wrong++ < 3) {
        FAIL_CHECK("operation " << row[0] << ", " << std::hex << row[1] << " " << row[2]
                                << ", addend " << row[3] << ": " << out[i]);
      }
    }
    CHECK(wrong == 0);
    CHECK(slow_path < usual * 2 / 3);
  }
  CHECK(tried > 0);
}

}  // namespace

TEST_CASE("quotients: hard pairs, both ends of the range, what is no number") {
  Rows rows(1);
  const uint32_t edges[] = {
      0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x800000, 0x3f800000, 0xbf800000, 0x3f7fffff,
      0x3f800001, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x00ffffff,
      0x01000000, 0x40400000,
      // Where one goes up by 2^24 because the other is subnormal, and overflows.
      0x00800001, 0x80400000, 0x00400001, 0x00000003, 0x72ffffff, 0x73000000, 0x737fffff,
      0x73800000, 0x73800001, 0xf3800000, 0x33800000, 0x4b800000,
      // All ones: reciprocals next to the middle.
      0x3fffffff, 0x00ffffff, 0x7effffff, 0x7e800000, 0x3effffff};
  for (const uint32_t a : edges)
    for (const uint32_t b : edges) rows.add(quotient, a, b);
  for (int i = 0; i < 400000; ++i) {
    rows.add(quotient, rows.any(), rows.any());
    rows.add(quotient, rows.plain(), rows.plain());
    rows.add_edge();
  }
  for (uint32_t bits = 1; bits <= 24; ++bits)
    for (int i = 0; i < 600; ++i) rows.add_tie(bits);
  // Dividends of every size over the divisor whose reciprocal is hardest.
  for (int i = 0; i < 50000; ++i) rows.add(quotient, 0x3f800000 | (rows.any() >> 9), 0x3fffffff);
  check_rows(rows);
}

TEST_CASE("roots and their reciprocals: every 23rd number, and edges") {
  Rows rows(2);
  for (const uint32_t a : {0U, 0x80000000U, 1U, 3U, 0x7fffffU, 0x7f7fffffU, 0x7f800000U,
                           0xff800000U, 0xbf800000U, 0x7fc00000U, 0x3f7fffffU, 0x3f800001U}) {
    rows.add(root, a, 0);
    rows.add(inverse_root, a, 0);
  }
  // Subnormal numbers of every length, the powers of two and their neighbours.
  for (uint32_t place = 0; place < 31; ++place) {
    for (const uint32_t off : {0U, 1U, 0xffffffffU}) {
      rows.add(root, (1U << place) + off, 0);
      rows.add(inverse_root, (1U << place) + off, 0);
    }
  }
  for (uint32_t field = 1; field < 256; ++field) {
    for (const uint32_t off : {0U, 1U, 0xffffffffU}) {
      rows.add(root, (field << 23) + off, 0);
      rows.add(inverse_root, (field << 23) + off, 0);
    }
  }
  // Two octaves hold every mantissa at even and at odd exponents.
  for (uint32_t a = 0x3f800000; a < 0x40800000; a += 23) rows.add(root, a, 0);
  for (uint32_t a = 0x3f800003; a < 0x40800000; a += 41) rows.add(inverse_root, a, 0);
  for (int i = 0; i < 100000; ++i) rows.add(root, rows.any(), 0);
  check_rows(rows);
}

TEST_CASE("reciprocals of every fraction and roots of two octaves, or of every seventh of them") {
  const uint32_t step = std::getenv("LANEWISE_TEST_WHOLE") == nullptr ? 7 : 1;
  constexpr uint32_t kPart = 0x80000;
  for (uint32_t part = 0x3f800000; part < 0x40800000; part += kPart) {
    Rows rows(5);
    for (uint32_t a = part + part / kPart % step; a < part + kPart; a += step) {
      rows.add_one(usual_root, a);
      if (a < 0x40000000) rows.add_one(usual_inverse, a);
    }
    check_rows(rows, part / kPart);
  }
}

TEST_CASE("fma toward zero, down and up beside addends that are larger, and elsewhere") {
  Rows rows(3);
  // As in exp: a number from 0 to 1 times 252.
  for (const uint32_t a : {0U, 1U, 0x7fffffU, 0x800000U, 0x33000000U, 0x3f7fffffU, 0x3f800000U})
    for (const uint32_t b : {0x3f800000U, 0x437c0000U, 0x437c0001U, 0xc37c0000U})
      for (const uint32_t c : {0x4b400001U, 0xcb400001U, 0x447c0001U, 0x717fffffU})
        rows.add_dominated(a, b, c);
  for (int i = 0; i < 100000; ++i) {
    rows.add_dominated(0x3f800000 - rows.any() % 0x8000000, 0x437c0000, 0x4b400001);
    const uint32_t factor = 0x3f800000 + rows.any() % 0x10000000;
    rows.add_dominated(rows.any() % 0x3f800001, factor,
                       factor + 0x1000000 + rows.any() % 0x10000000);
    rows.add_toward(rows.plain(), rows.plain(), rows.plain());
    // Exponents of product and addend that are close: sums that cancel, and results of one exponent
    // more or less.
    const uint32_t a = rows.plain(), b = rows.plain();
    const uint32_t product = std::bit_cast<uint32_t>(float_of(a) * float_of(b));
    rows.add_toward(a, b, product + (rows.any() % 30 << 23) + rows.any() % 4);
    rows.add_toward(a, b, (product ^ 0x80000000) + (rows.any() % 3 << 23) + rows.any() % 4);
    rows.add_toward(rows.any(), rows.any(), rows.any());
  }
  const uint32_t edges[] = {0,          0x80000000, 1,          0x7fffff,   0x800000,   0x3f800000,
                            0xbf800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x21800000,
                            0x1f800000, 0x71ffffff, 0x4b400001, 0xcb400001};
  for (const uint32_t a : edges)
    for (const uint32_t b : edges)
      for (const uint32_t c : edges) rows.add_toward(a, b, c);
  check_rows(rows);
}

TEST_CASE("powers and logarithms: few steps for usual numbers are as many others") {
  Rows rows(4);
  for (uint32_t a = 0x3f000000; a < 0x40000000; a += 37) rows.add_one(logarithm, a);
  for (uint32_t field = 0; field < 512; ++field) {
    for (const uint32_t low : {0U, 1U, 0x3504f2U, 0x3504f3U, 0x3504f4U, 0x3504f5U, 0x7fffffU}) {
      rows.add_one(logarithm, field << 23 | low);
      rows.add_one(power, field << 23 | low);
    }
  }
  for (int i = 0; i < 200000; ++i) {
    rows.add_one(power, rows.plain());
    rows.add_one(power, (0x3f000000 + rows.any() % 0x4000000) | (rows.any() & 0x80000000));
    rows.add_one(logarithm, rows.any());
  }
  check_rows(rows);
}
