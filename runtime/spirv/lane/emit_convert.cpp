// Conversions between floats and integers, and rounding to integral values, with the device's own
// instructions where the probe saw them exact. Out of range those are undefined: they see 0 then,
// and what the guest gets is chosen by compares.
#include <spirv/unified1/GLSL.std.450.h>

#include <bit>
#include <cmath>

#include "runtime/ir/texture.hpp"
#include "runtime/spirv/lane/emit_float.hpp"

namespace lanewise::spirv {
namespace {

using ir::Op;
using ir::Round;
using ir::Type;

constexpr uint32_t kIntegers = bit(Type::u8) | bit(Type::s8) | bit(Type::u16) | bit(Type::s16) |
                               bit(Type::u32) | bit(Type::s32);

bool rounds_native(const Target& t, Type type) {
  return is_wide(type) ? t.float64 && t.native_round64 : t.native_round;
}
bool converts_native(const Target& t, Type type) {
  return is_wide(type) ? t.float64 && t.native_convert64 && t.native_compare64
                       : t.native_convert && t.native_compare;
}

/// The GLSL.std.450 instruction, 0 for none (ties away from zero).
int rounding(Round round) {
  constexpr int kRoundings[] = {GLSLstd450RoundEven, GLSLstd450Trunc, GLSLstd450Floor,
                                GLSLstd450Ceil, 0};
  return kRoundings[static_cast<size_t>(round)];
}

bool exact_round(const LaneEmitter& e) {
  return rounding(e.inst().round) != 0 && rounds_native(e.target(), e.inst().type);
}
Values round_to_integral(LaneEmitter& e, spv::Op) {
  const Type type = e.inst().type;
  const Id x = float_operand(e, 0, type);
  return finish_float(e, e.module().glsl(rounding(e.inst().round), float_type(e, type), {x}));
}

bool exact_from_integer(const LaneEmitter& e) {
  const ir::Inst& i = e.inst();
  const bool word = i.from == Type::u32 || i.from == Type::s32;
  return word && i.round == Round::rn && converts_native(e.target(), i.type);
}
Values from_integer(LaneEmitter& e, spv::Op) {
  const spv::Op code = ir::is_signed(e.inst().from) ? spv::OpConvertSToF : spv::OpConvertUToF;
  ModuleBuilder& m = e.module();
  const Id value = exact_conversion(e, code, float_type(e, e.inst().type), e.src(0));
  const Id bits = m.op(spv::OpBitcast, m.type_of(e.inst().type), {value});
  // Neither subnormal nor a NaN.
  return {e.inst().sat ? finish_bits(e, bits, true) : bits};
}

struct Range {
  double low, high;
};
Range range_of(Type type) {
  const int bits = static_cast<int>(8 * ir::size_of(type));
  if (!ir::is_signed(type)) return {0, std::ldexp(1.0, bits) - 1};
  return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
}
Id float_constant(LaneEmitter& e, Type type, double value) {
  ModuleBuilder& m = e.module();
  const Id bits = is_wide(type) ? m.b64(std::bit_cast<uint64_t>(value))
                                : m.u(std::bit_cast<uint32_t>(static_cast<float>(value)));
  return m.op(spv::OpBitcast, float_type(e, type), {bits});
}

bool exact_to_integer(const LaneEmitter& e) {
  const ir::Inst& i = e.inst();
  if (i.from != Type::f32 && i.from != Type::f64) return false;
  const bool rounds =
      i.round == Round::rz || (rounding(i.round) != 0 && rounds_native(e.target(), i.from));
  return rounds && converts_native(e.target(), i.from);
}
/// The value between the two limits that f32 can distinguish, or 0; then the limits themselves.
Values to_integer(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const ir::Inst& i = e.inst();
  const bool has_sign = ir::is_signed(i.type);
  Id x = float_operand(e, 0, i.from);
  if (i.round != Round::rz) x = m.glsl(rounding(i.round), float_type(e, i.from), {x});
  if (i.mode == static_cast<uint8_t>(ir::ToIntMode::fits) && has_sign)
    return {m.word(spv::OpBitcast, {exact_conversion(e, spv::OpConvertFToS, m.int_type, x)})};
  // One beyond each limit, so that fractions that are cut off are inside; of f32 what is below
  // 2^31 is below the limit.
  const Range range = range_of(i.type);
  const bool wide_low = i.from == Type::f32 && ir::size_of(i.type) == 4 && has_sign;
  const Id low = float_constant(e, i.from, wide_low ? range.low : range.low - 1);
  const Id high = float_constant(e, i.from, range.high + 1);
  const Id below =
      m.op(wide_low ? spv::OpFOrdLessThan : spv::OpFOrdLessThanEqual, m.bool_type, {x, low});
  const Id above = m.test(spv::OpFOrdGreaterThanEqual, {x, high});
  const Id nan = m.test(spv::OpIsNan, {x});
  const Id outside = m.test(spv::OpLogicalOr, {m.test(spv::OpLogicalOr, {below, above}), nan});
  const Id inside = m.select(outside, float_constant(e, i.from, 0), x);
  const Id cut = has_sign ? m.word(spv::OpBitcast,
                                   {exact_conversion(e, spv::OpConvertFToS, m.int_type, inside)})
                          : exact_conversion(e, spv::OpConvertFToU, m.uint_type, inside);
  const auto limit = [&](double value) {
    return m.u(static_cast<uint32_t>(static_cast<int64_t>(value)));
  };
  Id result = m.select(above, limit(range.high), m.select(below, limit(range.low), cut));
  if (is_wide(i.from)) result = m.select(nan, m.u(1U << (8 * ir::size_of(i.type) - 1)), result);
  if (has_sign && ir::size_of(i.type) < 4) {
    const uint32_t kept = (1U << (8 * ir::size_of(i.type))) - 1;
    result = m.word(spv::OpBitwiseAnd, {result, m.u(kept)});
  }
  return {result};
}

bool same_type(const LaneEmitter& e) {
  return e.inst().from == e.inst().type && (!is_wide(e.inst().type) || e.target().float64);
}
/// Bits as they are, but for the NaN.
Values settle(LaneEmitter& e, spv::Op) {
  return {finish_bits(e, e.src(0), false)};
}
bool exact_resize(const LaneEmitter& e) {
  const ir::Inst& i = e.inst();
  const bool widens = i.type == Type::f64 && i.from == Type::f32;
  const bool narrows = i.type == Type::f32 && i.from == Type::f64 && i.round == Round::rn;
  return (widens || narrows) && e.target().float64 && e.target().native_resize;
}
Values resize(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const Id x = float_operand(e, 0, e.inst().from);
  const Id value = exact_conversion(e, spv::OpFConvert, float_type(e, e.inst().type), x);
  if (!e.inst().ftz || e.inst().type != Type::f32) return finish_float(e, value);
  // With exponents of any size numbers below 2^-126 - 2^-151 would not round up to 2^-126.
  const Id least = m.op(spv::OpBitcast, float_type(e, Type::f64), {m.b64(0x380ffffff0000000)});
  const Id size = m.glsl(GLSLstd450FAbs, float_type(e, Type::f64), {x});
  const Id tiny = m.test(spv::OpFOrdLessThan, {size, least});
  const Id bits = m.word(spv::OpBitcast, {value});
  const Id flushed = m.select(tiny, m.word(spv::OpBitwiseAnd, {bits, m.u(0x80000000)}), bits);
  m.note_flushed(flushed);
  return {finish_bits(e, flushed, false)};
}

bool exact_half(const LaneEmitter& e) {
  return e.inst().from == Type::f16 && e.target().native_half;
}
Values widen_half(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const Id halves =
      m.glsl(GLSLstd450UnpackHalf2x16, m.make_vector_type(m.make_float_type(32), 2), {e.src(0)});
  return finish_float(e, m.create_composite_extract(halves, m.make_float_type(32), 0));
}

constexpr NativeRow kConvertRows[] = {
    {Op::fround, kF32 | kF64, exact_round, round_to_integral},
    {Op::i2f, kF32 | kF64, exact_from_integer, from_integer},
    {Op::f2i, kIntegers, exact_to_integer, to_integer},
    {Op::f2f, kF32 | kF64, same_type, settle},
    {Op::f2f, kF32 | kF64, exact_resize, resize},
    {Op::f2f, kF32, exact_half, widen_half},
};

}  // namespace

constinit NativeTable convert_rows = kConvertRows;

}  // namespace lanewise::spirv
