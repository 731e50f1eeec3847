// Prefetch, cache policies, applypriority, discard.
#include <bit>

#include "runtime/isa/ptx/check_context.hpp"

namespace lanewise::ptx::legal {
namespace {

/// A policy goes into a 64-bit register that is not of floating point.
void policy_destination(Context& c) {
  c.destination(0, kB64, Fit::exact);
  const Symbol s = c.symbol(c.in.operands[0]);
  if (s.type.is_float()) {
    c.error(c.in.operands[0], found_text(c.in.operands[0], s) +
                                  " for a policy, a 64-bit integer register was expected");
  }
}

/// From sm_100 on the assembler dies of a variable of these spaces behind a generic address.
void refuse_variable(Context& c, bool shared_too) {
  const Operand& a = c.in.operands[0];
  const Symbol s = c.symbol(a);
  if (!c.get("space").empty() || c.env.sm < 100 || s.kind != Symbol::Kind::variable) return;
  const std::string& space = s.variable->space;
  if (space != "local" && !(shared_too && space == "shared")) return;
  c.error(a, found_text(a, s) + " by its generic address, from sm_100 on a .global variable" +
                 (shared_too ? "" : " or a .shared one") + " was expected");
}

double value_of(const Operand& o) {
  if (!o.single) return std::bit_cast<double>(o.bits);
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(o.bits)));
}

}  // namespace

void prefetch_rule(Context& c) {
  c.refuse_unified();
  if (!c.count(1, 1)) return;
  const Operand& a = c.in.operands[0];
  const std::string_view space = c.get("space");
  if (c.has("tensormap")) {
    const Symbol s = c.symbol(a);
    const bool narrow = a.kind == Operand::Kind::address && s.kind == Symbol::Kind::reg &&
                        s.type.bits == 32 && space.empty();
    // The one generic address that may be narrow.
    c.address(0, narrow ? "local" : space);
    if (s.kind == Symbol::Kind::variable && s.variable->space == "param" && !s.parameter) {
      c.error(a, found_text(a, s) + " of a call, a kernel parameter was expected");
    }
    refuse_variable(c, false);
    return;
  }
  c.address(0, space);
  refuse_variable(c, false);
  const Symbol named = c.symbol(a);
  const bool variable = named.kind == Symbol::Kind::variable;
  const bool older = c.env.version < 80 && !c.env.manual;
  const bool taken =
      variable &&
      (named.variable->space == "global" ||
       (older && (named.variable->space == "shared" || named.variable->space == "local")));
  if (c.in.opcode == "prefetchu" && variable && !taken) {
    c.error(a, found_text(a, named) + ", a .global variable was expected");
  }
}

void policy_fraction_rule(Context& c) {
  if (!c.count(1, 2)) return;
  policy_destination(c);
  if (c.in.operands.size() == 1) return;
  const Operand& f = c.in.operands[1];
  if (f.kind != Operand::Kind::float_) {
    const Symbol s = c.symbol(f);
    const bool name =
        f.kind == Operand::Kind::name && (s.kind == Symbol::Kind::reg || f.has_offset);
    if (!name) {
      c.error(f, found_text(f, s) +
                     " as fraction, a 32-bit register or a floating-point constant was expected");
      return;
    }
    c.source(1, kF32, Fit::exact);
    return;
  }
  const double value = value_of(f);
  if (!(value > 0.0 && value <= 1.0)) {
    c.error(f,
            "a fraction of " + std::to_string(value) + ", more than 0 and at most 1 was expected");
  }
}

void policy_range_rule(Context& c) {
  c.refuse_unified();
  if (!c.count(4, 4)) return;
  policy_destination(c);
  const Operand& a = c.in.operands[1];
  const Symbol s = c.symbol(a);
  const bool reg = a.kind == Operand::Kind::address && s.kind == Symbol::Kind::reg;
  const bool narrow = reg && s.type.bits == 32;
  if (reg && s.type.bits < 32) {
    c.error(a, found_text(a, s) + " as address, 32 or 64 bits were expected");
  }
  c.address(1, narrow ? "local" : c.get("space"));
  for (const size_t i : {2, 3}) {
    const Symbol size = c.symbol(c.in.operands[i]);
    if (size.kind == Symbol::Kind::function) {
      c.error(c.in.operands[i], found_text(c.in.operands[i], size) +
                                    " as size, a 32-bit register or constant was expected");
    } else {
      c.integer_source(i, 32);
    }
  }
  const Operand &primary = c.in.operands[2], &total = c.in.operands[3];
  using K = Operand::Kind;
  if (primary.kind != K::integer || total.kind != K::integer) return;
  if (static_cast<uint32_t>(primary.bits) > static_cast<uint32_t>(total.bits)) {
    c.error(primary, "a primary size of " + std::to_string(static_cast<uint32_t>(primary.bits)) +
                         ", at most the total of " +
                         std::to_string(static_cast<uint32_t>(total.bits)) + " was expected");
  }
}

void policy_convert_rule(Context& c) {
  if (!c.count(2, 2)) return;
  policy_destination(c);
  c.policy(1);
}

void line_rule(Context& c) {
  c.refuse_unified();
  if (!c.count(2, 2)) return;
  c.address(0, c.get("space"));
  refuse_variable(c, true);
  const Operand* size = c.literal(1, "the constant 128");
  if (size && size->bits != 128) {
    c.error(*size,
            "a size of " + std::to_string(static_cast<int64_t>(size->bits)) + ", 128 was expected");
  }
}

}  // namespace lanewise::ptx::legal
