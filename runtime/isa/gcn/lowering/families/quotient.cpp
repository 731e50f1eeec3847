// v_div_scale, v_div_fmas and v_div_fixup: the steps around a division by way of a reciprocal.
#include "runtime/isa/gcn/lowering/values.hpp"

namespace lanewise::gcn {

namespace {

/// What the steps need to know of a format.
struct Format {
  Type type, bits;
  unsigned exponent_at, exponent_bits;
  int far;        ///< exponents so far apart bring the quotient near the largest number
  int tiny;       ///< a numerator whose exponent is at most this is scaled up
  int scale;      ///< by 2^scale
  int underflow;  ///< below this difference of exponents the quotient is 0
  uint64_t infinity, sign, nan;
  uint64_t one, up, down;  ///< 1, 2^scale and 2^-scale
};
Format format(Type t) {
  if (t == Type::f64)
    return {t,
            Type::u64,
            52,
            11,
            768,
            53,
            128,
            -1075,
            0x7ff0000000000000,
            0x8000000000000000,
            0xfff8000000000000,
            0x3ff0000000000000,
            0x47f0000000000000,
            0x37f0000000000000};
  if (t == Type::f16) return {t, Type::u32, 10, 5, 0, 0, 0, -1000, 0x7c00, 0x8000, 0x7fff, 0, 0, 0};
  return {t,    Type::u32,  23,         8,          96,         23,         64,
          -150, 0x7f800000, 0x80000000, 0x7fffffff, 0x3f800000, 0x5f800000, 0x1f800000};
}

class Division : public Values {
 public:
  Division(LowerContext& context, const Instruction& instruction)
      : Values(context, instruction), f(format(instruction.row->meaning.type)) {}

  Reg exponent(ir::Operand x) {
    ir::Operand high = x;
    if (f.type == Type::f64) {
      const auto [lo, hi] = c.unpack(x);
      high = hi;
    }
    const Reg moved = make(Op::shr, {high, imm(f.type == Type::f64 ? 20U : f.exponent_at)});
    return make(Op::and_, {moved, imm((1U << f.exponent_bits) - 1)});
  }
  Reg is_zero(ir::Operand x) { return compare(Op::fcmp, Cond::eq, f.type, x, imm(0)); }
  Reg is_nan(ir::Operand x) { return compare(Op::fcmp, Cond::nan, f.type, x, x); }
  Reg is_infinite(ir::Operand x) {
    return compare(Op::fcmp, Cond::eq, f.type, c.make(Op::fabs, f.type, {x}), imm(f.infinity));
  }
  Reg below(Reg x, int limit) {
    return c.compare(Cond::lt, Type::s32, x, imm(static_cast<uint32_t>(limit)));
  }
  Reg same_bits(ir::Operand x, ir::Operand y) { return c.compare(Cond::eq, f.bits, x, y); }
  Reg both(ir::Operand x, ir::Operand y) { return c.make(Op::and_, Type::pred, {x, y}); }
  Reg either(ir::Operand x, ir::Operand y) { return c.make(Op::or_, Type::pred, {x, y}); }
  /// Without flushing anything.
  Reg rounded(Op op, Round round, std::vector<ir::Operand> src) {
    const Reg r = c.reg(width_of(f.type));
    c.emit(op, f.type, {r}, std::move(src)).round = round;
    return r;
  }
  Reg choose(ir::Operand which, ir::Operand yes, ir::Operand no) {
    return select(which, yes, no, f.bits);
  }

  const Format f;
};

}  // namespace

/// S0 is the denominator S1 or the numerator S2: the one that is to be scaled, so that neither the
/// reciprocal nor the quotient leaves the range of normal numbers. VCC says that the quotient is to
/// be scaled back. What is not scaled goes through the same arithmetic, times 1: the mode's
/// flushing and the one NaN are for every result.
void lower_div_scale(LowerContext& c, const Instruction& i) {
  Division d(c, i);
  if (i.clamp) throw Unsupported("clamp is not possible here");
  const Format& f = d.f;
  const ir::Operand x = d.operand(0, f.type), den = d.operand(1, f.type),
                    num = d.operand(2, f.type);
  const auto times = [&](uint64_t factor) { return d.compute(Op::fmul, f.type, {x, imm(factor)}); };
  const Reg ed = d.exponent(den), en = d.exponent(num);
  const Reg apart = d.make(Op::sub, {en, ed});
  const Reg undefined = d.either(d.is_zero(num), d.is_zero(den));
  const Reg far = c.compare(Cond::ge, Type::s32, apart, imm(static_cast<uint32_t>(f.far)));
  const Reg den_subnormal = d.below(ed, 1);
  // 1 / den and num / den below the normal numbers, as the quotients themselves say: in the mode's
  // direction, but not flushed, since reciprocals that would be need scaling in every mode.
  const auto subnormal = [&](ir::Operand q) {
    const Reg zero_exponent = d.below(d.exponent(q), 1);
    const Reg not_zero = d.compare(Op::fcmp, Cond::neu, f.type, q, imm(0));
    return d.both(zero_exponent, not_zero);
  };
  const Round round = d.mode.round(f.type);
  const Reg small_rcp = subnormal(d.rounded(Op::fdiv, round, {imm(f.one), den}));
  const Reg small_quotient = subnormal(d.rounded(Op::fdiv, round, {num, den}));
  const Reg both_small = d.both(small_rcp, small_quotient);
  const Reg tiny = d.below(en, f.tiny + 1);
  const Reg is_den = d.same_bits(x, den), is_num = d.same_bits(x, num);
  const Reg same = times(f.one), up = times(f.up), down = times(f.down);

  // The last test that holds of these, from the bottom up.
  ir::Operand r = d.choose(tiny, up, same);
  ir::Operand back = imm(0);
  const auto mask = [&](ir::Operand which, ir::Operand yes, ir::Operand no) {
    return c.make(Op::select, Type::pred, {which, yes, no});
  };
  r = d.choose(small_quotient, d.choose(is_num, up, same), r);
  back = mask(small_quotient, imm(1), back);
  r = d.choose(small_rcp, down, r);
  back = mask(small_rcp, imm(0), back);
  // Documents scale the denominator up here, which would make an infinity of every one that has
  // such a reciprocal; scaled down the quotient comes out right.
  r = d.choose(both_small, d.choose(is_den, down, same), r);
  back = mask(both_small, imm(1), back);
  r = d.choose(den_subnormal, up, r);
  back = mask(den_subnormal, imm(0), back);
  r = d.choose(far, d.choose(is_den, up, same), r);
  back = mask(far, imm(1), back);
  r = d.choose(undefined, imm(f.nan), r);
  back = mask(undefined, imm(0), back);
  const ir::Operand lanes = c.active(back);
  d.put_real(r, f.type);
  c.write_mask(i.operand(Slot::mask_dst)->code, lanes);
}

namespace {

/// sum * 2^-scale, rounded once though the result may be subnormal: the sum is cut towards zero and
/// its last bits' remains decide where that lies halfway.
Reg scaled_down(Division& d, const std::vector<ir::Operand>& src, Reg sum) {
  const Type t = d.f.type;
  const Round mode = d.mode.round(t);
  if (mode != Round::rn) return d.rounded(Op::fmul, mode, {sum, imm(d.f.down)});
  const Reg low = d.rounded(Op::ffma, Round::rm, src), high = d.rounded(Op::ffma, Round::rp, src);
  const Reg exact = d.compare(Op::fcmp, Cond::eq, t, low, high);
  const Reg negative = d.compare(Op::fcmp, Cond::lt, t, sum, imm(0));
  const Reg cut = d.choose(exact, sum, d.choose(negative, high, low));
  const Reg even = d.rounded(Op::fmul, Round::rn, {cut, imm(d.f.down)});
  const Reg away = d.rounded(Op::fmul, Round::rna, {cut, imm(d.f.down)});
  const Reg normal = d.rounded(Op::fmul, Round::rn, {sum, imm(d.f.down)});
  return d.choose(d.below(d.exponent(even), 1), d.choose(exact, even, away), normal);
}

}  // namespace

/// A fused multiply-add; where VCC is set the result is scaled back, up or down as the addend's
/// exponent says.
void lower_div_fmas(LowerContext& c, const Instruction& i) {
  Division d(c, i);
  const Format& f = d.f;
  const ir::Operand addend = d.operand(2, f.type);
  const std::vector<ir::Operand> src = {d.operand(0, f.type), d.operand(1, f.type), addend};
  const Reg sum = d.compute(Op::ffma, f.type, src);
  const unsigned bias = (1U << (f.exponent_bits - 1)) - 1;
  const Reg large = c.compare(Cond::gt, Type::u32, d.exponent(addend), imm(bias));
  ir::Operand down = scaled_down(d, src, sum);
  if (!d.mode.keeps_results(f.type)) down = d.flushed(down, f.type);
  const Reg scaled = d.choose(large, d.compute(Op::fmul, f.type, {sum, imm(f.up)}), down);
  d.put_real(d.choose(c.mask(kVccLo), scaled, sum), f.type);
}

namespace {

/// What a quotient rounds to that is far below the least number, without its sign.
ir::Operand below_all(Division& d, ir::Operand sign) {
  const Round round = d.mode.round(d.f.type);
  if (round != Round::rp && round != Round::rm) return imm(0);
  const bool up = round == Round::rp;
  const Reg positive = d.c.compare(Cond::eq, d.f.bits, sign, imm(0));
  return d.choose(positive, imm(up ? 1 : 0), imm(up ? 0 : 1));
}

}  // namespace

/// S0 is the quotient, S1 the denominator, S2 the numerator: what no chain of multiplications gets
/// right.
void lower_div_fixup(LowerContext& c, const Instruction& i) {
  Division d(c, i);
  const Format& f = d.f;
  const ir::Operand q = d.operand(0, f.type), den = d.operand(1, f.type),
                    num = d.operand(2, f.type);
  const Reg sign = c.make(Op::and_, f.bits, {c.make(Op::xor_, f.bits, {den, num}), imm(f.sign)});
  const auto with_sign = [&](ir::Operand x) { return c.make(Op::or_, f.bits, {x, sign}); };
  const Reg apart = d.make(Op::sub, {d.exponent(num), d.exponent(den)});
  // A quotient that is none left the range on its way.
  const Reg size = d.choose(d.is_nan(q), imm(f.infinity), c.make(Op::fabs, f.type, {q}));
  ir::Operand r = with_sign(size);
  r = d.choose(d.below(apart, f.underflow), with_sign(below_all(d, sign)), r);
  if (!d.mode.keeps_results(f.type)) r = d.flushed(r, f.type);
  const Reg den_infinite = d.is_infinite(den), num_infinite = d.is_infinite(num);
  const Reg den_zero = d.is_zero(den), num_zero = d.is_zero(num);
  r = d.choose(d.either(den_infinite, num_zero), with_sign(imm(0)), r);
  r = d.choose(d.either(den_zero, num_infinite), with_sign(imm(f.infinity)), r);
  const Reg undefined = d.either(d.both(den_zero, num_zero), d.both(den_infinite, num_infinite));
  r = d.choose(d.either(undefined, d.either(d.is_nan(den), d.is_nan(num))), imm(f.nan), r);
  d.put_real(r, f.type);
}

}  // namespace lanewise::gcn
