// Atomics and reductions.
#include <algorithm>

#include "runtime/isa/ptx/check_context.hpp"

namespace lanewise::ptx::legal {
namespace {

/// The type of the registers: halves travel in untyped registers of their size.
PType register_type(Context& c) {
  PType t = c.type();
  if (t.packed || t.bits == 16) t = t.untyped();
  return t;
}

bool hint_is_fine(Context& c) {
  if (!c.has("hint")) return true;
  const std::string_view space = c.get("space");
  if (space.empty() || space == "global") return true;
  c.error("`.L2::cache_hint` in `." + std::string(space) +
          "`, `.global` or a generic address was expected");
  return false;
}

/// The assembler reads every atom of .b32 and .b128 with the operands of cas, too, and drops the
/// last.
bool takes_spare_operand(Context& c) {
  const std::string_view type = c.get("type");
  return c.in.opcode == "atom" && !c.env.manual && !c.has("hint") && c.get("op") != "cas" &&
         (type == "b32" || type == "b128" || (type == "b64" && c.get("scope") == "cluster")) &&
         c.in.operands.size() == 4;
}

/// Operands in front of the policy, behind which nothing else may stand.
bool operands(Context& c, size_t expected) {
  const bool hint = c.has("hint");
  if (takes_spare_operand(c)) {
    c.warn(c.in.operands[3], "a fourth operand, 3 were expected");
    return true;
  }
  if (!hint && c.in.operands.size() == expected + 1) {
    c.error("found " + std::to_string(expected + 1) + " operands, " + std::to_string(expected) +
            " were expected (a cache policy needs `.L2::cache_hint`)");
    return false;
  }
  if (!c.count(expected + (hint ? 1 : 0), expected + (hint ? 1 : 0))) return false;
  if (hint) c.policy(expected);
  return true;
}

/// bf16 and pairs travel in untyped registers alone, f16 in its own, too, and in vectors in any of
/// 16 bits. None of them has constants.
void half_register(Context& c, const Operand& o, bool in_vector) {
  const PType t = c.type();
  if (!t.is_float() || (t.bits != 16 && !t.packed) || o.kind == Operand::Kind::sink) return;
  const Symbol s = c.symbol(o);
  const bool own = t.bits == 16 && !t.alternative;
  const bool fine = s.kind == Symbol::Kind::reg
                        ? s.type.is_untyped() || (t.packed && s.type == t) ||
                              (own && (in_vector || s.type.is_float()))
                        : o.kind == Operand::Kind::name;
  if (fine) return;
  c.error(o, found_text(o, s) + " for ." + std::string(c.get("type")) + ", a register of " +
                 t.untyped().text() + " was expected");
}

/// Elements of unlike types count as untyped.
bool alike(Context& c, const std::vector<Operand>& elements) {
  const Symbol first = c.symbol(elements[0]);
  return std::ranges::all_of(elements, [&](const Operand& e) {
    const Symbol s = c.symbol(e);
    return e.kind == elements[0].kind && s.kind == first.kind && s.type == first.type;
  });
}

void vector_elements(Context& c, size_t i, bool is_source) {
  const Operand& o = c.in.operands[i];
  c.vector_operand(i, register_type(c), c.vector(), Fit::exact, is_source, !is_source);
  if (o.kind != Operand::Kind::vector) return half_register(c, o, true);
  if (o.elements.empty() || !alike(c, o.elements)) return;
  for (const Operand& e : o.elements) half_register(c, e, true);
}

}  // namespace

void atomic_rule(Context& c) {
  const bool returns = c.in.opcode == "atom";
  if (!returns || (c.has("space") && c.get("space") != "global")) c.refuse_unified();
  if (!hint_is_fine(c)) return;
  const size_t address = returns ? 1 : 0;
  const size_t sources = c.get("op") == "cas" ? 2 : 1;
  if (!operands(c, address + 1 + sources)) return;
  const PType t = register_type(c);
  if (returns) c.destination(0, t, Fit::exact, true);
  if (returns) half_register(c, c.in.operands[0], false);
  c.address(address, c.get("space"));
  for (size_t i = 1; i <= sources; ++i) {
    c.source(address + i, t, Fit::exact);
    half_register(c, c.in.operands[address + i], false);
  }
  if (!takes_spare_operand(c)) return;
  const Operand& spare = c.in.operands[3];
  if (spare.kind == Operand::Kind::integer) {
    c.error(spare, "found 4 operands, 3 were expected (a cache policy needs `.L2::cache_hint`)");
  } else {
    c.source(3, t, Fit::exact);
  }
}

void vector_atomic_rule(Context& c) {
  const bool returns = c.in.opcode == "atom";
  const size_t address = returns ? 1 : 0;
  if (c.type().bits * c.vector() > 128) {
    c.error("a vector of " + std::to_string(c.type().bits * c.vector()) +
            " bits, 128 at most were expected");
  }
  if (!operands(c, address + 2)) return;
  if (returns && c.in.operands[0].kind != Operand::Kind::sink) vector_elements(c, 0, false);
  c.address(address, c.get("space"));
  vector_elements(c, address + 1, true);
}

}  // namespace lanewise::ptx::legal
