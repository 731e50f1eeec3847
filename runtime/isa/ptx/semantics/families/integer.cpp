// Integer arithmetic. 16-bit forms compute in 32 bits and keep the low half.
#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/packed.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

/// Operations whose result depends on the upper bits of narrow operands.
template <Op kOp>
void extended2(Emit& e) {
  const PType t = e.type();
  e.set(0, t, e.op(kOp, t.ir(), {e.ext(1, t), e.ext(2, t)}));
}

template <Op kOp>
void extended1(Emit& e) {
  const PType t = e.type();
  e.set(0, t, e.op(kOp, t.ir(), {e.ext(1, t)}));
}

/// A 64-bit value clamped to the range of s32.
ir::Operand clamp_s32(Emit& e, ir::Operand wide) {
  const ir::Reg low = e.op(Op::max, Type::s64, {wide, imm(0xffffffff80000000)});
  return e.narrow(e.op(Op::min, Type::s64, {low, imm(0x7fffffff)}));
}

template <Op kOp>
void saturating(Emit& e) {
  const ir::Operand a = e.widen(e.raw(1, kS32), true), b = e.widen(e.raw(2, kS32), true);
  e.set(0, kS32, clamp_s32(e, e.op(kOp, Type::s64, {a, b})));
}

PType doubled(PType t) {
  return {t.cls, t.bits * 2};
}

/// The full product: 32 bits of 16-bit operands, 64 of 32-bit ones.
ir::Operand wide_product(Emit& e, PType t) {
  return e.op(t.bits == 16 ? Op::mul : Op::mulwide, t.ir(), {e.ext(1, t), e.ext(2, t)});
}

ir::Operand product(Emit& e, PType t) {
  const std::string_view part = e.get("part");
  if (part == "lo") return e.op(Op::mul, t.ir(), {e.raw(1, t), e.raw(2, t)});
  if (part == "wide") return wide_product(e, t);
  if (t.bits == 16) return e.op(Op::shr, t.ir(), {wide_product(e, t), imm(16)});
  return e.op(Op::mulhi, t.ir(), {e.raw(1, t), e.raw(2, t)});
}

PType result_type(Emit& e, PType t) {
  return e.get("part") == "wide" ? doubled(t) : t;
}

void mul(Emit& e) {
  const PType t = e.type();
  e.set(0, result_type(e, t), product(e, t));
}

void mad(Emit& e) {
  const PType t = e.type(), d = result_type(e, t);
  const ir::Operand p = product(e, t);
  e.set(0, d, e.op(Op::add, d.ir(), {p, e.raw(3, d)}));
}

void mad_hi_sat(Emit& e) {
  const ir::Operand p = e.widen(e.op(Op::mulhi, Type::s32, {e.raw(1, kS32), e.raw(2, kS32)}), true);
  const ir::Operand c = e.widen(e.raw(3, kS32), true);
  e.set(0, kS32, clamp_s32(e, e.op(Op::add, Type::s64, {p, c})));
}

/// The product of the low 24 bits: its low 32 bits, or bits 47..16.
ir::Operand product24(Emit& e, PType t) {
  ir::Operand factor[2];
  for (size_t i = 0; i < 2; ++i)
    factor[i] = e.op(Op::bfe, t.ir(), {e.raw(i + 1, t), imm(0), imm(24)});
  if (e.get("part") == "lo") return e.op(Op::mul, t.ir(), {factor[0], factor[1]});
  const ir::Reg wide = e.op(Op::mulwide, t.ir(), {factor[0], factor[1]});
  return e.narrow(e.op(Op::shr, t.is_signed() ? Type::s64 : Type::u64, {wide, imm(16)}));
}

void mul24(Emit& e) {
  const PType t = e.type();
  e.set(0, t, product24(e, t));
}

void mad24(Emit& e) {
  const PType t = e.type();
  const ir::Operand p = product24(e, t);
  e.set(0, t, e.op(Op::add, t.ir(), {p, e.raw(3, t)}));
}

void mad24_hi_sat(Emit& e) {
  const ir::Operand p = e.widen(product24(e, kS32), true), c = e.widen(e.raw(3, kS32), true);
  e.set(0, kS32, clamp_s32(e, e.op(Op::add, Type::s64, {p, c})));
}

void sad(Emit& e) {
  const PType t = e.type();
  const ir::Operand a = e.ext(1, t), b = e.ext(2, t);
  const ir::Reg high = e.op(Op::max, t.ir(), {a, b}), low = e.op(Op::min, t.ir(), {a, b});
  const ir::Reg distance = e.op(Op::sub, t.ir(), {high, low});
  e.set(0, t, e.op(Op::add, t.ir(), {distance, e.raw(3, t)}));
}

ir::Operand field(Emit& e, ir::Operand word, PType t, unsigned at, unsigned width) {
  return e.op(Op::bfe, t.ir(), {word, imm(at), imm(width)});
}

void dot4(Emit& e) {
  const PType ta = e.type("atype"), tb = e.type("btype");
  const ir::Operand a = e.raw(1, ta), b = e.raw(2, tb);
  ir::Operand sum = e.raw(3, ta.is_signed() || tb.is_signed() ? kS32 : kU32);
  for (unsigned at = 0; at < 32; at += 8) {
    const ir::Reg p = e.op(Op::mul, Type::u32, {field(e, a, ta, at, 8), field(e, b, tb, at, 8)});
    sum = e.op(Op::add, Type::u32, {sum, p});
  }
  e.set(0, ta.is_signed() || tb.is_signed() ? kS32 : kU32, sum);
}

void dot2(Emit& e) {
  const PType ta = e.type("atype"), tb = e.type("btype");
  const ir::Operand a = e.raw(1, ta), b = e.raw(2, tb);
  const unsigned first = e.get("part") == "hi" ? 16 : 0;
  ir::Operand sum = e.raw(3, ta.is_signed() || tb.is_signed() ? kS32 : kU32);
  for (unsigned i = 0; i < 2; ++i) {
    const ir::Operand half = field(e, a, ta, 16 * i, 16), byte = field(e, b, tb, first + 8 * i, 8);
    sum = e.op(Op::add, Type::u32, {sum, e.op(Op::mul, Type::u32, {half, byte})});
  }
  e.set(0, ta.is_signed() || tb.is_signed() ? kS32 : kU32, sum);
}

/// Two 16-bit integers in a word, each by itself.
template <Op kOp>
void packed_integers(Emit& e) {
  const bool is_signed = e.get("type") == "s16x2";
  const Type type = is_signed ? Type::s32 : Type::u32;
  const ir::Operand a = e.raw(1, kB32), b = e.raw(2, kB32);
  ir::Operand out[2];
  for (unsigned i = 0; i < 2; ++i) {
    const ir::Reg x = e.op(Op::bfe, type, {a, imm(16ULL * i), imm(16)});
    const ir::Reg y = e.op(Op::bfe, type, {b, imm(16ULL * i), imm(16)});
    out[i] = e.op(kOp, type, {x, y});
    if (e.has("relu")) out[i] = e.op(Op::max, Type::s32, {out[i], imm(0)});
    out[i] = e.op(Op::zext16, Type::u32, {out[i]});
  }
  e.set(0, kB32, joined_halves(e, out[0], out[1]));
}

template <Op kOp>
void extreme_relu(Emit& e) {
  const ir::Reg found = e.op(kOp, Type::s32, {e.raw(1, kS32), e.raw(2, kS32)});
  e.set(0, kS32, e.op(Op::max, Type::s32, {found, imm(0)}));
}

/// The assembler calls a function for those of 64 bits, and fails on addresses of functions.
void division_rule(legal::Context& c) {
  if (c.type().bits != 64) return;
  for (size_t i = 1; i < 3; ++i) {
    const Operand& o = c.in.operands[i];
    const legal::Symbol s = c.symbol(o);
    if (s.kind == legal::Symbol::Kind::function)
      c.found(o, ", " + c.type().text() + " was expected");
  }
}

constexpr Row kIntegerRows[] = {
    {"add", "type:$int", "d s s", plain<Op::add, 2>},
    {"add", "sat+ type:s32", "d s s", saturating<Op::add>},
    {"sub", "type:$int", "d s s", plain<Op::sub, 2>},
    {"sub", "sat+ type:s32", "d s s", saturating<Op::sub>},
    {"mul", "^part:lo|hi type:$int", "d s s", mul},
    {"mul", "^part:wide type:u16|s16|u32|s32", "d:$type*2 s s", mul},
    {"mad", "^part:lo|hi type:$int", "d s s s", mad},
    {"mad", "^part:wide type:u16|s16|u32|s32", "d:$type*2 s s s:$type*2", mad},
    {"mad", "^part:hi sat+ type:s32", "d s s s", mad_hi_sat},
    {"mul24", "^part:lo|hi type:u32|s32", "d s s", mul24},
    {"mad24", "^part:lo|hi type:u32|s32", "d s s s", mad24},
    {"mad24", "^part:hi sat+ type:s32", "d s s s", mad24_hi_sat},
    {"div", "type:$int", judged("d s s", division_rule), extended2<Op::div>},
    {"rem", "type:$int", judged("d s s", division_rule), extended2<Op::rem>},
    {"min", "type:$int", "d s s", extended2<Op::min>},
    {"max", "type:$int", "d s s", extended2<Op::max>},
    {"add@90.80", "type:u16x2|s16x2", "d s s", packed_integers<Op::add>},
    {"min@90.80", "type:u16x2", "d s s", packed_integers<Op::min>},
    {"max@90.80", "type:u16x2", "d s s", packed_integers<Op::max>},
    {"min@90.80", "?relu+ type:s16x2", "d s s", packed_integers<Op::min>},
    {"max@90.80", "?relu+ type:s16x2", "d s s", packed_integers<Op::max>},
    {"min@90.80", "relu+ type:s32", "d s s", extreme_relu<Op::min>},
    {"max@90.80", "relu+ type:s32", "d s s", extreme_relu<Op::max>},
    {"abs", "type:s16|s32|s64", "d s", extended1<Op::abs>},
    {"neg", "type:s16|s32|s64", "d s", extended1<Op::neg>},
    {"sad", "type:$int", "d s s s:$type", sad},
    {"dp4a@61.50", "atype:u32|s32 btype:u32|s32", "d:u32 s:$atype s:$btype s:u32", dot4},
    {"dp2a@61.50", "^part:lo|hi atype:u32|s32 btype:u32|s32", "d:u32 s:$atype s:$btype s:u32",
     dot2},
};

}  // namespace

constinit Rows integer_rows = kIntegerRows;

}  // namespace lanewise::ptx
