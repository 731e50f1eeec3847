#include <doctest/doctest.h>

#include <bit>
#include <cfenv>
#include <cmath>

#include "runtime/reference/numbers/float_ops.hpp"
#include "runtime/reference/numbers/soft_float.hpp"
#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::Round;
using reference::FloatFlags;

namespace {

constexpr Type kIntegers[] = {Type::u8,  Type::s8,  Type::u16, Type::s16,
                              Type::u32, Type::s32, Type::u64, Type::s64};

FloatFlags rounding(Round r) {
  FloatFlags flags;
  flags.round = r;
  return flags;
}

long double round_host(long double x, Round r) {
  switch (r) {
    case Round::rz:
      return std::trunc(x);
    case Round::rm:
      return std::floor(x);
    case Round::rp:
      return std::ceil(x);
    case Round::rna:
      return std::round(x);
    default:
      return std::nearbyint(x);  // the host is in its default direction here
  }
}

/// The conversion in long double, whose 64-bit significand holds every operand and limit exactly.
uint64_t oracle(Type to, bool from_f64, long double x, Round r) {
  const unsigned bits = 8 * ir::size_of(to);
  const uint64_t mask = ~uint64_t{0} >> (64 - bits);
  const uint64_t top = uint64_t{1} << (bits - 1);
  if (std::isnan(x)) return from_f64 || bits == 64 ? top : 0;
  const long double y = round_host(x, r);
  if (ir::is_signed(to)) {
    if (y >= static_cast<long double>(top)) return top - 1;
    if (y < -static_cast<long double>(top)) return top;
    return static_cast<uint64_t>(static_cast<int64_t>(y)) & mask;
  }
  if (y <= 0) return 0;
  return y > static_cast<long double>(mask) ? mask : static_cast<uint64_t>(y);
}

}  // namespace

TEST_CASE("float to integer: every type, direction and corner") {
  size_t wrong = 0;
  const Round rounds[] = {Round::rn, Round::rz, Round::rm, Round::rp, Round::rna};
  std::vector<uint64_t> singles = samples(32, 3000, 11), doubles = samples(64, 3000, 12);
  std::mt19937_64 random(13);
  for (int i = 0; i < 6000; ++i) {  // values around the limits and around halves
    const double x = std::ldexp(static_cast<double>(static_cast<int64_t>(random()) >> 40) / 2,
                                static_cast<int>(random() % 64) - 22);
    doubles.push_back(std::bit_cast<uint64_t>(x));
    singles.push_back(std::bit_cast<uint32_t>(static_cast<float>(x)));
  }
  for (const Type to : kIntegers) {
    for (const Round r : rounds) {
      for (const uint64_t a : singles) {
        const long double x = std::bit_cast<float>(static_cast<uint32_t>(a));
        wrong +=
            reference::float_to_integer(to, Type::f32, rounding(r), a) != oracle(to, false, x, r);
      }
      for (const uint64_t a : doubles) {
        const long double x = std::bit_cast<double>(a);
        wrong +=
            reference::float_to_integer(to, Type::f64, rounding(r), a) != oracle(to, true, x, r);
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("float to integer: values worked out by hand") {
  const auto f = [](Type to, Type from, Round r, uint64_t a) {
    return reference::float_to_integer(to, from, rounding(r), a);
  };
  CHECK(f(Type::s32, Type::f32, Round::rn, 0x40200000) == 2);  // 2.5
  CHECK(f(Type::s32, Type::f32, Round::rna, 0x40200000) == 3);
  CHECK(f(Type::s32, Type::f32, Round::rm, 0xbf000000) == 0xffffffff);  // -0.5
  CHECK(f(Type::u32, Type::f32, Round::rm, 0xbf000000) == 0);
  CHECK(f(Type::s8, Type::f32, Round::rz, 0xc3800000) == 0x80);  // -256
  CHECK(f(Type::u8, Type::f16, Round::rz, 0x7bff) == 0xff);      // 65504
  CHECK(f(Type::s64, Type::f32, Round::rz, 0x7f800000) == 0x7fffffffffffffff);
  CHECK(f(Type::u64, Type::f64, Round::rz, 0x43f0000000000000) == ~uint64_t{0});  // 2^64
  CHECK(f(Type::u64, Type::f64, Round::rz, 0x43efffffffffffff) == 0xfffffffffffff800);
  CHECK(f(Type::s32, Type::f32, Round::rz, 0x7fc00000) == 0);
  CHECK(f(Type::s64, Type::f32, Round::rz, 0x7fc00000) == 0x8000000000000000);
  CHECK(f(Type::s32, Type::f64, Round::rz, 0x7ff8000000000000) == 0x80000000);
  CHECK(f(Type::u64, Type::f64, Round::rz, 0x7ff8000000000000) == 0x8000000000000000);
  FloatFlags ftz = rounding(Round::rp);
  CHECK(reference::float_to_integer(Type::s32, Type::f32, ftz, 1) == 1);
  ftz.ftz = true;
  CHECK(reference::float_to_integer(Type::s32, Type::f32, ftz, 1) == 0);
}

TEST_CASE("integer to float in every direction") {
  struct Direction {
    Round round;
    int host;
  };
  const Direction directions[] = {{Round::rn, FE_TONEAREST},
                                  {Round::rz, FE_TOWARDZERO},
                                  {Round::rm, FE_DOWNWARD},
                                  {Round::rp, FE_UPWARD}};
  size_t wrong = 0;
  const std::vector<uint64_t> v = samples(64, 20000, 14);
  for (const Direction& d : directions) {
    fesetround(d.host);
    for (const Type from : {Type::u32, Type::s32, Type::u64, Type::s64}) {
      for (uint64_t a : v) {
        if (ir::size_of(from) == 4) a &= 0xffffffff;
        volatile long double exact = from == Type::s32 ? static_cast<int32_t>(a)
                                     : from == Type::s64
                                         ? static_cast<long double>(static_cast<int64_t>(a))
                                         : static_cast<long double>(a);
        volatile float narrow = static_cast<float>(exact);
        volatile double wide = static_cast<double>(exact);
        const float n = narrow;
        const double w = wide;
        wrong += reference::integer_to_float(Type::f32, from, rounding(d.round), a) !=
                 std::bit_cast<uint32_t>(n);
        wrong += reference::integer_to_float(Type::f64, from, rounding(d.round), a) !=
                 std::bit_cast<uint64_t>(w);
      }
    }
    fesetround(FE_TONEAREST);
  }
  CHECK(wrong == 0);
  const auto half = [](uint64_t a, Round r) {
    return reference::integer_to_float(Type::f16, Type::u32, rounding(r), a);
  };
  CHECK(half(2049, Round::rn) == 0x6800);  // 2048
  CHECK(half(2049, Round::rp) == 0x6801);  // 2050
  CHECK(half(65519, Round::rn) == 0x7bff);
  CHECK(half(65520, Round::rn) == 0x7c00);
  CHECK(half(70000, Round::rz) == 0x7bff);
}
