#include <doctest/doctest.h>

#include <bit>

#include "runtime/ir/integer.hpp"
#include "tests/unit/reference/support.hpp"

using namespace lanewise;
using namespace lanewise::test;
using ir::integer_op;

namespace {

using i128 = __int128;

/// The operand as a mathematical integer.
i128 value(Type type, uint64_t v) {
  switch (type) {
    case Type::u32:
      return static_cast<uint32_t>(v);
    case Type::s32:
      return static_cast<int32_t>(v);
    case Type::s64:
      return static_cast<int64_t>(v);
    default:
      return i128{v};
  }
}

uint64_t wrap(Type type, i128 v) {
  const auto low = static_cast<uint64_t>(v);
  return ir::size_of(type) == 4 ? low & 0xffffffff : low;
}

i128 floor_shift(i128 v, unsigned n) {
  for (; n > 0; --n) v = v >= 0 ? v / 2 : -((1 - v) / 2);
  return v;
}

constexpr Type kTypes[] = {Type::u32, Type::s32, Type::u64, Type::s64};

/// Bit by bit, straight from the definition.
uint64_t slow_bfe(Type type, uint64_t a, uint32_t pos, uint32_t len) {
  const unsigned msb = 8 * ir::size_of(type) - 1;
  pos &= 0xff, len &= 0xff;
  bool sign = false;
  if (ir::is_signed(type) && len != 0) sign = a >> std::min(pos + len - 1, msb) & 1;
  uint64_t d = 0;
  for (unsigned i = 0; i <= msb; ++i) {
    const bool bit = i < len && pos + i <= msb ? a >> (pos + i) & 1 : sign;
    d |= uint64_t{bit} << i;
  }
  return d;
}

uint64_t slow_bfi(Type type, uint64_t a, uint64_t b, uint32_t pos, uint32_t len) {
  const unsigned msb = 8 * ir::size_of(type) - 1;
  pos &= 0xff, len &= 0xff;
  for (unsigned i = 0; i < len && pos + i <= msb; ++i) {
    b = (b & ~(uint64_t{1} << (pos + i))) | (a >> i & 1) << (pos + i);
  }
  return b;
}

}  // namespace

TEST_CASE("arithmetic equals 128-bit arithmetic") {
  size_t wrong = 0;
  for (const Type type : kTypes) {
    const unsigned bits = 8 * ir::size_of(type);
    const std::vector<uint64_t> v = samples(bits, 250, 21);
    for (const uint64_t a : v) {
      for (const uint64_t b : v) {
        const i128 x = value(type, a), y = value(type, b);
        const auto check = [&](Op op, i128 want) {
          wrong += integer_op(op, type, 0, a, b, 0, 0) != wrap(type, want);
        };
        check(Op::add, x + y);
        check(Op::sub, x - y);
        check(Op::mul, static_cast<i128>(static_cast<unsigned __int128>(x) *
                                         static_cast<unsigned __int128>(y)));
        check(Op::min, x < y ? x : y);
        check(Op::max, x < y ? y : x);
        check(Op::div, y == 0 ? -1 : x / y);
        check(Op::rem, y == 0 ? ~uint64_t{0} : x % y);
        // Unsigned 64 x 64 fits 128 bits only without a sign: take the halves by schoolbook.
        const uint64_t mask = 0xffffffff;
        const uint64_t mid = (a & mask) * (b >> 32) + ((a & mask) * (b & mask) >> 32);
        const uint64_t mid2 = (a >> 32) * (b & mask) + (mid & mask);
        uint64_t high = (a >> 32) * (b >> 32) + (mid >> 32) + (mid2 >> 32);
        if (type == Type::s64) high -= (x < 0 ? b : 0) + (y < 0 ? a : 0);
        if (bits == 32) high = static_cast<uint64_t>(floor_shift(x * y, 32));
        check(Op::mulhi, static_cast<i128>(high));
        for (const auto& [cond, want] : {std::pair{ir::Cond::eq, x == y},
                                         {ir::Cond::ne, x != y},
                                         {ir::Cond::lt, x < y},
                                         {ir::Cond::le, x <= y},
                                         {ir::Cond::gt, x > y},
                                         {ir::Cond::ge, x >= y}}) {
          wrong += ir::integer_compare(type, cond, a, b) != want;
        }
        if (bits == 32)
          wrong += integer_op(Op::mulwide, type, 0, a, b, 0, 0) != wrap(Type::u64, x * y);
      }
      const i128 x = value(type, a);
      wrong += integer_op(Op::neg, type, 0, a, 0, 0, 0) != wrap(type, -x);
      if (ir::is_signed(type)) {
        wrong += integer_op(Op::abs, type, 0, a, 0, 0, 0) != wrap(type, x < 0 ? -x : x);
      }
      for (const uint32_t n : {0u, 1u, 5u, 31u, 32u, 33u, 63u, 64u, 65u, 0xffffffffu}) {
        const i128 left = n < bits ? static_cast<i128>(static_cast<unsigned __int128>(a) << n) : 0;
        wrong += integer_op(Op::shl, type, 0, a, n, 0, 0) != wrap(type, left);
        const i128 right = floor_shift(x, std::min(n, bits));
        wrong += integer_op(Op::shr, type, 0, a, n, 0, 0) != wrap(type, right);
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("carries and borrows") {
  size_t wrong = 0;
  for (const Type type : {Type::u32, Type::u64}) {
    const std::vector<uint64_t> v = samples(8 * ir::size_of(type), 200, 22);
    const i128 modulus = i128{1} << (8 * ir::size_of(type));
    for (const uint64_t a : v) {
      for (const uint64_t b : v) {
        for (const int in : {0, 1}) {
          const i128 sum = i128{a} + i128{b} + in, difference = i128{a} - i128{b} - in;
          const auto s = ir::add_carry(type, a, b, in != 0);
          wrong += s.value != wrap(type, sum) || s.carry != (sum >= modulus);
          const auto d = ir::subtract_borrow(type, a, b, in != 0);
          wrong += d.value != wrap(type, difference) || d.carry != (difference < 0);
        }
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("bit operations") {
  size_t wrong = 0;
  for (const Type type : kTypes) {
    const unsigned bits = 8 * ir::size_of(type);
    for (const uint64_t a : samples(bits, 500, 23)) {
      unsigned ones = 0, lead = 0;
      uint64_t reversed = 0;
      for (unsigned i = 0; i < bits; ++i) {
        ones += a >> i & 1;
        reversed |= (a >> i & 1) << (bits - 1 - i);
      }
      while (lead < bits && (a >> (bits - 1 - lead) & 1) == 0) ++lead;
      wrong += integer_op(Op::popc, type, 0, a, 0, 0, 0) != ones;
      wrong += integer_op(Op::clz, type, 0, a, 0, 0, 0) != lead;
      wrong += integer_op(Op::brev, type, 0, a, 0, 0, 0) != reversed;
      const uint64_t mask = ~uint64_t{0} >> (64 - bits);
      const uint64_t positive = ir::is_signed(type) && lead == 0 ? ~a & mask : a;
      const uint64_t found = positive == 0 ? 0xffffffff : 63 - std::countl_zero(positive);
      wrong += integer_op(Op::bfind, type, 0, a, 0, 0, 0) != found;
      wrong += integer_op(Op::not_, type, 0, a, 0, 0, 0) != (a ^ mask);
      for (const uint32_t pos : {0u, 1u, 7u, 31u, 32u, 40u, 63u, 64u, 200u, 0x103u}) {
        for (const uint32_t len : {0u, 1u, 8u, 31u, 32u, 33u, 64u, 255u, 0x204u}) {
          wrong += integer_op(Op::bfe, type, 0, a, pos, len, 0) != slow_bfe(type, a, pos, len);
          const uint64_t b = ~a & mask;
          wrong += integer_op(Op::bfi, type, 0, a, b, pos, len) != slow_bfi(type, a, b, pos, len);
        }
      }
    }
  }
  CHECK(wrong == 0);
  CHECK(integer_op(Op::not_, Type::pred, 0, 1, 0, 0, 0) == 0);
  CHECK(integer_op(Op::not_, Type::pred, 0, 0, 0, 0, 0) == 1);
}

TEST_CASE("bit fields by hand") {
  CHECK(integer_op(Op::bfe, Type::u32, 0, 0x12345678, 8, 12, 0) == 0x456);
  CHECK(integer_op(Op::bfe, Type::s32, 0, 0x00000f00, 8, 4, 0) == 0xffffffff);
  CHECK(integer_op(Op::bfe, Type::s32, 0, 0x80000000, 28, 16, 0) == 0xfffffff8);
  CHECK(integer_op(Op::bfe, Type::s32, 0, 0x80000000, 40, 4, 0) == 0xffffffff);
  CHECK(integer_op(Op::bfi, Type::u32, 0, 0xff, 0x11111111, 28, 8) == 0xf1111111);
}

TEST_CASE("funnel shifts clamp or wrap") {
  const uint64_t low = 0x89abcdef, high = 0x01234567;
  const auto f = [&](Op op, uint8_t mode, uint32_t n) {
    return integer_op(op, Type::u32, mode, low, high, n, 0);
  };
  CHECK(f(Op::shf_l, 0, 8) == 0x23456789);
  CHECK(f(Op::shf_r, 0, 8) == 0x6789abcd);
  CHECK(f(Op::shf_l, 0, 32) == low);
  CHECK(f(Op::shf_r, 0, 40) == high);
  CHECK(f(Op::shf_l, 1, 32) == high);
  CHECK(f(Op::shf_r, 1, 40) == 0x6789abcd);
  CHECK(f(Op::shf_r, 0, 0) == low);
}

TEST_CASE("byte permutes") {
  using ir::PrmtMode;
  const auto p = [](uint32_t selector, PrmtMode mode) {
    return ir::permute_bytes(0x33221100, 0x77665584, selector, mode);
  };
  CHECK(p(0x7654, PrmtMode::index) == 0x77665584);
  CHECK(p(0x0123, PrmtMode::index) == 0x00112233);
  CHECK(p(0x0c48, PrmtMode::index) == 0x00ff8400);  // sign of byte 4, byte 4, sign of byte 0
  CHECK(p(1, PrmtMode::f4e) == 0x84332211);
  CHECK(p(1, PrmtMode::b4e) == 0x66770011);
  CHECK(p(2, PrmtMode::rc8) == 0x22222222);
  CHECK(p(1, PrmtMode::ecl) == 0x33221111);
  CHECK(p(1, PrmtMode::ecr) == 0x11111100);
  CHECK(p(1, PrmtMode::rc16) == 0x33223322);
  CHECK(p(0, PrmtMode::rc16) == 0x11001100);
}

TEST_CASE("three-input logic follows its table") {
  const uint32_t a = 0xf0f0f0f0, b = 0xcccccccc, c = 0xaaaaaaaa;
  const auto f = [&](uint8_t lut) { return integer_op(Op::lop3, Type::u32, lut, a, b, c, 0); };
  CHECK(f(0x80) == (a & b & c));
  CHECK(f(0xfe) == (a | b | c));
  CHECK(f(0x96) == (a ^ b ^ c));
  CHECK(f(0xca) == ((a & b) | (~a & c)));
  CHECK(f(0x00) == 0);
  CHECK(f(0xff) == 0xffffffff);
}
