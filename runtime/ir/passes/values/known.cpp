#include "runtime/ir/passes/values/known.hpp"

#include <algorithm>
#include <bit>

namespace lanewise::ir {

Known settled(Known k, unsigned bits) {
  const uint64_t all = ones_of(bits), sign = uint64_t{1} << (bits - 1);
  k.zero |= ~all;
  for (int round = 0; round < 2; ++round) {
    k.least = std::max(k.least, k.one);
    k.most = std::min(k.most, ~k.zero);
    if (k.least > k.most || k.low > k.high) return Known{};
    if ((k.zero & sign) != 0 || (k.one & sign) != 0) {
      k.low = std::max(k.low, signed_of(k.least, bits));
      k.high = std::min(k.high, signed_of(k.most, bits));
    }
    if (k.low >= 0 || k.high < 0) {
      k.least = std::max(k.least, static_cast<uint64_t>(k.low) & all);
      k.most = std::min(k.most, static_cast<uint64_t>(k.high) & all);
    }
    if (k.least > k.most || k.low > k.high) return Known{};
    const unsigned same = static_cast<unsigned>(std::countl_zero(k.least ^ k.most));
    const uint64_t leading = same == 0 ? 0 : ~uint64_t{0} << (64 - same);
    k.zero |= ~k.least & leading;
    k.one |= k.least & leading;
    if ((k.zero & k.one) != 0) return Known{};
  }
  return k;
}

Cond opposite(Cond cond) {
  constexpr Cond kOpposites[] = {Cond::ne, Cond::eq, Cond::ge, Cond::gt, Cond::le, Cond::lt};
  return kOpposites[static_cast<size_t>(cond)];
}

unsigned Known::zeros() const {
  return static_cast<unsigned>(std::countr_one(zero));
}
Known Known::any(unsigned bits) {
  if (bits == 1) return {~ones_of(1), 0, 0, 1, -1, 0};
  return {~ones_of(bits), 0, 0, ones_of(bits), least_signed(bits), ~least_signed(bits)};
}
Known Known::exactly(uint64_t value, unsigned bits) {
  value &= ones_of(bits);
  return {~value, value, value, value, signed_of(value, bits), signed_of(value, bits)};
}
Known Known::between(uint64_t least, uint64_t most, unsigned bits) {
  Known k = any(bits);
  k.least = least;
  k.most = most;
  return settled(k, bits);
}
Known Known::between_signed(int64_t low, int64_t high, unsigned bits) {
  Known k = any(bits);
  k.low = low;
  k.high = high;
  return settled(k, bits);
}

Known joined(const Known& a, const Known& b) {
  if (a.none()) return b;
  if (b.none()) return a;
  return {a.zero & b.zero,          a.one & b.one,          std::min(a.least, b.least),
          std::max(a.most, b.most), std::min(a.low, b.low), std::max(a.high, b.high)};
}

Known met(const Known& a, const Known& b, unsigned bits) {
  if (a.none() || b.none()) return {};
  return settled({a.zero | b.zero, a.one | b.one, std::max(a.least, b.least),
                  std::min(a.most, b.most), std::max(a.low, b.low), std::min(a.high, b.high)},
                 bits);
}

Known where(const Known& a, Cond cond, const Known& b, Type type) {
  const unsigned bits = bits_of(width_of(type));
  if (a.none() || b.none()) return a;
  Known k = a;
  const bool less = cond == Cond::lt || cond == Cond::le;
  const int off = cond == Cond::lt || cond == Cond::gt ? 1 : 0;
  if (cond == Cond::eq) return met(a, b, bits);
  if (cond == Cond::ne) {
    const auto other = b.constant();
    if (!other) return a;
    if (k.least == *other) ++k.least;
    if (k.most == *other) --k.most;
    if (k.low == signed_of(*other, bits)) ++k.low;
    if (k.high == signed_of(*other, bits)) --k.high;
    return a.constant() == other ? Known{} : settled(k, bits);
  }
  if (is_signed(type)) {
    if (less ? b.high == least_signed(bits) && off != 0 : b.low == ~least_signed(bits) && off != 0)
      return {};
    (less ? k.high : k.low) = less ? std::min(k.high, b.high - off) : std::max(k.low, b.low + off);
  } else {
    if (off != 0 && (less ? b.most == 0 : b.least == ones_of(bits))) return {};
    const auto by = static_cast<uint64_t>(off);
    (less ? k.most : k.least) =
        less ? std::min(k.most, b.most - by) : std::max(k.least, b.least + by);
  }
  return settled(k, bits);
}

std::optional<bool> compared(const Known& a, Cond cond, const Known& b, Type type) {
  if (cond > Cond::ge || a.none() || b.none()) return std::nullopt;
  if (where(a, cond, b, type).none()) return false;
  if (where(a, opposite(cond), b, type).none()) return true;
  return std::nullopt;
}

}  // namespace lanewise::ir
