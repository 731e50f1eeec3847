// What the integer operations of the IR compute, on register bits.
#pragma once

#include <cstdint>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Every operation of the integer section of ops.def with one destination but icmp, moves, and
/// changes of width (pack64 to sext16) with one.
/// `type` decides the width (32 or 64 bits) and the signedness.
uint64_t integer_op(Op op, Type type, uint8_t mode, uint64_t a, uint64_t b, uint64_t c, uint64_t d);
bool integer_compare(Type type, Cond cond, uint64_t a, uint64_t b);

struct WithCarry {
  uint64_t value;
  bool carry;
};
WithCarry add_carry(Type type, uint64_t a, uint64_t b, bool carry_in);
WithCarry subtract_borrow(Type type, uint64_t a, uint64_t b, bool borrow_in);

uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t selector, PrmtMode mode);

}  // namespace lanewise::ir
