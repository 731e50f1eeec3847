// What Maxwell's integer atomics leave in memory, spelled out. Shares nothing with the runtime on
// purpose.
#pragma once

#include <cstdint>

namespace oracle::sass {

enum class AtomicOp { add, min, max, inc, dec, and_, or_, xor_, exch, cas };

/// Memory afterwards: `bits` wide, 32 or 64. `second` is what CAS stores where `first` was found.
constexpr uint64_t atomic(AtomicOp op, unsigned bits, bool is_signed, uint64_t old, uint64_t first,
                          uint64_t second = 0) {
  const uint64_t all = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t sign = uint64_t{1} << (bits - 1);
  // Turning the sign bit over makes signed numbers compare like unsigned ones.
  const uint64_t a = is_signed ? old ^ sign : old, b = is_signed ? first ^ sign : first;
  switch (op) {
    case AtomicOp::add:
      return (old + first) & all;
    case AtomicOp::min:
      return a < b ? old : first;
    case AtomicOp::max:
      return a > b ? old : first;
    case AtomicOp::inc:  // counts up to `first`, then begins again
      return old >= first ? 0 : old + 1;
    case AtomicOp::dec:  // counts down to 0, then begins again at `first`
      return old == 0 || old > first ? first : old - 1;
    case AtomicOp::and_:
      return old & first;
    case AtomicOp::or_:
      return old | first;
    case AtomicOp::xor_:
      return old ^ first;
    case AtomicOp::exch:
      return first;
    case AtomicOp::cas:
      return old == first ? second : old;
  }
  return old;
}

// Witnesses.
static_assert(atomic(AtomicOp::add, 32, false, 0xffffffff, 2) == 1);
static_assert(atomic(AtomicOp::add, 64, false, 0xffffffff, 2) == 0x100000001);
static_assert(atomic(AtomicOp::min, 32, true, 0x80000000, 1) == 0x80000000);
static_assert(atomic(AtomicOp::min, 32, false, 0x80000000, 1) == 1);
static_assert(atomic(AtomicOp::max, 64, true, ~uint64_t{0}, 0) == 0);
static_assert(atomic(AtomicOp::inc, 32, false, 5, 5) == 0 &&
              atomic(AtomicOp::inc, 32, false, 4, 5) == 5);
static_assert(atomic(AtomicOp::dec, 32, false, 0, 9) == 9 &&
              atomic(AtomicOp::dec, 32, false, 10, 9) == 9);
static_assert(atomic(AtomicOp::cas, 32, false, 7, 7, 3) == 3 &&
              atomic(AtomicOp::cas, 32, false, 8, 7, 3) == 8);

}  // namespace oracle::sass
