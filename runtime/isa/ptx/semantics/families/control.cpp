// Branches, returns, calls and the odd ones. These handle their own guard where they end a block.
#include "lanewise/types.hpp"
#include "runtime/isa/ptx/check_context.hpp"
#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {
namespace {

using legal::Context;
using legal::Symbol;

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

// --- what is legal -------------------------------------------------------------------------------

struct Signature {
  const std::vector<Variable>* results = nullptr;
  const std::vector<Variable>* params = nullptr;
};

uint64_t bytes_of(const Variable& v) {
  const auto type = ptype_named(v.type);
  uint64_t n = type ? type->bits / 8 : 0;
  n *= v.vector;
  for (const uint64_t d : v.dims) n *= d;
  return n;
}

uint64_t align_of(const Variable& v) {
  if (v.align != 0) return v.align;
  const auto type = ptype_named(v.type);
  return type ? type->bits / 8 * v.vector : 1;
}

/// Arguments are call parameters of the same size, registers of the parameter's width or constants.
void argument(Context& c, const Operand& o, const Variable& formal, bool result) {
  const Symbol s = c.symbol(o);
  if (o.kind == Operand::Kind::sink && result) return;
  const auto fault = [&] {
    c.found(o, " for the parameter `" + formal.name + "` of " + std::to_string(bytes_of(formal)) +
                   " bytes, one of its type was expected");
  };
  if (s.kind == Symbol::Kind::variable && s.variable->space == "param" &&
      o.kind == Operand::Kind::name) {
    if (formal.space == "reg" || bytes_of(*s.variable) != bytes_of(formal) ||
        align_of(*s.variable) < align_of(formal))
      fault();
    return;
  }
  PType want = ptype_named(formal.type).value_or(PType{});
  if (formal.space != "reg") want.cls = PType::Class::bits;
  const bool constant = o.kind == Operand::Kind::integer || o.kind == Operand::Kind::float_;
  if (constant && !result && formal.dims.empty()) {
    if (!Context::constant_fits(o, want)) fault();
    return;
  }
  if (o.kind == Operand::Kind::name && s.kind == Symbol::Kind::function && !result &&
      want.bits >= 32)
    return;
  const bool reg = o.kind == Operand::Kind::name && s.kind == Symbol::Kind::reg && s.vector == 1 &&
                   !o.has_offset && !o.negated && o.pair.empty() && formal.dims.empty() &&
                   formal.vector == 1;
  if (!reg || !fits(want, s.type, Fit::exact)) fault();
}

void arguments(Context& c, const Operand* list, const std::vector<Variable>& formals,
               bool results) {
  const size_t n = list ? list->elements.size() : 0;
  if (n != formals.size())
    return c.error("found " + std::to_string(n) + (results ? " results, " : " arguments, ") +
                   std::to_string(formals.size()) + " were expected");
  for (size_t i = 0; i < n; ++i) argument(c, list->elements[i], formals[i], results);
}

/// What `.calltargets` and `.callprototype` say of a call by way of a register.
Signature indirect(Context& c, const Operand& o) {
  const Symbol s = c.symbol(o);
  if (o.kind == Operand::Kind::name && s.kind == Symbol::Kind::prototype)
    return {&s.prototype->results, &s.prototype->params};
  if (o.kind == Operand::Kind::name && s.kind == Symbol::Kind::targets &&
      !s.targets->targets.empty()) {
    const Symbol first = c.env.symbols->find(s.targets->targets[0]);
    if (first.function != nullptr) return {&first.function->results, &first.function->params};
  }
  c.found(o, ", a call prototype or a list of targets was expected");
  return {};
}

void call_rule(Context& c) {
  const auto& ops = c.in.operands;
  size_t at = 0;
  const Operand* results =
      !ops.empty() && ops[0].kind == Operand::Kind::list ? &ops[at++] : nullptr;
  if (at == ops.size()) return c.error("no target, a function was expected");
  const Operand& target = ops[at++];
  const Operand* params =
      at < ops.size() && ops[at].kind == Operand::Kind::list ? &ops[at++] : nullptr;
  const Operand* last = at < ops.size() ? &ops[at++] : nullptr;
  if (at != ops.size()) return c.error(ops[at], "an operand too many, none was expected");
  const Symbol s = c.symbol(target);
  Signature signature;
  if (target.kind == Operand::Kind::name && s.kind == Symbol::Kind::function &&
      !target.has_offset) {
    if (s.function != nullptr && s.function->entry)
      return c.error(target, "the kernel `" + target.name + "` as target, a function was expected");
    if (last != nullptr) return c.error(*last, "an operand too many, none was expected");
    if (s.function == nullptr) return;
    signature = {&s.function->results, &s.function->params};
  } else {
    if (s.kind != Symbol::Kind::reg) return c.found(target, " as target, a function was expected");
    c.register_of(target, kU64, Fit::exact);
    if (last == nullptr)
      return c.error("a call by way of a register without a prototype, one was expected");
    signature = indirect(c, *last);
  }
  if (signature.results == nullptr) return;
  arguments(c, results, *signature.results, true);
  arguments(c, params, *signature.params, false);
}

void branch_table_rule(Context& c) {
  const Operand& o = c.in.operands[1];
  const Symbol s = c.symbol(o);
  const bool labels = o.kind == Operand::Kind::name && s.kind == Symbol::Kind::targets &&
                      !s.targets->targets.empty() &&
                      c.env.symbols->find(s.targets->targets[0]).kind == Symbol::Kind::label;
  if (!labels) c.found(o, ", a list of branch targets was expected");
}

constexpr auto kNothing = isa::Claim::exact;  // a value case shows that nothing changes

constexpr Row kControlRows[] = {
    {"bra", "?uni+", "l", bra},
    {"brx", "^idx ?uni+", judged("s:u32 x", branch_table_rule), brx},
    {"call", "?uni+", call_rule, lower_call},
    {"ret", "?uni+", "", ret},
    {"exit", "", "", end_lane},
    {"trap", "", "", trap},
    {"brkpt", "", "", no_operation, "", kNothing},
    {"pmevent", "", "i:0..15", no_operation, "", kNothing},
    {"pmevent", "mask", "i:0..65535", no_operation, "", kNothing},
    {"nanosleep@70.63", "type:u32", "s:u32", no_operation, "", kNothing},
    // A launch waits for all that came before it.
    {"griddepcontrol@90.78", "what:wait|launch_dependents", "", no_operation, "", kNothing},
};

}  // namespace

constinit Rows control_rows = kControlRows;

}  // namespace lanewise::ptx
