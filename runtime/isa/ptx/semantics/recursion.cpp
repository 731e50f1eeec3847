#include "runtime/isa/ptx/semantics/recursion.hpp"

#include <algorithm>

#include "lanewise/types.hpp"
#include "runtime/ir/make.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/isa/ptx/semantics/context.hpp"

namespace lanewise::ptx {

using ir::imm;
using ir::Op;
using ir::Reg;
using ir::Type;
using ir::Width;

Activation& Recursion::begin(const Function& function, uint32_t returned) {
  if (!top_.valid()) top_ = program_.add_reg(Width::b32, "frame");
  Activation& a = all_.emplace_back();
  a.function = &function;
  a.entry = b_.add_block("enter." + function.name);
  a.returned = returned;
  a.leave = b_.add_block("leave." + function.name);
  a.pop = b_.add_block("pop." + function.name);
  a.first_reg = static_cast<uint32_t>(program_.regs.size());
  a.depth = program_.add_reg(Width::b32, "depth");
  // One inside another shares its frame: both are entered again together.
  a.frame = open_.empty() ? frames_.size() : open_.front()->frame;
  if (open_.empty()) frames_.emplace_back();
  open_.push_back(&a);
  return a;
}

void Recursion::end() {
  open_.back()->end_reg = static_cast<uint32_t>(program_.regs.size());
  open_.pop_back();
}

Activation* Recursion::active(const Function& function) {
  for (Activation* a : open_)
    if (a->function == &function) return a;
  return nullptr;
}

uint32_t Recursion::reserve(uint64_t bytes, uint32_t align) {
  Frame& frame = frames_[open_.front()->frame];
  const uint64_t at = (frame.variables + align - 1) / align * align;
  frame.variables = at + bytes;
  return static_cast<uint32_t>(std::min<uint64_t>(at, kStackBytes));  // finish() refuses more
}

void Recursion::locate(uint32_t at, Reg address) {
  b_.emit(Op::add, Type::u32, {address}, {top_, imm(at)});
}

Activation::Call& Recursion::call(Activation& a, uint32_t site) {
  Activation::Call& call = a.calls.emplace_back();
  call.site = site;
  for (uint32_t* block :
       {&call.check, &call.save, &call.enter, &call.land, &call.restore, &call.resume, &call.fault})
    *block = b_.add_block();
  b_.jump(call.check);
  return call;
}

/// Control flow as liveness is to see it; what is saved and where is not known yet.
void Recursion::connect(Activation& a) {
  const Reg outermost = b_.reg(Width::pred), token = b_.reg(Width::b32);
  b_.set_block(a.returned);
  b_.emit(Op::icmp, Type::u32, {outermost}, {a.depth, imm(0)}).cond = ir::Cond::eq;
  b_.branch({outermost, false}, a.leave, a.pop);
  b_.set_block(a.pop);
  b_.emit(Op::sub, Type::u32, {top_}, {top_, imm(0)});  // the frame's size
  b_.emit(Op::sub, Type::u32, {a.depth}, {a.depth, imm(1)});
  access(Op::load, Type::u32, {token}, {top_}, 0);
  ir::Terminator term;
  term.kind = ir::Terminator::Kind::switch_;
  term.selector = token;
  for (size_t i = 0; i < a.calls.size(); ++i) {
    const Activation::Call& call = a.calls[i];
    if (i + 1 < a.calls.size()) term.cases.push_back(i);
    term.targets.push_back(call.land);
  }
  if (a.calls.empty())
    b_.exit();  // over all nothing calls it from inside
  else
    b_.terminate(std::move(term));
  for (const Activation::Call& call : a.calls) {
    b_.set_site(call.site);
    const Reg full = b_.reg(Width::pred);
    b_.set_block(call.check);
    const Reg behind = b_.make(Op::add, Type::u32, {top_, imm(0)});  // two frames' size
    const Reg end = b_.open(ir::Choice::stack_end, Type::u32, 0);
    b_.emit(Op::icmp, Type::u32, {full}, {behind, end}).cond = ir::Cond::gt;
    b_.branch({full, false}, call.fault, call.save);
    b_.set_block(call.fault);
    b_.emit(Op::trap, Type::none, {}, {}).mode = static_cast<uint8_t>(FaultKind::stack_overflow);
    b_.exit();
    // What is wanted behind the call is wanted here, past all that the call overwrites. fill()
    // makes the real jumps.
    b_.set_block(call.save);
    b_.branch({full, false}, call.enter, call.resume);
  }
}

std::vector<Reg> Recursion::wanted(const Activation& a, const Activation::Call& call,
                                   const std::vector<uint32_t>& live) const {
  std::vector<Reg> regs;
  for (const uint32_t id : live) {
    const Reg reg{id};
    const bool own = id >= a.first_reg && id < a.end_reg && reg != a.depth;
    if (own && std::ranges::find(call.results, reg) == call.results.end()) regs.push_back(reg);
  }
  return regs;
}

ir::Inst& Recursion::access(Op op, Type type, std::vector<Reg> dst, std::vector<ir::Operand> src,
                            int64_t at) {
  ir::Inst& inst = b_.emit(op, Type::none, std::move(dst), std::move(src));
  inst.mem.emplace();
  inst.mem->space = ir::Space::local;
  inst.mem->elem = type;
  inst.mem->offset = at;
  return inst;
}

void Recursion::save(Reg reg, int64_t at) {
  const Width width = program_.regs[reg.id].width;
  ir::Operand value = reg;
  if (width == Width::pred) value = b_.make(Op::select, Type::u32, {reg, imm(1), imm(0)});
  access(Op::store, width == Width::b64 ? Type::u64 : Type::u32, {}, {top_, value}, at);
}

void Recursion::restore(Reg reg, int64_t at) {
  const Width width = program_.regs[reg.id].width;
  if (width != Width::pred) {
    access(Op::load, ir::bits_type(width), {reg}, {top_}, at);
    return;
  }
  const Reg word = b_.reg(Width::b32);
  access(Op::load, Type::u32, {word}, {top_}, at);
  b_.emit(Op::icmp, Type::u32, {reg}, {word, imm(0)}).cond = ir::Cond::ne;
}

void Recursion::fill(const Activation& a) {
  const Frame& frame = frames_[a.frame];
  const auto slots = static_cast<int64_t>((frame.variables + 7) / 8 * 8);
  const auto token = static_cast<int64_t>(frame.token());
  auto& pop = program_.blocks[a.pop].insts;
  pop[0].src[1] = imm(frame.bytes());
  pop[2].mem->offset = token;
  const auto& saved = saved_[static_cast<size_t>(
      std::ranges::find(all_, a.entry, &Activation::entry) - all_.begin())];
  for (size_t i = 0; i < a.calls.size(); ++i) {
    const Activation::Call& call = a.calls[i];
    b_.set_site(call.site);
    // The next frame must end inside the stack.
    auto& check = program_.blocks[call.check].insts;
    check[0].src[1] = imm(2 * frame.bytes());
    check[1].src[0] = imm(program_.local_bytes);
    b_.set_block(call.save);
    for (size_t n = 0; n < saved[i].size(); ++n)
      save(saved[i][n], slots + 8 * static_cast<int64_t>(n));
    access(Op::store, Type::u32, {}, {top_, imm(i)}, token);
    b_.emit(Op::add, Type::u32, {top_}, {top_, imm(frame.bytes())});
    b_.jump(call.enter);
    b_.set_block(call.restore);
    for (size_t n = 0; n < saved[i].size(); ++n)
      restore(saved[i][n], slots + 8 * static_cast<int64_t>(n));
    b_.jump(call.resume);
  }
}

void Recursion::finish(const std::function<uint32_t()>& make_stack) {
  if (all_.empty()) return;
  const uint32_t stack = make_stack();
  b_.set_guard({});
  for (Activation& a : all_) connect(a);
  const ir::Liveness live = ir::liveness(program_);
  for (const Activation& a : all_) {
    auto& calls = saved_.emplace_back();
    for (const Activation::Call& call : a.calls) {
      calls.push_back(wanted(a, call, live.in[call.resume]));
      Frame& frame = frames_[a.frame];
      frame.saved = std::max(frame.saved, calls.back().size());
    }
  }
  // The kernel's first block: whenever control is there, no frame is open.
  auto& entry = program_.blocks[0].insts;
  entry.insert(entry.begin(), ir::instruction(Op::mov, Type::u32, {top_}, {imm(stack)}));
  for (const Activation& a : all_) {
    const uint64_t bytes = frames_[a.frame].bytes();
    if (bytes > kStackBytes)
      throw Reject{a.function->loc, "'" + a.function->name + "' calls itself and needs " +
                                        std::to_string(bytes) + " bytes for each call, " +
                                        std::to_string(kStackBytes) + " are there for all"};
    fill(a);
  }
}

}  // namespace lanewise::ptx
