// Memory operands: which space, which base, and whether the access is allowed there.
#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {
namespace {

std::string_view spelled(ir::Space space) {
  return space == ir::Space::constant ? "const" : ir::name(space);
}

ir::Space space_named(std::string_view qualifier, bool entry) {
  if (qualifier.empty()) return ir::Space::generic;
  if (qualifier == "global") return ir::Space::global;
  if (qualifier.starts_with("shared")) return ir::Space::shared;
  if (qualifier == "local") return ir::Space::local;
  if (qualifier == "const") return ir::Space::constant;
  // Parameters of functions live in local memory once their address is taken.
  return entry ? ir::Space::param : ir::Space::local;
}

}  // namespace

void refuse_register_index(const Operand& o) {
  if (o.kind != Operand::Kind::array || o.elements.empty()) return;
  Emit::fail(o.elements[0].loc, "a register as index of '" + o.name +
                                    "' is not supported, an integer constant was expected");
}

Address Emit::register_address(const Operand& o, const Entity& entity, std::string_view space) {
  if (o.kind == Operand::Kind::array) fail(o.loc, "'" + o.name + "' is not an array");
  if (entity.regs.size() != 1 || !entity.type.holds_int())
    fail(o.loc, "register '" + o.name + "' cannot hold an address");
  Address a;
  a.space = space_named(space, body.function.entry);
  const bool wide_only = a.space == ir::Space::generic || a.space == ir::Space::global;
  const unsigned bits = entity.type.bits;
  const Module& m = kernel.module.module;
  // Up to .version 7.8 a 32-bit address makes a 32-bit program; a few instructions take one always.
  const bool narrow_program = m.version_major != 0 && m.version_major < 8;
  const bool narrow_ok = !wide_only || m.address_size == 32 || narrow_program ||
                         inst.opcode == "createpolicy" || inst.opcode == "cp" || has("tensormap");
  if (bits != 64 && (bits != 32 || !narrow_ok))
    fail(o.loc, "address register '" + o.name + "' is " + entity.type.text() +
                    ", expected a 64-bit register");
  a.base = entity.regs[0];
  a.offset = o.offset;
  return a;
}

Address Emit::variable_address(const Operand& o, const Entity& entity, std::string_view space) {
  const Variable& v = *entity.variable;
  Address a;
  a.space = entity.space;
  a.offset = o.offset;
  a.base = entity.base;
  a.object = entity.object;
  a.input = entity.input;
  a.kernel_param = entity.space == ir::Space::param && entity.object == nullptr;
  if (o.kind == Operand::Kind::array) {
    if (v.dims.empty()) fail(o.loc, "'" + o.name + "' is not an array");
    refuse_register_index(o);
    a.offset *= static_cast<int64_t>(ptype_named(v.type).value_or(PType{}).bytes() * v.vector);
  }
  const bool is_param = v.space == "param";
  const bool generic_ok = !is_param && entity.space != ir::Space::constant;
  const bool same =
      is_param ? space.starts_with("param") : space_named(space, true) == entity.space;
  if (same || (space.empty() && generic_ok)) return a;
  const std::string own(is_param ? "param" : spelled(entity.space));
  const std::string accessed = space.empty() ? "generic" : std::string(space);
  fail(o.loc, "state space mismatch: '" + o.name + "' is a variable of space " + own +
                  ", the instruction accesses space " + accessed);
}

Address Emit::address(const Operand& o, std::string_view space) {
  if (o.kind != Operand::Kind::address && o.kind != Operand::Kind::array)
    fail(o.loc, "expected an address in brackets");
  if (o.name.empty()) {
    if (space != "local") fail(o.loc, "immediate addresses are allowed only for .local");
    return {ir::Space::local, imm(0), o.offset, nullptr, false, false};
  }
  const Entity* entity = body.find(o.name);
  if (entity == nullptr) fail(o.loc, "undeclared name '" + o.name + "' in an address");
  if (entity->kind == Entity::Kind::reg) return register_address(o, *entity, space);
  if (entity->kind != Entity::Kind::variable)
    fail(o.loc, "'" + o.name + "' is a label, expected a register or variable");
  return variable_address(o, *entity, space);
}

}  // namespace lanewise::ptx
