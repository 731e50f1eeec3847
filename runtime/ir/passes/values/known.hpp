// What is known of a number: bits, and bounds of it as an unsigned and as a signed integer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// The number's bits beyond its width are zero. Each fact is used to sharpen the others
/// (settled()).
struct Known {
  uint64_t zero = ~uint64_t{0}, one = ~uint64_t{0};  ///< bits that are surely 0, surely 1
  uint64_t least = ~uint64_t{0}, most = 0;
  int64_t low = INT64_MAX, high = INT64_MIN;

  /// As it begins: no number at all, for nothing has come there yet, or nothing can.
  bool none() const { return least > most; }
  std::optional<uint64_t> constant() const {
    return least == most ? std::optional(least) : std::nullopt;
  }
  /// Low bits that are surely zero; all of them of 0.
  unsigned zeros() const;
  bool operator==(const Known&) const = default;

  static Known any(unsigned bits);
  static Known exactly(uint64_t value, unsigned bits);
  static Known between(uint64_t least, uint64_t most, unsigned bits);
  static Known between_signed(int64_t low, int64_t high, unsigned bits);
};

inline unsigned bits_of(Width width) {
  return width == Width::b64 ? 64 : width == Width::b32 ? 32 : 1;
}
inline uint64_t ones_of(unsigned count) {
  return count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1;
}
/// The number that so many low bits are as a signed one, and the lowest of these.
inline int64_t signed_of(uint64_t value, unsigned bits) {
  return static_cast<int64_t>(value << (64 - bits)) >> (64 - bits);
}
inline int64_t least_signed(unsigned bits) {
  return INT64_MIN >> (64 - bits);
}
/// What holds where the condition does not; of those of integers.
Cond opposite(Cond cond);

/// The bounds follow from the bits, the leading bits from the bounds, and each kind of bound from
/// the other where the sign is known.
Known settled(Known known, unsigned bits);
/// Either of them.
Known joined(const Known& a, const Known& b);
/// Both of them at once; none where that cannot be.
Known met(const Known& a, const Known& b, unsigned bits);
/// `a` as far as `a cond b` allows it.
Known where(const Known& a, Cond cond, const Known& b, Type type);
/// Whether the compare is decided.
std::optional<bool> compared(const Known& a, Cond cond, const Known& b, Type type);

/// Result `which` of a pure operation on integers, bits and predicates; any number of others.
/// `in` has none() of no source.
Known compute(const Inst& inst, size_t which, std::span<const Known> in, unsigned bits);

}  // namespace lanewise::ir
