// Arithmetic for expansions: what immediates decide is not emitted.
#pragma once

#include <bit>

#include "runtime/ir/builder.hpp"
#include "runtime/ir/evaluate.hpp"
#include "runtime/ir/make.hpp"
#include "runtime/ir/texture.hpp"

namespace lanewise::ir::textures {

class Fold {
 public:
  explicit Fold(Builder& b) : b_(b) {}
  Builder& builder() { return b_; }

  // --- b32 integers ------------------------------------------------------------------------------
  Operand add(Operand x, Operand y) {
    return is(x, 0) ? y : is(y, 0) ? x : op(Op::add, Type::u32, {x, y});
  }
  Operand sub(Operand x, Operand y) { return is(y, 0) ? x : op(Op::sub, Type::u32, {x, y}); }
  Operand mul(Operand x, Operand y) {
    if (is(x, 0) || is(y, 0)) return imm(0);
    return is(x, 1) ? y : is(y, 1) ? x : op(Op::mul, Type::u32, {x, y});
  }
  Operand and_(Operand x, uint32_t mask) { return op(Op::and_, Type::u32, {x, imm(mask)}); }
  Operand or_(Operand x, Operand y) {
    return is(x, 0) ? y : is(y, 0) ? x : op(Op::or_, Type::u32, {x, y});
  }
  Operand shl(Operand x, Operand by) { return is(by, 0) ? x : op(Op::shl, Type::u32, {x, by}); }
  Operand shr(Operand x, Operand by) { return is(by, 0) ? x : op(Op::shr, Type::u32, {x, by}); }
  Operand sar(Operand x, Operand by) { return op(Op::shr, Type::s32, {x, by}); }
  Operand min(Operand x, Operand y) { return op(Op::min, Type::s32, {x, y}); }
  Operand max(Operand x, Operand y) { return op(Op::max, Type::s32, {x, y}); }
  Operand umin(Operand x, Operand y) { return op(Op::min, Type::u32, {x, y}); }
  Operand umax(Operand x, Operand y) {
    return is(x, 0) ? y : is(y, 0) ? x : op(Op::max, Type::u32, {x, y});
  }
  Operand rem(Operand x, Operand y) { return op(Op::rem, Type::s32, {x, y}); }
  Operand field(Operand x, unsigned low, unsigned bits) {
    return and_(shr(x, imm(low)), (1U << bits) - 1);
  }
  /// Bits of the highest 1 and below become 1s.
  Operand clz(Operand x) { return op(Op::clz, Type::u32, {x}); }

  // --- b64 ---------------------------------------------------------------------------------------
  Operand add64(Operand x, Operand y) {
    return is(x, 0) ? y : is(y, 0) ? x : op(Op::add, Type::u64, {x, y});
  }
  Operand mul64(Operand x, Operand y) {
    return is(x, 0) || is(y, 0) ? imm(0) : op(Op::mul, Type::u64, {x, y});
  }
  Operand zext(Operand x) { return x.is_imm() ? x : op_width(Op::zext64, Width::b64, {x}); }
  Operand wide_product(Operand x, Operand y) {
    if (x.is_imm() && y.is_imm()) return imm((x.imm & kLow) * (y.imm & kLow));
    if (is(x, 0) || is(y, 0)) return imm(0);
    if (is(x, 1)) return zext(y);
    if (is(y, 1)) return zext(x);
    const Reg r = b_.reg(Width::b64);
    b_.emit(Op::mulwide, Type::u32, {r}, {x, y});
    return r;
  }

  // --- predicates --------------------------------------------------------------------------------
  Operand compare(Cond cond, Type type, Operand x, Operand y) {
    Inst i = instruction(Op::icmp, type, {Reg{0}}, {x, y});
    i.cond = cond;
    if (const auto known = evaluated(i)) return imm(*known);
    const Reg r = b_.reg(Width::pred);
    b_.emit(Op::icmp, type, {r}, {x, y}).cond = cond;
    return r;
  }
  Operand eq(Operand x, Operand y) { return compare(Cond::eq, Type::u32, x, y); }
  Operand ne(Operand x, Operand y) { return compare(Cond::ne, Type::u32, x, y); }
  Operand less(Operand x, Operand y) { return compare(Cond::lt, Type::s32, x, y); }
  Operand below(Operand x, Operand y) { return compare(Cond::lt, Type::u32, x, y); }
  Operand bit(Operand x, uint32_t mask) { return ne(and_(x, mask), imm(0)); }
  Operand both(Operand x, Operand y) {
    if (x.is_imm()) return x.imm != 0 ? y : x;
    if (y.is_imm()) return y.imm != 0 ? x : y;
    return op(Op::and_, Type::pred, {x, y});
  }
  Operand either(Operand x, Operand y) {
    if (x.is_imm()) return x.imm != 0 ? x : y;
    if (y.is_imm()) return y.imm != 0 ? y : x;
    return op(Op::or_, Type::pred, {x, y});
  }
  Operand not_(Operand x) { return x.is_imm() ? imm(x.imm ^ 1) : op(Op::not_, Type::pred, {x}); }
  Operand select(Operand p, Operand x, Operand y, Type type = Type::u32) {
    if (p.is_imm()) return p.imm != 0 ? x : y;
    if (x == y) return x;
    return op(Op::select, type, {p, x, y});
  }

  // --- f32
  // -----------------------------------------------------------------------------------------
  static Operand f32(float v) { return imm(std::bit_cast<uint32_t>(v)); }
  Operand fadd(Operand x, Operand y) { return op(Op::fadd, Type::f32, {x, y}); }
  Operand fsub(Operand x, Operand y) { return op(Op::fsub, Type::f32, {x, y}); }
  Operand fmul(Operand x, Operand y) {
    const Operand one = f32(1);
    return x == one ? y : y == one ? x : op(Op::fmul, Type::f32, {x, y});
  }
  /// x * y + z, where the product has no more bits than an f32.
  Operand fsum_of_product(Operand x, Operand y, Operand z) {
    const Operand r = op(Op::ffma, Type::f32, {x, y, z});
    last().mode = static_cast<uint8_t>(FmaMode::exact_product);
    return r;
  }
  /// The limit where x is a NaN; of zeros either one.
  Operand at_least(Operand x, float limit) { return extreme(Op::fmax, x, limit); }
  Operand at_most(Operand x, float limit) { return extreme(Op::fmin, x, limit); }
  /// What was emitted last gives no NaN: none has to be made canonical.
  Operand never_nan(Operand x) {
    last().any_nan = true;
    return x;
  }
  Operand fcompare(Cond cond, Operand x, Operand y) {
    const Reg r = b_.reg(Width::pred);
    b_.emit(Op::fcmp, Type::f32, {r}, {x, y}).cond = cond;
    return r;
  }
  Operand floor(Operand x) { return rounded(Op::fround, Type::f32, Type::none, x, Round::rm); }
  Operand round_even(Operand x) { return rounded(Op::fround, Type::f32, Type::none, x, Round::rn); }
  /// To s32, saturating; NaN is 0.
  Operand to_int(Operand x, Round round) {
    return rounded(Op::f2i, Type::s32, Type::f32, x, round);
  }
  /// The same of what is surely in range.
  Operand to_int_inside(Operand x, Round round) {
    const Operand r = to_int(x, round);
    last().mode = static_cast<uint8_t>(ToIntMode::fits);
    return r;
  }
  /// Of an integer below 2^24, which is exact.
  Operand to_float(Operand x) {
    if (x.is_imm() && x.imm < (1U << 24)) return f32(static_cast<float>(x.imm));
    return rounded(Op::i2f, Type::f32, Type::u32, x, Round::rn);
  }

  static bool is(const Operand& o, uint64_t value) { return o.is_imm() && o.imm == value; }
  /// A register with the value, which later moves may replace.
  Reg variable(Operand value, Width width = Width::b32) {
    const Reg r = b_.reg(width);
    move(r, value);
    return r;
  }
  void move(Reg to, Operand value) {
    b_.emit(Op::mov, bits_type(b_.program().regs[to.id].width), {to}, {value});
  }
  Operand op(Op o, Type type, std::vector<Operand> src) {
    if (const auto known = evaluated(instruction(o, type, {Reg{0}}, src))) return imm(*known);
    const Width w = o == Op::clz ? Width::b32 : width_of(type);
    const Reg r = b_.reg(w);
    b_.emit(o, type, {r}, std::move(src));
    return r;
  }

 private:
  static constexpr uint64_t kLow = 0xffffffff;
  Inst& last() { return b_.program().blocks[b_.block()].insts.back(); }
  Operand extreme(Op o, Operand x, float limit) {
    const Operand r = op(o, Type::f32, {x, f32(limit)});
    last().mode = static_cast<uint8_t>(ExtremeMode::any_zero);
    return r;
  }
  Operand op_width(Op o, Width w, std::vector<Operand> src) {
    const Reg r = b_.reg(w);
    b_.emit(o, Type::none, {r}, std::move(src));
    return r;
  }
  Operand rounded(Op o, Type type, Type from, Operand x, Round round) {
    const Reg r = b_.reg(Width::b32);
    Inst& i = b_.emit(o, type, {r}, {x});
    i.from = from;
    i.round = round;
    return r;
  }
  static std::optional<uint64_t> evaluated(const Inst& i) {
    std::vector<uint64_t> values;
    for (const Operand& o : i.src) {
      if (!o.is_imm()) return std::nullopt;
      values.push_back(o.imm);
    }
    const auto known = evaluate(i, values);
    return known ? std::optional((*known)[0]) : std::nullopt;
  }

  Builder& b_;
};

}  // namespace lanewise::ir::textures
