// Atomics and reductions.
#include "runtime/isa/ptx/check_context.hpp"

namespace lanewise::ptx::legal {
namespace {

/// The type of the registers: halves travel in untyped registers of their size.
Type register_type(Context& c) {
  Type t = c.type();
  if (t.packed || t.bits == 16) t = {Type::Class::bits, t.bits};
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
         (type == "b32" || type == "b128") && c.in.operands.size() == 4;
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

}  // namespace

void atomic_rule(Context& c) {
  const bool returns = c.in.opcode == "atom";
  if (!returns || (c.has("space") && c.get("space") != "global")) c.refuse_unified();
  if (!hint_is_fine(c)) return;
  const size_t address = returns ? 1 : 0;
  const size_t sources = c.get("op") == "cas" ? 2 : 1;
  if (!operands(c, address + 1 + sources)) return;
  const Type t = register_type(c);
  if (returns) c.destination(0, t, Fit::exact, true);
  c.address(address, c.get("space"));
  for (size_t i = 1; i <= sources; ++i) c.source(address + i, t, Fit::exact);
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
  const Type t = register_type(c);
  if (returns && c.in.operands[0].kind != Operand::Kind::sink) {
    c.vector_operand(0, t, c.vector(), Fit::exact, false, true);
  }
  c.address(address, c.get("space"));
  c.vector_operand(address + 1, t, c.vector(), Fit::exact, true, false);
}

}  // namespace lanewise::ptx::legal
