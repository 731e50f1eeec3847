#include "runtime/isa/sass/lowering/call_stack.hpp"

#include <algorithm>
#include <map>

#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {
namespace {

/// Which functions call which, and which call themselves in the end.
class CallGraph {
 public:
  explicit CallGraph(const Kernel& kernel) : kernel_(kernel) {
    for (size_t n = 0; n < kernel.code.size(); ++n) by_pc_[kernel.code[n].pc] = n;
  }

  std::set<size_t> recursive() {
    for (const Instruction& i : kernel_.code)
      if (i.form->flow == Flow::call) calls_.try_emplace(target(i));
    for (auto& [function, called] : calls_) called = calls_of(function);
    std::set<size_t> found;
    for (const auto& [function, called] : calls_)
      if (comes_to(function, function)) found.insert(function);
    return found;
  }

 private:
  /// Of a branch or a call; behind the end where it is a function of the device runtime.
  size_t target(const Instruction& i) const {
    const Call* call = relocated_call(kernel_, i.pc);
    if (i.form->is(kAbsolute) && (call == nullptr || !call->target)) return kernel_.code.size();
    const auto found = by_pc_.find(call != nullptr ? *call->target : branch_target(i));
    return found == by_pc_.end() ? kernel_.code.size() : found->second;
  }

  static bool always(const Instruction& i) {
    const OperandSpec* test = i.operand(Role::test);
    const bool tested = test != nullptr && test->field.get(i.word) != test->absent;
    return !tested && (!i.form->has_guard || (i.guard() == kPT && !i.guard_negated()));
  }

  /// Every function that the code from here on calls before it returns.
  std::set<size_t> calls_of(size_t function) const {
    std::set<size_t> called, seen;
    std::vector<size_t> pending = {function};
    while (!pending.empty()) {
      const size_t n = pending.back();
      pending.pop_back();
      if (n >= kernel_.code.size() || !seen.insert(n).second) continue;
      const Instruction& i = kernel_.code[n];
      const Flow flow = i.form->flow;
      const bool leaves = flow == Flow::exit || flow == Flow::pop || flow == Flow::branch;
      if (!leaves || !always(i)) pending.push_back(n + 1);
      if (flow == Flow::call)
        called.insert(target(i));
      else if (i.operand(Role::target) != nullptr || (leaves && i.form->is(kAbsolute)))
        pending.push_back(target(i));
    }
    return called;
  }

  bool comes_to(size_t from, size_t to) const {
    std::set<size_t> seen;
    std::vector<size_t> pending = {from};
    while (!pending.empty()) {
      const auto found = calls_.find(pending.back());
      pending.pop_back();
      if (found == calls_.end()) continue;
      for (const size_t next : found->second) {
        if (next == to) return true;
        if (seen.insert(next).second) pending.push_back(next);
      }
    }
    return false;
  }

  const Kernel& kernel_;
  std::map<uint64_t, size_t> by_pc_;
  std::map<size_t, std::set<size_t>> calls_;
};

constexpr uint32_t kBytes = 4 * CallStack::kDepth;

}  // namespace

const Call* relocated_call(const Kernel& kernel, uint64_t pc) {
  const auto found = std::ranges::find(kernel.calls, pc, &Call::pc);
  return found == kernel.calls.end() ? nullptr : &*found;
}

std::set<size_t> recursive_functions(const Kernel& kernel) {
  return CallGraph(kernel).recursive();
}

Reg CallStack::top() {
  if (!top_.valid()) top_ = b_.program().add_reg(Width::b32, "return_points", true);
  return top_;
}

ir::Inst& CallStack::access(Op op, std::vector<Reg> dst, std::vector<Operand> src) {
  ir::Inst& inst = b_.emit(op, Type::u32, std::move(dst), std::move(src));
  inst.mem.emplace();
  inst.mem->space = Space::local;
  return inst;
}

uint32_t CallStack::fault(FaultKind kind) {
  const uint32_t here = b_.block(), block = b_.add_block("fault");
  b_.set_block(block);
  b_.emit(Op::trap, Type::none, {}, {}).mode = static_cast<uint8_t>(kind);
  b_.exit();
  b_.set_block(here);
  return block;
}

uint32_t CallStack::call(uint32_t function, uint32_t return_point) {
  const auto known = std::ranges::find(return_points_, return_point);
  const auto number = static_cast<uint64_t>(known - return_points_.begin());
  if (known == return_points_.end()) return_points_.push_back(return_point);
  const uint32_t here = b_.block(), block = b_.add_block("call"), note = b_.add_block("note");
  b_.set_block(block);
  const Reg full = b_.reg(Width::pred);
  b_.emit(Op::icmp, Type::u32, {full}, {top(), imm(kBytes)}).cond = Cond::ge;
  b_.branch({full, false}, fault(FaultKind::stack_overflow), note);
  b_.set_block(note);
  noted_.emplace_back(note, b_.program().blocks[note].insts.size());
  access(Op::store, {}, {top(), imm(number)});
  b_.emit(Op::add, Type::u32, {top()}, {top(), imm(4)});
  b_.jump(function);
  b_.set_block(here);
  return block;
}

uint32_t CallStack::give_back() {
  if (give_back_ == ir::kNone) give_back_ = b_.add_block("return");
  return give_back_;
}

void CallStack::finish() {
  if (return_points_.empty()) return;
  ir::Program& program = b_.program();
  const auto base = static_cast<int64_t>((program.local_bytes + 15) / 16 * 16);
  program.local_bytes = static_cast<uint32_t>(base) + kBytes;
  for (const auto& [block, at] : noted_) program.blocks[block].insts[at].mem->offset = base;
  if (give_back_ == ir::kNone) return;
  b_.set_block(give_back_);
  b_.emit(Op::sub, Type::u32, {top()}, {top(), imm(4)});
  const Reg number = b_.reg(Width::b32);
  access(Op::load, {number}, {top()}).mem->offset = base;
  ir::Terminator term;
  term.kind = ir::Terminator::Kind::switch_;
  term.selector = number;
  for (size_t i = 0; i < return_points_.size(); ++i) {
    term.cases.push_back(i);
    term.targets.push_back(return_points_[i]);
  }
  term.targets.push_back(fault(FaultKind::illegal_instruction));
  b_.terminate(std::move(term));
}

}  // namespace lanewise::sass
