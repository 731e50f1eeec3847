// Kernels to programs: blocks, branches, sites; everything else is in the table's functions.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "lanewise/types.hpp"
#include "runtime/ir/passes/waves/wave_steps.hpp"
#include "runtime/isa/absent.hpp"
#include "runtime/isa/assertion.hpp"
#include "runtime/isa/print_call.hpp"
#include "runtime/isa/sass/lowering/branch_stack.hpp"
#include "runtime/isa/sass/lowering/call_stack.hpp"
#include "runtime/isa/sass/lowering/functions.hpp"
#include "runtime/isa/sass/lowering/link.hpp"
#include "runtime/isa/sass/lowering/semantics.hpp"
#include "runtime/isa/sass/rules/touched.hpp"
#include "runtime/layout/residency.hpp"

namespace lanewise::sass {

void lower_bra(LowerContext&, const Instruction&) {}
void lower_brx(LowerContext&, const Instruction&) {}
void lower_exit(LowerContext&, const Instruction&) {}
void lower_push(LowerContext&, const Instruction&) {}
void lower_pop(LowerContext&, const Instruction&) {}

uint64_t branch_target(const Instruction& i) {
  const Field f = i.operand(Role::target)->field;
  const unsigned shift = 64U - f.len;
  const int64_t rel = static_cast<int64_t>(f.get(i.word) << shift) >> shift;
  const uint64_t target = i.pc + 8 + static_cast<uint64_t>(rel);
  return target % 32 == 0 ? target + 8 : target;
}

namespace {

/// Bytes of local memory a lane gets when the input does not say how much it needs.
constexpr uint32_t kDefaultLocal = 4096;
constexpr unsigned kMaxCopied = 16;  // nested ones that are copied
/// Target of the return token under which a function runs whose caller is not known here.
constexpr size_t kNoted = ~size_t{0};
constexpr size_t kMaxBlocks = 1 << 14;  // after calls were copied

/// Ends a block: what comes next depends on it.
bool ends_block(const Instruction& i) {
  return i.form->flow != Flow::next && i.form->flow != Flow::push;
}

class KernelLowering {
 public:
  KernelLowering(const Kernel& kernel, std::span<const ir::Global> globals,
                 const LowerOptions& options, std::vector<Diagnostic>& out)
      : kernel_(kernel),
        globals_(globals),
        options_(options),
        context_(program_, kernel),
        calls_(context_),
        recursive_(recursive_functions(kernel)),
        out_(out) {
    program_.name = kernel.name;
    program_.isa = ir::Isa::sass;
    program_.wave_lanes = 32;
    program_.params = kernel.params;
    program_.param_bytes = kernel.param_bytes;
    program_.shared_bytes = kernel.shared_bytes;
    program_.local_bytes = kernel.local_bytes.value_or(uses_local() ? kDefaultLocal : 0);
    if (kernel.local_bytes && *kernel.local_bytes < kRecursionStack && takes_stack())
      program_.local_bytes += kRecursionStack;
    program_.max_block = kernel.max_block[0] * kernel.max_block[1] * kernel.max_block[2];
  }

  ir::Program run() {
    find_leaders();
    sites_.resize(kernel_.code.size(), ir::kNone);
    track_stores();
    block_of(0, BranchStack::kEmpty);
    while (!pending_.empty()) {
      const Place next = pending_.back();
      pending_.pop_back();
      lower_block(next);
    }
    calls_.finish();
    ir::step_waves(program_, ir::StepEvidence::any_access);
    return std::move(program_);
  }

 private:
  /// Code is copied for every stack it runs under: each call of a function is a copy of its own.
  struct Place {
    size_t index;
    BranchStack::Id stack;
    bool operator<(const Place& o) const {
      return std::pair(index, stack) < std::pair(o.index, o.stack);
    }
  };

  bool uses_local() const {
    for (const Instruction& i : kernel_.code)
      if (i.form->is(kLocalMemory)) return true;
    return false;
  }

  /// Code moves the stack pointer by what is in a register (alloca): a cubin cannot say how far,
  /// and without optimisation, or as relocatable code, says 0 bytes.
  bool takes_stack() const {
    constexpr size_t kStackPointer = 1;
    return std::ranges::any_of(kernel_.code, [](const Instruction& i) {
      const Touched t = touched(i);
      if (!t.writes[kStackPointer] || !t.reads[kStackPointer]) return false;
      for (size_t r = 0; r < kFirstPredicate; ++r)
        if (r != kStackPointer && t.reads[r]) return true;
      return false;
    });
  }

  bool kills_lanes() const {
    for (const Instruction& i : kernel_.code)
      if (i.form->is(kKills)) return true;
    return false;
  }
  /// The state starts in a block of its own: the first instruction may be the head of a loop.
  void track_stores() {
    if (!options_.pixel && !kills_lanes()) return;
    const Reg enabled = context_.track_stores();
    if (options_.pixel) return;
    context_.set_block(context_.add_block("entry"));
    context_.emit(Op::mov, Type::pred, {enabled}, {imm(1)});
    context_.jump(1);
  }

  /// Once per instruction, however often it was copied.
  void error(size_t n, const std::string& message, bool warning = false) {
    const Instruction& i = kernel_.code[n];
    if (!reported_.emplace(n, message).second) return;
    const std::string place =
        i.line == 0 ? fmt::format("kernel '{}', at {:#06x}: {}: ", kernel_.name, i.pc, print(i))
                    : "";
    out_.push_back({i.line, i.column, place + message, warning});
  }

  size_t index_of(uint64_t pc) const {
    const auto found = by_pc_.find(pc);
    return found == by_pc_.end() ? kernel_.code.size() : found->second;
  }

  void find_leaders() {
    for (size_t n = 0; n < kernel_.code.size(); ++n) by_pc_[kernel_.code[n].pc] = n;
    for (size_t n = 0; n < kernel_.code.size(); ++n) {
      const Instruction& i = kernel_.code[n];
      if (i.operand(Role::target) != nullptr) leaders_.insert(index_of(branch_target(i)));
      if (ends_block(i)) leaders_.insert(n + 1);
      if (const Call* c = relocated_call(kernel_, i.pc); c != nullptr && c->target)
        leaders_.insert(index_of(*c->target));
      if (i.form->flow == Flow::indirect && i.operand(Role::b) != nullptr)
        for (const auto& [address, index] : table_targets(i)) leaders_.insert(index);
    }
  }

  std::string label_at(size_t n) const {
    for (const Label& l : kernel_.labels)
      if (l.index == n) return l.name;
    return fmt::format("pc_{:x}", kernel_.code[n].pc);
  }

  uint32_t exit_block() {
    if (exit_block_ == ir::kNone) {
      exit_block_ = context_.add_block("exit");
      const uint32_t here = context_.block();
      context_.set_block(exit_block_);
      context_.exit();
      context_.set_block(here);
    }
    return exit_block_;
  }
  uint32_t block_of(size_t n, BranchStack::Id stack) {
    if (n >= kernel_.code.size() || blocks_.size() > kMaxBlocks) return exit_block();
    const auto [at, added] = blocks_.try_emplace({n, stack}, 0);
    if (added) {
      const uint32_t copies = copies_[n]++;
      const std::string name = label_at(n);
      at->second = context_.add_block(copies == 0 ? name : fmt::format("{}_copy{}", name, copies));
      pending_.push_back({n, stack});
      if (blocks_.size() > kMaxBlocks)
        error(n, "the kernel needs too many blocks once its calls are copied");
    }
    return at->second;
  }

  void lower_block(Place place) {
    context_.set_block(blocks_.at(place));
    stack_ = place.stack;
    for (size_t n = place.index; n < kernel_.code.size(); ++n) {
      const Instruction& i = kernel_.code[n];
      set_site(n);
      if (n != place.index && leaders_.count(n) != 0) return fall_into(n);
      if (!allowed(n)) continue;
      if (ends_block(i)) return jump(n);
      if (i.form->flow == Flow::push)
        push(n);
      else
        lower_one(n);
    }
    context_.set_guard({});
    context_.exit();
  }
  void fall_into(size_t n) {
    context_.set_guard({});
    context_.jump(block_of(n, stack_));
  }

  void set_site(size_t n) {
    const Instruction& i = kernel_.code[n];
    if (sites_[n] == ir::kNone) {
      sites_[n] = static_cast<uint32_t>(program_.sites.size());
      program_.sites.push_back({i.line, i.pc, i.text.empty() ? print(i) : i.text, {}, 0});
      program_.sites.back().function = functions_.declared_name(n);
      program_.sites.back().cache = cache_facts(i);
      set_source(program_.sites.back());
    }
    context_.set_site(sites_[n]);
  }

  void set_source(ir::Site& site) const {
    const auto next = std::ranges::upper_bound(kernel_.lines, site.pc, {}, &elf::LineRow::address);
    if (next == kernel_.lines.begin() || std::prev(next)->file == nullptr) return;
    site.source_file = *std::prev(next)->file;
    site.source_line = std::prev(next)->line;
  }

  bool allowed(size_t n) {
    bool refused = false;
    for (const Diagnostic& d : check(kernel_.code[n])) {
      refused = refused || !d.warning;
      error(n, d.message, d.warning);
    }
    if (refused || kernel_.code[n].form->lower != nullptr) return !refused;
    error(n, not_executed(*kernel_.code[n].form));
    return false;
  }

  void lower_one(size_t n) {
    const Instruction& i = kernel_.code[n];
    try {
      context_.begin(i);
      i.form->lower(context_, i);
    } catch (const Unsupported& e) {
      error(n, e.what());
    }
  }

  /// Functions of the device runtime, as the PTX front end takes them: vprintf prints, a failed
  /// assertion is a trap; the others do not exist, so that a kernel runs as long as it does not
  /// come to them.
  uint32_t runtime_call(size_t n, const std::string& name) {
    const bool assertion = name == "__assertfail" || name == "__assert_fail";
    if (name == "vprintf") return print_call(n);
    if (isa::is_device_launch(name)) {
      error(n, isa::device_launch_refusal("'" + name + "'"));
    } else if (!isa::absent_service(name).empty()) {
      error(n, isa::absent_warning(name), true);
      isa::describe_absent(program_.sites[sites_[n]], name);
    } else if (!assertion) {
      error(n, fmt::format("calls '{}', which has no body in this file", name));
    }
    ir::Builder& b = context_;
    if (assertion) describe_assertion(n);
    const uint32_t here = b.block(), trap = b.add_block(name);
    b.set_block(trap);
    b.emit(Op::trap, Type::none, {}, {}).mode = static_cast<uint8_t>(FaultKind::trap);
    b.exit();
    b.set_block(here);
    return trap;
  }

  /// __assertfail has the condition in R4 and R5, the file in R6 and R7, the line in R8 and the
  /// function in R10 and R11.
  void describe_assertion(size_t n) {
    const isa::AssertionCall call{.condition = context_.pair(4),
                                  .file = context_.pair(6),
                                  .line = context_.readable(8),
                                  .function = context_.pair(10)};
    isa::describe_assertion(program_.sites[sites_[n]],
                            isa::KnownValues(program_, context_.block(), globals_), call);
  }

  /// vprintf has the format in R4 and R5, the address of its arguments in R6 and R7, and returns
  /// R4.
  uint32_t print_call(size_t n) {
    ir::Builder& b = context_;
    const uint32_t here = b.block(), prints = b.add_block("vprintf");
    const isa::KnownValues known(program_, here, globals_, isa::KnownValues::Look::block);
    const std::optional<std::string> format = known.text(context_.pair(4));
    b.set_block(prints);
    isa::PrintCall call{.buffer = context_.symbol(std::string(guest::kPrintBuffer)),
                        .format = context_.pair(4),
                        .arguments = context_.pair(6),
                        .needs = std::nullopt,
                        .formats = {}};
    if (format)
      call.needs = variable_arguments(*format);
    else
      call.formats = isa::known_formats(globals_, [&](const std::string& name, int64_t offset) {
        return context_.symbol(name, offset);
      });
    const Reg result = isa::PrintCallEmitter(b, call).run();
    b.emit(Op::mov, Type::u32, {context_.writable(4)}, {result});
    b.jump(block_of(n + 1, stack_));
    b.set_block(here);
    return prints;
  }

  /// Index of a branch's target; reports one that is no instruction.
  size_t checked_target(size_t n) {
    const Instruction& i = kernel_.code[n];
    const size_t target = index_of(branch_target(i));
    if (target == kernel_.code.size())
      error(n, fmt::format("branch target {:#x} is not an instruction of '{}'", branch_target(i),
                           kernel_.name));
    return target;
  }

  void push(size_t n) {
    stack_ = stacks_.push(stack_, kernel_.code[n].form->token, checked_target(n));
  }

  /// What the cubin lists for the instruction, as indices; empty where it lists nothing.
  std::set<size_t> listed_targets(const Instruction& i) const {
    std::set<size_t> found;
    if (const auto listed = kernel_.jumps.find(i.pc); listed != kernel_.jumps.end())
      for (const uint64_t to : listed->second) found.insert(index_of(to % 32 == 0 ? to + 8 : to));
    return found;
  }

  /// Addresses that a table of bank 2 can make a BRX go to, and those of functions for JMX. Bank 2
  /// also holds tables of other jumps, and numbers that look like addresses: the list of a cubin
  /// distinguishes them. Without one every word counts.
  std::vector<std::pair<uint64_t, size_t>> table_targets(const Instruction& i) const {
    std::set<std::pair<uint64_t, size_t>> found;
    if (i.form->is(kAbsolute)) {
      for (const Entry& e : kernel_.entries) found.emplace(e.address, index_of(e.pc));
      return {found.begin(), found.end()};
    }
    const std::set<size_t> listed = listed_targets(i);
    for (const ConstantBank& bank : kernel_.banks) {
      if (bank.number != 2 || !bank.serves(i.pc)) continue;
      for (size_t at = 0; at + 4 <= bank.bytes.size(); at += 4) {
        uint32_t word = 0;
        for (unsigned n = 0; n < 4; ++n)
          word |= std::to_integer<uint32_t>(bank.bytes[at + n]) << (8 * n);
        const uint64_t target = (word + indirect_base(i)) & 0xffffffff;
        const size_t index = index_of(target % 32 == 0 ? target + 8 : target);
        // No table leads to the entry: that is where words of other tables would lead.
        const bool possible = listed.empty() ? index != 0 : listed.contains(index);
        if (target % 8 == 0 && possible && index < kernel_.code.size())
          found.emplace(target, index);
      }
    }
    return {found.begin(), found.end()};
  }
  /// What is added to the register: the offset, and the address of the next instruction.
  static uint64_t indirect_base(const Instruction& i) {
    const Field f = i.operand(Role::b)->field;
    const unsigned unused = 64U - f.len;
    const int64_t offset = static_cast<int64_t>(f.get(i.word) << unused) >> unused;
    return (i.form->is(kAbsolute) ? 0 : i.pc + 8) + static_cast<uint64_t>(offset);
  }

  /// A block that goes where the table says; an address that is in no table is a fault.
  uint32_t jump_table(size_t n) {
    const Instruction& i = kernel_.code[n];
    const auto targets = table_targets(i);
    if (targets.empty()) {
      error(n, i.form->is(kAbsolute)
                   ? "nothing says where this can go: no function's address is taken"
                   : "nothing says where this can go: a table in constant bank 2 was expected");
      return exit_block();
    }
    ir::Builder& b = context_;
    const uint32_t here = b.block(), table = b.add_block("table"), bad = b.add_block("no_target");
    b.set_block(table);
    const auto ra = static_cast<unsigned>(Field{8, 8}.get(i.word));
    ir::Terminator term;
    term.kind = ir::Terminator::Kind::switch_;
    term.selector = context_.make(Op::add, Type::u32,
                                  {context_.readable(ra), imm(indirect_base(i) & 0xffffffff)});
    for (const auto& [address, index] : targets) {
      term.cases.push_back(address);
      term.targets.push_back(block_of(index, stack_));
    }
    term.targets.push_back(bad);
    b.terminate(std::move(term));
    b.set_block(bad);
    b.emit(Op::trap, Type::none, {}, {}).mode =
        static_cast<uint8_t>(FaultKind::illegal_instruction);
    b.exit();
    b.set_block(here);
    return table;
  }

  uint32_t destination(size_t n) {
    const Instruction& i = kernel_.code[n];
    switch (i.form->flow) {
      case Flow::branch:
        if (i.form->is(kAbsolute))
          return absolute(n, [&](size_t to) { return block_of(to, stack_); });
        return block_of(checked_target(n), stack_);
      case Flow::indirect:
        return jump_table(n);
      case Flow::pop:
        if (const auto token = stacks_.find(stack_, i.form->token))
          return token->target == kNoted ? calls_.give_back()
                                         : block_of(token->target, token->below);
        error(n, fmt::format("{} without a target on the branch stack", i.form->mnemonic));
        return exit_block();
      case Flow::call:
        if (i.form->is(kAbsolute)) return absolute(n, [&](size_t) { return call(n); });
        return call(n);
      default:
        return exit_block();
    }
  }

  /// What `go` makes of the instruction that a relocation names.
  template <typename Go>
  uint32_t absolute(size_t n, Go go) {
    const Call* c = relocated_call(kernel_, kernel_.code[n].pc);
    if (c != nullptr && !c->target) return runtime_call(n, c->symbol);
    if (c != nullptr) return go(index_of(*c->target));
    error(n, "nothing says where this goes: a relocation was expected");
    return exit_block();
  }

  /// A copy of the function for this call, where that comes to an end soon.
  uint32_t call(size_t n) {
    const Call* relocated = relocated_call(kernel_, kernel_.code[n].pc);
    const size_t target = relocated != nullptr ? index_of(*relocated->target) : checked_target(n);
    const bool copied = !recursive_.contains(target) && stacks_.calls(stack_) < kMaxCopied &&
                        blocks_.size() < kMaxBlocks / 2;
    if (copied) return block_of(target, stacks_.push(stack_, Token::ret, n + 1));
    const BranchStack::Id noted = stacks_.push(BranchStack::kEmpty, Token::ret, kNoted);
    return calls_.call(block_of(target, noted), block_of(n + 1, stack_));
  }

  void jump(size_t n) {
    const Instruction& i = kernel_.code[n];
    context_.set_guard({});
    const bool guarded = i.form->has_guard && (i.guard() != kPT || i.guard_negated());
    Operand test = imm(1);
    try {
      test = flag_test(context_, i);
    } catch (const Unsupported& e) {
      error(n, e.what());
    }
    if ((guarded && i.guard() == kPT) || test == imm(0)) return fall_into(n + 1);
    const uint32_t taken = destination(n);
    if (!guarded && test.is_imm()) return context_.jump(taken);
    ir::Guard taken_if{test.is_imm() ? Reg{} : test.reg(), false};
    if (guarded) taken_if = {context_.predicate(i.guard()), i.guard_negated()};
    if (guarded && !test.is_imm()) {
      const Operand guard = taken_if.negate ? inverse(context_, taken_if.reg) : taken_if.reg;
      taken_if = {combine(context_, 0, guard, test).reg(), false};
    }
    context_.branch(taken_if, taken, block_of(n + 1, stack_), i.mod(ModId::uniform) != 0);
  }

  const Kernel& kernel_;
  const Functions functions_{kernel_};
  std::span<const ir::Global> globals_;
  const LowerOptions options_;
  ir::Program program_;
  LowerContext context_;
  CallStack calls_;
  std::set<size_t> recursive_;
  std::vector<Diagnostic>& out_;
  std::map<uint64_t, size_t> by_pc_;
  std::set<size_t> leaders_;
  BranchStack stacks_;
  BranchStack::Id stack_ = BranchStack::kEmpty;
  std::map<Place, uint32_t> blocks_;
  std::map<size_t, uint32_t> copies_;
  std::vector<Place> pending_;
  std::set<std::pair<size_t, std::string>> reported_;
  std::vector<uint32_t> sites_;
  uint32_t exit_block_ = ir::kNone;
};

ir::Global residency_map() {
  ir::Global g;
  g.name = kSparseMap;
  g.space = Space::constant;
  g.align = 4;
  g.size = guest::kSparsePages / 8;
  return g;
}

bool is_known(const ir::Module& module, const std::string& symbol) {
  return std::ranges::find(module.globals, symbol, &ir::Global::name) != module.globals.end() ||
         std::ranges::find(module.functions, symbol) != module.functions.end();
}

}  // namespace

LowerResult lower(const Listing& listing, const LowerOptions& options) {
  LowerResult result;
  result.module.isa = ir::Isa::sass;
  result.module.target = fmt::format("sm_{}", listing.arch);
  result.module.globals = listing.globals;
  result.module.functions = functions_with_address(listing);
  for (const Kernel& alone : listing.kernels) {
    std::optional<Kernel> with_functions;
    if (!listing.functions.empty()) with_functions = linked(alone, listing);
    const Kernel& k = with_functions ? *with_functions : alone;
    std::vector<Diagnostic> found = k.diagnostics;
    for (const Relocation& r : k.relocations)
      if (!is_known(result.module, r.symbol))
        found.push_back({0, 0,
                         fmt::format("kernel '{}': at {:#06x}: nothing here is called '{}'", k.name,
                                     r.pc, r.symbol),
                         false});
    ir::Program program;
    program.name = k.name;
    if (found.empty()) program = KernelLowering(k, result.module.globals, options, found).run();
    isa::keep_or_reject(result, std::move(program), std::move(found));
  }
  for (const ir::Program& p : result.module.kernels) {
    if (std::ranges::find(p.symbols, kSparseMap, &ir::Symbol::name) == p.symbols.end()) continue;
    result.module.globals.push_back(residency_map());
    break;
  }
  isa::add_print_buffer(result.module);
  return result;
}

}  // namespace lanewise::sass
