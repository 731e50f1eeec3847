// Reading operands: registers, constants, special registers, addresses of variables.
#include <bit>
#include <cmath>
#include <optional>

#include "runtime/isa/absent.hpp"
#include "runtime/isa/ptx/semantics/emit.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/layout/grid_workspace.hpp"

namespace lanewise::ptx {

using ir::Op;
using ir::Type;
namespace {

struct SpecialRegister {
  std::string_view name;
  ir::SReg reg;
  unsigned bits = 32;
  bool narrow = false;  ///< may also be read as 16 bits
  enum class Word : uint8_t { whole, low, high } word = Word::whole;  ///< of a register of 64 bits
};
constexpr SpecialRegister kSpecial[] = {
    {"%tid.x", ir::SReg::tid_x, 32, true},
    {"%tid.y", ir::SReg::tid_y, 32, true},
    {"%tid.z", ir::SReg::tid_z, 32, true},
    {"%ntid.x", ir::SReg::ntid_x, 32, true},
    {"%ntid.y", ir::SReg::ntid_y, 32, true},
    {"%ntid.z", ir::SReg::ntid_z, 32, true},
    {"%ctaid.x", ir::SReg::ctaid_x, 32, true},
    {"%ctaid.y", ir::SReg::ctaid_y, 32, true},
    {"%ctaid.z", ir::SReg::ctaid_z, 32, true},
    {"%nctaid.x", ir::SReg::nctaid_x, 32, true},
    {"%nctaid.y", ir::SReg::nctaid_y, 32, true},
    {"%nctaid.z", ir::SReg::nctaid_z, 32, true},
    {"%laneid", ir::SReg::laneid},
    {"%warpid", ir::SReg::warpid},
    {"%nwarpid", ir::SReg::nwarpid},
    {"%smid", ir::SReg::smid},
    {"%nsmid", ir::SReg::nsmid},
    {"%lanemask_eq", ir::SReg::lanemask_eq},
    {"%lanemask_le", ir::SReg::lanemask_le},
    {"%lanemask_lt", ir::SReg::lanemask_lt},
    {"%lanemask_ge", ir::SReg::lanemask_ge},
    {"%lanemask_gt", ir::SReg::lanemask_gt},
    {"%clock", ir::SReg::clock},
    {"%clock_hi", ir::SReg::clock_hi},
    {"%clock64", ir::SReg::clock64, 64},
    {"%globaltimer", ir::SReg::globaltimer, 64},
    {"%globaltimer_lo", ir::SReg::globaltimer, 32, false, SpecialRegister::Word::low},
    {"%globaltimer_hi", ir::SReg::globaltimer, 32, false, SpecialRegister::Word::high},
    {"%dynamic_smem_size", ir::SReg::dynamic_smem_size},
    {"%total_smem_size", ir::SReg::total_smem_size},
};

const SpecialRegister* special_named(std::string_view name) {
  for (const SpecialRegister& s : kSpecial)
    if (s.name == name) return &s;
  return nullptr;
}

/// Names of the same value: every cluster has one group.
std::string_view without_cluster(std::string_view name) {
  constexpr std::pair<std::string_view, std::string_view> kSame[] = {
      {"%clusterid.x", "%ctaid.x"},           {"%clusterid.y", "%ctaid.y"},
      {"%clusterid.z", "%ctaid.z"},           {"%nclusterid.x", "%nctaid.x"},
      {"%nclusterid.y", "%nctaid.y"},         {"%nclusterid.z", "%nctaid.z"},
      {"%aggr_smem_size", "%total_smem_size"}};
  for (const auto& [cluster, group] : kSame)
    if (cluster == name) return group;
  return name;
}

struct Fixed {
  uint64_t value = 0;
  bool narrow = false;  ///< may also be read as 16 bits
  unsigned bits = 32;
};
/// What always reads the same: fourth components, the place in a cluster of one group, and the
/// environment registers, of which drivers set two.
std::optional<Fixed> fixed_value(std::string_view name) {
  if (name == "%tid.w" || name == "%ntid.w" || name == "%ctaid.w" || name == "%nctaid.w")
    return Fixed{0, true};
  if (name.starts_with("%cluster_nctaid.")) return Fixed{name.ends_with(".w") ? 0U : 1U};
  if (name.starts_with("%cluster_ctaid.") || name == "%cluster_ctarank") return Fixed{0};
  if (name == "%clusterid.w" || name == "%nclusterid.w") return Fixed{0};
  if (name == "%cluster_nctarank") return Fixed{1};
  if (name == "%current_graph_exec")  // kernels launch no graphs
    return Fixed{.value = 0, .bits = 64};
  if (name == "%reserved_smem_offset_cap") return Fixed{KernelContext::kReservedShared};
  if (name.starts_with("%pm")) return Fixed{.value = 0, .bits = name.ends_with("_64") ? 64U : 32U};
  if (name.starts_with("%envreg")) return Fixed{0};
  return std::nullopt;
}

/// Of the address of the grid's workspace: the offset of the half that the register gives.
std::optional<int64_t> workspace_half(std::string_view name) {
  if (name == "%envreg2") return 0;
  if (name == "%envreg1") return 4;
  return std::nullopt;
}

/// How far behind the kernel's shared memory a reserved part begins. The manual leaves open which
/// half has which use; libraries keep up to 288 bytes in the second.
std::optional<uint32_t> reserved_offset(std::string_view name) {
  if (!name.starts_with(KernelContext::kReservedNames)) return std::nullopt;
  const std::string_view part = name.substr(KernelContext::kReservedNames.size());
  if (part == "begin" || part == "0") return 0;
  if (part == "1") return KernelContext::kReservedShared / 2;
  if (part == "end") return KernelContext::kReservedShared;
  return std::nullopt;
}

uint64_t mask_of(unsigned bits) {
  return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
}

}  // namespace

const Entity* Emit::reg_entity(const Operand& o) {
  const Entity* entity = body.find(o.name);
  if (entity == nullptr) {
    if (special_named(without_cluster(o.name)) != nullptr || fixed_value(o.name) ||
        reserved_offset(o.name))
      return nullptr;
    fail(o.loc, "undeclared name '" + o.name + "'");
  }
  return entity->kind == Entity::Kind::reg ? entity : nullptr;
}

ir::Operand Emit::constant(const Operand& o, PType type) {
  if (o.kind == Operand::Kind::integer) {
    if (type.is_float()) fail(o.loc, "expected a floating-point constant for " + type.text());
    return imm(type.is_pred() ? uint64_t{o.bits != 0} : o.bits & mask_of(type.bits));
  }
  if (type.is_pred() || type.is(PType::Class::uint) || type.is(PType::Class::sint) ||
      type.bits < 32 || type.packed)
    fail(o.loc, "a floating-point constant cannot be a " + type.text() + " operand");
  if (type.bits == 64) {
    if (!o.single) return imm(o.bits);
    const auto wide = static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(o.bits)));
    return imm(std::bit_cast<uint64_t>(wide));
  }
  if (o.single) return imm(o.bits);
  return imm(std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(o.bits))));
}

ir::Operand Emit::special(const Operand& o, PType type, Fit fit) {
  if (o.name == "%is_explicit_cluster" && type.is_pred())
    return imm(kernel.kernel.explicit_cluster ? 1 : 0);
  const std::optional<Fixed> fixed = fixed_value(o.name);
  const SpecialRegister* s = special_named(without_cluster(o.name));
  const bool grid_id = o.name == "%gridid";
  const std::optional<uint32_t> reserved = reserved_offset(o.name);
  if (const auto half = workspace_half(o.name); half && type.bits == 32 && type.holds_int()) {
    ir::Mem mem;
    mem.space = ir::Space::global;
    mem.elem = Type::u32;
    const ir::Reg value = temp(ir::Width::b32);
    const auto at =
        ir::Operand::address_of(kernel.symbol(std::string(guest::kGridWorkspace)), *half);
    emit(Op::load, Type::none, {value}, {at}).mem = mem;
    return value;
  }
  if (s == nullptr && !fixed && !grid_id && !reserved) {
    if (o.name.starts_with('%') && body.find(o.name) == nullptr)
      fail(o.loc, "undeclared register '" + o.name + "', and no supported special register");
    return {};
  }
  const unsigned bits = fixed ? fixed->bits : s != nullptr ? s->bits : 32;
  const bool narrow = fixed ? fixed->narrow : s != nullptr && s->narrow;
  // Stored vectors and conversions take the low bits of anything.
  const bool width_fits = type.bits == bits || (type.bits == 16 && narrow) ||
                          (grid_id && type.bits == 64) || (fit == Fit::wider && type.bits < bits);
  if ((!type.holds_int() && fit != Fit::wider) || type.is_pred() || !width_fits)
    fail(o.loc, "special register '" + o.name + "' cannot be read as " + type.text());
  if (fixed) return imm(fixed->value);
  const bool half = s != nullptr && s->word != SpecialRegister::Word::whole;
  ir::Operand value;
  if (reserved) {
    value = op(Op::add, Type::u32, {behind_shared(*this), imm(*reserved)});
  } else {
    const ir::SReg reg = grid_id ? ir::SReg::gridid : s->reg;
    value = op(Op::sreg, bits == 64 || half ? Type::u64 : Type::u32, {},
               {.mode = static_cast<uint8_t>(reg)});
  }
  if (half && s->word == SpecialRegister::Word::high)
    value = op(Op::shr, Type::u64, {value, imm(32)});
  if (half) value = this->narrow(value);
  if (type.bits < 32) return extend(bits == 64 ? this->narrow(value) : value, type.bits, false);
  if (type.bits == 32 && bits == 64) return this->narrow(value);
  return type.bits == 64 && bits == 32 ? widen(value, false) : value;
}

ir::Reg behind_shared(Emit& e) {
  const ir::Reg size =
      e.op(Op::sreg, Type::u32, {}, {.mode = static_cast<uint8_t>(ir::SReg::total_smem_size)});
  const ir::Reg up = e.op(Op::add, Type::u32, {size, imm(15)});
  return e.op(Op::and_, Type::u32, {up, imm(~uint32_t{15})});
}

ir::Operand function_value(Emit& e, const Operand& o, const Function& function) {
  if (function.entry)
    Emit::fail(o.loc, isa::device_launch_refusal("the address of kernel '" + o.name + "'"));
  const uint32_t index = e.kernel.module.function_index(function.name);
  if (index == ir::kNone) Emit::fail(o.loc, "the address of '" + o.name + "' cannot be used here");
  return imm(guest::function_address(index));
}

ir::Operand Emit::address_value(const Operand& o, const Entity& entity, PType type) {
  if (!type.holds_int() || type.bits < 32)
    fail(o.loc, "the address of '" + o.name + "' does not fit a " + type.text() + " operand");
  int64_t offset = o.offset;
  if (o.kind == Operand::Kind::array) {
    const Variable& v = *entity.variable;
    refuse_register_index(o);
    offset *= static_cast<int64_t>(ptype_named(v.type).value_or(PType{}).bytes() * v.vector);
  }
  if (entity.object != nullptr) {
    if (!entity.input || !entity.object->in_memory)
      fail(o.loc, "the address of '" + o.name + "' cannot be taken");
  }
  ir::Operand base = entity.base;
  if (base.is_reg()) {  // in the frame of a function that calls itself
    const ir::Reg at =
        op(Op::add, Type::u32, {base, imm(static_cast<uint64_t>(offset) & 0xffffffff)});
    return type.bits == 64 ? ir::Operand(widen(at, false)) : at;
  }
  base.imm += static_cast<uint64_t>(offset);
  if (base.is_imm()) base.imm &= mask_of(type.bits);
  return base;
}

ir::Operand Emit::value_of_name(const Operand& o, PType type, Fit fit) {
  if (o.name == "WARP_SZ" && type.holds_int()) return imm(32);
  const Entity* entity = body.find(o.name);
  if (entity == nullptr) {
    if (const Function* f = kernel.module.function(o.name); f != nullptr && type.holds_int())
      return function_value(*this, o, *f);
    if (o.name.starts_with('%')) return special(o, type, fit);
    fail(o.loc, "undeclared name '" + o.name + "'");
  }
  if (entity->kind == Entity::Kind::variable) return address_value(o, *entity, type);
  if (entity->kind != Entity::Kind::reg)
    fail(o.loc, "'" + o.name + "' is a label, expected a register or constant");
  const bool halves = entity->type.bits == 128;
  if (entity->regs.size() != 1 && !halves) fail(o.loc, "'" + o.name + "' is a vector register");
  if (o.has_offset && (!type.holds_int() || type.bits > 64 || halves))
    fail(o.loc, "an offset on register '" + o.name + "' needs an integer operand");
  if (!fits(type, entity->type, fit))
    fail(o.loc, "register '" + o.name + "' is " + entity->type.text() + ", the operand must be " +
                    type.text() + (fit == Fit::wider ? " or wider" : ""));
  ir::Operand value = entity->regs[0];
  if (entity->type.bits >= 64 && type.bits < 64) value = narrow(value);
  if (!o.has_offset) return value;
  // `%r1+4` is a sum, as the assembler makes it.
  const Type sum = type.bits == 64 ? Type::u64 : Type::u32;
  const ir::Reg moved =
      op(Op::add, sum,
         {value, imm(static_cast<uint64_t>(o.offset) & mask_of(std::max(type.bits, 32U)))});
  return type.bits < 32 && fit == Fit::exact ? extend(moved, type.bits, false) : moved;
}

ir::Operand Emit::raw(const Operand& o, PType type, Fit fit) {
  if (o.negated && !type.is_pred()) fail(o.loc, "'!' belongs to predicates only");
  switch (o.kind) {
    case Operand::Kind::integer:
    case Operand::Kind::float_:
      return constant(o, type);
    case Operand::Kind::name:
    case Operand::Kind::array:
      break;
    case Operand::Kind::vector:
      if (o.elements.size() == 1) return raw(o.elements[0], type, fit);
      [[fallthrough]];
    default:
      fail(o.loc, "expected a register or constant of type " + type.text());
  }
  const ir::Operand value = value_of_name(o, type, fit);
  if (!o.negated) return value;
  return op(Op::not_, Type::pred, {value});
}

ir::Operand Emit::ext(const Operand& o, PType type, Fit fit) {
  const ir::Operand value = raw(o, type, fit);
  if (type.bits >= 32 || !type.holds_int()) return value;
  bool upper_known = false;
  if (o.kind == Operand::Kind::name) {
    const Entity* entity = body.find(o.name);
    upper_known = entity == nullptr || entity->type.bits <= type.bits;
  }
  if (upper_known && !type.is_signed() && !value.is_imm()) return value;
  return extend(value, type.bits, type.is_signed());
}

ir::Operand Emit::pred(size_t i) {
  return raw(i, kPred);
}

}  // namespace lanewise::ptx
