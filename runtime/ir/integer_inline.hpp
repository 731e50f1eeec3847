// What the integer operations compute, for callers that know the operation when they are compiled.
// They may be compiled for other processors than the rest: nothing here may remain as a function
// that the linker could share, so all of it is inlined, and none of it is the standard library's.
#pragma once

#include <type_traits>

#include "runtime/ir/integer.hpp"

// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): an attribute
#define LANEWISE_INLINE [[gnu::always_inline]] inline

namespace lanewise::ir::inlined {

LANEWISE_INLINE uint32_t least(uint32_t a, uint32_t b) {
  return a < b ? a : b;
}
LANEWISE_INLINE int count_bits(uint64_t a) {
  return __builtin_popcountll(a);
}
template <typename U>
LANEWISE_INLINE int leading_zeros(U a) {
  if (a == 0) return 8 * sizeof(U);
  return sizeof(U) == 8 ? __builtin_clzll(a) : __builtin_clz(static_cast<uint32_t>(a));
}

template <typename U>
constexpr unsigned kBits = 8 * sizeof(U);
template <typename U>
using Signed = std::make_signed_t<U>;

template <typename U>
LANEWISE_INLINE U multiply_high(bool is_signed, U a, U b) {
  if (is_signed) {
    const __int128 p = __int128{static_cast<Signed<U>>(a)} * static_cast<Signed<U>>(b);
    return static_cast<U>(p >> kBits<U>);
  }
  return static_cast<U>((static_cast<unsigned __int128>(a) * b) >> kBits<U>);
}

template <typename U>
LANEWISE_INLINE U divide(bool is_signed, U a, U b) {
  if (b == 0) return ~U{0};
  if (!is_signed) return a / b;
  if (b == ~U{0}) return U{0} - a;  // INT_MIN / -1 wraps to itself
  return static_cast<U>(static_cast<Signed<U>>(a) / static_cast<Signed<U>>(b));
}

template <typename U>
LANEWISE_INLINE U remainder(bool is_signed, U a, U b) {
  if (b == 0) return ~U{0};
  if (!is_signed) return a % b;
  if (b == ~U{0}) return 0;
  return static_cast<U>(static_cast<Signed<U>>(a) % static_cast<Signed<U>>(b));
}

template <typename U>
LANEWISE_INLINE U shift_right(bool is_signed, U a, uint32_t n) {
  if (!is_signed) return n < kBits<U> ? a >> n : 0;
  return static_cast<U>(static_cast<Signed<U>>(a) >> least(n, kBits<U> - 1));
}

template <typename U>
LANEWISE_INLINE U reverse_bits(U a) {
  U r = 0;
  for (unsigned i = 0; i < kBits<U>; ++i) r |= (a >> i & 1) << (kBits<U> - 1 - i);
  return r;
}

template <typename U>
LANEWISE_INLINE uint32_t find_highest(bool is_signed, U a) {
  if (is_signed && static_cast<Signed<U>>(a) < 0) a = ~a;
  return a == 0 ? ~uint32_t{0} : kBits<U> - 1 - static_cast<uint32_t>(leading_zeros(a));
}

/// A field of `len` bits from `pos`; the part above the field, and what the field has beyond the
/// value's own top, is the sign: the field's top bit, or the value's when the field passes it.
template <typename U>
LANEWISE_INLINE U extract_field(bool is_signed, U a, uint32_t pos, uint32_t len) {
  pos &= 0xff;
  len &= 0xff;
  if (len == 0) return 0;
  const uint32_t top = least(pos + len - 1, kBits<U> - 1);
  const U fill = is_signed && (a >> top & 1) != 0 ? ~U{0} : 0;
  U r = pos < kBits<U> ? a >> pos : 0;
  const uint32_t valid = pos < kBits<U> ? least(len, kBits<U> - pos) : 0;
  if (valid == 0) return fill;
  const U mask = valid < kBits<U> ? (U{1} << valid) - 1 : ~U{0};
  return (r & mask) | (fill & ~mask);
}

template <typename U>
LANEWISE_INLINE U insert_field(U a, U b, uint32_t pos, uint32_t len) {
  pos &= 0xff;
  len &= 0xff;
  if (len == 0 || pos >= kBits<U>) return b;
  const U field = len < kBits<U> ? (U{1} << len) - 1 : ~U{0};
  return (b & ~(field << pos)) | ((a & field) << pos);
}

LANEWISE_INLINE uint32_t funnel_amount(uint32_t n, uint8_t mode) {
  return mode == 1 ? n & 31 : least(n, 32);
}

/// Of the table's rows the two that differ in c, as c itself, its complement, or a constant.
LANEWISE_INLINE uint32_t row_pair(uint32_t c, uint32_t rows) {
  const uint32_t low = 0U - (rows & 1), high = 0U - (rows >> 1 & 1);
  return (c & (low ^ high)) ^ low;
}
LANEWISE_INLINE uint32_t lookup3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  const uint32_t r0 = row_pair(c, table), r1 = row_pair(c, table >> 2);
  const uint32_t r2 = row_pair(c, table >> 4), r3 = row_pair(c, table >> 6);
  const uint32_t not_a = r0 ^ (b & (r0 ^ r1)), with_a = r2 ^ (b & (r2 ^ r3));
  return not_a ^ (a & (not_a ^ with_a));
}

template <typename U>
LANEWISE_INLINE U sized(Op op, bool is_signed, U a, U b, uint32_t n, uint32_t m) {
  const bool less = is_signed ? static_cast<Signed<U>>(a) < static_cast<Signed<U>>(b) : a < b;
  switch (op) {
    case Op::add:
      return a + b;
    case Op::sub:
      return a - b;
    case Op::mul:
      return a * b;
    case Op::mulhi:
      return multiply_high<U>(is_signed, a, b);
    case Op::div:
      return divide<U>(is_signed, a, b);
    case Op::rem:
      return remainder<U>(is_signed, a, b);
    case Op::min:
      return less ? a : b;
    case Op::max:
      return less ? b : a;
    case Op::neg:
      return U{0} - a;
    case Op::abs:
      return static_cast<Signed<U>>(a) < 0 ? U{0} - a : a;
    case Op::and_:
      return a & b;
    case Op::or_:
      return a | b;
    case Op::xor_:
      return a ^ b;
    case Op::not_:
      return ~a;
    case Op::shl:
      return n < kBits<U> ? a << n : 0;
    case Op::shr:
      return shift_right<U>(is_signed, a, n);
    case Op::popc:
      return static_cast<U>(count_bits(a));
    case Op::clz:
      return static_cast<U>(leading_zeros(a));
    case Op::brev:
      return reverse_bits<U>(a);
    case Op::bfe:
      return extract_field<U>(is_signed, a, n, m);
    default:
      return 0;
  }
}

LANEWISE_INLINE uint64_t wide_product(bool is_signed, uint64_t a, uint64_t b) {
  const auto x = static_cast<uint32_t>(a), y = static_cast<uint32_t>(b);
  if (!is_signed) return uint64_t{x} * y;
  return static_cast<uint64_t>(int64_t{static_cast<int32_t>(x)} * static_cast<int32_t>(y));
}

LANEWISE_INLINE uint64_t integer_op(Op op, Type type, uint8_t mode, uint64_t a, uint64_t b,
                                    uint64_t c, uint64_t d) {
  const bool is_signed = ir::is_signed(type);
  const bool wide = width_of(type) == Width::b64;
  const auto a32 = static_cast<uint32_t>(a), b32 = static_cast<uint32_t>(b);
  const auto c32 = static_cast<uint32_t>(c), d32 = static_cast<uint32_t>(d);
  switch (op) {
    case Op::mov:
      return a;
    case Op::pack64:
      return a32 | b << 32;
    case Op::zext64:
    case Op::trunc32:
      return a32;
    case Op::sext64:
      return static_cast<uint64_t>(int64_t{static_cast<int32_t>(a)});
    case Op::zext8:
      return a & 0xff;
    case Op::sext8:
      return static_cast<uint32_t>(static_cast<int8_t>(a));
    case Op::zext16:
      return a & 0xffff;
    case Op::sext16:
      return static_cast<uint32_t>(static_cast<int16_t>(a));
    case Op::mulwide:
      return wide_product(is_signed, a, b);
    case Op::shf_l: {
      const uint64_t pair = b << 32 | a;
      return static_cast<uint32_t>(pair << funnel_amount(c32, mode) >> 32);
    }
    case Op::shf_r: {
      const uint64_t pair = b << 32 | a;
      return static_cast<uint32_t>(pair >> funnel_amount(c32, mode));
    }
    case Op::prmt:
      return permute_bytes(a32, b32, c32, static_cast<PrmtMode>(mode));
    case Op::lop3:
      return lookup3(a32, b32, c32, mode);
    case Op::bfind:
      return wide ? find_highest<uint64_t>(is_signed, a) : find_highest<uint32_t>(is_signed, a32);
    case Op::bfi:
      return wide ? insert_field<uint64_t>(a, b, c32, d32)
                  : insert_field<uint32_t>(a32, b32, c32, d32);
    case Op::not_:
      if (type == Type::pred) return (a & 1) ^ 1;
      break;
    default:
      break;
  }
  return wide ? sized<uint64_t>(op, is_signed, a, b, b32, c32)
              : sized<uint32_t>(op, is_signed, a32, b32, b32, c32);
}

}  // namespace lanewise::ir::inlined
