#include "runtime/reference/memory/atomics.hpp"

#include "runtime/ir/mbarrier.hpp"
#include "runtime/reference/memory/atomic_bits.hpp"
#include "runtime/reference/numbers/float_ops.hpp"

namespace lanewise::reference {
namespace {

using ir::AtomOp;
using ir::Op;
using ir::Type;

uint64_t float_result(AtomOp op, Type type, const FloatFlags& flags, uint64_t old, uint64_t a,
                      uint64_t b) {
  if (op == AtomOp::fcas) return float_compare(type, ir::Cond::eq, flags.ftz, old, a) ? b : old;
  const bool reversed = op == AtomOp::rsub;
  const Op sum = op == AtomOp::add   ? Op::fadd
                 : op == AtomOp::min ? Op::fmin
                 : op == AtomOp::max ? Op::fmax
                                     : Op::fsub;
  return float_op(sum, type, flags, reversed ? a : old, reversed ? old : a, 0);
}

/// bf16 is the upper half of f32, and the sum of two is exact enough there to be rounded once more.
uint64_t bf16_result(AtomOp op, uint64_t old, uint64_t a) {
  const uint64_t wide = float_result(op, Type::f32, {}, old << 16, a << 16, 0);
  const auto bits = static_cast<uint32_t>(wide);
  if ((bits & 0x7fffffff) > 0x7f800000) return 0x7fff;
  return (uint64_t{bits} + 0x7fff + (bits >> 16 & 1)) >> 16;
}

uint64_t bits_result(const ir::Mem& mem, uint64_t old, uint64_t a, uint64_t b) {
  if (mem.atom == AtomOp::arrive) return ir::mbarrier::after(old, a);
  return atomic_bits(mem.atom, ir::size_of(mem.elem), ir::is_signed(mem.atom_type), old, a, b);
}

bool computes_as_float(AtomOp op) {
  return op == AtomOp::add || op == AtomOp::sub || op == AtomOp::rsub || op == AtomOp::min ||
         op == AtomOp::max || op == AtomOp::fcas;
}

}  // namespace

uint64_t atomic_result(const ir::Mem& mem, const FloatFlags& flags, uint64_t old, uint64_t a,
                       uint64_t b) {
  const unsigned bytes = ir::size_of(mem.elem);
  const uint64_t mask = bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << (8 * bytes)) - 1;
  const bool brief = mem.atom_type == Type::bf16;
  if (!(brief || ir::is_float(mem.atom_type)) || !computes_as_float(mem.atom)) {
    return bits_result(mem, old, a & mask, b & mask) & mask;
  }
  if (brief && bytes == 2) return bf16_result(mem.atom, old, a & mask);
  if (!brief && (mem.atom_type != Type::f16 || bytes != 4)) {
    return float_result(mem.atom, mem.atom_type, flags, old, a & mask, b & mask);
  }
  const auto half = [&](unsigned shift) {
    const uint64_t mine = old >> shift & 0xffff, theirs = a >> shift & 0xffff;
    return brief ? bf16_result(mem.atom, mine, theirs)
                 : float_result(mem.atom, Type::f16, flags, mine, theirs, b >> shift & 0xffff);
  };
  return half(0) | half(16) << 16;
}

}  // namespace lanewise::reference
