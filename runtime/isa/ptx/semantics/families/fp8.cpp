// cvt to and from pairs of 8-bit floats. Magnitudes are rounded as integers, subnormal ones by
// adding a power of two whose last place is theirs.
#include "runtime/isa/ptx/semantics/packed.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

constexpr uint64_t kByteNan = 0x7f, kHalfNan = 0x7fff;

struct Format8 {
  unsigned fraction, bias;
  uint64_t most;  ///< the largest number
};
Format8 format8(std::string_view name) {
  return name == "e4m3x2" ? Format8{3, 7, 0x7e} : Format8{2, 15, 0x7b};
}

ir::Operand exceeds(Emit& e, ir::Operand a, uint64_t bound) {
  return e.op(Op::icmp, Type::u32, {a, imm(bound)}, {.cond = ir::Cond::gt});
}

/// The nearest number to an f32, saturated; a NaN is 0x7f.
ir::Operand nearest8(Emit& e, ir::Operand x, const Format8& f) {
  const unsigned cut = 23 - f.fraction;
  const ir::Operand magnitude = word_op(e, Op::and_, x, imm(0x7fffffff));
  const ir::Operand last = word_op(e, Op::and_, word_op(e, Op::shr, magnitude, imm(cut)), imm(1));
  const ir::Operand half = word_op(e, Op::add, last, imm((uint64_t{1} << (cut - 1)) - 1));
  const ir::Operand rounded = word_op(e, Op::shr, word_op(e, Op::add, magnitude, half), imm(cut));
  const ir::Operand normal = word_op(e, Op::sub, rounded, imm((127 - f.bias) << f.fraction));
  // 2^23 times the last place of subnormal numbers.
  const uint64_t unit = (127 + 1 - f.bias - f.fraction + 23) << 23;
  const ir::Reg sum = e.op(Op::fadd, Type::f32, {magnitude, imm(unit)});
  const ir::Operand small = word_op(e, Op::sub, sum, imm(unit));
  const ir::Operand is_normal = exceeds(e, magnitude, ((128 - f.bias) << 23) - 1);
  const ir::Operand code = word_op(e, Op::min, choose(e, is_normal, normal, small), imm(f.most));
  const ir::Operand is_nan = exceeds(e, magnitude, 0x7f800000);
  const ir::Operand sign = word_op(e, Op::and_, word_op(e, Op::shr, x, imm(24)), imm(0x80));
  if (e.has("relu")) {
    const ir::Operand negative = exceeds(e, sign, 0);
    return choose(e, is_nan, imm(kByteNan), choose(e, negative, imm(0), code));
  }
  return choose(e, is_nan, imm(kByteNan), word_op(e, Op::or_, code, sign));
}

void set_pair8(Emit& e, ir::Operand low, ir::Operand high, unsigned bits, PType to) {
  const ir::Operand up = word_op(e, Op::shl, high, imm(bits));
  e.set(0, to, word_op(e, Op::or_, low, up), Fit::exact, true);
}

/// The first source is the upper half.
void fp8_from_f32(Emit& e) {
  const Format8 f = format8(e.get("dtype"));
  const ir::Operand high = nearest8(e, e.raw(1, kF32), f), low = nearest8(e, e.raw(2, kF32), f);
  set_pair8(e, low, high, 8, kB16);
}

void fp8_from_halves(Emit& e) {
  const Format8 f = format8(e.get("dtype"));
  const ir::Operand pair = e.raw(1, kB32);
  ir::Operand parts[2];
  for (unsigned i = 0; i < 2; ++i) {
    const ir::Operand half = half_of_word(e, pair, i);
    parts[i] = nearest8(e, e.op(Op::f2f, Type::f32, {half}, {.from = Type::f16}), f);
  }
  set_pair8(e, parts[0], parts[1], 8, kB16);
}

/// e5m2 is the upper byte of an f16; e4m3 is one with a shorter exponent, which 2^8 makes up for.
ir::Operand half_of_fp8(Emit& e, ir::Operand byte, bool short_exponent) {
  const ir::Operand magnitude = word_op(e, Op::and_, byte, imm(0x7f));
  const ir::Operand sign = word_op(e, Op::shl, word_op(e, Op::and_, byte, imm(0x80)), imm(8));
  ir::Operand value, is_nan;
  if (short_exponent) {
    const ir::Operand small = word_op(e, Op::shl, magnitude, imm(7));
    value = e.op(Op::fmul, Type::f16, {small, imm(0x5c00)});
    is_nan = exceeds(e, magnitude, 0x7e);
  } else {
    value = word_op(e, Op::shl, magnitude, imm(8));
    is_nan = exceeds(e, magnitude, 0x7c);
  }
  value = choose(e, is_nan, imm(kHalfNan), word_op(e, Op::or_, value, sign));
  return e.has("relu") ? half_relu(e, value) : value;
}

void halves_from_fp8(Emit& e) {
  const bool short_exponent = e.get("type") == "e4m3x2";
  const ir::Operand pair = e.raw(1, kB16);
  const ir::Operand low = word_op(e, Op::and_, pair, imm(0xff));
  const ir::Operand high = word_op(e, Op::and_, word_op(e, Op::shr, pair, imm(8)), imm(0xff));
  const ir::Operand first = half_of_fp8(e, low, short_exponent);
  set_pair8(e, first, half_of_fp8(e, high, short_exponent), 16, kB32);
}

constexpr const char* kNarrow = "floats of 4 and 6 bits and exponents alone are not supported";
constexpr const char* kRandom = "stochastic rounding is not supported";
constexpr const char* kSaturating = "saturation to the largest f16 is not supported";
constexpr const char* kSame = "what it makes of a NaN is not documented";
constexpr const char* kBits = "integers of 2 and 4 bits are not supported";

constexpr Row kFp8Rows[] = {
    {"cvt@90.78", "dtype:bf16 type:bf16", "n:$dtype m", kSame},
    {"cvt@.81", "rnd:rn|rz ?relu@80.70+ satfinite+ dtype:f16 type:f32", "n>:$dtype m>",
     kSaturating},
    {"cvt@80.81", "rnd:rn|rz ?relu+ satfinite+ dtype:f16x2 type:f32", "n:$dtype m m", kSaturating},
    {"cvt@72.65", "^pack sat+ dtype:u2|s2|u4|s4 type:s32 ctype:b32", "d> s> s> s>:$ctype", kBits},
    {"cvt@89.78", "rn satfinite+ ?relu+ dtype:$fp8 type:f32", "n:$dtype m m", fp8_from_f32},
    {"cvt@89.78", "rn satfinite+ ?relu+ dtype:$fp8 type:f16x2", "n:$dtype m", fp8_from_halves},
    {"cvt@89.78", "rn ?relu+ dtype:f16x2 type:$fp8", "n:$dtype m", halves_from_fp8},
    {"cvt@100a.86", "rn satfinite+ ?relu+ dtype:$fp6 type:f32", "n:$dtype m m", kNarrow},
    {"cvt@100a.86", "rn ?relu+ dtype:f16x2 type:$fp6", "n:$dtype m", kNarrow},
    {"cvt@100a.86", "rnd:rz|rp ?satfinite+ dtype:ue8m0x2 type:f32", "n:$dtype m m", kNarrow},
    {"cvt@100a.86", "rnd:rz|rp ?satfinite+ dtype:ue8m0x2 type:bf16x2", "n:$dtype r:b32", kNarrow},
    {"cvt@100a.86", "rn dtype:bf16x2 type:ue8m0x2", "d:b32 m", kNarrow},
    {"cvt@=1.87", "rs ?relu+ ?satfinite+ dtype:f16x2|bf16x2 type:f32", "n:$dtype m m B:b32",
     kRandom},
    {"cvt@=1.87", "rs ?relu+ satfinite+ dtype:e4m3x4|e5m2x4|e2m3x4|e3m2x4 type:f32",
     "B:b32 v4 B:b32", kRandom},
    {"cvt@=1.87", "rs ?relu+ satfinite+ dtype:e2m1x4 type:f32", "B:b16 v4 B:b32", kRandom},
};

}  // namespace

constinit Rows fp8_rows = kFp8Rows;

}  // namespace lanewise::ptx
