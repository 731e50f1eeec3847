// cvt: which rounding, .ftz and .sat belong to which pair of types.
#include "runtime/isa/ptx/check_context.hpp"

namespace lanewise::ptx::legal {
namespace {

constexpr std::string_view kNone = "no rounding";

bool is_half(PType t) {
  return t.is_float() && t.bits == 16 && !t.alternative;
}
bool is_bf16(PType t) {
  return t.is_float() && t.bits == 16 && t.alternative;
}

/// The kind of rounding a pair of types takes.
enum class Rounding : uint8_t { none, to_integer, integral, needed, optional };

Rounding rounding_of(PType to, PType from) {
  if (!from.is_float()) return to.is_float() ? Rounding::needed : Rounding::none;
  if (!to.is_float()) return Rounding::to_integer;
  if (to == from) return Rounding::integral;
  // bf16 came late: its exact conversions take a rounding, which changes nothing.
  if (is_bf16(from) || (is_bf16(to) && is_half(from))) return Rounding::optional;
  return to.bits < from.bits ? Rounding::needed : Rounding::none;
}

void rounding(Context& c, PType to, PType from) {
  const std::string_view r = c.get("round");
  const bool integral = r.size() == 3;  // rni and its like
  const auto complain = [&](std::string_view expected) {
    c.error((r.empty() ? std::string(kNone) : "rounding `." + std::string(r) + "`") + " from " +
            std::string(c.get("from")) + " to " + std::string(c.get("to")) + ", " +
            std::string(expected) + " was expected");
  };
  switch (rounding_of(to, from)) {
    case Rounding::none:
      if (!r.empty()) complain(kNone);
      break;
    case Rounding::to_integer:
      if (!integral) complain("`.rni`, `.rzi`, `.rmi` or `.rpi`");
      break;
    case Rounding::integral:
      if (!r.empty() && !integral) complain("no rounding or one to an integer");
      break;
    case Rounding::needed:
      if (r.empty() || integral) complain("`.rn`, `.rz`, `.rm` or `.rp`");
      break;
    case Rounding::optional:
      if (integral) complain("`.rn`, `.rz`, `.rm` or `.rp`");
      break;
  }
}

/// Could the value of `from` lie outside `to`?
bool can_clamp(PType to, PType from) {
  const bool from_signed = from.is_signed(), to_signed = to.is_signed();
  if (from_signed && !to_signed) return true;
  if (!from_signed && to_signed) return to.bits <= from.bits;
  return to.bits < from.bits;
}

void saturation(Context& c, PType to, PType from) {
  if (!c.has("sat")) return;
  const bool integers = !to.is_float() && !from.is_float();
  if (integers && !can_clamp(to, from)) {
    c.error("`.sat` where every value fits, it was expected without");
  }
  if (is_bf16(to) || is_bf16(from)) c.error("`.sat` with bf16, it was expected without");
}

void flush(Context& c, PType to, PType from) {
  if (!c.has("ftz")) return;
  const bool single = (to.is_float() && to.bits == 32) || (from.is_float() && from.bits == 32);
  if (!single) c.error("`.ftz` without .f32, it was expected without");
}

void bf16_gates(Context& c, PType to, PType from) {
  if (!is_bf16(to) && !is_bf16(from)) return;
  const PType other = is_bf16(to) ? from : to;
  if (!other.is_float() && other.bits == 8) {
    c.need(90, 78, "a conversion between bf16 and 8-bit integers");
    return;
  }
  const bool single = other.is_float() && other.bits == 32;
  if (single) {
    const bool plain = is_bf16(to) && c.get("round") != "rm" && c.get("round") != "rp";
    c.need(80, plain ? 70 : 71, "a conversion between f32 and bf16");
    if (is_bf16(from) && c.has("ftz") && !c.old()) c.need(90, 78, "`.ftz` from bf16");
  } else {
    c.need(90, 78, "a conversion of bf16 other than with f32");
  }
}

/// Special registers convert like the integers they are.
bool special_source(Context& c, const Operand& o, PType from) {
  const Symbol s = c.symbol(o);
  if (o.kind != Operand::Kind::name || s.kind != Symbol::Kind::special || o.has_offset)
    return false;
  using K = Special::Kind;
  const K kind = s.special->kind;
  const bool wide = kind == K::wide || kind == K::word_or_long;
  if (!wide && kind != K::word && kind != K::half_too) return false;
  if (from.bits > (wide ? 64 : 32)) return false;
  c.need(s.special->sm, s.special->version, "`" + o.name + "`");
  return true;
}

void type_order(Context& c) {
  if (c.position("to") > c.position("from"))
    c.error("`." + std::string(c.get("from")) + "` stands before `." + std::string(c.get("to")) +
            "`, the destination's type was expected first");
}

/// What came late stands in registers that are untyped and of its width; constants have no such
/// type. False after a complaint.
bool late_register(Context& c, size_t i, std::string_view slot) {
  const PType t = c.type(slot);
  if (!t.alternative && !t.packed) return true;
  const Operand& o = c.in.operands[i];
  const Symbol s = c.symbol(o);
  if (s.kind == Symbol::Kind::reg
          ? s.type.is_untyped() || s.type == t
          : o.kind != Operand::Kind::integer && o.kind != Operand::Kind::float_)
    return true;
  c.error(o, found_text(o, s) + " for ." + std::string(c.get(slot)) + ", a .b" +
                 std::to_string(t.bits) + " register was expected");
  return false;
}

/// Conversions keep narrow floats in untyped registers.
PType register_type(PType t) {
  if (t.is_float() && (t.alternative || t.packed)) return t.untyped();
  return t;
}

/// A pair of 8-bit floats is 16 bits, one of 4-bit floats 8.
void operands(Context& c, size_t sources, Fit fit) {
  type_order(c);
  if (!c.count(sources + 1, sources + 1)) return;
  if (late_register(c, 0, "to")) c.destination(0, register_type(c.type("to")), fit);
  for (size_t i = 1; i <= sources; ++i)
    if (late_register(c, i, "from")) c.source(i, register_type(c.type("from")), fit);
}

}  // namespace

void convert_rule(Context& c) {
  const PType to = c.type("to"), from = c.type("from");
  const bool tf32 = to.alternative && to.bits == 32;
  type_order(c);
  if (!tf32) {
    rounding(c, to, from);
    saturation(c, to, from);
    flush(c, to, from);
    bf16_gates(c, to, from);
  }
  if (c.has("relu") && !tf32) c.need(80, 70, "`.relu`");
  if (c.has("satfinite") && !tf32) c.need(is_bf16(to) ? 90 : 0, 81, "`.satfinite`");
  if (!c.count(2, 2)) return;
  const Fit fit = to.alternative || from.alternative ? Fit::exact : Fit::wider;
  if (late_register(c, 0, "to")) c.destination(0, register_type(to), fit);
  const Operand& source = c.in.operands[1];
  if (!late_register(c, 1, "from")) return;
  if (!to.is_float() && !from.is_float() && special_source(c, source, from)) return;
  if (tf32) return c.value_of(source, from, fit);
  c.source(1, register_type(from), fit);
}

void convert_pair_rule(Context& c) {
  if (c.has("satfinite") && c.type("to").bits == 32) {
    c.need(80, 81, "`.satfinite`");
  }
  if (c.get("to").starts_with("e2m") || c.get("to").starts_with("e3m") ||
      c.get("to").starts_with("ue8"))
    c.need(Gate{.sm = 100, .version = 86, .own = true}, "`." + std::string(c.get("to")) + "`");
  const bool random = c.get("round") == "rs";
  if (!random) return operands(c, 2, Fit::exact);
  c.need(Gate{.version = 87, .family = 1}, "`.rs`");
  if (!c.count(4, 4)) return;
  if (late_register(c, 0, "to")) c.destination(0, register_type(c.type("to")), Fit::exact);
  for (size_t i = 1; i <= 2; ++i) c.source(i, c.type("from"), Fit::exact);
  c.register_of(c.in.operands[3], kB32, Fit::exact);
}

void convert_four_rule(Context& c) {
  c.need(Gate{.version = 87, .family = 1}, "`.rs`");
  type_order(c);
  if (!c.count(3, 3)) return;
  c.register_of(c.in.operands[0], c.get("to") == "e2m1x4" ? kB16 : kB32, Fit::exact);
  c.vector_operand(1, c.type("from"), 4, Fit::exact, true, false);
  c.register_of(c.in.operands[2], kB32, Fit::exact);
}

namespace {
/// Floats of 4 and 6 bits and scales.
void narrow_gate(Context& c) {
  for (const std::string_view slot : {"to", "from"})
    if (c.get(slot).starts_with("e2m") || c.get(slot).starts_with("e3m") ||
        c.get(slot).starts_with("ue8"))
      c.need(Gate{.sm = 100, .version = 86, .own = true}, "`." + std::string(c.get(slot)) + "`");
}
}  // namespace

void convert_unpack_rule(Context& c) {
  narrow_gate(c);
  operands(c, 1, Fit::exact);
}

void convert_pack_rule(Context& c) {
  type_order(c);
  if (c.has("third") && c.position("third") < c.position("from"))
    c.error("`.b32` stands before the other types, it was expected behind them");
  const size_t sources = c.has("third") ? 3 : 2;
  if (!c.count(sources + 1, sources + 1)) return;
  c.destination(0, kS32, Fit::wider);
  for (size_t i = 1; i <= 2; ++i) c.source(i, kS32, Fit::wider);
  if (sources == 3) c.source(3, kS32, Fit::wider);
}

}  // namespace lanewise::ptx::legal
