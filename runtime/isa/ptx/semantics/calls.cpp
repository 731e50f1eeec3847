// Calls are inlined: the callee is lowered again with fresh registers, except inside itself
// (recursion.hpp). Indirect calls become a switch over the functions whose address is taken.
#include <algorithm>

#include "lanewise/types.hpp"
#include "runtime/isa/absent.hpp"
#include "runtime/isa/assertion.hpp"
#include "runtime/isa/ptx/semantics/calls.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::ptx {

using ir::Op;
using ir::Type;

std::shared_ptr<ParamObject> object_of(Body& body, const Operand& o) {
  if (o.kind != Operand::Kind::name) return nullptr;
  const Entity* entity = body.find(o.name);
  return entity == nullptr ? nullptr : entity->object;
}

ir::Inst& word_access(Emit& e, const ParamObject& object, size_t word, bool store) {
  ir::Mem mem;
  mem.space = ir::Space::local;
  mem.elem = Type::u32;
  const bool known = object.base.is_imm();
  const ir::Operand at = known ? imm(object.base.imm + 4 * word) : object.base;
  if (!known) mem.offset = static_cast<int64_t>(4 * word);
  ir::Inst& inst =
      store ? e.emit(Op::store, Type::none, {}, {at}) : e.emit(Op::load, Type::none, {}, {at});
  inst.mem = mem;
  return inst;
}

ir::Operand read_object(Emit& e, const ParamObject& object, PType type) {
  if (!object.in_memory) return read_words(e, object, 0, type);
  ir::Inst& inst = word_access(e, object, 0, false);
  inst.mem->elem = type.memory();
  const ir::Reg value = e.temp_like(type);
  // temp_like() adds a register, not an instruction: `inst` is still the load.
  inst.dst = {value};
  return value;
}

ir::Operand argument(Emit& e, const CallSite& call, size_t i, const char* function, PType type) {
  const Operand& o = *call.args[i];
  const auto object = object_of(e.body, o);
  if (object == nullptr) return e.raw(o, type);
  const size_t bytes = type.bits / 8;
  if (object->size != bytes)
    Emit::fail(o.loc, "argument " + std::to_string(i + 1) + " of '" + function + "' has " +
                          std::to_string(bytes) + " bytes, the call passes " +
                          std::to_string(object->size));
  return read_object(e, *object, type);
}

isa::KnownValues known_values(Emit& e) {
  return {e.kernel.program, e.builder().block(), e.kernel.module.out.globals};
}

namespace {

// Inlining may grow exponentially; stop long before memory ends.
constexpr size_t kMaxInstructions = 500'000;
constexpr size_t kMaxBlocks = 200'000;
// A call inside a call is a recursion here, on the stack of whoever called us.
constexpr size_t kMaxCallDepth = 512;

void append(const Operand& list, std::vector<const Operand*>& out) {
  for (const Operand& o : list.elements) out.push_back(&o);
}

CallSite parse_call(Emit& e) {
  CallSite call;
  size_t i = 0;
  const auto is_list = [&] { return i < e.count() && e.operand(i).kind == Operand::Kind::list; };
  if (is_list()) append(e.operand(i++), call.results);
  if (i >= e.count() || e.operand(i).kind != Operand::Kind::name)
    e.fail("expected the name of a function or a register after 'call'");
  call.target = &e.operand(i++);
  if (is_list()) append(e.operand(i++), call.args);
  if (i < e.count() && e.operand(i).kind == Operand::Kind::name) call.prototype = &e.operand(i++);
  if (i != e.count()) Emit::fail(e.operand(i).loc, "unexpected operand of 'call'");
  return call;
}

PType register_type(const Variable& v) {
  const auto type = ptype_named(v.type);
  if (!type || type->bits > 64) throw Reject{v.loc, "type ." + v.type + " cannot be passed here"};
  return *type;
}

/// Copies between two objects of the same size; at least one lives in local memory.
void copy_object(Emit& e, const ParamObject& from, const ParamObject& to) {
  const size_t words = (from.size + 3) / 4;
  for (size_t i = 0; i < words; ++i) {
    const ir::Reg value = from.in_memory ? e.temp(ir::Width::b32) : from.words[i];
    if (from.in_memory) word_access(e, from, i, false).dst = {value};
    if (to.in_memory)
      word_access(e, to, i, true).src.emplace_back(value);
    else
      e.emit(Op::mov, Type::u32, {to.words[i]}, {value});
  }
}

/// A parameter in the memory of a function that calls itself has its place in the frame that is the
/// current one.
void locate_in_frame(Emit& e, const Entity& formal) {
  if (formal.object != nullptr && formal.object->in_memory && formal.object->base.is_reg())
    e.kernel.recursion.locate(formal.object->frame_at, formal.object->base.reg());
}

/// One inlined call: binds arguments, lowers the callee, hands the results back.
class Inliner {
 public:
  Inliner(Emit& caller, const CallSite& site, const Function& callee)
      : e_(caller),
        site_(site),
        callee_(callee),
        body_(caller.kernel, callee, caller.builder().add_block("after." + callee.name)) {}

  void run() {
    auto& kernel = e_.kernel;
    if (kernel.module.calls_itself(callee_))
      again_ = &kernel.recursion.begin(callee_, body_.return_block);
    for (size_t i = 0; i < site_.args.size(); ++i) bind(*site_.args[i], callee_.params[i], true);
    for (size_t i = 0; i < site_.results.size(); ++i)
      bind(*site_.results[i], callee_.results[i], false);
    if (again_ != nullptr) enter();
    const uint32_t block = e_.builder().block();
    const size_t place = kernel.program.blocks[block].insts.size(), allocas = kernel.allocas;
    run_body();
    const bool allocates = kernel.allocas != allocas;
    const ir::Reg taken = allocates ? e_.temp(ir::Width::b32) : ir::Reg{};
    if (allocates) keep_alloca_top(block, place, taken);
    if (again_ != nullptr) kernel.recursion.end();
    e_.builder().set_block(again_ != nullptr ? again_->leave : body_.return_block);
    e_.builder().set_site(e_.kernel.site(e_.inst, {}));
    if (allocates) mov(kernel.alloca_top(), taken);
    for (size_t i = 0; i < site_.results.size(); ++i)
      hand_back(*site_.results[i], callee_.results[i]);
  }

 private:
  /// In front of the callee's instructions, which are there already.
  void keep_alloca_top(uint32_t block, size_t place, ir::Reg to) {
    auto& insts = e_.kernel.program.blocks[block].insts;
    const size_t count = insts.size();
    const uint32_t here = e_.builder().block();
    e_.builder().set_block(block);
    mov(to, e_.kernel.alloca_top());
    e_.builder().set_block(here);
    std::rotate(insts.begin() + static_cast<std::ptrdiff_t>(place),
                insts.begin() + static_cast<std::ptrdiff_t>(count), insts.end());
  }

  /// Calls from inside come in here.
  void enter() {
    for (const Variable& v : callee_.params) again_->params.push_back(*body_.find(v.name));
    for (const Variable& v : callee_.results) again_->results.push_back(*body_.find(v.name));
    e_.emit(Op::mov, Type::u32, {again_->depth}, {imm(0)});
    e_.builder().jump(again_->entry);
    e_.builder().set_block(again_->entry);
    for (const auto* list : {&again_->params, &again_->results})
      for (const Entity& formal : *list) locate_in_frame(e_, formal);
  }

  /// What is lowered for its diagnostics only says them once, however many functions call it.
  void run_body() {
    const bool fresh = e_.kernel.module.lowered.insert(&callee_).second;
    if (!e_.kernel.kernel.entry && !fresh) return e_.builder().jump(body_.return_block);
    e_.kernel.call_stack.push_back(&callee_);
    body_.run();
    e_.kernel.call_stack.pop_back();
  }

  void check_size(const Operand& actual, const ParamObject& object, const Variable& formal) {
    const uint64_t wanted = variable_bytes(formal);
    if (object.size != wanted)
      Emit::fail(actual.loc, "'" + actual.name + "' has " + std::to_string(object.size) +
                                 " bytes, parameter '" + formal.name + "' of '" + callee_.name +
                                 "' has " + std::to_string(wanted));
  }

  void bind(const Operand& actual, const Variable& formal, bool input) {
    auto object = object_of(e_.body, actual);
    if (object != nullptr) check_size(actual, *object, formal);
    if (formal.space == "reg") {
      body_.declare(formal);
      if (!input) return;
      const PType type = register_type(formal);
      const ir::Operand value = object ? read_object(e_, *object, type) : e_.raw(actual, type);
      mov(body_.find(formal.name)->regs[0], value);
      return;
    }
    const bool memory = body_.needs_memory(formal.name, variable_bytes(formal));
    std::shared_ptr<ParamObject> own = object;
    if (object == nullptr || (memory && !object->in_memory) || again_ != nullptr)
      own = body_.make_object(formal.name, variable_bytes(formal), variable_align(formal), memory);
    if (input && own != object) {
      if (object != nullptr)
        copy_object(e_, *object, *own);
      else
        store_value(*own, register_type(formal), e_.raw(actual, register_type(formal)));
    }
    body_.bind_param(formal, own, input);
  }

  void hand_back(const Operand& actual, const Variable& formal) {
    if (actual.kind == Operand::Kind::sink) return;
    const Entity* bound = body_.find(formal.name);
    const auto object = object_of(e_.body, actual);
    if (formal.space == "reg") {
      const PType type = register_type(formal);
      if (object != nullptr)
        store_value(*object, type, bound->regs[0]);
      else
        e_.set(actual, type, bound->regs[0]);
      return;
    }
    if (object == nullptr)
      e_.set(actual, register_type(formal), read_object(e_, *bound->object, register_type(formal)));
    else if (bound->object != object)
      copy_object(e_, *bound->object, *object);
  }

  void store_value(ParamObject& object, PType type, ir::Operand value) {
    if (!object.in_memory) return write_words(e_, object, 0, type, value);
    ir::Inst& inst = word_access(e_, object, 0, true);
    inst.mem->elem = type.memory();
    inst.src.push_back(value);
  }

  void mov(ir::Reg to, ir::Operand value) {
    const ir::Width w = e_.kernel.program.regs[to.id].width;
    e_.emit(Op::mov,
            w == ir::Width::pred  ? Type::pred
            : w == ir::Width::b64 ? Type::u64
                                  : Type::u32,
            {to}, {value});
  }

  Emit& e_;
  const CallSite& site_;
  const Function& callee_;
  Body body_;
  Activation* again_ = nullptr;  ///< where the callee calls itself
};

/// A call of a function that is being lowered, from inside it.
class CallFromInside {
 public:
  CallFromInside(Emit& e, const CallSite& site, Activation& callee)
      : e_(e), site_(site), callee_(callee) {}

  void run() {
    auto& b = e_.builder();
    std::vector<std::shared_ptr<ParamObject>> args, results;
    for (size_t i = 0; i < site_.args.size(); ++i) args.push_back(argument(i));
    Activation::Call& call = e_.kernel.recursion.call(callee_, e_.kernel.site(e_.inst, {}));
    b.set_block(call.enter);
    e_.emit(Op::add, Type::u32, {callee_.depth}, {callee_.depth, imm(1)});
    for (size_t i = 0; i < args.size(); ++i) pass_param(*args[i], callee_.params[i]);
    b.jump(callee_.entry);
    b.set_block(call.land);
    for (const Entity& result : callee_.results) {
      results.push_back(taken(result));
      for (const ir::Reg word : results.back()->words) call.results.push_back(word);
    }
    b.jump(call.restore);
    b.set_block(call.resume);
    for (size_t i = 0; i < results.size(); ++i) hand_back(*site_.results[i], results[i], i);
  }

 private:
  const Variable& formal(size_t i, bool input) const {
    return (input ? callee_.function->params : callee_.function->results)[i];
  }
  std::shared_ptr<ParamObject> words_for(const Variable& v) {
    return e_.body.make_object(v.name, variable_bytes(v), variable_align(v), false);
  }
  /// The argument's bytes, safe from what the call overwrites.
  std::shared_ptr<ParamObject> argument(size_t i) {
    const Operand& actual = *site_.args[i];
    const Variable& v = formal(i, true);
    constexpr uint64_t kMostBytes = 4096;
    if (variable_bytes(v) > kMostBytes)
      Emit::fail(actual.loc, "'" + v.name + "' of '" + callee_.function->name + "' has " +
                                 std::to_string(variable_bytes(v)) + " bytes, " +
                                 std::to_string(kMostBytes) +
                                 " can be passed to a function from inside itself");
    auto words = words_for(v);
    const auto object = object_of(e_.body, actual);
    if (object == nullptr) {
      write_words(e_, *words, 0, register_type(v), e_.raw(actual, register_type(v)));
      return words;
    }
    if (object->size != words->size)
      Emit::fail(actual.loc, "'" + actual.name + "' has " + std::to_string(object->size) +
                                 " bytes, parameter '" + v.name + "' of '" +
                                 callee_.function->name + "' has " + std::to_string(words->size));
    copy_object(e_, *object, *words);
    return words;
  }

  void pass_param(const ParamObject& words, const Entity& to) {
    locate_in_frame(e_, to);
    if (to.object != nullptr) return copy_object(e_, words, *to.object);
    const ir::Operand value = read_words(e_, words, 0, to.type);
    const ir::Width width = e_.kernel.program.regs[to.regs[0].id].width;
    const Type type = width == ir::Width::pred  ? Type::pred
                      : width == ir::Width::b64 ? Type::u64
                                                : Type::u32;
    e_.emit(Op::mov, type, {to.regs[0]}, {value});
  }

  std::shared_ptr<ParamObject> taken(const Entity& result) {
    auto words = words_for(*result_variable(result));
    if (result.object != nullptr)
      copy_object(e_, *result.object, *words);
    else
      write_words(e_, *words, 0, result.type, result.regs[0]);
    return words;
  }
  const Variable* result_variable(const Entity& result) const {
    return &callee_.function->results[static_cast<size_t>(&result - callee_.results.data())];
  }

  void hand_back(const Operand& actual, const std::shared_ptr<ParamObject>& words, size_t i) {
    if (actual.kind == Operand::Kind::sink) return;
    if (const auto object = object_of(e_.body, actual)) {
      return copy_object(e_, *words, *object);
    }
    const PType type = register_type(formal(i, false));
    e_.set(actual, type, read_words(e_, *words, 0, type));
  }

  Emit& e_;
  const CallSite& site_;
  Activation& callee_;
};

bool is_active(Emit& e, const Function& f) {
  return std::ranges::find(e.kernel.call_stack, &f) != e.kernel.call_stack.end();
}

/// Returns its site.
uint32_t trap(Emit& e, FaultKind kind) {
  ir::Inst& inst = e.emit(Op::trap, Type::none, {}, {});
  inst.mode = static_cast<uint8_t>(kind);
  return inst.site;
}

/// A call of nvcc's __assertfail(condition, file, line, function, size of a character), or of
/// clang's
/// __assert_fail, which has no fifth argument.
void call_assertion(Emit& e, const CallSite& call, const std::string& name) {
  const size_t wanted = name == "__assertfail" ? 5 : 4;
  if (call.args.size() != wanted || !call.results.empty())
    e.fail("'" + name + "' takes " + std::to_string(wanted) +
           " arguments and returns nothing, the call has " + std::to_string(call.args.size()) +
           " and " + std::to_string(call.results.size()));
  isa::AssertionCall assertion;
  assertion.condition = argument(e, call, 0, name.c_str(), kB64);
  assertion.file = argument(e, call, 1, name.c_str(), kB64);
  assertion.line = argument(e, call, 2, name.c_str(), kB32);
  assertion.function = argument(e, call, 3, name.c_str(), kB64);
  const isa::KnownValues known = known_values(e);
  const uint32_t site = trap(e, FaultKind::trap);
  isa::describe_assertion(e.kernel.program.sites[site], known, assertion);
}

/// Functions of the device run time that have no body in a file. A failed assertion is a trap;
/// others (isa/absent.hpp) do not exist here, so that a kernel runs as long as it does not come to
/// them.
bool call_known(Emit& e, const CallSite& call, const std::string& name) {
  const bool assertion = name == "__assertfail" || name == "__assert_fail";
  const bool absent = !isa::absent_service(name).empty();
  if (name == "vprintf") {
    call_vprintf(e, call);
    return true;
  }
  if (!assertion && !absent) return false;
  if (assertion) {
    call_assertion(e, call, name);
    return true;
  }
  e.kernel.module.report(call.target->loc, isa::absent_warning(name), true);
  isa::describe_absent(e.kernel.program.sites[trap(e, FaultKind::trap)], name);
  return true;
}

void call_direct(Emit& e, const CallSite& call, const Function& callee) {
  if (isa::is_device_launch(callee.name))
    Emit::fail(call.target->loc, isa::device_launch_refusal("'" + callee.name + "'"));
  if (!callee.has_body) {
    if (call_known(e, call, callee.name)) return;
    Emit::fail(call.target->loc, "call of '" + callee.name + "', which has no body in this file");
  }
  if (callee.entry)
    Emit::fail(call.target->loc, "'" + callee.name + "' is a kernel, not a function");
  if (call.args.size() != callee.params.size() || call.results.size() != callee.results.size())
    e.fail("'" + callee.name + "' takes " + std::to_string(callee.params.size()) +
           " arguments and returns " + std::to_string(callee.results.size()) + ", the call has " +
           std::to_string(call.args.size()) + " and " + std::to_string(call.results.size()));
  if (Activation* again = e.kernel.recursion.active(callee)) {
    CallFromInside(e, call, *again).run();
    return;
  }
  if (is_active(e, callee)) {
    // Through a pointer that is followed: found at run time. A function that is no kernel's is
    // lowered for its diagnostics only.
    if (e.kernel.kernel.entry) trap(e, FaultKind::stack_overflow);
    return;
  }
  if (e.kernel.call_stack.size() >= kMaxCallDepth)
    Emit::fail(call.target->loc, "calls are nested deeper than " + std::to_string(kMaxCallDepth) +
                                     ", a shorter chain was expected: calls are inlined");
  if (e.kernel.program.blocks.size() > kMaxBlocks ||
      e.kernel.lowered_instructions > kMaxInstructions)
    e.fail("inlining the calls makes kernel '" + e.kernel.kernel.name + "' too large");
  Inliner(e, call, callee).run();
}

bool same_shape(const std::vector<Variable>& a, const std::vector<Variable>& b) {
  return std::ranges::equal(a, b, {}, variable_bytes, variable_bytes);
}

std::vector<const Function*> candidates(Emit& e, const CallSite& call) {
  if (call.prototype == nullptr)
    e.fail("an indirect call needs a .callprototype or .calltargets label");
  const Entity* label = e.body.find(call.prototype->name);
  if (label == nullptr ||
      (label->kind != Entity::Kind::prototype && label->kind != Entity::Kind::targets))
    Emit::fail(call.prototype->loc,
               "'" + call.prototype->name + "' is not a .callprototype or .calltargets label");
  std::vector<const Function*> found;
  for (const std::string& name : e.kernel.module.out.functions) {
    const Function* f = e.kernel.module.function(name);
    if (f == nullptr || !f->has_body) continue;
    const bool fits =
        label->kind == Entity::Kind::targets
            ? std::ranges::find(label->targets->targets, name) != label->targets->targets.end()
            : same_shape(f->params, label->prototype->params) &&
                  same_shape(f->results, label->prototype->results);
    if (fits && f->params.size() == call.args.size() && f->results.size() == call.results.size())
      found.push_back(f);
  }
  return found;
}

/// The call target as 32 bits: function addresses fit, anything higher matches no case.
ir::Operand selector(Emit& e, const Operand& target) {
  const Entity* entity = e.body.find(target.name);
  if (entity == nullptr || entity->kind != Entity::Kind::reg)
    Emit::fail(target.loc, "unknown function '" + target.name + "'");
  if (entity->type.bits == 32) return e.raw(target, kB32);
  const ir::Operand value = e.raw(target, kB64);
  const ir::Reg low = e.temp(ir::Width::b32), high = e.temp(ir::Width::b32);
  e.emit(Op::unpack64, Type::none, {low, high}, {value});
  const ir::Reg fits = e.op(Op::icmp, Type::u32, {high, imm(0)});
  return e.op(Op::select, Type::u32, {fits, low, imm(0)});
}

void call_indirect(Emit& e, const CallSite& call) {
  if (e.body.find(call.target->name) == nullptr)
    Emit::fail(call.target->loc, "unknown function '" + call.target->name + "'");
  ir::Terminator term;
  term.kind = ir::Terminator::Kind::switch_;
  const std::vector<const Function*> functions = candidates(e, call);
  term.selector = selector(e, *call.target);
  auto& b = e.builder();
  const uint32_t after = b.add_block("after.indirect"), bad = b.add_block("bad.target");
  for (const Function* f : functions) {
    term.cases.push_back(guest::function_address(e.kernel.module.function_index(f->name)));
    term.targets.push_back(b.add_block("case." + f->name));
  }
  const std::vector<uint32_t> cases = term.targets;
  term.targets.push_back(bad);
  b.terminate(std::move(term));
  for (size_t i = 0; i < functions.size(); ++i) {
    b.set_block(cases[i]);
    if (is_active(e, *functions[i]) && e.kernel.recursion.active(*functions[i]) == nullptr) {
      trap(e, FaultKind::stack_overflow);  // recursion through a pointer: found at run time
      b.exit();
      continue;
    }
    call_direct(e, call, *functions[i]);
    b.jump(after);
  }
  b.set_block(bad);
  trap(e, FaultKind::illegal_instruction);
  b.exit();
  b.set_block(after);
}

}  // namespace

void lower_call(Emit& e) {
  const CallSite call = parse_call(e);
  const ir::Guard guard = e.guard();
  auto& b = e.builder();
  uint32_t after = ir::kNone;
  if (!guard.always()) {
    const uint32_t inside = b.add_block("call");
    after = b.add_block("after.call");
    b.branch(guard, inside, after);
    b.set_block(inside);
  }
  const Function* callee = e.kernel.module.function(call.target->name);
  if (callee != nullptr && e.body.find(call.target->name) == nullptr)
    call_direct(e, call, *callee);
  else
    call_indirect(e, call);
  if (after == ir::kNone) return;
  b.jump(after);
  b.set_block(after);
}

}  // namespace lanewise::ptx
