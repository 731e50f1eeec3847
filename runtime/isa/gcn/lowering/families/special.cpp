// Instructions made for one algorithm: the faces of a cube, and the reduction of large angles.
#include <array>
#include <bit>

#include "runtime/isa/gcn/lowering/values.hpp"

namespace lanewise::gcn {

/// Which face of a cube the direction S0, S1, S2 meets, where, and twice its longest part. Equal
/// parts: z before y before x.
void lower_cube(LowerContext& c, const Instruction& i) {
  Values v(c, i);
  const Type t = Type::f32;
  const ir::Operand x = v.operand(0, t), y = v.operand(1, t), z = v.operand(2, t);
  const auto size = [&](ir::Operand a) { return c.make(Op::fabs, t, {a}); };
  const auto minus = [&](ir::Operand a) -> ir::Operand { return c.make(Op::fneg, t, {a}); };
  const auto at_least = [&](ir::Operand a, ir::Operand b) {
    return v.compare(Op::fcmp, Cond::ge, t, size(a), size(b));
  };
  const auto below_zero = [&](ir::Operand a) {
    return v.compare(Op::fcmp, Cond::lt, t, a, imm(0));
  };
  const Reg z_major = c.make(Op::and_, Type::pred, {at_least(z, x), at_least(z, y)});
  const Reg y_major = at_least(y, x);
  const auto of_axis = [&](ir::Operand of_x, ir::Operand of_y, ir::Operand of_z) {
    return v.select(z_major, of_z, v.select(y_major, of_y, of_x));
  };
  const auto by_sign = [&](ir::Operand a, ir::Operand negative, ir::Operand positive) {
    return v.select(below_zero(a), negative, positive);
  };
  const auto number = [](float n) { return imm(std::bit_cast<uint32_t>(n)); };
  // A NaN becomes the canonical one.
  const auto as_result = [&](Reg a) { return v.compute(Op::fmul, t, {a, number(1)}); };
  switch (i.row->meaning.count) {
    case 0:
      return v.put_real(of_axis(by_sign(x, number(1), number(0)), by_sign(y, number(3), number(2)),
                                by_sign(z, number(5), number(4))),
                        t);
    case 1:
      return v.put_real(as_result(of_axis(by_sign(x, z, minus(z)), x, by_sign(z, minus(x), x))), t);
    case 2:
      return v.put_real(as_result(of_axis(minus(y), by_sign(y, minus(z), z), minus(y))), t);
    default: {
      const Reg major = of_axis(x, y, z);
      return v.put_real(v.compute(Op::fadd, t, {major, major}), t);
    }
  }
}

namespace {

/// The first 1201 bits of 2 / pi behind the binary point.
constexpr std::array<uint32_t, 38> kTwoByPi = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b0000};

/// Three words of the table from word `index` (0 to 63) on; beyond its end are zeros.
std::array<ir::Operand, 3> words_from(Values& v, Reg index) {
  std::vector<ir::Operand> words(kTwoByPi.size() + 3 + 63, imm(0));
  for (size_t n = 0; n < kTwoByPi.size(); ++n) words[n] = imm(kTwoByPi[n]);
  for (unsigned bit = 6; bit-- > 0;) {
    const unsigned step = 1U << bit;
    const Reg set = v.make(Op::and_, {index, imm(step)});
    const Reg moved = v.c.compare(Cond::ne, Type::u32, set, imm(0));
    // Later steps go at most step - 1 further.
    std::vector<ir::Operand> next;
    for (size_t n = 0; n < 3 + step - 1; ++n)
      next.push_back(words[n] == words[n + step]
                         ? words[n]
                         : ir::Operand(v.select(moved, words[n + step], words[n])));
    next.resize(words.size(), imm(0));
    words = std::move(next);
  }
  return {words[0], words[1], words[2]};
}

}  // namespace

/// 53 bits of 2 / pi, those that S1 counts from the first one that matters for a number of S0's
/// size: as a double at their place, 2^128 higher for the largest. Cut in every mode, and flushed
/// as the mode says.
void lower_trig_preop(LowerContext& c, const Instruction& i) {
  constexpr uint32_t kFirstLarge = 1077, kLargest = 1968, kBits = 53, kTableEnd = 64 * 32 - 1;
  Values v(c, i);
  const Reg lo = c.reg(Width::b32), hi = c.reg(Width::b32);
  c.emit(Op::unpack64, Type::u64, {lo, hi}, {v.real(0, Type::f64)});
  const Reg exponent = v.make(Op::and_, {v.make(Op::shr, {hi, imm(20)}), imm(0x7ff)});
  const Reg least = v.make(Op::max, {exponent, imm(kFirstLarge)});
  const Reg chunk = v.make(Op::mul, {v.make(Op::and_, {v.u32(1), imm(31)}), imm(kBits)});
  const Reg first = v.make(Op::add, {chunk, v.make(Op::sub, {least, imm(kFirstLarge)})});
  const Reg at = v.make(Op::min, {first, imm(kTableEnd)});
  const auto words = words_from(v, v.make(Op::shr, {at, imm(5)}));
  const Reg shift = v.make(Op::and_, {at, imm(31)});
  const Reg top = c.make(Op::pack64, Type::u64, {words[1], words[0]});
  const Reg below = c.make(Op::pack64, Type::u64, {imm(0), words[2]});
  const Reg left = c.make(Op::shl, Type::u64, {top, shift});
  // By 64 in all, in two steps that are each less.
  const Reg rest = c.make(Op::shr, Type::u64, {below, v.make(Op::sub, {imm(63), shift})});
  const Reg moved = c.make(Op::or_, Type::u64, {left, c.make(Op::shr, Type::u64, {rest, imm(1)})});
  const Reg number = c.make(Op::shr, Type::u64, {moved, imm(64 - kBits)});
  const Reg whole = c.reg(Width::b64);
  c.emit(Op::i2f, Type::f64, {whole}, {number}).from = Type::u64;
  const Reg large = c.compare(Cond::ge, Type::u32, exponent, imm(kLargest));
  const Reg up = v.select(large, imm(128), imm(0));
  const Reg scale = v.make(Op::sub, {up, v.make(Op::add, {first, imm(kBits)})});
  const Reg placed = scaled(v, whole, scale, Round::rz);
  v.put_real(v.mode.keeps_results(Type::f64) ? ir::Operand(placed) : v.flushed(placed, Type::f64),
             Type::f64);
}

}  // namespace lanewise::gcn
