#include "runtime/isa/ptx/semantics/scan.hpp"
#include "runtime/isa/ptx/text/parser.hpp"
#include "runtime/layout/texture_block.hpp"

#include <algorithm>

#include "runtime/isa/ptx/ptype.hpp"

namespace lanewise::ptx {
namespace {

void note_operand(const Operand& o, bool is_value, bool is_address, FunctionUses& uses) {
  if (!o.name.empty()) {
    uses.names.insert(o.name);
    if (is_value && o.kind == Operand::Kind::name) uses.values.insert(o.name);
    if (is_address && o.kind == Operand::Kind::array) uses.values.insert(o.name);
  }
  for (const Operand& e : o.elements) note_operand(e, is_value, is_address, uses);
}

void note_instruction(const Instruction& inst, FunctionUses& uses) {
  // The names in a call are its target and .param variables or registers, never addresses.
  const bool call = inst.opcode == "call";
  const bool takes_address = inst.opcode == "mov" || inst.opcode == "cvta";
  for (const Operand& o : inst.operands) note_operand(o, !call, takes_address, uses);
}

void walk(const Scope& scope, FunctionUses& uses) {
  for (const Statement& s : scope.statements) {
    if (const auto* inst = std::get_if<Instruction>(&s)) note_instruction(*inst, uses);
    if (const auto* var = std::get_if<Variable>(&s))
      if (var->space == "shared") uses.shared.push_back(var);
    if (const auto* prototype = std::get_if<CallPrototype>(&s))
      uses.prototypes.push_back(prototype);
    if (const auto* list = std::get_if<TargetList>(&s))
      for (const std::string& target : list->targets) uses.names.insert(target);
    if (const auto* inner = std::get_if<std::unique_ptr<Scope>>(&s)) walk(**inner, uses);
  }
}

}  // namespace

FunctionUses scan_function(const Function& function) {
  FunctionUses uses;
  walk(function.body, uses);
  return uses;
}

uint64_t variable_bytes(const Variable& v) {
  // A parameter holds the address of the block that a variable is.
  if (is_opaque(v.type)) {
    uint64_t bytes = v.space == "param" ? 8 : guest::kTextureBlockBytes;
    for (const uint64_t d : v.dims) bytes *= d;
    return bytes;
  }
  const auto type = ptype_named(v.type);
  uint64_t bytes = type && !type->is_pred() ? type->bytes() : 0;
  bytes *= v.vector;
  for (uint64_t d : v.dims) bytes *= d;
  return bytes;
}

uint32_t variable_align(const Variable& v) {
  if (v.align != 0) return v.align;
  if (is_opaque(v.type)) return v.space == "param" ? 8 : guest::kTextureBlockBytes;
  const auto type = ptype_named(v.type);
  return std::max<uint32_t>(1, type ? type->bytes() * v.vector : 1);
}

}  // namespace lanewise::ptx
