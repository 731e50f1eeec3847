// Addresses of spaces: cvta, isspacep, mapa, getctarank.
#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/emit.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::ptx {

using ir::Op;
using ir::Type;
namespace {

using legal::Context;
using legal::Symbol;

/// Generic address of offset 0 of a space; none for spaces that share the generic map.
ir::Operand window(Emit& e, std::string_view space) {
  if (space.starts_with("shared")) return imm(guest::kSharedWindow);
  if (space == "local") return imm(guest::kLocalWindow);
  if (space.starts_with("param"))
    return e.op(Op::sreg, Type::u64, {}, {.mode = static_cast<uint8_t>(ir::SReg::param_base)});
  return {};
}

ir::Operand window_as(Emit& e, std::string_view space, PType type) {
  const ir::Operand base = window(e, space);
  return base.kind == ir::Operand::Kind::none || type.bits == 64 ? base : e.narrow(base);
}

void check_space(Emit& e, const Operand& o, std::string_view space) {
  const Entity* entity = o.name.empty() ? nullptr : e.body.find(o.name);
  if (entity == nullptr || entity->kind != Entity::Kind::variable) return;
  const std::string& actual = entity->variable->space;
  const std::string_view wanted = space.substr(0, space.find(':'));
  if (actual != wanted)
    Emit::fail(o.loc, "state space mismatch: '" + o.name + "' is a ." + actual +
                          " variable, the instruction converts ." + std::string(space));
}

void cvta(Emit& e) {
  const PType type = e.type();
  const std::string_view space = e.get("ss");
  check_space(e, e.operand(1), space);
  const ir::Operand address = e.raw(1, type);
  const ir::Operand base = window_as(e, space, type);
  if (base.kind == ir::Operand::Kind::none) return e.set(0, type, address);
  e.set(0, type, e.op(Op::add, type.ir(), {address, base}));
}

void cvta_to(Emit& e) {
  const PType type = e.type();
  if (e.operand(1).kind == Operand::Kind::name && !e.operand(1).has_offset) {
    const Entity* entity = e.body.find(e.operand(1).name);
    if (entity != nullptr && entity->kind == Entity::Kind::variable)
      Emit::fail(e.operand(1).loc,
                 "'cvta.to' needs a register, '" + e.operand(1).name + "' is a variable");
  }
  const ir::Operand address = e.raw(1, type);
  const ir::Operand base = window_as(e, e.get("ss"), type);
  if (base.kind == ir::Operand::Kind::none) return e.set(0, type, address);
  e.set(0, type, e.op(Op::sub, type.ir(), {address, base}));
}

ir::Operand inside(Emit& e, ir::Operand address, ir::Operand base, uint64_t size) {
  const ir::Reg offset = e.op(Op::sub, Type::u64, {address, base});
  return e.op(Op::icmp, Type::u64, {offset, imm(size)}, {.cond = ir::Cond::lt});
}

/// Constant variables lie in the arena among the others; the module knows which they are.
ir::Operand is_constant_address(Emit& e, ir::Operand address) {
  ir::Operand found = imm(0);
  for (const Variable& v : e.kernel.module.module.variables) {
    const uint64_t bytes = variable_bytes(v);
    if (v.space != "const" || v.is_extern || bytes == 0) continue;
    const ir::Operand base = ir::Operand::address_of(e.kernel.symbol(v.name));
    const ir::Operand here = inside(e, address, base, bytes);
    found = found.is_imm() ? here : ir::Operand(e.op(Op::or_, Type::pred, {found, here}));
  }
  return found;
}

void isspacep(Emit& e) {
  const std::string_view space = e.get("ss");
  const Entity* entity =
      e.operand(1).kind == Operand::Kind::name ? e.body.find(e.operand(1).name) : nullptr;
  if (entity != nullptr && entity->kind != Entity::Kind::reg)
    Emit::fail(e.operand(1).loc, "'isspacep' needs a register with a generic address");
  const bool narrow = entity != nullptr && entity->type.bits == 32;
  const ir::Operand address = narrow ? e.widen(e.raw(1, kB32), false) : e.raw(1, kB64);
  if (space == "const") return e.set(0, kPred, is_constant_address(e, address));
  if (space == "global") {
    // The window of the kernel's parameters is inside the global one, that of constants is not.
    const ir::Operand constant = is_constant_address(e, address);
    const ir::Reg arena =
        e.op(Op::icmp, Type::u64, {address, imm(guest::kArenaBase)}, {.cond = ir::Cond::ge});
    if (constant.is_imm()) return e.set(0, kPred, arena);
    const ir::Reg other = e.op(Op::not_, Type::pred, {constant});
    return e.set(0, kPred, e.op(Op::and_, Type::pred, {arena, other}));
  }
  const bool param = space.starts_with("param");
  const uint64_t size = param ? e.kernel.program.param_bytes : guest::kWindowSize;
  e.set(0, kPred, inside(e, address, window(e, space), size));
}

/// A cluster has one group, whose rank is 0: any other rank gives an address that faults.
void mapa(Emit& e) {
  const PType type = e.type();
  const Operand& a = e.operand(1);
  const bool window = e.has("ss");
  ir::Operand address = e.raw(1, type);
  const Entity* entity = a.kind == Operand::Kind::name ? e.body.find(a.name) : nullptr;
  if (entity != nullptr && entity->kind == Entity::Kind::variable) {
    if (entity->space != ir::Space::shared)
      Emit::fail(a.loc, "'mapa' needs an address of shared memory");
    if (!window) {
      const uint64_t generic = address.imm + guest::kSharedWindow;
      address = imm(generic);
    }
  }
  const ir::Operand nowhere = imm(window ? guest::kWindowSize - 16 : 0);
  const ir::Reg own = e.op(Op::icmp, Type::u32, {e.raw(2, kU32), imm(0)});
  e.set(0, type, e.op(Op::select, type.ir(), {own, address, nowhere}));
}

void getctarank(Emit& e) {
  const PType type = e.type();
  e.raw(1, type);
  e.set(0, kU32, imm(0));
}

// --- what is legal -------------------------------------------------------------------------------

void to_generic_rule(Context& c) {
  const PType want = c.type();
  const Operand& a = c.in.operands[1];
  const Symbol s = c.symbol(a);
  if (want.bits == 32 && !c.allows_32_bit()) c.refuse_32_bit(a, "an address");
  const std::string_view space = c.get("ss");
  if (a.kind == Operand::Kind::integer || s.kind == Symbol::Kind::reg)
    return c.source(1, want, Fit::exact);
  const bool to = c.has("to");
  if (a.kind == Operand::Kind::name && s.kind == Symbol::Kind::function && to) return;
  if (a.kind == Operand::Kind::name && s.kind == Symbol::Kind::variable) {
    if (to && a.has_offset) return;
    const bool call = s.variable->space == "param" && !s.parameter;
    const bool same = space.substr(0, space.find(':')) == s.variable->space;
    if (!to && same && !call) return;
  }
  c.found(a, (to ? ", a register was expected"
                 : ", a register or a variable of `." + std::string(space) + "` was expected"));
}

void space_test_rule(Context& c) {
  const Operand& a = c.in.operands[1];
  const Symbol s = c.symbol(a);
  if (s.kind == Symbol::Kind::function || s.type.packed) c.found(a, ", an address was expected");
  const bool narrow = s.kind == Symbol::Kind::reg && s.type.bits == 32;
  c.source(1, narrow ? kU32 : kU64, Fit::exact);
}

void map_rank_rule(Context& c) {
  const Operand& a = c.in.operands[1];
  const Symbol s = c.symbol(a);
  if (a.kind == Operand::Kind::name && s.kind == Symbol::Kind::variable) {
    if (s.variable->space != "shared") {
      c.found(a, ", a .shared variable was expected");
    }
  } else {
    c.source(1, c.type(), Fit::exact);
  }
}

void rank_rule(Context& c) {
  const Operand& a = c.in.operands[1];
  const Symbol s = c.symbol(a);
  if (a.kind == Operand::Kind::name && s.kind == Symbol::Kind::variable &&
      s.variable->space == "shared")
    return;
  c.source(1, c.type(), Fit::exact);
}

constexpr const char* kOneGroup = "a cluster has one group";

#define LW_ALL_SPACES "ss:global|const|local|$shared|param@70.77|param::entry@70.83"

constexpr Row space_row(const char* pattern, LowerFn lower, isa::Claim claim = isa::Claim::exact) {
  return {"cvta", pattern, judged("n x", to_generic_rule), lower, "", claim};
}

constexpr Row kSpaceRows[] = {
    space_row(LW_ALL_SPACES " type:u64", cvta),
    space_row(LW_ALL_SPACES " type:u32", cvta, isa::Claim::effect),
    space_row("^to " LW_ALL_SPACES " type:u64", cvta_to),
    space_row("^to " LW_ALL_SPACES " type:u32", cvta_to, isa::Claim::effect),
    {"isspacep", LW_ALL_SPACES, judged("n:pred x", space_test_rule), isspacep},
    {"mapa@90.78", "?ss:shared::cluster type:u32|u64", judged("n x m:u32", map_rank_rule), mapa,
     kOneGroup},
    {"getctarank@90.78", "?ss:shared::cluster type:u32|u64|s64|s32@.80",
     judged("n:u32 x", rank_rule), getctarank, kOneGroup},
};

}  // namespace

constinit Rows space_rows = kSpaceRows;

}  // namespace lanewise::ptx
