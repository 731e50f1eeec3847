// cvt between all scalar types. Source and destination registers may be wider than their types.
#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

constexpr auto kWider = Fit::wider;

Mods mods_of(Emit& e, Type from) {
  return {.round = e.rounding(), .ftz = e.has("ftz"), .sat = e.has("sat"), .from = from};
}

// --- integer to integer --------------------------------------------------------------------------

struct Range {
  int64_t low;
  uint64_t high;
};
Range range_of(PType t) {
  if (!t.is_signed()) return {0, t.bits == 64 ? ~uint64_t{0} : (uint64_t{1} << t.bits) - 1};
  const uint64_t top = (uint64_t{1} << (t.bits - 1)) - 1;
  return {-static_cast<int64_t>(top) - 1, top};
}

/// Clamps `value`, of type `s`, to the range of `d`; the result keeps the register width of `s`.
ir::Operand saturate(Emit& e, ir::Operand value, PType s, PType d) {
  const Range from = range_of(s), to = range_of(d);
  const uint64_t mask = s.bits == 64 ? ~uint64_t{0} : 0xffffffff;
  if (from.low < to.low)
    value = e.op(Op::max, s.ir(), {value, imm(static_cast<uint64_t>(to.low) & mask)});
  if (from.high > to.high) value = e.op(Op::min, s.ir(), {value, imm(to.high)});
  return value;
}

void int_to_int(Emit& e) {
  const PType d = e.type("dtype"), s = e.type();
  // Only the bits that are kept matter when nothing is clamped.
  const bool keeps_low = !e.has("sat") && d.bits <= s.bits;
  ir::Operand value = keeps_low ? e.raw(1, s, kWider) : e.ext(1, s, kWider);
  if (e.has("sat")) value = saturate(e, value, s, d);
  if (s.bits == 64 && d.bits < 64) value = e.narrow(value);
  if (d.bits == 64 && s.bits < 64) value = e.widen(value, s.is_signed());
  e.set(0, d, value, kWider);
}

// --- floats --------------------------------------------------------------------------------------

void float_to_int(Emit& e) {
  const PType d = e.type("dtype"), s = e.type();
  Mods mods = mods_of(e, s.ir());
  mods.sat = false;  // the conversion clamps anyway
  const ir::Reg value =
      e.op(Op::f2i, d.bits < 32 ? d.memory() : d.ir(), {e.raw(1, s, kWider)}, mods);
  e.set(0, d, value, kWider, !d.is_signed());
}

void int_to_float(Emit& e) {
  const PType d = e.type("dtype"), s = e.type();
  e.set(0, d, e.op(Op::i2f, d.ir(), {e.ext(1, s, kWider)}, mods_of(e, s.ir())), kWider, true);
}

void float_to_float(Emit& e) {
  const PType d = e.type("dtype"), s = e.type();
  Mods mods = mods_of(e, s.ir());
  // Cards round subnormal numbers up or down to an f16 whatever `.ftz` says (tests/truth/h100.tsv).
  if (d.bits == 16) mods.ftz = false;
  e.set(0, d, e.op(Op::f2f, d.ir(), {e.raw(1, s, kWider)}, mods), kWider, true);
}

void float_same(Emit& e) {
  const PType t = e.type();
  ir::Operand value = e.raw(1, t, kWider);
  Mods mods = mods_of(e, t.ir());
  if (e.has("rnd")) {
    Mods round = mods;
    round.sat = false;
    round.from = Type::none;
    value = e.op(Op::fround, t.ir(), {value}, round);
  }
  mods.round = ir::Round::rn;
  // A conversion that does nothing moves bits, also those of a NaN: but f16's is arithmetic.
  const bool moves = t.bits != 16 && !mods.ftz;
  if (e.has("sat") || (!e.has("rnd") && !moves)) value = e.op(Op::f2f, t.ir(), {value}, mods);
  e.set(0, t, value, kWider, true);
}

void pair_from_f32(Emit& e) {
  const Mods mods = mods_of(e, Type::f32);
  const ir::Reg high = e.op(Op::f2f, Type::f16, {e.raw(1, kF32)}, mods);
  const ir::Reg low = e.op(Op::f2f, Type::f16, {e.raw(2, kF32)}, mods);
  const ir::Reg shifted = e.op(Op::shl, Type::u32, {high, imm(16)});
  e.set(0, {PType::Class::flt, 32, true}, e.op(Op::or_, Type::u32, {low, shifted}));
}

// --- which combinations exist --------------------------------------------------------------------

constexpr const char* kNeedsRounding =
    "a rounding is missing, one of `.rn` `.rz` `.rm` `.rp` was expected";

bool has_f32(const Form& f) {
  return f.get("type") == "f32" || f.get("dtype") == "f32";
}
std::string check_ftz(const Form& f) {
  return f.has("ftz") && !has_f32(f) ? "`.ftz` without .f32, it was expected without" : "";
}
std::string check_narrowing(const Form& f) {
  if (f.type("dtype").bits >= f.type().bits)
    return "a rounding to a type that holds every value, none was expected";
  return check_ftz(f);
}
std::string check_widening(const Form& f) {
  const unsigned d = f.type("dtype").bits, s = f.type().bits;
  if (d < s) return kNeedsRounding;
  if (d == s) return "same type";
  return check_ftz(f);
}
/// `.sat` is for results that cannot hold every value of the source.
std::string check_sat(const Form& f) {
  const Range from = range_of(f.type()), to = range_of(f.type("dtype"));
  const bool clamps = from.low < to.low || from.high > to.high;
  return f.has("sat") && !clamps ? "`.sat` where every value fits, it was expected without" : "";
}
std::string check_same(const Form& f) {
  if (!f.has("rnd") && f.type("dtype").bits < f.type().bits) return kNeedsRounding;
  if (f.get("dtype") != f.get("type"))
    return "a rounding to an integer between two types, `.rn`, `.rz`, `.rm` or `.rp` was expected";
  return check_ftz(f);
}

/// Special registers convert as the integers that they are.
void integers_rule(legal::Context& c) {
  using Special = legal::Special::Kind;
  const Operand& o = c.in.operands[1];
  const legal::Special* special = c.symbol(o).special;
  const PType from = c.type();
  if (o.kind == Operand::Kind::name && !o.has_offset && special != nullptr) {
    const bool wide = special->kind == Special::wide || special->kind == Special::word_or_long;
    const bool word = special->kind == Special::word || special->kind == Special::half_too;
    if ((wide && from.bits <= 64) || (word && from.bits <= 32)) {
      c.need(special->sm, special->version, "`" + o.name + "`");
      return;
    }
  }
  c.source(1, from, kWider);
}

constexpr Row convert_row(const char* pattern, LowerFn lower, CheckFn check) {
  return {"cvt", pattern, "n>:$dtype m>", lower, "", check};
}

constexpr Row kConvertRows[] = {
    {"cvt", "?sat+ dtype:$scalar type:$scalar", judged("n>:$dtype x", integers_rule), int_to_int,
     "", check_sat},
    convert_row("rnd:$irnd ?ftz ?sat+ dtype:$scalar type:f16|f32|f64", float_to_int, check_ftz),
    convert_row("rnd:$rnd ?ftz ?sat+ dtype:f16|f32|f64 type:$scalar", int_to_float, check_ftz),
    convert_row("?ftz ?sat+ dtype:f32|f64 type:f16|f32", float_to_float, check_widening),
    convert_row("?rnd:$irnd ?ftz ?sat+ dtype:f16|f32|f64 type:f16|f32|f64", float_same, check_same),
    convert_row("rnd:$rnd ?ftz ?sat+ dtype:f16|f32 type:f32|f64", float_to_float, check_narrowing),
    {"cvt@80.70", "rnd:rn|rz dtype:f16x2 type:f32", "n:$dtype m m", pair_from_f32},
};

}  // namespace

constinit Rows convert_rows = kConvertRows;

}  // namespace lanewise::ptx
