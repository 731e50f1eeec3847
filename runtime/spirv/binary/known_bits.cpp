// What the bits of a word are, as far as the operations that made it show.
#include <algorithm>
#include <bit>

#include "runtime/spirv/binary/module_builder.hpp"

namespace lanewise::spirv {
namespace {

using Bits = ModuleBuilder::KnownBits;

Bits sum(Bits a, Bits b) {
  const uint32_t apart = ~(~a.zeros & ~b.zeros);  // no carry comes from bits of which one is zero
  if (apart == ~0U) return {a.zeros & b.zeros, a.ones | b.ones};
  const int low = std::countr_one((a.zeros | a.ones) & (b.zeros | b.ones));
  const uint32_t mask = low >= 32 ? ~0U : (1U << low) - 1, ones = (a.ones + b.ones) & mask;
  return {~ones & mask, ones};
}

Bits shifted(Bits a, uint32_t by, bool left) {
  if (left) return {a.zeros << by | ((1U << by) - 1), a.ones << by};
  return {a.zeros >> by | ~(~0U >> by), a.ones >> by};
}

}  // namespace

ModuleBuilder::KnownBits ModuleBuilder::known_bits(Id word, int depth) const {
  if (const uint32_t* value = known(word)) return {~*value, *value};
  if (const auto at = below_.find(word); at != below_.end()) return {~(at->second - 1), 0};
  if (depth == 0) return {};
  const Instruction source = made(word);
  const auto operand = [&](int n) { return known_bits(source.operand(n), depth - 1); };
  switch (source.op()) {
    case spv::OpBitwiseAnd: {
      const Bits a = operand(0), b = operand(1);
      return {a.zeros | b.zeros, a.ones & b.ones};
    }
    case spv::OpBitwiseOr: {
      const Bits a = operand(0), b = operand(1);
      return {a.zeros & b.zeros, a.ones | b.ones};
    }
    case spv::OpIAdd:
      return sum(operand(0), operand(1));
    case spv::OpShiftLeftLogical:
    case spv::OpShiftRightLogical: {
      const uint32_t* by = known(source.operand(1));
      if (by == nullptr || *by >= 32) return {};
      return shifted(operand(0), *by, source.op() == spv::OpShiftLeftLogical);
    }
    default:
      return {};
  }
}

Id ModuleBuilder::masked(Id word, uint32_t mask) {
  const KnownBits bits = known_bits(word);
  if ((~(bits.zeros | bits.ones) & mask) == 0) return u(bits.ones & mask);
  const Instruction source = made(word);
  const bool low = (mask & (mask + 1)) == 0;
  if (low && source.op() == spv::OpIAdd) {
    const uint32_t* more = known(source.operand(1));
    if (more != nullptr && (*more & mask) == 0) return masked(source.operand(0), mask);
  }
  if ((bits.zeros | mask) == ~0U) return word;
  return op(spv::OpBitwiseAnd, uint_type, {word, u(mask)});
}

}  // namespace lanewise::spirv
