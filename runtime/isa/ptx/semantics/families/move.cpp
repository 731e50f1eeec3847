// mov, also packing and unpacking.
#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {

using ir::Op;
using ir::Type;
namespace {

using legal::Context;
using legal::Symbol;

PType bits_type(unsigned bits) {
  return {PType::Class::bits, bits};
}

/// Joins `n` elements of `width` bits each, lowest first, into at most 32 bits.
ir::Operand join_word(Emit& e, const Operand* elements, unsigned n, unsigned width) {
  ir::Operand word;
  for (unsigned i = 0; i < n; ++i) {
    ir::Operand part = e.raw(elements[i], bits_type(width));
    if (i != 0) part = e.op(Op::shl, Type::u32, {part, imm(uint64_t{i} * width)});
    word = i == 0 ? part : ir::Operand(e.op(Op::or_, Type::u32, {word, part}));
  }
  return word;
}

unsigned element_width(Emit& e, const Operand& vector, PType type) {
  const auto n = static_cast<unsigned>(vector.elements.size());
  const unsigned width = n == 0 ? 0 : type.bits / n;
  if (!type.is(PType::Class::bits)) e.fail("packing and unpacking need a .b type");
  if (type.bits == 128 && n != 2)
    Emit::fail(vector.loc, "'mov.b128' packs and unpacks two 64-bit elements");
  if ((n != 2 && n != 4) || width < 8)
    Emit::fail(vector.loc,
               "cannot split " + type.text() + " into " + std::to_string(n) + " elements");
  return width;
}

void pack(Emit& e, PType type) {
  const Operand& v = e.operand(1);
  const unsigned width = element_width(e, v, type);
  const auto n = static_cast<unsigned>(v.elements.size());
  if (type.bits != 64)
    return e.set(0, type, join_word(e, v.elements.data(), n, width), Fit::exact, true);
  const ir::Operand low = join_word(e, v.elements.data(), n / 2, width);
  const ir::Operand high = join_word(e, v.elements.data() + n / 2, n / 2, width);
  e.set(0, type, e.op(Op::pack64, Type::u64, {low, high}));
}

void split_word(Emit& e, ir::Operand word, const Operand* elements, unsigned n, unsigned width) {
  if (n == 1) return e.set(elements[0], bits_type(width), word);
  for (unsigned i = 0; i < n; ++i) {
    if (elements[i].kind == Operand::Kind::sink) continue;
    const ir::Reg part = e.op(Op::bfe, Type::u32, {word, imm(uint64_t{i} * width), imm(width)});
    e.set(elements[i], bits_type(width), part, Fit::exact, true);
  }
}

void unpack(Emit& e, PType type) {
  const Operand& v = e.operand(0);
  const unsigned width = element_width(e, v, type);
  const auto n = static_cast<unsigned>(v.elements.size());
  ir::Operand value = e.raw(1, type);
  if (type.bits != 64) {
    // The first element may be the source register itself.
    const ir::Reg copy = e.op(Op::mov, Type::u32, {value});
    return split_word(e, copy, v.elements.data(), n, width);
  }
  const ir::Reg low = e.temp(ir::Width::b32), high = e.temp(ir::Width::b32);
  e.emit(Op::unpack64, Type::none, {low, high}, {value});
  if (n == 2) {
    e.set(v.elements[1], kB32, high);
    e.set(v.elements[0], kB32, low);
    return;
  }
  split_word(e, low, v.elements.data(), n / 2, width);
  split_word(e, high, v.elements.data() + n / 2, n / 2, width);
}

bool is_vector(const Operand& o) {
  return o.kind == Operand::Kind::vector && o.elements.size() > 1;
}

/// 128 bits move as their halves, whichever side is a vector.
void mov_wide(Emit& e) {
  const auto side = [&](size_t i) {
    if (!is_vector(e.operand(i))) return e.halves(e.operand(i));
    element_width(e, e.operand(i), e.type());
    return e.operand(i).elements;
  };
  const auto to = side(0), from = side(1);
  std::vector<ir::Operand> values;
  values.reserve(from.size());
  for (const Operand& o : from) values.push_back(e.op(Op::mov, Type::u64, {e.raw(o, kB64)}));
  for (size_t i = 0; i < 2; ++i) e.set(to[i], kB64, values[i], Fit::exact, true);
}

void mov(Emit& e) {
  const PType type = e.type();
  if (type.bits == 128) return mov_wide(e);
  if (is_vector(e.operand(0))) return unpack(e, type);
  if (is_vector(e.operand(1))) return pack(e, type);
  const PType narrow_safe = type.is_signed() ? bits_type(type.bits) : type;
  const ir::Operand value = e.raw(1, type);
  e.set(0, type.bits < 32 && !type.is_pred() && !type.is_float() ? narrow_safe : type, value,
        Fit::exact, true);
}

void mov_vector(Emit& e) {
  const PType type = e.type();
  const unsigned n = e.get("vec") == "v2" ? 2 : 4;
  const auto to = e.elements(0, n), from = e.elements(1, n);
  std::vector<ir::Operand> values;
  values.reserve(from.size());
  for (const Operand& o : from) {
    const ir::Operand v = e.raw(o, type);
    values.push_back(e.op(Op::mov, type.bits == 64 ? Type::u64 : Type::u32, {v}));
  }
  for (unsigned i = 0; i < n; ++i) e.set(to[i], type, values[i], Fit::exact, true);
}

// --- what is legal -------------------------------------------------------------------------------

bool special_fits(const legal::Special& s, PType want) {
  const bool integer = want.holds_int();
  switch (s.kind) {
    case legal::Special::Kind::word:
      return integer && want.bits == 32;
    case legal::Special::Kind::half_too:
      return integer && (want.bits == 32 || want.bits == 16);
    case legal::Special::Kind::word_or_long:
      return integer && (want.bits == 32 || want.bits == 64);
    case legal::Special::Kind::wide:
      return integer && want.bits == 64;
    case legal::Special::Kind::predicate:
      return want.is_pred();
    case legal::Special::Kind::vector:
      return false;
  }
  return false;
}

void special_source(Context& c, const Operand& o, const legal::Special& s, PType want) {
  const bool vector = c.vector() > 1;
  const bool word =
      s.kind != legal::Special::Kind::wide && s.kind != legal::Special::Kind::predicate;
  const bool half = want.bits == 16 && s.kind == legal::Special::Kind::vector && s.sm == 0;
  const bool fine = vector
                        ? word && c.vector() == 4 && (want.bits == 32 || half) && !want.is_float()
                        : special_fits(s, want);
  if (!fine)
    return c.error(o, "the special register `" + o.name + "` by a move of " + want.text() +
                          (vector ? " vectors" : "") + ", one of its own type was expected");
  c.need(s.sm, s.version, "`" + o.name + "`");
}

void address_source(Context& c, const Operand& o, const Symbol& s, PType want) {
  const bool opaque = s.variable->type.ends_with("ref");
  if (opaque && want != kU64) {
    c.error(o,
            "the address of `" + o.name + "` by a move of " + want.text() + ", .u64 was expected");
  } else if (s.variable->space == "param" && !s.parameter) {
    c.error(o, "the address of the call parameter `" + o.name +
                   "`, a variable of another space was expected");
  } else if (want.is_float() || want.is_pred() || want.bits > 64) {
    c.error(o, "the address of `" + o.name + "` by a move of " + want.text() +
                   ", an integer type was expected");
  } else if (want.bits < 64 && s.variable->space == "global") {
    c.warn(o, "the address of `" + o.name + "` in " + std::to_string(want.bits) +
                  " bits, 64 bits were expected");
  }
}

/// `source`: a side of `want` bits that is read may have integers, which are as wide as the
/// registers among them.
unsigned vector_bits(Context& c, const Operand& o, bool source, unsigned want) {
  unsigned width = 0;
  bool integers = false, floats = false;
  for (const Operand& e : o.elements) {
    const Symbol s = c.symbol(e);
    if (e.kind == Operand::Kind::sink) continue;
    if (e.kind == Operand::Kind::integer && source) {
      integers = true;
      continue;
    }
    if (e.kind != Operand::Kind::name || s.kind != Symbol::Kind::reg || s.vector != 1) {
      c.found(e, " in a vector, a register was expected");
      return 0;
    }
    if (width != 0 && width != s.type.bits) {
      c.found(e, " among others of " + std::to_string(width) +
                     " bits, elements of one width were expected");
      return 0;
    }
    width = s.type.bits;
    integers = integers || s.type.is_int();
    floats = floats || s.type.is_float();
  }
  if (integers && floats) {
    c.error(o, "integers and floats in one vector, elements of one kind were expected");
    return 0;
  }
  if (width == 0 && integers) width = want / static_cast<unsigned>(o.elements.size());
  if (width == 0) c.error(o, "nothing but `_` in the vector, a register was expected");
  return width * static_cast<unsigned>(o.elements.size());
}

/// One side of a pack or unpack.
void packed_side(Context& c, const Operand& o, PType want, bool source) {
  if (!want.is_untyped())
    return c.error(o, "a vector in a move of " + want.text() + ", a .b type was expected");
  const unsigned bits = vector_bits(c, o, source, want.bits);
  if (bits != 0 && bits != want.bits) {
    c.error(o, "a vector of " + std::to_string(bits) + " bits, " + std::to_string(want.bits) +
                   " were expected");
  }
}

void move_rule(Context& c) {
  if (!c.count(2, 2)) return;
  const PType want = c.type();
  const Operand &d = c.in.operands[0], &a = c.in.operands[1];
  const Symbol s = c.symbol(a);
  if (c.vector() > 1) {
    c.vector_operand(0, want, c.vector(), Fit::exact, false, true);
    if (a.kind == Operand::Kind::name && s.kind == Symbol::Kind::special)
      return special_source(c, a, *s.special, want);
    // One value where a vector should stand: the assembler cuts it into bytes.
    const bool scalar =
        a.kind == Operand::Kind::integer || (a.kind == Operand::Kind::name && a.has_offset) ||
        (s.kind == Symbol::Kind::reg && s.vector == 1 && a.kind == Operand::Kind::name);
    if (scalar && (s.kind == Symbol::Kind::reg || !want.is_float()) && !c.env.manual)
      return c.source(1, want, Fit::exact);
    const bool number =
        s.kind == Symbol::Kind::variable && a.kind == Operand::Kind::name && !want.is_float();
    if (number && (s.variable->space != "global" || c.allows_32_bit())) return;
    return c.vector_operand(1, want, c.vector(), Fit::exact, true, false);
  }
  if (d.kind == Operand::Kind::vector && d.elements.size() > 1) {
    packed_side(c, d, want, false);
  } else {
    c.destination(0, want, Fit::exact);
  }
  if (a.kind == Operand::Kind::vector && a.elements.size() > 1)
    return packed_side(c, a, want, true);
  const bool named = a.kind == Operand::Kind::name || a.kind == Operand::Kind::array;
  if (named && s.kind == Symbol::Kind::special) return special_source(c, a, *s.special, want);
  if (named && s.kind == Symbol::Kind::variable) return address_source(c, a, s, want);
  if (named && s.kind == Symbol::Kind::function) return;
  c.source(1, want, Fit::exact);
}

constexpr Row kMoveRows[] = {
    {"mov", "type:pred|b16|b32|b64|b128@70.83|u16|u32|u64|s16|s32|s64|f32|f64", move_rule, mov},
    {"mov", "vec:v2|v4 type:b16|b32|b64|u16|u32|u64|s16|s32|s64|f32|f64", move_rule, mov_vector},
};

}  // namespace

constinit Rows move_rows = kMoveRows;

}  // namespace lanewise::ptx
