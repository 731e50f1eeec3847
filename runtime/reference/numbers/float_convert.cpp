#include <algorithm>

#include "runtime/reference/numbers/float_ops.hpp"
#include "runtime/reference/numbers/soft_float.hpp"

namespace lanewise::reference {
namespace {

using ir::Round;
using ir::Type;

/// In conversions .ftz applies to the f32 side only.
uint64_t flush_f32(Type type, bool ftz, uint64_t v) {
  return ftz && type == Type::f32 ? flush_subnormal(type, v) : v;
}

uint64_t finish(Type type, FloatFlags flags, uint64_t v) {
  v = flush_f32(type, flags.ftz, v);
  return flags.sat ? saturate(type, v) : v;
}

uint64_t low_bits(unsigned n) {
  return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
}

/// The limits of an integer type, as magnitudes below and above zero.
struct Limits {
  uint64_t negative, positive;
};
Limits limits_of(Type to) {
  const unsigned bits = 8 * ir::size_of(to);
  if (!ir::is_signed(to)) return {0, low_bits(bits)};
  return {uint64_t{1} << (bits - 1), low_bits(bits - 1)};
}

uint64_t invalid_integer(Type to, Type from) {
  const unsigned bits = 8 * ir::size_of(to);
  return from == Type::f64 || bits == 64 ? uint64_t{1} << (bits - 1) : 0;
}

}  // namespace

uint64_t float_to_float(Type to, Type from, FloatFlags flags, uint64_t a) {
  a = flush_f32(from, flags.ftz, a);
  return finish(
      to, flags,
      pack(format_of(to), unpack(format_of(from), a), flags.round, flags.ftz && to == Type::f32));
}

uint64_t float_to_integer(Type to, Type from, FloatFlags flags, uint64_t a) {
  a = flush_f32(from, flags.ftz, a);
  const Number n = round_to_integral(unpack(format_of(from), a), flags.round);
  if (n.cls == Number::Class::nan) return invalid_integer(to, from);
  if (n.cls == Number::Class::zero) return 0;
  const Limits limits = limits_of(to);
  const uint64_t limit = n.sign ? limits.negative : limits.positive;
  // A finite value has at most 53 significant bits, so 2^64 and above shows in the exponent.
  const bool huge =
      n.cls == Number::Class::inf || n.exp > 64 || (n.sig << std::max(n.exp, 0)) >> 64 != 0;
  const uint64_t magnitude = huge ? limit : std::min(limit, static_cast<uint64_t>(n.sig << n.exp));
  return (n.sign ? uint64_t{0} - magnitude : magnitude) & low_bits(8 * ir::size_of(to));
}

uint64_t integer_to_float(Type to, Type from, FloatFlags flags, uint64_t a) {
  const unsigned bits = 8 * ir::size_of(from);
  a &= low_bits(bits);
  const bool negative = ir::is_signed(from) && (a >> (bits - 1) & 1) != 0;
  const uint64_t magnitude = negative ? (uint64_t{0} - a) & low_bits(bits) : a;
  return finish(to, flags, pack(format_of(to), from_integer(negative, magnitude), flags.round));
}

}  // namespace lanewise::reference
