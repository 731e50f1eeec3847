// cvt from and to bf16, cvt with .relu, to tf32 and with .pack. bf16 is the upper half of f32, so
// everything goes by way of f32; what f32 cannot hold exactly is rounded to odd on the way, which
// keeps the second rounding right in every mode.
#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/packed.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

constexpr uint32_t kNan16 = 0x7fff, kInfinity16 = 0x7f80, kInfinity32 = 0x7f800000;

ir::Reg compare(Emit& e, Type type, ir::Operand a, ir::Operand b, ir::Cond cond) {
  return e.op(Op::icmp, type, {a, b}, {.cond = cond});
}
ir::Operand flushed(Emit& e, ir::Operand x) {
  const ir::Reg exponent = word_op(e, Op::and_, x, imm(kInfinity32));
  const ir::Reg small = compare(e, Type::u32, exponent, imm(0), ir::Cond::eq);
  return choose(e, small, word_op(e, Op::and_, x, imm(0x80000000)), x);
}

/// The last bit says that something was cut off.
ir::Operand to_odd(Emit& e, ir::Operand cut, ir::Operand inexact) {
  return word_op(e, Op::or_, cut, choose(e, inexact, imm(1), imm(0)));
}

ir::Operand f32_of_f64(Emit& e, ir::Operand x) {
  const ir::Reg cut = e.op(Op::f2f, Type::f32, {x}, {.round = ir::Round::rz, .from = Type::f64});
  const ir::Reg back = e.op(Op::f2f, Type::f64, {cut}, {.from = Type::f32});
  return to_odd(e, cut, e.op(Op::fcmp, Type::f64, {x, back}, {.cond = ir::Cond::ne}));
}

ir::Operand f32_of_integer(Emit& e, ir::Operand x, PType s) {
  const ir::Reg cut = e.op(Op::i2f, Type::f32, {x}, {.round = ir::Round::rz, .from = s.ir()});
  if (s.bits <= 16) return cut;
  const ir::Reg back = e.op(Op::f2i, s.ir(), {cut}, {.round = ir::Round::rz, .from = Type::f32});
  return to_odd(e, cut, compare(e, s.ir(), x, back, ir::Cond::ne));
}

/// The f32 that the operand is, exactly or rounded to odd.
ir::Operand source_as_f32(Emit& e, size_t i) {
  if (e.get("type") == "bf16") return widened_bf16(e, e.raw(i, kB16));
  const PType s = e.type();
  if (!s.is_float()) return f32_of_integer(e, e.ext(i, s), s);
  const ir::Operand x = e.raw(i, s);
  if (s.bits == 64) return f32_of_f64(e, x);
  return s.bits == 16 ? ir::Operand(e.op(Op::f2f, Type::f32, {x}, {.from = Type::f16})) : x;
}

/// Rounds the bits of an f32 to its upper half.
ir::Operand upper_half(Emit& e, ir::Operand x, ir::Round round) {
  const ir::Reg magnitude = word_op(e, Op::and_, x, imm(0x7fffffff));
  const ir::Reg is_nan = compare(e, Type::u32, magnitude, imm(kInfinity32), ir::Cond::gt);
  ir::Operand addend = imm(0);
  if (round == ir::Round::rn) {
    const ir::Reg last = word_op(e, Op::and_, word_op(e, Op::shr, x, imm(16)), imm(1));
    addend = word_op(e, Op::add, last, imm(0x7fff));
  } else if (round != ir::Round::rz) {  // away from zero on one side of it
    const ir::Reg negative = compare(e, Type::s32, x, imm(0), ir::Cond::lt);
    const uint32_t below = round == ir::Round::rm ? 0xffff : 0;
    addend = choose(e, negative, imm(below), imm(0xffff - below));
  }
  const ir::Reg rounded = word_op(e, Op::shr, word_op(e, Op::add, x, addend), imm(16));
  return choose(e, is_nan, imm(kNan16), rounded);
}

ir::Operand relu(Emit& e, ir::Operand half) {
  const ir::Reg sign = word_op(e, Op::and_, half, imm(0x8000));
  return choose(e, compare(e, Type::u32, sign, imm(0), ir::Cond::ne), imm(0), half);
}

}  // namespace

ir::Operand bf16_nearest(Emit& e, ir::Operand f32) {
  return upper_half(e, f32, ir::Round::rn);
}
ir::Operand half_relu(Emit& e, ir::Operand half) {
  return relu(e, half);
}

namespace {

ir::Operand as_bf16(Emit& e, size_t i) {
  ir::Operand x = source_as_f32(e, i);
  if (e.has("ftz")) x = flushed(e, x);
  ir::Operand half = upper_half(e, x, e.rounding());
  if (e.has("satfinite")) {
    const ir::Reg magnitude = word_op(e, Op::and_, half, imm(0x7fff));
    const ir::Reg infinite = compare(e, Type::u32, magnitude, imm(kInfinity16), ir::Cond::eq);
    half = choose(e, infinite, word_op(e, Op::sub, half, imm(1)), half);
  }
  return e.has("relu") ? relu(e, half) : half;
}

void to_bf16(Emit& e) {
  e.set(0, kB16, as_bf16(e, 1), Fit::exact, true);
}

/// The first source is the upper half.
void to_pair(Emit& e, ir::Operand (*convert)(Emit&, size_t)) {
  const ir::Operand high = convert(e, 1), low = convert(e, 2);
  e.set(0, kB32, word_op(e, Op::or_, word_op(e, Op::shl, high, imm(16)), low));
}
void to_bf16x2(Emit& e) {
  to_pair(e, as_bf16);
}

ir::Operand as_f16_relu(Emit& e, size_t i) {
  const ir::Reg half =
      e.op(Op::f2f, Type::f16, {e.raw(i, kF32)}, {.round = e.rounding(), .from = Type::f32});
  const ir::Reg magnitude = word_op(e, Op::and_, half, imm(0x7fff));
  const ir::Reg is_nan = compare(e, Type::u32, magnitude, imm(0x7c00), ir::Cond::gt);
  return relu(e, choose(e, is_nan, imm(kNan16), half));
}
void to_f16_relu(Emit& e) {
  e.set(0, kF16, as_f16_relu(e, 1), Fit::exact, true);
}
void to_f16x2_relu(Emit& e) {
  to_pair(e, as_f16_relu);
}

void from_bf16(Emit& e) {
  const PType d = e.type("dtype");
  ir::Operand x = source_as_f32(e, 1);
  if (e.has("ftz")) x = flushed(e, x);
  if (d.bits == 32 && d.is_float()) return e.set(0, d, x, Fit::exact, true);
  const Mods mods{.round = e.rounding(), .from = Type::f32};
  if (d.is_float()) return e.set(0, d, e.op(Op::f2f, d.ir(), {x}, mods), Fit::exact, true);
  e.set(0, d, e.op(Op::f2i, d.bits < 32 ? d.memory() : d.ir(), {x}, mods), Fit::exact,
        !d.is_signed());
}

/// A whole number has at most the digits of what it was rounded from.
void to_whole(Emit& e) {
  const ir::Operand x = source_as_f32(e, 1);
  const ir::Reg whole =
      e.op(Op::fround, Type::f32, {x}, {.round = e.rounding(), .from = Type::none});
  e.set(0, kB16, upper_half(e, whole, ir::Round::rz), Fit::exact, true);
}

/// tf32 is f32 with 10 bits of fraction; .rna takes ties away from zero.
void to_tf32(Emit& e) {
  constexpr uint32_t kCut = 13;
  const ir::Operand x = e.raw(1, kF32);
  const ir::Reg magnitude = word_op(e, Op::and_, x, imm(0x7fffffff));
  const ir::Reg is_nan = compare(e, Type::u32, magnitude, imm(kInfinity32), ir::Cond::gt);
  ir::Operand sum = x;
  if (e.has("rna")) {
    sum = word_op(e, Op::add, x, imm(1U << (kCut - 1)));
  } else if (e.get("rnd") == "rn") {
    const ir::Reg last = word_op(e, Op::and_, word_op(e, Op::shr, x, imm(kCut)), imm(1));
    sum = word_op(e, Op::add, x, word_op(e, Op::add, last, imm((1U << (kCut - 1)) - 1)));
  }
  ir::Operand cut = word_op(e, Op::and_, sum, imm(~((1U << kCut) - 1)));
  const ir::Reg sign = word_op(e, Op::and_, x, imm(0x80000000));
  if (e.has("satfinite")) {
    const ir::Reg size = word_op(e, Op::and_, cut, imm(0x7fffffff));
    const ir::Reg infinite = compare(e, Type::u32, size, imm(kInfinity32), ir::Cond::ge);
    const ir::Reg most = word_op(e, Op::or_, sign, imm(kInfinity32 - (1U << kCut)));
    cut = choose(e, infinite, most, cut);
  }
  if (e.has("relu"))
    cut = choose(e, compare(e, Type::u32, sign, imm(0), ir::Cond::ne), imm(0), cut);
  e.set(0, kB32, choose(e, is_nan, imm(0x7fffffff), cut));
}

/// Of 128 bits the register is its low word, and the rest becomes 0.
bool is_wide(Emit& e, size_t i) {
  const Operand& o = e.operand(i);
  const Entity* entity = o.kind == Operand::Kind::name ? e.body.find(o.name) : nullptr;
  return entity != nullptr && entity->kind == Entity::Kind::reg && entity->type.bits == 128;
}
ir::Operand low_word(Emit& e, size_t i, PType type) {
  if (!is_wide(e, i)) return e.raw(i, type, Fit::wider);
  return e.narrow(e.raw(e.halves(e.operand(i))[0], kB64));
}
void set_low_word(Emit& e, ir::Operand word) {
  if (!is_wide(e, 0)) return e.set(0, kB32, word, Fit::wider);
  const std::vector<Operand> halves = e.halves(e.operand(0));
  e.set(halves[0], kB64, e.widen(word, false));
  e.set(halves[1], kB64, imm(0));
}

/// Two integers, clamped, side by side; narrow ones shift a third operand up.
void pack_integers(Emit& e) {
  const PType d = e.type("dtype");
  const int64_t top = (int64_t{1} << (d.is_signed() ? d.bits - 1 : d.bits)) - 1;
  const int64_t bottom = d.is_signed() ? -top - 1 : 0;
  ir::Operand part[2];
  for (size_t i = 0; i < 2; ++i) {
    const ir::Operand x = low_word(e, i + 1, kS32);
    const ir::Reg raised =
        e.op(Op::max, Type::s32, {x, imm(static_cast<uint64_t>(bottom) & 0xffffffff)});
    const ir::Reg clamped = e.op(Op::min, Type::s32, {raised, imm(static_cast<uint64_t>(top))});
    part[i] = word_op(e, Op::and_, clamped, imm((1U << d.bits) - 1));
  }
  ir::Operand both = word_op(e, Op::or_, word_op(e, Op::shl, part[0], imm(d.bits)), part[1]);
  if (e.count() == 4)
    both = word_op(e, Op::or_, both,
                   word_op(e, Op::shl, low_word(e, 3, kB32), imm(uint64_t{2} * d.bits)));
  set_low_word(e, both);
}

/// The assembler of PTX 7.8 takes it wherever it takes the conversion.
void flush_rule(legal::Context& c) {
  if (c.has("ftz") && !c.old()) c.need(90, 78, "`.ftz` from bf16");
}

/// Constants in this rounding are those of 32 bits (`0f...`).
void single_rule(legal::Context& c) {
  const Operand& o = c.in.operands[1];
  if (o.kind == Operand::Kind::float_ && !o.single)
    c.error(o, "a constant of 64 bits, a register or `0f` was expected");
}

#define LW_INTEGERS "u8|u16|u32|u64|s8|s16|s32|s64"

constexpr Row kBf16Rows[] = {
    {"cvt@80.70", "rnd:rn|rz|rm@.71|rp@.71 ?ftz dtype:bf16 type:f32", "n:$dtype m", to_bf16},
    {"cvt@80.70", "rnd:rn|rz ?relu+ ?satfinite@.81+ dtype:bf16 type:f32", "n:$dtype m", to_bf16},
    {"cvt@80.70", "rnd:rn|rz ?relu+ ?satfinite@.81+ dtype:bf16x2 type:f32", "n:$dtype m m",
     to_bf16x2},
    {"cvt@90.78", "rnd:$rnd dtype:bf16 type:f64|" LW_INTEGERS, "n:$dtype m", to_bf16},
    {"cvt@90.78", "?rnd:$rnd dtype:bf16 type:f16", "n:$dtype m", to_bf16},
    {"cvt@80.71", "?rnd:$rnd ?ftz dtype:f32 type:bf16", judged("n:$dtype m", flush_rule),
     from_bf16},
    {"cvt@90.78", "?rnd:$rnd dtype:f16|f64 type:bf16", "n:$dtype m", from_bf16},
    {"cvt@90.78", "rnd:$irnd dtype:" LW_INTEGERS " type:bf16", "n:$dtype m", from_bf16},
    {"cvt@90.78", "rnd:$irnd dtype:bf16 type:bf16", "n:$dtype m", to_whole},
    {"cvt@80.70", "rnd:rn|rz relu+ dtype:f16 type:f32", "n>:$dtype m>", to_f16_relu},
    {"cvt@80.70", "rnd:rn|rz relu+ dtype:f16x2 type:f32", "n:$dtype m m", to_f16x2_relu},
    {"cvt@80.70", "rna ?satfinite@.81+ dtype:tf32 type:f32", judged("n:$dtype s", single_rule),
     to_tf32},
    {"cvt@90.78", "rnd:rn|rz ?satfinite@100.86+ ?relu+ dtype:tf32 type:f32", "n:$dtype s", to_tf32},
    {"cvt@72.65", "^pack sat+ dtype:u16|s16 type:s32", "d> s> s>", pack_integers},
    {"cvt@72.65", "^pack sat+ dtype:u8|s8 type:s32 ctype:b32", "d> s> s> s>:$ctype", pack_integers},
};

}  // namespace

constinit Rows bf16_rows = kBf16Rows;

}  // namespace lanewise::ptx
