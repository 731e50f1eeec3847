// What an atomic makes of the bits of an element, for callers that know the operation when they are
// compiled; see ir/integer_inline.hpp.
#pragma once

#include <cstdint>

#include "runtime/ir/integer_inline.hpp"
#include "runtime/ir/types.hpp"

namespace lanewise::reference {

LANEWISE_INLINE bool atomic_less(unsigned bytes, bool is_signed, uint64_t a, uint64_t b) {
  if (!is_signed) return a < b;
  const unsigned up = 64 - 8 * bytes;  // signs to the top
  return static_cast<int64_t>(a << up) < static_cast<int64_t>(b << up);
}

/// All but AtomOp::arrive. Of the result the lowest bytes count.
LANEWISE_INLINE uint64_t atomic_bits(ir::AtomOp op, unsigned bytes, bool is_signed, uint64_t old,
                                     uint64_t a, uint64_t b) {
  using ir::AtomOp;
  switch (op) {
    case AtomOp::add:
      return old + a;
    case AtomOp::sub:
      return old - a;
    case AtomOp::rsub:
      return a - old;
    case AtomOp::min:
      return atomic_less(bytes, is_signed, a, old) ? a : old;
    case AtomOp::max:
      return atomic_less(bytes, is_signed, old, a) ? a : old;
    case AtomOp::inc:
      return old >= a ? 0 : old + 1;
    case AtomOp::dec:
      return old == 0 || old > a ? a : old - 1;
    case AtomOp::and_:
      return old & a;
    case AtomOp::or_:
      return old | a;
    case AtomOp::xor_:
      return old ^ a;
    case AtomOp::exch:
      return a;
    case AtomOp::cas:
    case AtomOp::fcas:
      return old == a ? b : old;
    case AtomOp::mskor:
      return (old & ~a) | b;
    case AtomOp::wrap:
      return old >= a ? old - a : old + b;
    case AtomOp::arrive:
      break;
  }
  return old;
}

}  // namespace lanewise::reference
