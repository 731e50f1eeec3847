#include "runtime/isa/ptx/semantics/emit.hpp"

#include "runtime/ir/make.hpp"

#include <algorithm>

namespace lanewise::ptx {

using ir::Op;

Emit::Emit(Body& b, const Instruction& i, const Form& f)
    : body(b), kernel(b.kernel), inst(i), form(f), first_reg_(b.kernel.program.regs.size()) {}

void Emit::fail(const std::string& message) const {
  throw Reject{inst.loc, message};
}
void Emit::fail(Loc loc, const std::string& message) {
  throw Reject{loc, message};
}

ir::Round Emit::rounding() const {
  const std::string_view name = get("rnd");  // rz, rzi ...
  const char direction = name.size() < 2 ? 'n' : name[1];
  return direction == 'z'   ? ir::Round::rz
         : direction == 'm' ? ir::Round::rm
         : direction == 'p' ? ir::Round::rp
                            : ir::Round::rn;
}

ir::Cond Emit::condition() const {
  using ir::Cond;
  constexpr std::pair<std::string_view, Cond> kConds[] = {
      {"eq", Cond::eq},   {"ne", Cond::ne},   {"lt", Cond::lt},   {"le", Cond::le},
      {"gt", Cond::gt},   {"ge", Cond::ge},   {"lo", Cond::lt},   {"ls", Cond::le},
      {"hi", Cond::gt},   {"hs", Cond::ge},   {"equ", Cond::equ}, {"neu", Cond::neu},
      {"ltu", Cond::ltu}, {"leu", Cond::leu}, {"gtu", Cond::gtu}, {"geu", Cond::geu},
      {"num", Cond::num}, {"nan", Cond::nan}};
  return pick(get("cmp"), kConds, Cond::eq);
}

Mods Emit::mods() const {
  return {.round = rounding(),
          .ftz = has("ftz"),
          .sat = has("sat"),
          .mode = static_cast<uint8_t>(has("NaN"))};
}

std::vector<ir::Operand> Emit::sources(size_t n, PType type) {
  std::vector<ir::Operand> all;
  for (size_t i = 1; i <= n; ++i) all.push_back(raw(i, type));
  return all;
}

ir::Inst& Emit::emit(Op op, ir::Type type, std::vector<ir::Reg> dst, std::vector<ir::Operand> src) {
  return builder().emit(op, type, std::move(dst), std::move(src));
}

ir::Reg Emit::op(Op op, ir::Type type, std::vector<ir::Operand> src, const Mods& mods) {
  const char letter = ir::info(op).signature[0];
  const ir::Reg r = temp(letter == 'p'   ? ir::Width::pred
                         : letter == 'w' ? ir::Width::b32
                         : letter == 'd' ? ir::Width::b64
                                         : ir::width_of(type));
  ir::Inst& out = emit(op, type, {r}, std::move(src));
  out.round = mods.round;
  out.ftz = mods.ftz;
  out.sat = mods.sat;
  out.cond = mods.cond;
  out.mode = mods.mode;
  out.from = mods.from;
  return r;
}

ir::Operand Emit::extend(ir::Operand value, unsigned bits, bool is_signed) {
  if (bits >= 32) return value;
  if (value.is_imm()) {
    const uint32_t low = static_cast<uint32_t>(value.imm) & ((1U << bits) - 1);
    const bool negative = is_signed && (low >> (bits - 1)) != 0;
    return imm(negative ? low | ~((1U << bits) - 1) : low);
  }
  const Op op =
      bits == 8 ? (is_signed ? Op::sext8 : Op::zext8) : (is_signed ? Op::sext16 : Op::zext16);
  return this->op(op, ir::Type::u32, {value});
}

ir::Operand Emit::widen(ir::Operand value, bool is_signed) {
  if (value.is_imm()) {
    const auto low = static_cast<uint32_t>(value.imm);
    return imm(is_signed ? static_cast<uint64_t>(int64_t{static_cast<int32_t>(low)}) : low);
  }
  return op(is_signed ? Op::sext64 : Op::zext64, ir::Type::u64, {value});
}

ir::Operand Emit::narrow(ir::Operand value) {
  if (value.is_imm()) return imm(static_cast<uint32_t>(value.imm));
  return op(Op::trunc32, ir::Type::u32, {value});
}

ir::Guard Emit::guard() {
  if (inst.guard.empty()) return {};
  const Entity* entity = body.find(inst.guard);
  if (entity == nullptr) fail("undeclared predicate register '" + inst.guard + "'");
  if (entity->kind != Entity::Kind::reg || !entity->type.is_pred())
    fail("guard '" + inst.guard + "' is not a predicate register");
  return {entity->regs[0], inst.guard_negated};
}

ir::Reg guarded(Emit& e, ir::Operand condition) {
  const ir::Guard guard = e.guard();
  if (guard.always()) return condition.reg();
  ir::Operand own = guard.reg;
  if (guard.negate) own = e.op(Op::not_, ir::Type::pred, {own});
  return e.op(Op::and_, ir::Type::pred, {condition, own});
}

void Emit::assign(ir::Reg reg, ir::Operand value) {
  auto& insts = kernel.program.blocks[builder().block()].insts;
  auto& regs = kernel.program.regs;
  const bool is_temp =
      value.is_reg() && value.index >= first_reg_ && regs[value.index].name.empty();
  if (is_temp && !insts.empty()) {
    // A temporary that the last operation has just computed is computed in place instead.
    auto& dsts = insts.back().dst;
    const bool taken = std::ranges::find(dsts, reg) != dsts.end();
    for (ir::Reg& dst : dsts) {
      if (dst != value.reg() || taken) continue;
      dst = reg;
      if (value.index + 1 == regs.size()) regs.pop_back();
      return;
    }
  }
  emit(Op::mov, ir::bits_type(regs[reg.id].width), {reg}, {value});
}

void Emit::set(const Operand& o, PType type, ir::Operand value, Fit fit, bool clean) {
  if (o.kind == Operand::Kind::sink) {
    const bool element = !inst.operands.empty() && &o != &inst.operands[0];
    static constexpr std::string_view kMayDiscard[] = {"atom", "mov",   "setp",
                                                       "shfl", "match", "elect"};
    if (std::ranges::find(kMayDiscard, inst.opcode) == std::end(kMayDiscard) && !element)
      fail(o.loc, "the result of '" + inst.opcode + "' cannot be discarded with '_'");
    return;
  }
  if (o.kind != Operand::Kind::name) fail(o.loc, "expected a destination register");
  if (o.negated) fail(o.loc, "a destination cannot be negated");
  const Entity* entity = reg_entity(o);
  if (entity == nullptr) fail(o.loc, "'" + o.name + "' is not a register that can be written");
  const bool halves = entity->type.bits == 128;
  if (entity->regs.size() != 1 && !halves) fail(o.loc, "'" + o.name + "' is a vector register");
  const PType reg = entity->type;
  if (!fits(type, reg, fit))
    fail(o.loc, "register '" + o.name + "' is " + reg.text() + ", the destination must be " +
                    type.text() + (fit == Fit::wider ? " or wider" : ""));
  const bool sign = type.is_signed() && reg.bits > type.bits;
  if (type.bits < 32 && !type.is_pred()) {
    if (!clean) value = extend(value, type.bits, sign);
    if (type.is_signed() && reg.bits < 32 && (clean || sign))
      value = extend(value, reg.bits, false);
  }
  if (reg.bits >= 64 && type.bits < 64) value = widen(value, sign);
  assign(entity->regs[0], value);
  if (!halves) return;
  const ir::Reg low = entity->regs[0], high = entity->regs[1];
  if (sign)
    emit(Op::shr, ir::Type::s64, {high}, {ir::Operand(low), imm(63)});
  else
    emit(Op::mov, ir::Type::u64, {high}, {imm(0)});
}

void Emit::set_pair(size_t i, PType type, ir::Operand value) {
  const Operand& o = operand(i);
  if (o.pair.empty() || o.pair == "_") return;
  Operand second;
  second.loc = o.loc;
  second.name = o.pair;
  set(second, type, value);
}

std::vector<Operand> Emit::halves(const Operand& operand) {
  const bool wrapped = operand.kind == Operand::Kind::vector && operand.elements.size() == 1;
  const Operand& o = wrapped ? operand.elements[0] : operand;
  std::vector<Operand> both(2, o);
  if (o.kind == Operand::Kind::integer) {
    both[1].bits = 0;
    return both;
  }
  const Entity* entity = o.kind == Operand::Kind::name ? body.find(o.name) : nullptr;
  if (entity == nullptr || entity->kind != Entity::Kind::reg || entity->type.bits != 128 ||
      o.has_offset || o.negated)
    fail(o.loc, "expected a .b128 register");
  for (unsigned half : {0U, 1U}) both[half].name = Body::half_name(o.name, half);
  return both;
}

namespace {
/// Special registers that have components of their own.
bool special_with_parts(std::string_view name) {
  for (const char* known : {"%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid",
                            "%cluster_ctaid", "%cluster_nctaid"})
    if (name == known) return true;
  return false;
}
}  // namespace

std::vector<Operand> Emit::elements(size_t i, unsigned expected) {
  const Operand& o = operand(i);
  if (o.kind == Operand::Kind::vector) {
    if (o.elements.size() != expected)
      fail(o.loc, "expected " + std::to_string(expected) + " elements, found " +
                      std::to_string(o.elements.size()));
    return o.elements;
  }
  if (expected == 1) return {o};
  // A vector register, or a special register with components.
  std::vector<Operand> list(expected, o);
  const Entity* entity = body.find(o.name);
  const bool vector_reg = entity != nullptr && entity->kind == Entity::Kind::reg;
  if (o.kind != Operand::Kind::name || (entity != nullptr && !vector_reg) ||
      (vector_reg && entity->regs.size() != expected))
    fail(o.loc, "expected a vector of " + std::to_string(expected) + " registers");
  if (entity == nullptr && o.name.starts_with('%') && !special_with_parts(o.name))
    fail(o.loc, "'" + o.name + "' is one register, expected a vector of " +
                    std::to_string(expected) + " registers");
  for (unsigned k = 0; k < expected; ++k) list[k].name += std::string(".") + "xyzw"[k % 4];
  return list;
}

}  // namespace lanewise::ptx
