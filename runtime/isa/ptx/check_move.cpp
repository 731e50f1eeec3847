// mov, and conversions between addresses of spaces.
#include <bit>

#include "runtime/isa/ptx/check_context.hpp"

namespace lanewise::ptx::legal {
namespace {

using K = Operand::Kind;
using S = Symbol::Kind;

bool special_fits(const Special& s, PType want) {
  const bool integer = want.holds_int();
  switch (s.kind) {
    case Special::Kind::word:
      return integer && want.bits == 32;
    case Special::Kind::half_too:
      return integer && (want.bits == 32 || want.bits == 16);
    case Special::Kind::word_or_long:
      return integer && (want.bits == 32 || want.bits == 64);
    case Special::Kind::wide:
      return integer && want.bits == 64;
    case Special::Kind::predicate:
      return want.is_pred();
    case Special::Kind::vector:
      return false;
  }
  return false;
}

void special_source(Context& c, const Operand& o, const Special& s, PType want) {
  const bool vector = c.vector() > 1;
  const bool word = s.kind != Special::Kind::wide && s.kind != Special::Kind::predicate;
  const bool half = want.bits == 16 && s.kind == Special::Kind::vector && s.sm == 0;
  const bool fine = vector
                        ? word && c.vector() == 4 && (want.bits == 32 || half) && !want.is_float()
                        : special_fits(s, want);
  if (!fine) {
    c.error(o, "the special register `" + o.name + "` by a move of " + want.text() +
                   (vector ? " vectors" : "") + ", one of its own type was expected");
    return;
  }
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
    if (e.kind == K::sink) continue;
    if (e.kind == K::integer && source) {
      integers = true;
      continue;
    }
    if (e.kind != K::name || s.kind != S::reg || s.vector != 1) {
      c.error(e, found_text(e, s) + " in a vector, a register was expected");
      return 0;
    }
    if (width != 0 && width != s.type.bits) {
      c.error(e, found_text(e, s) + " among others of " + std::to_string(width) +
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
  if (!want.is_untyped()) {
    c.error(o, "a vector in a move of " + want.text() + ", a .b type was expected");
    return;
  }
  const unsigned bits = vector_bits(c, o, source, want.bits);
  if (bits != 0 && bits != want.bits) {
    c.error(o, "a vector of " + std::to_string(bits) + " bits, " + std::to_string(want.bits) +
                   " were expected");
  }
}

}  // namespace

void move_rule(Context& c) {
  if (!c.count(2, 2)) return;
  const PType want = c.type();
  const Operand &d = c.in.operands[0], &a = c.in.operands[1];
  const Symbol s = c.symbol(a);
  if (c.vector() > 1) {
    c.vector_operand(0, want, c.vector(), Fit::exact, false, true);
    if (a.kind == K::name && s.kind == S::special) return special_source(c, a, *s.special, want);
    // One value where a vector should stand: the assembler cuts it into bytes.
    const bool scalar = a.kind == K::integer || (a.kind == K::name && a.has_offset) ||
                        (s.kind == S::reg && s.vector == 1 && a.kind == K::name);
    if (scalar && (s.kind == S::reg || !want.is_float()) && !c.env.manual)
      return c.source(1, want, Fit::exact);
    const bool number = s.kind == S::variable && a.kind == K::name && !want.is_float();
    if (number && (s.variable->space != "global" || c.allows_32_bit())) return;
    return c.vector_operand(1, want, c.vector(), Fit::exact, true, false);
  }
  if (d.kind == K::vector && d.elements.size() > 1) {
    packed_side(c, d, want, false);
  } else {
    c.destination(0, want, Fit::exact);
  }
  if (a.kind == K::vector && a.elements.size() > 1) return packed_side(c, a, want, true);
  const bool named = a.kind == K::name || a.kind == K::array;
  if (named && s.kind == S::special) return special_source(c, a, *s.special, want);
  if (named && s.kind == S::variable) return address_source(c, a, s, want);
  if (named && s.kind == S::function) return;
  c.source(1, want, Fit::exact);
}

void to_generic_rule(Context& c) {
  if (!c.count(2, 2)) return;
  const PType want{PType::Class::uint, c.type().bits};
  c.destination(0, want, Fit::exact);
  const Operand& a = c.in.operands[1];
  const Symbol s = c.symbol(a);
  if (want.bits == 32 && !c.allows_32_bit()) c.refuse_32_bit(a, "an address");
  const std::string_view space = c.get("space");
  if (a.kind == K::integer || s.kind == S::reg) return c.source(1, want, Fit::exact);
  const bool to = c.has("to");
  if (a.kind == K::name && s.kind == S::function && to) return;
  if (a.kind == K::name && s.kind == S::variable) {
    if (to && a.has_offset) return;
    const bool call = s.variable->space == "param" && !s.parameter;
    const bool same = space.substr(0, space.find(':')) == s.variable->space;
    if (!to && same && !call) return;
  }
  c.error(a, found_text(a, s) +
                 (to ? ", a register was expected"
                     : ", a register or a variable of `." + std::string(space) + "` was expected"));
}

void space_test_rule(Context& c) {
  if (!c.count(2, 2)) return;
  const Operand& a = c.in.operands[1];
  c.destination(0, kPred, Fit::exact);
  const Symbol s = c.symbol(a);
  if (s.kind == S::function) c.error(a, found_text(a, s) + ", an address was expected");
  const bool narrow = s.kind == S::reg && s.type.bits == 32;
  c.source(1, narrow ? kU32 : kU64, Fit::exact);
}

void map_rank_rule(Context& c) {
  if (!c.count(3, 3)) return;
  const PType want{PType::Class::uint, c.type().bits};
  c.destination(0, want, Fit::exact);
  const Operand& a = c.in.operands[1];
  const Symbol s = c.symbol(a);
  if (a.kind == K::name && s.kind == S::variable) {
    if (s.variable->space != "shared") {
      c.error(a, found_text(a, s) + ", a .shared variable was expected");
    }
  } else {
    c.source(1, want, Fit::exact);
  }
  c.integer_source(2, 32);
}

void rank_rule(Context& c) {
  if (!c.count(2, 2)) return;
  c.destination(0, kU32, Fit::exact);
  const Operand& a = c.in.operands[1];
  const Symbol s = c.symbol(a);
  if (a.kind == K::name && s.kind == S::variable && s.variable->space == "shared") return;
  c.source(1, {PType::Class::uint, c.type().bits}, Fit::exact);
}

void stack_save_rule(Context& c) {
  if (c.count(1, 1)) c.destination(0, c.type(), Fit::exact);
}

void stack_restore_rule(Context& c) {
  if (!c.count(1, 1)) return;
  c.source(0, c.type(), Fit::exact);
  const Operand& o = c.in.operands[0];
  if (c.symbol(o).kind != S::reg || o.has_offset)
    c.error(o, found_text(o, c.symbol(o)) + ", a register was expected");
}

void alloca_rule(Context& c) {
  if (!c.count(2, 3)) return;
  c.destination(0, c.type(), Fit::exact);
  c.source(1, c.type(), Fit::exact);
  if (c.in.operands.size() != 3) return;
  const Operand* align = c.literal(2, "a constant alignment");
  if (align && !std::has_single_bit(align->bits))
    c.error(*align,
            "an alignment of " + std::to_string(align->bits) + ", a power of two was expected");
}

}  // namespace lanewise::ptx::legal
