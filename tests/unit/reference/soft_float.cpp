// float_op leaves rounding to nearest even to the host; here soft_float itself does it.
#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "runtime/reference/numbers/soft_float.hpp"
#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using namespace lanewise::reference;
using ir::Round;

namespace {

template <typename Real, typename Bits>
size_t compare_nearest(const Format& f, const std::vector<uint64_t>& v) {
  size_t wrong = 0;
  const auto real = [](uint64_t x) { return std::bit_cast<Real>(static_cast<Bits>(x)); };
  const auto same = [&](const Number& n, Real want) {
    const uint64_t bits = std::isnan(want) ? f.nan : std::bit_cast<Bits>(want);
    return pack(f, n, Round::rn) == bits;
  };
  for (size_t i = 0; i < v.size(); ++i) {
    const Number a = unpack(f, v[i]);
    wrong += !same(square_root(a), std::sqrt(real(v[i])));
    for (size_t j = 0; j < v.size(); ++j) {
      const Number b = unpack(f, v[j]);
      const uint64_t third = v[(i * 5 + j * 3) % v.size()];
      const Real x = real(v[i]), y = real(v[j]), z = real(third);
      wrong += !same(add(a, b, Round::rn), x + y);
      wrong += !same(multiply(a, b), x * y);
      wrong += !same(divide(a, b), x / y);
      wrong += !same(add(multiply(a, b), unpack(f, third), Round::rn), std::fma(x, y, z));
    }
  }
  return wrong;
}

}  // namespace

TEST_CASE("soft_float rounds to nearest even like the FPU") {
  std::vector<uint64_t> singles = samples(32, 500, 31), doubles = samples(64, 500, 32);
  std::mt19937_64 random(33);
  for (int i = 0; i < 400; ++i) {  // near 1, where sums cancel
    const uint64_t r = random();
    singles.push_back(0x3e000000 + r % 0x04000000 + (r >> 63 << 31));
    doubles.push_back(0x3fc0000000000000 + r % 0x0080000000000000 + (r >> 63 << 63));
  }
  CHECK(compare_nearest<float, uint32_t>(kF32, singles) == 0);
  CHECK(compare_nearest<double, uint64_t>(kF64, doubles) == 0);
}

TEST_CASE("unpack and pack are inverse for every f16 in every direction") {
  size_t wrong = 0;
  for (uint64_t v = 0; v < 65536; ++v) {
    for (const Round r : {Round::rn, Round::rz, Round::rm, Round::rp, Round::rna}) {
      wrong += pack(kF16, unpack(kF16, v), r) != (kF16.is_nan(v) ? kF16.nan : v);
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("overflow and underflow go where the direction says") {
  const auto f = [](bool sign, int exp, Round r) {
    Number n;
    n.cls = Number::Class::finite;
    n.sign = sign;
    n.exp = exp;
    n.sig = 1;
    return pack(kF32, n, r);
  };
  CHECK(f(false, 128, Round::rn) == 0x7f800000);
  CHECK(f(false, 128, Round::rz) == 0x7f7fffff);
  CHECK(f(true, 500, Round::rp) == 0xff7fffff);
  CHECK(f(true, 500, Round::rm) == 0xff800000);
  CHECK(f(false, 500, Round::rna) == 0x7f800000);
  CHECK(f(false, -149, Round::rz) == 1);
  CHECK(f(false, -150, Round::rn) == 0);  // a tie goes to even
  CHECK(f(false, -150, Round::rna) == 1);
  CHECK(f(false, -5000, Round::rp) == 1);
  CHECK(f(true, -5000, Round::rm) == 0x80000001);
  CHECK(f(true, -5000, Round::rp) == 0x80000000);
}
