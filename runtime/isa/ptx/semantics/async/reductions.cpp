// Asynchronous reductions: what they do to each element, and those that wait in queues. An entry of
// a queue has the number of its reduction among those of the module, so that whoever makes it finds
// the operation.
#include "runtime/isa/ptx/semantics/async/async.hpp"
#include "runtime/isa/ptx/semantics/memory_common.hpp"

#include <algorithm>

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

void find_reductions(const Scope& scope, std::vector<Reduction>& found) {
  for (const Statement& statement : scope.statements) {
    if (const auto* inner = std::get_if<std::unique_ptr<Scope>>(&statement))
      find_reductions(**inner, found);
    const auto* inst = std::get_if<Instruction>(&statement);
    if (inst == nullptr || (inst->opcode != "red" && inst->opcode != "cp")) continue;
    const auto has = [&](std::string_view mod) { return std::ranges::count(inst->mods, mod) != 0; };
    if (!has("async") || (inst->opcode == "cp" && !has("reduce"))) continue;
    const Match match = match_form(inst->opcode, inst->mods);
    if (!match.error.empty() || match.form.row->lower == nullptr) continue;
    const Reduction one = reduction_of(match.form);
    if (std::ranges::find(found, one) == found.end()) found.push_back(one);
  }
}

std::vector<Reduction> reductions(const Emit& e) {
  std::vector<Reduction> found;
  for (const Function& f : e.kernel.module.module.functions) find_reductions(f.body, found);
  return found;
}

}  // namespace

Reduction reduction_of(const Form& form) {
  Reduction r;
  r.op = atomic_operation(form.get("op"));
  if (form.get("type") == "bf16") {
    r.number = Type::bf16;
    r.elem = Type::u16;
    return r;
  }
  const PType t = form.type();
  r.elem = t.bits == 64 ? Type::u64 : t.bits == 16 ? Type::u16 : Type::u32;
  r.number = t.holds_int() && !t.is_signed() ? r.elem : t.ir();
  return r;
}

void reduce_element(Emit& e, const Reduction& reduction, ir::Mem mem, ir::Operand target,
                    ir::Operand value) {
  mem.elem = reduction.elem;
  mem.atom = reduction.op;
  mem.atom_type = reduction.number;
  mem.order = ir::Order::relaxed;
  const bool wide = ir::width_of(mem.elem) == ir::Width::b64;
  e.emit(Op::atom, wide ? Type::u64 : Type::u32, {}, {target, value}).mem = mem;
}

bool reduces_late(const Emit& e) {
  return !reductions(e).empty();
}

ir::Operand number_of(Emit& e) {
  if (!e.has("op")) return imm(0);
  const std::vector<Reduction> all = reductions(e);
  const auto at = std::ranges::find(all, reduction_of(e.form)) - all.begin();
  return imm(static_cast<uint64_t>(at) + 1);
}

void reduce_bytes(Emit& e, ir::Operand number, const QueuedCopy& copy, ir::Space space) {
  ir::Builder& b = e.builder();
  uint64_t n = 0;
  for (const Reduction& reduction : reductions(e)) {
    const ir::Reg mine = e.op(Op::icmp, Type::u32, {number, imm(++n)}, {.cond = ir::Cond::eq});
    const uint32_t make = b.add_block(), after = b.add_block();
    b.branch({mine}, make, after);
    b.set_block(make);
    for_offsets(e, copy.bytes, ir::size_of(reduction.elem), [&](ir::Operand at) {
      const ir::Operand offset = e.widen(at, false);
      ir::Mem from;
      from.space = ir::Space::generic;
      from.elem = reduction.elem;
      const ir::Reg value = e.temp(ir::width_of(from.elem));
      const ir::Reg source = e.op(Op::add, Type::u64, {copy.source, offset});
      e.emit(Op::load, Type::none, {value}, {source}).mem = from;
      ir::Mem to;
      to.space = space;
      to.scope = ir::Scope::gpu;
      reduce_element(e, reduction, to, e.op(Op::add, Type::u64, {copy.target, offset}), value);
    });
    b.jump(after);
    b.set_block(after);
  }
}

}  // namespace lanewise::ptx
