// Branches, returns, calls and the odd ones. These handle their own guard where they end a block.
#include "lanewise/types.hpp"
#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {
namespace {

uint32_t label_block(Emit& e, const std::string& name, Loc loc) {
  const Entity* label = e.body.find(name);
  if (label == nullptr) Emit::fail(loc, "undeclared label '" + name + "'");
  if (label->kind != Entity::Kind::label) Emit::fail(loc, "'" + name + "' is not a label");
  return label->block;
}

/// Leaves for `target` when the guard holds; the code after it continues otherwise.
void leave(Emit& e, uint32_t target) {
  const ir::Guard guard = e.guard();
  const bool uniform = e.has("uni");
  auto& b = e.builder();
  if (guard.always()) {
    b.jump(target);
    return e.body.close();
  }
  const uint32_t next = b.add_block();
  b.branch(guard, target, next, uniform);
  b.set_block(next);
}

void bra(Emit& e) {
  const Operand& o = e.operand(0);
  if (o.kind != Operand::Kind::name) Emit::fail(o.loc, "expected a label");
  leave(e, label_block(e, o.name, o.loc));
}

void end_lane(Emit& e) {
  auto& b = e.builder();
  if (e.guard().always()) {
    b.exit();
    return e.body.close();
  }
  const uint32_t block = b.block(), last = b.add_block();
  b.set_block(last);
  b.exit();
  b.set_block(block);
  leave(e, last);
}

void ret(Emit& e) {
  if (e.body.return_block == ir::kNone) return end_lane(e);
  leave(e, e.body.return_block);
}

void trap(Emit& e) {
  e.emit(ir::Op::trap, ir::Type::none, {}, {}).mode = static_cast<uint8_t>(FaultKind::trap);
}

/// An index outside the list is the guest's mistake; it traps instead of jumping anywhere.
uint32_t bad_index_block(Emit& e) {
  auto& b = e.builder();
  const uint32_t block = b.block(), bad = b.add_block("bad.index");
  b.set_block(bad);
  e.emit(ir::Op::trap, ir::Type::none, {}, {}).mode =
      static_cast<uint8_t>(FaultKind::illegal_instruction);
  b.exit();
  b.set_block(block);
  return bad;
}

void brx(Emit& e) {
  const Operand& table = e.operand(1);
  const Entity* list = e.body.find(table.name);
  if (list == nullptr || list->kind != Entity::Kind::targets)
    Emit::fail(table.loc, "'" + table.name + "' is not a .branchtargets label");
  auto& b = e.builder();
  const ir::Guard guard = e.guard();
  const ir::Operand index = e.raw(0, kU32);
  uint32_t next = ir::kNone;
  if (!guard.always()) {
    const uint32_t inside = b.add_block("brx");
    next = b.add_block();
    b.branch(guard, inside, next);
    b.set_block(inside);
  }
  ir::Terminator term;
  term.kind = ir::Terminator::Kind::switch_;
  term.selector = index;
  term.uniform = e.has("uni");
  for (const std::string& name : list->targets->targets) {
    term.cases.push_back(term.cases.size());
    term.targets.push_back(label_block(e, name, list->targets->loc));
  }
  term.targets.push_back(bad_index_block(e));
  b.terminate(std::move(term));
  if (next == ir::kNone) return e.body.close();
  b.set_block(next);
}

/// Hints to the scheduler and the debugger: nothing to do, but the operands are checked.
void no_operation(Emit& e) {
  for (size_t i = 0; i < e.count(); ++i) e.raw(i, kU32);
}

constexpr auto kNothing = isa::Claim::exact;  // a value case shows that nothing changes

constexpr Row kControlRows[] = {
    {"bra", "?uni+", "l", bra},
    Row{"brx", "^idx ?uni+", "s:u32 x", brx}.with(legal::branch_table_rule),
    Row{"call", "?uni+", nullptr, lower_call}.with(legal::call_rule),
    {"ret", "?uni+", "", ret},
    {"exit", "", "", end_lane},
    {"trap", "", "", trap},
    {"brkpt", "", "", no_operation, "", nullptr, kNothing},
    {"pmevent", "", "i:0..15", no_operation, "", nullptr, kNothing},
    {"pmevent", "mask", "i:0..65535", no_operation, "", nullptr, kNothing},
    Row{"nanosleep", "type:u32", "s", no_operation, "", nullptr, kNothing}.in("70.63"),
    // A launch waits for all that came before it.
    {"griddepcontrol", "what:wait|launch_dependents", nullptr, no_operation, "", nullptr, kNothing},
};

}  // namespace

std::span<const Row> control_rows() {
  return kControlRows;
}

}  // namespace lanewise::ptx
