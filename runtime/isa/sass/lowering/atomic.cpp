// Atomic operations on global and shared memory.
#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {

namespace {

Type atomic_type(const Instruction& i, bool shared) {
  // Code 4 is .F16x2 from sm_52 on: a sum for each half. Code 6 is for sm_60 and later.
  static constexpr Type kGlobal[] = {Type::u32, Type::s32, Type::u64, Type::f32,
                                     Type::f16, Type::s64, Type::f64};
  static constexpr Type kShared[] = {Type::u32, Type::s32, Type::u64, Type::s64};
  return shared ? kShared[i.mod(ModId::type)] : kGlobal[i.mod(ModId::type)];
}

/// Sums flush subnormal numbers where their type says so.
bool flushes(const Instruction& i) {
  const Mod* type = i.form->mod(ModId::type);
  return type != nullptr && std::ranges::any_of(type->codes, [&](const Code& c) {
           return c.value == type->get(i.word) && c.text.find(".FTZ") != std::string_view::npos;
         });
}

AtomOp atomic_op(const Instruction& i) {
  static constexpr AtomOp kOps[] = {AtomOp::add, AtomOp::min,  AtomOp::max,
                                    AtomOp::inc, AtomOp::dec,  AtomOp::and_,
                                    AtomOp::or_, AtomOp::xor_, AtomOp::exch};
  const uint64_t code = i.mod(ModId::op);
  if (code >= std::size(kOps)) throw Unsupported("SAFEADD is not supported: it is not documented");
  return kOps[code];
}

/// Combinations that no document gives a meaning are refused.
void check_combination(AtomOp op, Type type) {
  const bool wraps = op == AtomOp::inc || op == AtomOp::dec;
  const bool bitwise = op == AtomOp::and_ || op == AtomOp::or_ || op == AtomOp::xor_;
  const bool is_float = ir::is_float(type);
  if ((is_float && op != AtomOp::add) || (wraps && type != Type::u32))
    throw Unsupported(fmt::format("an atomic {} has no type {}", ir::name(op), ir::name(type)));
  if ((bitwise || op == AtomOp::exch) && (is_float || ir::is_signed(type)))
    throw Unsupported(fmt::format("an atomic {} has no type {}", ir::name(op), ir::name(type)));
}

struct Shape {
  Space space;
  AtomOp op;
  Type type;
  bool wide() const { return ir::size_of(type) == 8; }
};

Operand value_of(LowerContext& c, unsigned number, bool wide) {
  return wide ? c.pair(number) : c.readable(number);
}

/// `old` = the register that takes the previous value; kRZ = nobody wants it.
void emit_atomic(LowerContext& c, const Instruction& i, const Shape& s, std::vector<Operand> values,
                 unsigned old) {
  if (s.wide()) c.check_vector(old, 2);
  if (s.space == Space::global) c.leave_out_lanes_without_stores();
  const LowerContext::Address address =
      s.space == Space::shared ? c.window_address(i) : c.wide_address(i);
  values.insert(values.begin(), address.base);
  const Width width = s.wide() ? Width::b64 : Width::b32;
  const Reg result = s.wide() || old == kRZ ? c.reg(width) : c.writable(old);
  std::vector<Reg> dst;
  if (old != kRZ) dst.push_back(result);
  const Type bits = s.wide() ? Type::u64 : Type::u32;
  ir::Inst& atom = c.emit(Op::atom, bits, std::move(dst), std::move(values));
  atom.mem.emplace();
  atom.mem->space = s.space;
  atom.mem->elem = bits;
  atom.mem->align = ir::AlignRule::force;
  atom.mem->order = ir::Order::relaxed;
  atom.mem->scope = s.space == Space::shared ? ir::Scope::cta : ir::Scope::gpu;
  atom.mem->atom = s.op;
  atom.mem->atom_type = s.type;
  atom.mem->offset = address.offset;
  atom.ftz = flushes(i);
  if (s.wide() && old != kRZ)
    c.emit(Op::unpack64, Type::u32, {c.writable(old), c.writable(old + 1)}, {result});
}

void emit_operation(LowerContext& c, const Instruction& i, Space space, Role value, unsigned old) {
  const Shape s{space, atomic_op(i), atomic_type(i, space == Space::shared)};
  check_combination(s.op, s.type);
  emit_atomic(c, i, s, {value_of(c, c.reg_number(i, value), s.wide())}, old);
}

/// Register of one of the two values of compare and swap.
unsigned swap_register(const Instruction& i, Role role, bool wide) {
  const OperandSpec& o = *i.operand(role);
  if (o.kind == OperandSpec::Kind::zero) return kRZ;
  const auto first = static_cast<unsigned>(o.field.get(i.word));
  if (first == kRZ && (o.never_zero || o.kind == OperandSpec::Kind::next))
    throw Unsupported("register 255 is none here");
  if (o.kind == OperandSpec::Kind::reg) return first;
  const unsigned next = first + (wide ? 2 : 1);
  if (next >= kRZ) throw Unsupported(fmt::format("no register stands behind R{}", first));
  return next;
}

void emit_swap(LowerContext& c, const Instruction& i, Space space) {
  const bool wide = i.mod(ModId::wide) != 0;
  const unsigned compare = swap_register(i, Role::b, wide), swap = swap_register(i, Role::c, wide);
  if (swap != kRZ && compare != kRZ) c.check_vector(compare, wide ? 4 : 2);
  emit_atomic(c, i, {space, AtomOp::cas, wide ? Type::u64 : Type::u32},
              {value_of(c, compare, wide), value_of(c, swap, wide)}, c.reg_number(i, Role::d));
}

}  // namespace

void lower_atom(LowerContext& c, const Instruction& i) {
  emit_operation(c, i, Space::global, Role::b, c.reg_number(i, Role::d));
}
void lower_red(LowerContext& c, const Instruction& i) {
  emit_operation(c, i, Space::global, Role::d, kRZ);
}
void lower_atoms(LowerContext& c, const Instruction& i) {
  emit_operation(c, i, Space::shared, Role::b, c.reg_number(i, Role::d));
}
void lower_atom_cas(LowerContext& c, const Instruction& i) {
  emit_swap(c, i, Space::global);
}
void lower_atoms_cas(LowerContext& c, const Instruction& i) {
  emit_swap(c, i, Space::shared);
}

}  // namespace lanewise::sass
