// Integer operations whose meaning SPIR-V has; everything else is in the shader library.
#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>

#include "runtime/spirv/lane/emitter.hpp"

namespace lanewise::spirv {
namespace {

using ir::Cond;
using ir::Op;
using ir::Type;

constexpr uint32_t k32 = bit(Type::u32) | bit(Type::s32);
constexpr uint32_t k64 = bit(Type::u64) | bit(Type::s64);
constexpr uint32_t kPred = bit(Type::pred);

bool int64(const LaneEmitter& e) {
  return e.int64();
}
bool is_signed(LaneEmitter& e) {
  return ir::is_signed(e.inst().type);
}
Id type(LaneEmitter& e) {
  return e.module().type_of(e.inst().type);
}

Values unary(LaneEmitter& e, spv::Op code) {
  return {e.module().op(code, type(e), {e.src(0)})};
}
Values binary(LaneEmitter& e, spv::Op code) {
  const Id a = e.src(0), b = e.src(1);
  return {e.module().op(code, type(e), {a, b})};
}

/// In some of the slots of an invocation what a mask leaves of lanes' numbers is the same.
Values intersection(LaneEmitter& e, spv::Op code) {
  const ir::Operand& mask = e.inst().src[1];
  if (!mask.is_imm() || !e.in_several_slots() || ir::width_of(e.inst().type) != ir::Width::b32)
    return binary(e, code);
  return {e.module().masked(e.src(0), static_cast<uint32_t>(mask.imm))};
}

Values multiply_high(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const Id pair = m.make_struct_result_type(m.uint_type, m.uint_type);
  const Id a = e.src(0), b = e.src(1);
  const Id product = m.op(is_signed(e) ? spv::OpSMulExtended : spv::OpUMulExtended, pair, {a, b});
  return {m.extract(product, m.uint_type, 1)};
}
Values multiply_wide(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const Id a = e.src(0), b = e.src(1);
  if (m.int64()) {
    const spv::Op extend = is_signed(e) ? spv::OpSConvert : spv::OpUConvert;
    return {m.op(spv::OpIMul, m.b64_type,
                 {m.op(extend, m.b64_type, {a}), m.op(extend, m.b64_type, {b})})};
  }
  const Id pair = m.make_struct_result_type(m.uint_type, m.uint_type);
  const Id product = m.op(is_signed(e) ? spv::OpSMulExtended : spv::OpUMulExtended, pair, {a, b});
  return {m.make64(m.extract(product, m.uint_type, 0), m.extract(product, m.uint_type, 1))};
}

spv::Op compare_code(Cond cond, bool sign) {
  constexpr spv::Op kCodes[2][6] = {
      {spv::OpIEqual, spv::OpINotEqual, spv::OpULessThan, spv::OpULessThanEqual,
       spv::OpUGreaterThan, spv::OpUGreaterThanEqual},
      {spv::OpIEqual, spv::OpINotEqual, spv::OpSLessThan, spv::OpSLessThanEqual,
       spv::OpSGreaterThan, spv::OpSGreaterThanEqual}};
  return cond <= Cond::ge ? kCodes[sign ? 1 : 0][static_cast<size_t>(cond)] : spv::OpNop;
}
/// Of the instruction's width. Signed numbers of 64 bits are compared 2^63 higher where the driver
/// loses their signs.
Id compared(LaneEmitter& e, Cond cond, bool sign, Id a, Id b) {
  ModuleBuilder& m = e.module();
  const bool is_wide = ir::width_of(e.inst().type) == ir::Width::b64;
  const bool flips = sign && is_wide && e.target().quirks.loses_signs;
  if (!flips || cond == Cond::eq || cond == Cond::ne)
    return m.op(compare_code(cond, sign), m.bool_type, {a, b});
  const auto flipped = [&](Id x) {
    return m.op(spv::OpBitwiseXor, m.b64_type, {x, m.b64(uint64_t{1} << 63)});
  };
  return m.op(compare_code(cond, false), m.bool_type, {flipped(a), flipped(b)});
}

Values minimum(LaneEmitter& e, spv::Op) {
  // Compare and select: the library of extended instructions adds nothing here.
  ModuleBuilder& m = e.module();
  const Id a = e.src(0), b = e.src(1);
  const bool max = e.inst().op == Op::max;
  const Id smaller = compared(e, Cond::lt, is_signed(e), a, b);
  return {m.select(smaller, max ? b : a, max ? a : b)};
}

Values absolute(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const Id a = e.src(0);
  const Id negative = compared(e, Cond::lt, true, a, m.constant(ir::width_of(e.inst().type), 0));
  return {m.select(negative, m.op(spv::OpSNegate, type(e), {a}), a)};
}

struct Sum {
  Id value, carry;
};
Sum add_once(ModuleBuilder& m, Id a, Id b, spv::Op code) {
  const Id pair = m.make_struct_result_type(m.uint_type, m.uint_type);
  const Id result = m.op(code, pair, {a, b});
  return {m.extract(result, m.uint_type, 0), m.extract(result, m.uint_type, 1)};
}
/// 32 bits with a carry (or borrow) word in and out, both 0 or 1.
Sum add_with_carry(ModuleBuilder& m, Id a, Id b, Id carry, spv::Op code) {
  const Sum first = add_once(m, a, b, code);
  const Sum second = add_once(m, first.value, carry, code);
  return {second.value, m.word(spv::OpBitwiseOr, {first.carry, second.carry})};
}
Values with_carry(LaneEmitter& e, spv::Op code) {
  ModuleBuilder& m = e.module();
  const Id a = e.src(0), b = e.src(1), carry_in = e.src(2);
  Id carry = m.select(carry_in, m.u(1), m.u(0));
  Id value;
  if (ir::width_of(e.inst().type) == ir::Width::b64) {
    const Sum low = add_with_carry(m, m.lo(a), m.lo(b), carry, code);
    const Sum high = add_with_carry(m, m.hi(a), m.hi(b), low.carry, code);
    value = m.make64(low.value, high.value);
    carry = high.carry;
  } else {
    const Sum sum = add_with_carry(m, a, b, carry, code);
    value = sum.value;
    carry = sum.carry;
  }
  return {value, m.differs(carry, 0)};
}

/// SPIR-V leaves shifts by the width or more undefined; here they give 0, or the sign.
Values shift(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const Id a = e.src(0), amount = e.src(1);
  const bool left = e.inst().op == Op::shl;
  const bool arithmetic = !left && is_signed(e);
  const uint32_t bits = 8 * ir::size_of(e.inst().type);
  const spv::Op code = left         ? spv::OpShiftLeftLogical
                       : arithmetic ? spv::OpShiftRightArithmetic
                                    : spv::OpShiftRightLogical;
  const Id zero = m.constant(ir::width_of(e.inst().type), 0);
  if (const uint32_t* known = m.known(amount)) {
    if (*known < bits) return {m.op(code, type(e), {a, amount})};
    if (!arithmetic) return {zero};
    return {m.op(code, type(e), {a, m.u(bits - 1)})};
  }
  // GPUs' compilers see this themselves.
  const uint32_t beyond = ~(bits - 1);
  if (e.in_several_slots() && (m.known_bits(amount).zeros & beyond) == beyond)
    return {m.op(code, type(e), {a, amount})};
  const Id in_range = m.test(spv::OpULessThan, {amount, m.u(bits)});
  if (arithmetic) {
    return {m.op(code, type(e), {a, m.select(in_range, amount, m.u(bits - 1))})};
  }
  const Id small = m.word(spv::OpBitwiseAnd, {amount, m.u(bits - 1)});
  return {m.select(in_range, m.op(code, type(e), {a, small}), zero)};
}

bool by_constant(const LaneEmitter& e) {
  return e.inst().src[2].is_imm();
}
/// Funnel shifts whose amount is known are two shifts, rotations where both words are the same.
Values funnel_shift(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const bool left = e.inst().op == Op::shf_l, wraps = e.inst().mode != 0;
  const auto amount = static_cast<uint32_t>(e.inst().src[2].imm);
  const uint32_t n = wraps ? amount & 31 : std::min(amount, 32U);
  const Id low = e.src(0), high = e.src(1);
  const Id kept = left ? high : low, entering = left ? low : high;
  if (n == 0) return {kept};
  if (n == 32) return {entering};
  const auto by = [&](spv::Op code, Id value, uint32_t bits) {
    return m.word(code, {value, m.u(bits)});
  };
  const Id a = by(left ? spv::OpShiftLeftLogical : spv::OpShiftRightLogical, kept, n);
  const Id b = by(left ? spv::OpShiftRightLogical : spv::OpShiftLeftLogical, entering, 32 - n);
  return {m.word(spv::OpBitwiseOr, {a, b})};
}

Values count_leading(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  // FindUMsb is -1 for 0, so 31 - it is 32.
  const Id top = m.glsl(GLSLstd450FindUMsb, m.uint_type, {e.src(0)});
  return {m.word(spv::OpISub, {m.u(31), top})};
}
Values find_top(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  if (!is_signed(e)) return {m.glsl(GLSLstd450FindUMsb, m.uint_type, {e.src(0)})};
  // The highest bit that differs from the sign: make the value non-negative first.
  const Id a = e.src(0);
  const Id sign = m.word(spv::OpShiftRightArithmetic, {a, m.u(31)});
  const Id folded = m.word(spv::OpBitwiseXor, {a, sign});
  return {m.glsl(GLSLstd450FindUMsb, m.uint_type, {folded})};
}

/// A function of two words given by four table bits (index = 2 * x + y).
Id two_input(ModuleBuilder& m, unsigned table, Id x, Id y) {
  const auto both = [&](spv::Op code, Id p, Id q) { return m.word(code, {p, q}); };
  const auto no = [&](Id p) { return m.word(spv::OpNot, {p}); };
  switch (table & 15) {
    case 0:
      return m.u(0);
    case 1:
      return no(both(spv::OpBitwiseOr, x, y));
    case 2:
      return both(spv::OpBitwiseAnd, no(x), y);
    case 3:
      return no(x);
    case 4:
      return both(spv::OpBitwiseAnd, x, no(y));
    case 5:
      return no(y);
    case 6:
      return both(spv::OpBitwiseXor, x, y);
    case 7:
      return no(both(spv::OpBitwiseAnd, x, y));
    case 8:
      return both(spv::OpBitwiseAnd, x, y);
    case 9:
      return no(both(spv::OpBitwiseXor, x, y));
    case 10:
      return y;
    case 11:
      return both(spv::OpBitwiseOr, no(x), y);
    case 12:
      return x;
    case 13:
      return both(spv::OpBitwiseOr, x, no(y));
    case 14:
      return both(spv::OpBitwiseOr, x, y);
    default:
      return m.u(0xffffffff);
  }
}
/// Bit 4a+2b+c of the table is the result for the input bits a, b, c.
Values three_input(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const Id a = e.src(0), b = e.src(1), c = e.src(2);
  const unsigned without = e.inst().mode & 15, with = e.inst().mode >> 4;
  if (without == with) return {two_input(m, with, b, c)};
  const Id base = two_input(m, without, b, c);
  if ((without ^ with) == 15) return {m.word(spv::OpBitwiseXor, {a, base})};
  const Id change = two_input(m, without ^ with, b, c);
  const Id flip = m.word(spv::OpBitwiseAnd, {a, change});
  return {without == 0 ? flip : m.word(spv::OpBitwiseXor, {base, flip})};
}

bool int64_or_equality(const LaneEmitter& e) {
  return int64(e) || e.inst().cond == Cond::eq || e.inst().cond == Cond::ne;
}
Values compare(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  if (compare_code(e.inst().cond, false) == spv::OpNop)
    e.unsupported("an integer compare with a float condition");
  const Id a = e.src(0), b = e.src(1);
  if (ir::width_of(e.inst().type) != ir::Width::b64 || m.int64())
    return {compared(e, e.inst().cond, is_signed(e), a, b)};
  const Id equal = m.op(spv::OpIEqual, m.make_vector_type(m.bool_type, 2), {a, b});
  const Id all = m.test(spv::OpAll, {equal});
  return {e.inst().cond == Cond::eq ? all : m.negated(all)};
}

constexpr NativeRow kIntegerRows[] = {
    {Op::add, k32, nullptr, binary, spv::OpIAdd},
    {Op::add, k64, int64, binary, spv::OpIAdd},
    {Op::sub, k32, nullptr, binary, spv::OpISub},
    {Op::sub, k64, int64, binary, spv::OpISub},
    {Op::mul, k32, nullptr, binary, spv::OpIMul},
    {Op::mul, k64, int64, binary, spv::OpIMul},
    {Op::mulhi, k32, nullptr, multiply_high},
    {Op::mulwide, kAnyType, nullptr, multiply_wide},
    {Op::min, k32, nullptr, minimum},
    {Op::min, k64, int64, minimum},
    {Op::max, k32, nullptr, minimum},
    {Op::max, k64, int64, minimum},
    {Op::neg, k32, nullptr, unary, spv::OpSNegate},
    {Op::neg, k64, int64, unary, spv::OpSNegate},
    {Op::abs, k32, nullptr, absolute},
    {Op::abs, k64, int64, absolute},
    {Op::addc, k32 | k64, nullptr, with_carry, spv::OpIAddCarry},
    {Op::subb, k32 | k64, nullptr, with_carry, spv::OpISubBorrow},
    {Op::and_, kPred, nullptr, binary, spv::OpLogicalAnd},
    {Op::and_, ~kPred, nullptr, intersection, spv::OpBitwiseAnd},
    {Op::or_, kPred, nullptr, binary, spv::OpLogicalOr},
    {Op::or_, ~kPred, nullptr, binary, spv::OpBitwiseOr},
    {Op::xor_, kPred, nullptr, binary, spv::OpLogicalNotEqual},
    {Op::xor_, ~kPred, nullptr, binary, spv::OpBitwiseXor},
    {Op::not_, kPred, nullptr, unary, spv::OpLogicalNot},
    {Op::not_, ~kPred, nullptr, unary, spv::OpNot},
    {Op::shl, k32, nullptr, shift},
    {Op::shl, k64, int64, shift},
    {Op::shr, k32, nullptr, shift},
    {Op::shr, k64, int64, shift},
    {Op::shf_l, kAnyType, by_constant, funnel_shift},
    {Op::shf_r, kAnyType, by_constant, funnel_shift},
    {Op::popc, k32, nullptr, unary, spv::OpBitCount},
    {Op::clz, k32, nullptr, count_leading},
    {Op::brev, k32, nullptr, unary, spv::OpBitReverse},
    {Op::bfind, k32, nullptr, find_top},
    {Op::lop3, kAnyType, nullptr, three_input},
    {Op::icmp, k32, nullptr, compare},
    {Op::icmp, k64, int64_or_equality, compare},
};

}  // namespace

constinit NativeTable integer_rows = kIntegerRows;

}  // namespace lanewise::spirv
