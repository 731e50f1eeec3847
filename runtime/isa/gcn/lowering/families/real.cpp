// Arithmetic and functions of floats of all widths, in the mode of the instruction.
#include "runtime/isa/gcn/lowering/values.hpp"

namespace lanewise::gcn {

namespace {

Type bits_of(Type t) {
  return t == Type::f64 ? Type::u64 : Type::u32;
}

/// A NaN whose quiet bit is off.
Reg signalling(Values& v, ir::Operand x, Type type) {
  const uint64_t infinity = type == Type::f64   ? 0x7ff0000000000000
                            : type == Type::f16 ? 0x7c00
                                                : 0x7f800000;
  const uint64_t quiet = type == Type::f64   ? uint64_t{1} << 51
                         : type == Type::f16 ? 0x200
                                             : 0x400000;
  const uint64_t magnitude = infinity | ((quiet << 1) - 1);
  const Reg m = v.c.make(Op::and_, bits_of(type), {x, imm(magnitude)});
  const Reg above = v.c.make(Op::sub, bits_of(type), {m, imm(infinity + 1)});
  return v.c.compare(Cond::lt, bits_of(type), above, imm(quiet - 1));
}
uint64_t canonical_nan(Type type) {
  return type == Type::f64 ? 0xfff8000000000000 : type == Type::f16 ? 0x7fff : 0x7fffffff;
}

/// min or max of two: no mode flushes; in IEEE mode a signalling NaN wins.
ir::Operand extreme(Values& v, Op op, Type type, ir::Operand x, ir::Operand y) {
  ir::Operand value = v.c.make(op, type, {x, y});
  if (!v.mode.ieee) return value;
  for (const ir::Operand& s : {x, y})
    value = v.select(signalling(v, s, type), imm(canonical_nan(type)), value, bits_of(type));
  return value;
}

/// 2^n as a double; n from -1022 to 1023.
Reg power(Values& v, ir::Operand n) {
  const Reg biased = v.make(Op::add, {n, imm(1023)});
  const Reg high = v.make(Op::shl, {biased, imm(20)});
  return v.c.make(Op::pack64, Type::u64, {imm(0), high});
}
Reg clamped(Values& v, ir::Operand n, int least, int most) {
  const auto bits = [](int k) { return imm(static_cast<uint32_t>(k)); };
  const Reg low = v.c.make(Op::max, Type::s32, {n, bits(least)});
  return v.c.make(Op::min, Type::s32, {low, bits(most)});
}
Reg product(Values& v, ir::Operand x, ir::Operand y, Round round = Round::rn) {
  const Reg r = v.c.reg(Width::b64);
  v.c.emit(Op::fmul, Type::f64, {r}, {x, y}).round = round;
  return r;
}

/// A double's fraction in [0.5, 1) and exponent; zeros, infinities and NaN keep themselves and 0.
struct Parts {
  ir::Operand mantissa;
  ir::Operand exponent;
  ir::Operand special;  ///< predicate
};
Parts parts(Values& v, ir::Operand x) {
  LowerContext& c = v.c;
  const auto high_of = [&](ir::Operand d) {
    const auto [lo, hi] = c.unpack(d);
    return std::pair{lo, hi};
  };
  const auto exponent_of = [&](Reg hi) {
    return v.make(Op::and_, {v.make(Op::shr, {hi, imm(20)}), imm(0x7ff)});
  };
  const Reg first = exponent_of(high_of(x).second);
  const Reg small = c.compare(Cond::eq, Type::u32, first, imm(0));
  // Subnormal numbers become normal ones by 2^54.
  const Reg normal = v.select(small, product(v, x, imm(0x4350000000000000)), x, Type::u64);
  const auto [lo, hi] = high_of(normal);
  const Reg e = exponent_of(hi);
  const Reg bias = v.select(small, imm(1022 + 54), imm(1022));
  const Reg exponent = v.make(Op::sub, {e, bias});
  const Reg kept = v.make(Op::and_, {hi, imm(0x800fffff)});
  const Reg half = v.make(Op::or_, {kept, imm(0x3fe00000)});
  const Reg mantissa = c.make(Op::pack64, Type::u64, {lo, half});
  const Reg zero = v.compare(Op::fcmp, Cond::eq, Type::f64, x, imm(0));
  const Reg endless = c.compare(Cond::eq, Type::u32, first, imm(0x7ff));
  const Reg special = c.make(Op::or_, Type::pred, {zero, endless});
  return {v.select(special, x, mantissa, Type::u64), v.select(special, imm(0), exponent), special};
}

Reg to_double(Values& v, ir::Operand x, Type from) {
  const Reg r = v.c.reg(Width::b64);
  v.c.emit(Op::f2f, Type::f64, {r}, {x}).from = from;
  return r;
}
Reg from_double(Values& v, ir::Operand x, Type to, Round round) {
  const Reg r = v.c.reg(Width::b32);
  ir::Inst& inst = v.c.emit(Op::f2f, to, {r}, {x});
  inst.from = Type::f64;
  inst.round = round;
  return r;
}

}  // namespace

Reg scaled(Values& v, ir::Operand x, ir::Operand n, Round round) {
  const Parts p = parts(v, x);
  const Reg n_small = clamped(v, n, -3000, 3000);
  const Reg sum = clamped(v, v.make(Op::add, {n_small, p.exponent}), -1100, 1100);
  const Reg first = v.c.make(Op::shr, Type::s32, {sum, imm(1)});
  const Reg second = v.make(Op::sub, {sum, first});
  const Reg result = product(v, product(v, p.mantissa, power(v, first)), power(v, second), round);
  // A NaN becomes the canonical one.
  const Reg same = product(v, x, imm(0x3ff0000000000000));
  return v.select(p.special, same, result, Type::u64);
}

void lower_real(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type type = i.row->meaning.type;
  std::vector<ir::Operand> src;
  for (size_t n = 0; n < v.count(); ++n) src.push_back(v.input(n, type));
  v.put_real(v.compute(i.row->meaning.op, type, std::move(src)), type);
}

void lower_real_extreme(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type type = i.row->meaning.type;
  v.put_real(extreme(v, i.row->meaning.op, type, v.real(0, type), v.real(1, type)), type);
}

void lower_three_extremes(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type type = i.row->meaning.type;
  const Op op = i.row->meaning.op;
  const ir::Operand first = extreme(v, op, type, v.real(0, type), v.real(1, type));
  v.put_real(extreme(v, op, type, first, v.real(2, type)), type);
}

/// The greatest is left out and the greater of the others taken; with a NaN the least of three.
void lower_median(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type t = Type::f32;
  const ir::Operand x = v.real(0, t), y = v.real(1, t), z = v.real(2, t);
  const auto most = [&](ir::Operand a, ir::Operand b) { return extreme(v, Op::fmax, t, a, b); };
  const auto least = [&](ir::Operand a, ir::Operand b) { return extreme(v, Op::fmin, t, a, b); };
  const auto nan = [&](ir::Operand a) { return v.compare(Op::fcmp, Cond::nan, t, a, a); };
  const ir::Operand top = most(most(x, y), z);
  const auto is_top = [&](ir::Operand a) { return v.compare(Op::fcmp, Cond::eq, t, top, a); };
  ir::Operand r = v.select(is_top(y), most(x, z), most(x, y));
  r = v.select(is_top(x), most(y, z), r);
  Reg any = c.make(Op::or_, Type::pred, {nan(x), nan(y)});
  any = c.make(Op::or_, Type::pred, {any, nan(z)});
  v.put_real(v.select(any, least(least(x, y), z), r), t);
}

void lower_real_round(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Meaning& m = i.row->meaning;
  const Reg r = c.reg(width_of(m.type));
  c.emit(Op::fround, m.type, {r}, {v.operand(0, m.type)}).round = m.round;
  v.put_real(r, m.type);
}

namespace {

/// The result, or what the row has in place of an infinity.
ir::Operand limited(Values& v, ir::Operand x, Type type) {
  const auto limit = static_cast<Limit>(v.i.row->meaning.count);
  if (limit == Limit::none) return x;
  const bool wide = type == Type::f64;
  const uint64_t sign = wide ? uint64_t{1} << 63 : 0x80000000;
  const uint64_t infinity = wide ? 0x7ff0000000000000 : 0x7f800000;
  const Type bits = bits_of(type);
  const bool below = limit == Limit::largest_below;
  const Reg size = v.c.make(Op::and_, bits, {x, imm(below ? sign | (sign - 1) : sign - 1)});
  const Reg endless = v.c.compare(Cond::eq, bits, size, imm(below ? infinity | sign : infinity));
  const Reg same_sign = v.c.make(Op::and_, bits, {x, imm(sign)});
  const uint64_t most = limit == Limit::zero ? 0 : infinity - 1;
  return v.select(endless, v.c.make(Op::or_, bits, {same_sign, imm(most)}), x, bits);
}

}  // namespace

/// Functions of f32 take and give no subnormals, whatever the mode.
void lower_approximate(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Reg r = c.reg(Width::b32);
  c.emit(i.row->meaning.op, Type::f32, {r}, {v.real(0, Type::f32)}).ftz = true;
  v.put_real(limited(v, r, Type::f32), Type::f32);
}

namespace {

/// The sine or cosine of a number of turns. Beyond 256 turns the hardware gives up: 0 and 1.
ir::Operand of_turns(Values& v, ir::Operand x) {
  LowerContext& c = v.c;
  const Instruction& i = v.i;
  const Type t = Type::f32;
  const bool sine = i.row->meaning.op == Op::fsin_approx;
  const auto real = [&](Op op, std::vector<ir::Operand> src) {
    return c.make(op, t, std::move(src));
  };
  const ir::Operand half = imm(0x3f000000), quarter = imm(0x3e800000);
  const Reg whole = c.reg(Width::b32);
  c.emit(Op::fround, t, {whole}, {x}).round = Round::rn;
  const Reg part = real(Op::fsub, {x, whole});  // exact, in [-0.5, 0.5]
  const Reg size = real(Op::fabs, {part});
  const Reg far = v.compare(Op::fcmp, Cond::gt, t, size, quarter);
  const Reg rest = real(Op::fsub, {half, size});  // exact, too
  const Reg near = v.select(far, rest, size);
  const Reg angle = real(Op::fmul, {near, imm(0x40c90fdb)});
  const Reg value = real(i.row->meaning.op, {angle});
  const ir::Operand negated = real(Op::fneg, {value});
  const Reg below = v.compare(Op::fcmp, Cond::lt, t, part, imm(0));
  const Reg turned = v.select(sine ? below : far, negated, value);
  // A sine of zero keeps the zero's sign.
  const Reg zero = v.compare(Op::fcmp, Cond::eq, t, part, imm(0));
  const Reg sign = v.make(Op::and_, {x, imm(0x80000000)});
  const ir::Operand inside = sine ? ir::Operand(v.select(zero, sign, turned)) : ir::Operand(turned);
  const Reg out = v.compare(Op::fcmp, Cond::gt, t, real(Op::fabs, {x}), imm(0x43800000));
  const Reg finite = v.select(out, imm(sine ? 0 : 0x3f800000), inside);
  // Infinities and NaN.
  const Reg difference = real(Op::fsub, {x, x});
  const Reg endless = v.compare(Op::fcmp, Cond::nan, t, difference, difference);
  return v.select(endless, difference, finite);
}

/// A half's value as a float, and back in the direction of the mode.
ir::Operand half_as_float(Values& v) {
  const Reg r = v.c.reg(Width::b32);
  v.c.emit(Op::f2f, Type::f32, {r}, {v.operand(0, Type::f16)}).from = Type::f16;
  return r;
}
void put_as_half(Values& v, ir::Operand x) {
  const Reg r = v.c.reg(Width::b32);
  ir::Inst& inst = v.c.emit(Op::f2f, Type::f16, {r}, {x});
  inst.from = Type::f32;
  inst.round = v.mode.round(Type::f16);
  v.put_real(v.mode.keeps_results(Type::f16) ? ir::Operand(r) : v.flushed(r, Type::f16), Type::f16);
}

}  // namespace

void lower_turns(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  v.put_real(of_turns(v, v.flushed(v.real(0, Type::f32), Type::f32)), Type::f32);
}

/// Every half is a normal float, and what the functions give is exact to more bits than a half has.
void lower_half_function(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Reg r = c.reg(Width::b32);
  c.emit(i.row->meaning.op, Type::f32, {r}, {half_as_float(v)});
  put_as_half(v, r);
}

void lower_half_turns(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  put_as_half(v, of_turns(v, half_as_float(v)));
}

/// Two roundings, and no subnormals in any mode, as with floats.
void lower_half_mad(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type t = Type::f16;
  const auto step = [&](Op op, ir::Operand x, ir::Operand y) {
    const Reg r = c.reg(Width::b32);
    ir::Inst& inst = c.emit(op, t, {r}, {x, y});
    inst.ftz = true;
    inst.round = v.mode.round(t);
    return r;
  };
  const Reg product = step(Op::fmul, v.real(0, t), v.real(1, t));
  const ir::Operand addend =
      v.count() > 2 ? v.real(2, t) : ir::Operand(v.make(Op::zext16, {v.old()}));
  v.put_real(step(Op::fadd, product, addend), t);
}

/// Reciprocal, root and reciprocal root of doubles: rounded right, which hardware's are not.
void lower_rcp_wide(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type t = Type::f64;
  const ir::Operand x = v.operand(0, t);
  const ir::Operand one = imm(0x3ff0000000000000);
  switch (i.row->meaning.op) {
    case Op::frcp:
      return v.put_real(limited(v, v.compute(Op::frcp, t, {x}), t), t);
    case Op::fsqrt_approx:
      return v.put_real(v.compute(Op::fsqrt, t, {x}), t);
    default: {
      const Reg root = c.make(Op::fsqrt, t, {x});
      return v.put_real(limited(v, v.compute(Op::fdiv, t, {one, root}), t), t);
    }
  }
}

namespace {

/// A product in which zero times anything is +0.
ir::Operand legacy_product(Values& v, ir::Operand x, ir::Operand y) {
  const Reg r = v.c.reg(Width::b32);
  ir::Inst& mul = v.c.emit(Op::fmul, Type::f32, {r}, {x, y});
  mul.ftz = true;
  mul.round = v.mode.round(Type::f32);
  const auto zero = [&](ir::Operand o) {
    const Reg p = v.c.reg(Width::pred);
    ir::Inst& test = v.c.emit(Op::fcmp, Type::f32, {p}, {o, imm(0)});
    test.cond = Cond::eq;
    test.ftz = true;
    return p;
  };
  const Reg either = v.c.make(Op::or_, Type::pred, {zero(x), zero(y)});
  return v.select(either, imm(0), r);
}

Reg flushing_sum(Values& v, ir::Operand x, ir::Operand y) {
  const Reg r = v.c.reg(Width::b32);
  ir::Inst& add = v.c.emit(Op::fadd, Type::f32, {r}, {x, y});
  add.ftz = true;
  add.round = v.mode.round(Type::f32);
  return r;
}

}  // namespace

void lower_mul_legacy(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  v.put_real(legacy_product(v, v.real(0, Type::f32), v.real(1, Type::f32)), Type::f32);
}

void lower_mad_legacy(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type t = Type::f32;
  const ir::Operand p = legacy_product(v, v.real(0, t), v.real(1, t));
  v.put_real(flushing_sum(v, p, v.count() > 2 ? v.real(2, t) : v.old()), t);
}

/// S0 < S1 ? S0 : S1 and S0 >= S1 ? S0 : S1: a NaN gives the second operand.
void lower_extreme_legacy(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type t = Type::f32;
  const ir::Operand x = v.real(0, t), y = v.real(1, t);
  const Cond cond = i.row->meaning.op == Op::fmin ? Cond::lt : Cond::ge;
  v.put_real(v.select(v.compare(Op::fcmp, cond, t, x, y), x, y), t);
}

/// A multiply-add, rounded twice, with 32 bits of the instruction: v_madmk's second factor or
/// v_madak's addend, as the sources stand in the text.
void lower_mad_constant(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type t = Type::f32;
  const Reg p = c.reg(Width::b32);
  ir::Inst& mul = c.emit(Op::fmul, t, {p}, {v.real(0, t), v.real(1, t)});
  mul.ftz = true;
  mul.round = v.mode.round(t);
  v.put_real(flushing_sum(v, p, v.real(2, t)), t);
}

/// x - floor(x), below 1.
void lower_fract(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type t = i.row->meaning.type;
  const uint64_t most = t == Type::f64 ? 0x3fefffffffffffff : t == Type::f16 ? 0x3bff : 0x3f7fffff;
  const ir::Operand x = v.operand(0, t);
  const Reg whole = c.reg(width_of(t));
  c.emit(Op::fround, t, {whole}, {x}).round = Round::rm;
  const Reg rest = v.compute(Op::fsub, t, {x, whole});
  const Reg high = v.compare(Op::fcmp, Cond::gt, t, rest, imm(most));
  v.put_real(v.select(high, imm(most), rest, bits_of(t)), t);
}

void lower_frexp_exp(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type t = i.row->meaning.type;
  const ir::Operand x = v.operand(0, t);
  const ir::Operand e = parts(v, t == Type::f64 ? x : ir::Operand(to_double(v, x, t))).exponent;
  v.put(t == Type::f16 ? ir::Operand(v.make(Op::zext16, {e})) : e);
}

void lower_frexp_mant(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type t = i.row->meaning.type;
  const ir::Operand x = v.operand(0, t);
  const Parts p = parts(v, t == Type::f64 ? x : ir::Operand(to_double(v, x, t)));
  const Reg quiet = product(v, p.mantissa, imm(0x3ff0000000000000));
  v.put_real(t == Type::f64 ? quiet : from_double(v, quiet, t, Round::rn), t);
}

void lower_ldexp(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type t = i.row->meaning.type;
  const ir::Operand x = v.operand(0, t);
  const Round round = v.mode.round(t);
  if (t == Type::f64) {
    const ir::Operand r = scaled(v, x, v.u32(1), round);
    return v.put_real(v.mode.keeps_results(t) ? r : v.flushed(r, t), t);
  }
  // A half's exponent has 16 bits.
  const ir::Operand exponent = t == Type::f16 ? v.s16(1) : v.u32(1);
  // Every f32, subnormal ones included, times 2^-280 to 2^280 is a normal double.
  const Reg factor = power(v, clamped(v, exponent, -400, 400));
  const Reg wide = product(v, to_double(v, x, t), factor);
  const ir::Operand r = from_double(v, wide, t, round);
  v.put_real(v.mode.keeps_results(t) ? r : v.flushed(r, t), t);
}

}  // namespace lanewise::gcn
