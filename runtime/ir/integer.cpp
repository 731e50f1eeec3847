#include "runtime/ir/integer.hpp"

#include <algorithm>

#include "runtime/ir/integer_inline.hpp"

namespace lanewise::ir {

uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t selector, PrmtMode mode) {
  const uint64_t pool = uint64_t{b} << 32 | a;
  const unsigned s = selector & 3;
  const auto pick = [&](unsigned i) -> unsigned {  // pool byte for result byte i
    switch (mode) {
      case PrmtMode::index:
        return selector >> (4 * i) & 7;
      case PrmtMode::f4e:
        return s + i;
      case PrmtMode::b4e:
        return (s - i) & 7;
      case PrmtMode::rc8:
        return s;
      case PrmtMode::ecl:
        return std::max(s, i);
      case PrmtMode::ecr:
        return std::min(s, i);
      case PrmtMode::rc16:
        return (s & 1) * 2 + (i & 1);
    }
    return 0;
  };
  uint32_t r = 0;
  for (unsigned i = 0; i < 4; ++i) {
    auto byte = static_cast<uint32_t>(pool >> (8 * pick(i)) & 0xff);
    const bool replicate_sign = mode == PrmtMode::index && (selector >> (4 * i + 3) & 1) != 0;
    if (replicate_sign) byte = (byte & 0x80) != 0 ? 0xff : 0;
    r |= byte << (8 * i);
  }
  return r;
}

bool integer_compare(Type type, Cond cond, uint64_t a, uint64_t b) {
  bool less = a < b;
  if (is_signed(type)) {
    less = size_of(type) == 8 ? static_cast<int64_t>(a) < static_cast<int64_t>(b)
                              : static_cast<int32_t>(a) < static_cast<int32_t>(b);
  }
  switch (cond) {
    case Cond::eq:
      return a == b;
    case Cond::ne:
      return a != b;
    case Cond::lt:
      return less;
    case Cond::le:
      return less || a == b;
    case Cond::gt:
      return !less && a != b;
    default:
      return !less;
  }
}

WithCarry add_carry(Type type, uint64_t a, uint64_t b, bool carry_in) {
  const unsigned __int128 sum = static_cast<unsigned __int128>(a) + b + carry_in;
  const bool wide = width_of(type) == Width::b64;
  return {static_cast<uint64_t>(wide ? sum : sum & 0xffffffff), (sum >> (wide ? 64 : 32)) != 0};
}

WithCarry subtract_borrow(Type type, uint64_t a, uint64_t b, bool borrow_in) {
  const unsigned __int128 taken = static_cast<unsigned __int128>(b) + borrow_in;
  const uint64_t difference = a - b - borrow_in;
  const bool wide = width_of(type) == Width::b64;
  return {wide ? difference : difference & 0xffffffff, a < taken};
}

uint64_t integer_op(Op op, Type type, uint8_t mode, uint64_t a, uint64_t b, uint64_t c,
                    uint64_t d) {
  return inlined::integer_op(op, type, mode, a, b, c, d);
}

}  // namespace lanewise::ir
