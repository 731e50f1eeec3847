// Integer functions of the shader library on devices, against plain C++.
#include <doctest/doctest.h>

#include <bit>
#include <random>

#include "tests/support/library_check.hpp"

using namespace lanewise::test;

namespace {

using s128 = __int128;
using u128 = unsigned __int128;

constexpr uint64_t kEdges[] = {0,
                               1,
                               2,
                               3,
                               7,
                               31,
                               32,
                               33,
                               63,
                               64,
                               65,
                               255,
                               0x7fffffff,
                               0x80000000,
                               0xffffffff,
                               0x100000000,
                               0x7fffffffffffffff,
                               0x8000000000000000,
                               0x8000000000000001,
                               0xfffffffffffffffe,
                               0xffffffffffffffff};

/// Edge values against edge values, then random bits of random length.
Words pairs64(uint64_t seed, size_t random) {
  Words w;
  const auto put = [&](uint64_t v) { w.insert(w.end(), {uint32_t(v), uint32_t(v >> 32)}); };
  for (const uint64_t a : kEdges)
    for (const uint64_t b : kEdges) put(a), put(b);
  std::mt19937_64 rng(seed);
  for (size_t i = 0; i < random; ++i) {
    put(rng() >> (rng() % 64));
    put(rng() >> (rng() % 64));
  }
  return w;
}

template <typename F>
Case binary64(const char* name, F f) {
  return {name,
          [f](const uint32_t* w) { return row64(static_cast<uint64_t>(f(at64(w), at64(w + 2)))); }};
}
template <typename F>
Case binary32(const char* name, F f) {
  return {name, [f](const uint32_t* w) { return row(static_cast<uint32_t>(f(w[0], w[1]))); }};
}
template <typename F>
Case unary64(const char* name, F f) {
  return {name, [f](const uint32_t* w) { return row64(f(at64(w))); }};
}
template <typename F>
Case count64(const char* name, F f) {
  return {name, [f](const uint32_t* w) { return row(static_cast<uint32_t>(f(at64(w)))); }};
}

template <typename U>
U reversed(U v) {
  U r = 0;
  for (size_t i = 0; i < 8 * sizeof(U); ++i) r |= (v >> i & 1) << (8 * sizeof(U) - 1 - i);
  return r;
}
template <typename S, typename U>
U divide(U a, U b) {
  if (b == 0) return ~U{0};
  if (static_cast<S>(b) == -1) return U{0} - a;
  return static_cast<U>(static_cast<S>(a) / static_cast<S>(b));
}
template <typename S, typename U>
U remainder(U a, U b) {
  if (b == 0) return ~U{0};
  if (static_cast<S>(b) == -1) return 0;
  return static_cast<U>(static_cast<S>(a) % static_cast<S>(b));
}
/// Bit by bit, as the PTX manual's pseudo code has it.
template <typename U>
U extract(U a, uint32_t pos, uint32_t len, bool sign) {
  constexpr uint32_t kMsb = 8 * sizeof(U) - 1;
  pos &= 0xff, len &= 0xff;
  const U fill = sign && len != 0 ? a >> std::min(pos + len - 1, kMsb) & 1 : 0;
  U d = 0;
  for (uint32_t i = 0; i <= kMsb; ++i)
    d |= (i < len && pos + i <= kMsb ? a >> (pos + i) & 1 : fill) << i;
  return d;
}
template <typename U>
U insert(U a, U b, uint32_t pos, uint32_t len) {
  constexpr uint32_t kMsb = 8 * sizeof(U) - 1;
  pos &= 0xff, len &= 0xff;
  for (uint32_t i = 0; i < len && pos + i <= kMsb; ++i)
    b = (b & ~(U{1} << (pos + i))) | (a >> i & 1) << (pos + i);
  return b;
}

}  // namespace

TEST_CASE("64-bit integers with two operands") {
  const Words args = pairs64(1, 3000);
  const auto s = [](uint64_t v) { return static_cast<int64_t>(v); };
  for (const Case& c : {
           binary64("lw_add_u64", [](auto a, auto b) { return a + b; }),
           binary64("lw_sub_u64", [](auto a, auto b) { return a - b; }),
           binary64("lw_mul_u64", [](auto a, auto b) { return a * b; }),
           binary64("lw_and_u64", [](auto a, auto b) { return a & b; }),
           binary64("lw_or_u64", [](auto a, auto b) { return a | b; }),
           binary64("lw_xor_u64", [](auto a, auto b) { return a ^ b; }),
           binary64("lw_mulhi_u64", [](auto a, auto b) { return u128(a) * b >> 64; }),
           binary64("lw_mulhi_s64", [s](auto a, auto b) { return s128(s(a)) * s(b) >> 64; }),
           binary64("lw_div_u64", [](auto a, auto b) { return b == 0 ? ~uint64_t{0} : a / b; }),
           binary64("lw_rem_u64", [](auto a, auto b) { return b == 0 ? ~decltype(a){0} : a % b; }),
           binary64("lw_div_s64", divide<int64_t, uint64_t>),
           binary64("lw_rem_s64", remainder<int64_t, uint64_t>),
           binary64("lw_min_u64", [](auto a, auto b) { return std::min(a, b); }),
           binary64("lw_max_u64", [](auto a, auto b) { return std::max(a, b); }),
           binary64("lw_min_s64", [s](auto a, auto b) { return std::min(s(a), s(b)); }),
           binary64("lw_max_s64", [s](auto a, auto b) { return std::max(s(a), s(b)); }),
       })
    check(c, args, drivers());
}

TEST_CASE("64-bit integers with one operand") {
  const Words args = pairs64(2, 2000);
  const auto s = [](uint64_t v) { return static_cast<int64_t>(v); };
  for (const Case& c : {
           unary64("lw_neg_u64", [](uint64_t a) { return 0 - a; }),
           unary64("lw_not_u64", [](uint64_t a) { return ~a; }),
           unary64("lw_abs_s64", [s](uint64_t a) { return s(a) < 0 ? 0 - a : a; }),
           unary64("lw_brev_u64", reversed<uint64_t>),
           count64("lw_popc_u64", [](uint64_t a) { return std::popcount(a); }),
           count64("lw_clz_u64", [](uint64_t a) { return std::countl_zero(a); }),
           count64("lw_bfind_u64", [](uint64_t a) { return 63 - std::countl_zero(a); }),
           count64("lw_bfind_s64",
                   [s](uint64_t a) { return 63 - std::countl_zero(s(a) < 0 ? ~a : a); }),
       })
    check(c, args, drivers());
}

TEST_CASE("64-bit shifts, bit fields, carries and compares") {
  std::mt19937_64 rng(3);
  Words shifts, fields, inserts, carries, compares;
  for (int i = 0; i < 3000; ++i) {
    const uint64_t a = rng() >> (rng() % 64), b = i % 3 == 0 ? a : rng();
    const auto n = static_cast<uint32_t>(i % 5 == 0 ? rng() : rng() % 70);
    const auto len = static_cast<uint32_t>(i % 7 == 0 ? rng() : rng() % 70);
    const uint32_t al = uint32_t(a), ah = uint32_t(a >> 32), bl = uint32_t(b),
                   bh = uint32_t(b >> 32);
    shifts.insert(shifts.end(), {al, ah, n});
    fields.insert(fields.end(), {al, ah, n, len});
    inserts.insert(inserts.end(), {al, ah, bl, bh, n, len});
    carries.insert(carries.end(), {al, ah, bl, bh, uint32_t(i & 1)});
    compares.insert(compares.end(), {al, ah, bl, bh, uint32_t(i % 6)});
  }
  check({"lw_shl_u64", [](const uint32_t* w) { return row64(w[2] > 63 ? 0 : at64(w) << w[2]); }},
        shifts, drivers());
  check({"lw_shr_u64", [](const uint32_t* w) { return row64(w[2] > 63 ? 0 : at64(w) >> w[2]); }},
        shifts, drivers());
  check(
      {"lw_shr_s64",
       [](const uint32_t* w) { return row64(uint64_t(int64_t(at64(w)) >> std::min(w[2], 63U))); }},
      shifts, drivers());
  check(
      {"lw_bfe_u64", [](const uint32_t* w) { return row64(extract(at64(w), w[2], w[3], false)); }},
      fields, drivers());
  check({"lw_bfe_s64", [](const uint32_t* w) { return row64(extract(at64(w), w[2], w[3], true)); }},
        fields, drivers());
  check({"lw_bfi_u64",
         [](const uint32_t* w) { return row64(insert(at64(w), at64(w + 2), w[4], w[5])); }},
        inserts, drivers());
  check({"lw_addc_u64",
         [](const uint32_t* w) {
           const u128 sum = u128(at64(w)) + at64(w + 2) + w[4];
           return Row{uint32_t(sum), uint32_t(sum >> 32), uint32_t(sum >> 64)};
         }},
        carries, drivers());
  check({"lw_subb_u64",
         [](const uint32_t* w) {
           const u128 d = u128(at64(w)) - at64(w + 2) - w[4];
           return Row{uint32_t(d), uint32_t(d >> 32), uint32_t(d >> 64) & 1};
         }},
        carries, drivers());
  const auto holds = [](auto a, auto b, uint32_t cond) {
    const bool table[] = {a == b, a != b, a<b, a <= b, a> b, a >= b};
    return row(table[cond]);
  };
  check({"lw_icmp_u64", [&](const uint32_t* w) { return holds(at64(w), at64(w + 2), w[4]); }},
        compares, drivers());
  check({"lw_icmp_s64",
         [&](const uint32_t* w) { return holds(int64_t(at64(w)), int64_t(at64(w + 2)), w[4]); }},
        compares, drivers());
}

TEST_CASE("32-bit integers") {
  Words two, four;
  std::mt19937_64 rng(4);
  for (const uint64_t a : kEdges)
    for (const uint64_t b : kEdges) two.insert(two.end(), {uint32_t(a), uint32_t(b)});
  for (int i = 0; i < 3000; ++i) {
    two.insert(two.end(), {uint32_t(rng()) >> (rng() % 32), uint32_t(rng()) >> (rng() % 32)});
    four.insert(four.end(),
                {uint32_t(rng()), uint32_t(rng()), uint32_t(rng() % (i % 9 == 0 ? 300 : 40)),
                 uint32_t(rng() % (i % 7 == 0 ? 300 : 40))});
  }
  const auto s = [](uint32_t v) { return static_cast<int32_t>(v); };
  for (const Case& c : {
           binary32("lw_div_u32", [](auto a, auto b) { return b == 0 ? ~0U : a / b; }),
           binary32("lw_rem_u32", [](auto a, auto b) { return b == 0 ? ~decltype(a){0} : a % b; }),
           binary32("lw_div_s32", divide<int32_t, uint32_t>),
           binary32("lw_rem_s32", remainder<int32_t, uint32_t>),
           binary32("lw_mulhi_u32", [](auto a, auto b) { return uint64_t{a} * b >> 32; }),
           binary32("lw_mulhi_s32", [s](auto a, auto b) { return int64_t{s(a)} * s(b) >> 32; }),
           binary32("lw_shl_u32", [](auto a, auto n) { return n > 31 ? 0 : a << n; }),
           binary32("lw_shr_u32", [](auto a, auto n) { return n > 31 ? 0 : a >> n; }),
           binary32("lw_shr_s32", [s](auto a, auto n) { return s(a) >> std::min(n, 31U); }),
           Case{"lw_popc_u32", [](const uint32_t*w) { return row(uint32_t(std::popcount(w[0]))); }},
           Case{"lw_clz_u32",
                [](const uint32_t*w) { return row(uint32_t(std::countl_zero(w[0]))); }},
           Case{"lw_brev_u32", [](const uint32_t*w) { return row(reversed(w[0])); }},
           Case{"lw_bfind_u32",
                [](const uint32_t*w) { return row(31U - uint32_t(std::countl_zero(w[0]))); }},
           Case{"lw_bfind_s32",
                [s](const uint32_t*w) {
                  return row(31U - uint32_t(std::countl_zero(s(w[0]) < 0 ? ~w[0] : w[0])));
                }},
           Case{"lw_mulwide_u32", [](const uint32_t*w) { return row64(uint64_t{w[0]} * w[1]); }},
           Case{"lw_mulwide_s32",
                [s](const uint32_t*w) { return row64(uint64_t(int64_t{s(w[0])} * s(w[1]))); }},
       })
    check(c, two, drivers());
  check({"lw_bfi_u32", [](const uint32_t* w) { return row(insert(w[0], w[1], w[2], w[3])); }}, four,
        drivers());
  check({"lw_lop3",
         [](const uint32_t* w) {
           uint32_t r = 0;
           for (int i = 0; i < 32; ++i)
             r |= (w[3] >> ((w[0] >> i & 1) * 4 + (w[1] >> i & 1) * 2 + (w[2] >> i & 1)) & 1) << i;
           return row(r);
         }},
        four, drivers());
  Words three;
  for (size_t i = 0; i < four.size(); i += 4)
    three.insert(three.end(), {four[i], four[i + 2], four[i + 3]});
  check({"lw_bfe_u32", [](const uint32_t* w) { return row(extract(w[0], w[1], w[2], false)); }},
        three, drivers());
  check({"lw_bfe_s32", [](const uint32_t* w) { return row(extract(w[0], w[1], w[2], true)); }},
        three, drivers());
  for (size_t i = 3; i < four.size(); i += 4) four[i] &= 1;
  const auto amount = [](const uint32_t* w) { return w[3] == 0 ? std::min(w[2], 32U) : w[2] & 31; };
  check({"lw_shf_l", [&](const uint32_t* w) { return row(uint32_t(at64(w) << amount(w) >> 32)); }},
        four, drivers());
  check({"lw_shf_r", [&](const uint32_t* w) { return row(uint32_t(at64(w) >> amount(w))); }}, four,
        drivers());
  for (size_t i = 3; i < four.size(); i += 4)
    four[i] = static_cast<uint32_t>(i / 4 % 7), four[i - 1] = uint32_t(rng());
  check({"lw_prmt",
         [](const uint32_t* w) {
           // The PTX manual's table of the special modes, for selector values 0 to 3.
           static constexpr uint32_t kModes[7][4] = {{},
                                                     {0x3210, 0x4321, 0x5432, 0x6543},
                                                     {0x5670, 0x6701, 0x7012, 0x0123},
                                                     {0x0000, 0x1111, 0x2222, 0x3333},
                                                     {0x3210, 0x3211, 0x3222, 0x3333},
                                                     {0x0000, 0x1110, 0x2210, 0x3210},
                                                     {0x1010, 0x3232, 0x1010, 0x3232}};
           const uint32_t picks = w[3] == 0 ? w[2] : kModes[w[3]][w[2] & 3];
           uint32_t r = 0;
           for (int i = 0; i < 4; ++i) {
             const uint32_t nibble = picks >> (4 * i) & 15;
             const auto byte = static_cast<uint32_t>(at64(w) >> (8 * (nibble & 7)) & 255);
             r |= ((nibble & 8) == 0 ? byte : (byte & 128) != 0 ? 255U : 0U) << (8 * i);
           }
           return row(r);
         }},
        four, drivers());
}
