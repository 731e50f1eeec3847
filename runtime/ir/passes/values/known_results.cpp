// What operations make of what is known of their operands.
#include <algorithm>
#include <bit>

#include "runtime/ir/passes/values/known.hpp"

namespace lanewise::ir {
namespace {

Known of_bits(uint64_t zero, uint64_t one, unsigned bits) {
  Known k = Known::any(bits);
  k.zero |= zero;
  k.one |= one & ones_of(bits);
  return settled(k, bits);
}
Known with_zeros(Known k, unsigned zeros, unsigned bits) {
  k.zero |= ones_of(std::min(zeros, bits));
  return settled(k, bits);
}

/// Bounds of 128 bits, which no sum or product of two numbers passes.
using Wide = __int128;
Known bounded(Wide low, Wide high, unsigned bits, bool is_signed) {
  if (is_signed) {
    if (low < Wide{least_signed(bits)} || high > Wide{~least_signed(bits)}) return Known::any(bits);
    return Known::between_signed(static_cast<int64_t>(low), static_cast<int64_t>(high), bits);
  }
  // What wraps once, wherever it lies, does so all together.
  const Wide size = Wide{1} << bits;
  if (low < 0 && high < 0) low += size, high += size;
  if (low >= size) low -= size, high -= size;
  if (low < 0 || high >= size) return Known::any(bits);
  return Known::between(static_cast<uint64_t>(low), static_cast<uint64_t>(high), bits);
}

/// `carry` and all bits are known as far as those below them are.
Known sum_bits(const Known& a, const Known& b, bool carry_least, bool carry_most, unsigned bits) {
  const uint64_t most = ~a.zero + ~b.zero + (carry_most ? 1 : 0);
  const uint64_t least = a.one + b.one + (carry_least ? 1 : 0);
  const uint64_t carry_zero = ~(most ^ a.zero ^ b.zero), carry_one = least ^ a.one ^ b.one;
  const uint64_t known = (a.zero | a.one) & (b.zero | b.one) & (carry_zero | carry_one);
  return of_bits(~most & known, least & known, bits);
}
Known complement(const Known& a, unsigned bits) {
  Known k{a.one, a.zero & ones_of(bits), ~a.most & ones_of(bits), ~a.least & ones_of(bits), ~a.high,
          ~a.low};
  return settled(k, bits);
}
Known sum(const Known& a, const Known& b, const Known& carry, unsigned bits) {
  const Known u = bounded(Wide{a.least} + b.least + carry.least, Wide{a.most} + b.most + carry.most,
                          bits, false);
  const Known s =
      bounded(Wide{a.low} + b.low + carry.least, Wide{a.high} + b.high + carry.most, bits, true);
  const Known by_bits = sum_bits(a, b, carry.least != 0, carry.most != 0, bits);
  return met(met(u, s, bits), by_bits, bits);
}
Known difference(const Known& a, const Known& b, const Known& borrow, unsigned bits) {
  const Known u = bounded(Wide{a.least} - b.most - borrow.most,
                          Wide{a.most} - b.least - borrow.least, bits, false);
  const Known s =
      bounded(Wide{a.low} - b.high - borrow.most, Wide{a.high} - b.low - borrow.least, bits, true);
  const Known by_bits = sum_bits(a, complement(b, bits), borrow.most == 0, borrow.least == 0, bits);
  return met(met(u, s, bits), by_bits, bits);
}
Known product(const Known& a, const Known& b, unsigned bits) {
  const bool fits = a.most == 0 || b.most <= ones_of(bits) / a.most;
  const Known k =
      fits ? Known::between(a.least * b.least, a.most * b.most, bits) : Known::any(bits);
  return with_zeros(k, a.zeros() + b.zeros(), bits);
}
Known signed_product(const Known& a, const Known& b, unsigned bits) {
  const Wide corners[] = {Wide{a.low} * b.low, Wide{a.low} * b.high, Wide{a.high} * b.low,
                          Wide{a.high} * b.high};
  return bounded(*std::ranges::min_element(corners), *std::ranges::max_element(corners), bits,
                 true);
}

Known shifted_left(const Known& a, uint64_t by, unsigned bits) {
  if (by >= bits) return Known::exactly(0, bits);
  const uint64_t filled = ones_of(static_cast<unsigned>(by));
  const Known k = of_bits((a.zero << by) | filled, a.one << by, bits);
  if (a.most > ones_of(bits) >> by) return k;
  return met(k, Known::between(a.least << by, a.most << by, bits), bits);
}
Known shifted_right(const Known& a, uint64_t by, unsigned bits, bool with_sign) {
  if (with_sign) {
    const auto n = static_cast<unsigned>(std::min<uint64_t>(by, bits - 1));
    const uint64_t zero = static_cast<uint64_t>(signed_of(a.zero, bits) >> n);
    const uint64_t one = static_cast<uint64_t>(signed_of(a.one, bits) >> n);
    return met(of_bits(zero & ones_of(bits), one, bits),
               Known::between_signed(a.low >> n, a.high >> n, bits), bits);
  }
  if (by >= bits) return Known::exactly(0, bits);
  return met(of_bits(~(~a.zero >> by), a.one >> by, bits),
             Known::between(a.least >> by, a.most >> by, bits), bits);
}
Known kept_low(const Known& a, unsigned n, unsigned bits) {
  Known k = of_bits(a.zero | ~ones_of(n), a.one & ones_of(n), bits);
  if (a.most <= ones_of(n)) k = met(k, Known::between(a.least, a.most, bits), bits);
  return k;
}
/// The low n bits, the highest of which is the sign of a number of `bits` bits.
Known sign_extended(const Known& a, unsigned n, unsigned bits) {
  if (a.low >= least_signed(n) && a.high <= ~least_signed(n) && n < bits && bits == 32) return a;
  const uint64_t zero = static_cast<uint64_t>(signed_of(a.zero, n)),
                 one = static_cast<uint64_t>(signed_of(a.one, n));
  const Known k = met(of_bits(zero & ones_of(bits), one, bits),
                      Known::between_signed(least_signed(n), ~least_signed(n), bits), bits);
  return n == 32 ? met(k, Known::between_signed(a.low, a.high, bits), bits) : k;
}
Known packed(const Known& low, const Known& high) {
  Known k{(low.zero & 0xffffffff) | high.zero << 32,
          low.one | high.one << 32,
          low.least | high.least << 32,
          low.most | high.most << 32,
          INT64_MIN,
          INT64_MAX};
  return settled(k, 64);
}
/// Bit by bit, as a table of three inputs says.
Known by_table(uint8_t table, std::span<const Known> in, unsigned bits) {
  uint64_t may_be[2] = {0, 0};
  for (unsigned n = 0; n < 8; ++n) {
    uint64_t here = ~uint64_t{0};
    for (unsigned s = 0; s < 3; ++s) here &= (n >> (2 - s) & 1) != 0 ? ~in[s].zero : ~in[s].one;
    may_be[table >> n & 1] |= here;
  }
  return of_bits(~may_be[1], ~may_be[0], bits);
}
Known bytes_picked(std::span<const Known> in, uint64_t selector) {
  uint64_t zero = 0, one = 0;
  for (unsigned n = 0; n < 4; ++n) {
    const uint64_t pick = selector >> 4 * n & 15;
    const Known& from = in[pick >> 2 & 1];
    const unsigned at = 8 * (pick & 3);
    uint64_t z = from.zero >> at & 0xff, o = from.one >> at & 0xff;
    if (pick >= 8) z = (z & 0x80) != 0 ? 0xff : 0, o = (o & 0x80) != 0 ? 0xff : 0;
    zero |= z << 8 * n;
    one |= o << 8 * n;
  }
  return of_bits(zero, one, 32);
}

Known quotient(const Known& a, const Known& b, unsigned bits, bool is_signed) {
  if (is_signed && (a.low < 0 || b.low < 0)) {
    if (b.low <= 0) return Known::any(bits);
    const int64_t ends[] = {a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high};
    return Known::between_signed(*std::ranges::min_element(ends), *std::ranges::max_element(ends),
                                 bits);
  }
  if (b.least == 0) return Known::any(bits);
  return Known::between(a.least / b.most, a.most / b.least, bits);
}
Known remainder(const Known& a, const Known& b, unsigned bits, bool is_signed) {
  if (is_signed && b.low > 0 && a.low < 0)
    return Known::between_signed(std::max(a.low, 1 - b.high),
                                 std::max<int64_t>(0, std::min(a.high, b.high - 1)), bits);
  if (b.least == 0 || (is_signed && (a.low < 0 || b.low < 0))) return Known::any(bits);
  if (a.most < b.least) return a;
  return Known::between(0, std::min(a.most, b.most - 1), bits);
}
Known extreme(const Known& a, const Known& b, bool least, bool is_signed, unsigned bits) {
  const auto pick = [&](auto x, auto y) { return least ? std::min(x, y) : std::max(x, y); };
  const Known either = joined(a, b);
  const Known bound = is_signed
                          ? Known::between_signed(pick(a.low, b.low), pick(a.high, b.high), bits)
                          : Known::between(pick(a.least, b.least), pick(a.most, b.most), bits);
  return met(either, bound, bits);
}

/// Operations whose operands and result have the width of their type.
Known arithmetic(const Inst& inst, std::span<const Known> in, unsigned bits) {
  const bool is_signed = ir::is_signed(inst.type);
  const Known zero = Known::exactly(0, bits);
  switch (inst.op) {
    case Op::add:
      return sum(in[0], in[1], zero, bits);
    case Op::sub:
      return difference(in[0], in[1], zero, bits);
    case Op::neg:
      return difference(zero, in[0], zero, bits);
    case Op::abs:
      if (in[0].low >= 0) return in[0];
      return joined(
          in[0].high < 0 ? Known{} : Known::between(0, static_cast<uint64_t>(in[0].high), bits),
          difference(zero, met(in[0], Known::between_signed(least_signed(bits), -1, bits), bits),
                     zero, bits));
    case Op::mul:
      return met(product(in[0], in[1], bits), signed_product(in[0], in[1], bits), bits);
    case Op::div:
      return quotient(in[0], in[1], bits, is_signed);
    case Op::rem:
      return remainder(in[0], in[1], bits, is_signed);
    case Op::min:
    case Op::max:
      return extreme(in[0], in[1], inst.op == Op::min, is_signed, bits);
    case Op::and_:
      // A mask that takes nothing away.
      for (const size_t s : {0, 1})
        if ((~in[s].zero & ~in[1 - s].one) == 0) return in[s];
      return met(of_bits(in[0].zero | in[1].zero, in[0].one & in[1].one, bits),
                 Known::between(0, std::min(in[0].most, in[1].most), bits), bits);
    case Op::or_:
      if ((~in[0].zero & ~in[1].zero) == 0) return sum(in[0], in[1], zero, bits);  // no carries
      return met(of_bits(in[0].zero & in[1].zero, in[0].one | in[1].one, bits),
                 Known::between(std::max(in[0].least, in[1].least), ones_of(bits), bits), bits);
    case Op::xor_:
      return of_bits((in[0].zero & in[1].zero) | (in[0].one & in[1].one),
                     (in[0].zero & in[1].one) | (in[0].one & in[1].zero), bits);
    case Op::not_:
      return complement(in[0], bits);
    case Op::shl:
      if (const auto by = in[1].constant()) return shifted_left(in[0], *by, bits);
      return with_zeros(Known::any(bits),
                        in[0].zeros() + static_cast<unsigned>(std::min<uint64_t>(in[1].least, 64)),
                        bits);
    case Op::shr:
      if (const auto by = in[1].constant()) return shifted_right(in[0], *by, bits, is_signed);
      if (is_signed && in[0].low < 0)
        return Known::between_signed(in[0].low, std::max<int64_t>(in[0].high, 0), bits);
      return Known::between(0, shifted_right(in[0], in[1].least, bits, false).most, bits);
    default:
      return Known::any(bits);
  }
}

Known field(const Inst& inst, std::span<const Known> in, unsigned bits) {
  const auto at = in[1].constant(), length = in[2].constant();
  if (!is_signed(inst.type) && !(at && length)) {
    const uint64_t most =
        in[2].most < bits ? ones_of(static_cast<unsigned>(in[2].most)) : ones_of(bits);
    return Known::between(0, std::min(in[0].most, most), bits);
  }
  if (!at || !length) return Known::any(bits);
  const uint64_t n = *length & 0xff, first = *at & 0xff;
  if (n == 0) return Known::exactly(0, bits);
  if (!is_signed(inst.type))
    return n >= bits
               ? shifted_right(in[0], first, bits, false)
               : kept_low(shifted_right(in[0], first, bits, false), static_cast<unsigned>(n), bits);
  if (first + n > bits) return Known::any(bits);
  return shifted_right(shifted_left(in[0], bits - first - n, bits), bits - n, bits, true);
}

}  // namespace

Known compute(const Inst& inst, size_t which, std::span<const Known> in, unsigned bits) {
  switch (inst.op) {
    case Op::mov:
      return inst.ftz || inst.sat || (inst.type != Type::pred && size_of(inst.type) < 4)
                 ? Known::any(bits)
                 : in[0];
    case Op::select:
      if (const auto holds = in[0].constant()) return in[*holds != 0 ? 1 : 2];
      return joined(in[1], in[2]);
    case Op::pack64:
      return packed(in[0], in[1]);
    case Op::unpack64:
      return kept_low(which == 0 ? in[0] : shifted_right(in[0], 32, 64, false), 32, 32);
    case Op::trunc32:
      return met(kept_low(in[0], 32, 32),
                 in[0].low >= least_signed(32) && in[0].high <= ~least_signed(32)
                     ? Known::between_signed(in[0].low, in[0].high, 32)
                     : Known::any(32),
                 32);
    case Op::zext64:
      return kept_low(in[0], 32, 64);
    case Op::sext64:
      return sign_extended(in[0], 32, 64);
    case Op::zext8:
    case Op::zext16:
      return kept_low(in[0], inst.op == Op::zext8 ? 8 : 16, bits);
    case Op::sext8:
    case Op::sext16:
      return sign_extended(in[0], inst.op == Op::sext8 ? 8 : 16, bits);
    case Op::mulwide: {
      const bool plain = inst.type == Type::u32 || (in[0].low >= 0 && in[1].low >= 0);
      return with_zeros(plain ? product(in[0], in[1], 64) : signed_product(in[0], in[1], 64),
                        in[0].zeros() + in[1].zeros(), 64);
    }
    case Op::mulhi: {
      if (bits != 32 || (is_signed(inst.type) && (in[0].low < 0 || in[1].low < 0)))
        return Known::any(bits);
      return Known::between(in[0].least * in[1].least >> 32, in[0].most * in[1].most >> 32, bits);
    }
    case Op::addc: {
      if (which == 0) return sum(in[0], in[1], in[2], bits);
      const Wide end = Wide{1} << bits_of(width_of(inst.type));
      const bool never = Wide{in[0].most} + in[1].most + in[2].most < end;
      const bool always = Wide{in[0].least} + in[1].least + in[2].least >= end;
      return never || always ? Known::exactly(always ? 1 : 0, 1) : Known::any(1);
    }
    case Op::subb: {
      if (which == 0) return difference(in[0], in[1], in[2], bits);
      const bool never = Wide{in[0].least} - in[1].most - in[2].most >= 0;
      const bool always = Wide{in[0].most} - in[1].least - in[2].least < 0;
      return never || always ? Known::exactly(always ? 1 : 0, 1) : Known::any(1);
    }
    case Op::icmp: {
      const auto holds = compared(in[0], inst.cond, in[1], inst.type);
      return holds ? Known::exactly(*holds ? 1 : 0, 1) : Known::any(1);
    }
    case Op::shf_l:
    case Op::shf_r: {
      auto by = in[2].constant();
      if (!by) return Known::any(bits);
      by = inst.mode == 0 ? std::min<uint64_t>(*by, 32) : *by & 31;
      const Known both = packed(in[0], in[1]);
      return kept_low(shifted_right(both, inst.op == Op::shf_l ? 32 - *by : *by, 64, false), 32,
                      32);
    }
    case Op::popc:
      return Known::between(static_cast<uint64_t>(std::popcount(in[0].one)),
                            static_cast<uint64_t>(std::popcount(~in[0].zero)), bits);
    case Op::clz: {
      const unsigned width = bits_of(width_of(inst.type)), beyond = 64 - width;
      return Known::between(static_cast<uint64_t>(std::countl_zero(in[0].most)) - beyond,
                            static_cast<uint64_t>(std::countl_zero(in[0].least)) - beyond, bits);
    }
    case Op::bfe:
      return field(inst, in, bits);
    case Op::bfi: {
      const auto at = in[2].constant(), length = in[3].constant();
      if (!at || !length || (*at & 0xff) >= bits) return Known::any(bits);
      const uint64_t hole = ones_of(static_cast<unsigned>(std::min<uint64_t>(*length & 0xff, 64)))
                            << (*at & 0xff);
      return of_bits((in[0].zero << (*at & 0xff) & hole) | (in[1].zero & ~hole),
                     (in[0].one << (*at & 0xff) & hole) | (in[1].one & ~hole), bits);
    }
    case Op::prmt:
      if (const auto selector = in[2].constant();
          selector && inst.mode == static_cast<uint8_t>(PrmtMode::index))
        return bytes_picked(in, *selector);
      return Known::any(bits);
    case Op::lop3:
      return by_table(inst.mode, in, bits);
    case Op::maskbit:
      if (in[0].constant() == 0 || in[0].constant() == ~uint64_t{0})
        return Known::exactly(in[0].least & 1, 1);
      return Known::any(1);
    case Op::f2i:
      return size_of(inst.type) < 4 ? Known::between(0, ones_of(8 * size_of(inst.type)), bits)
                                    : Known::any(bits);
    default:
      return arithmetic(inst, in, bits);
  }
}

}  // namespace lanewise::ir
