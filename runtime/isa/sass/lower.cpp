// Kernels to programs: blocks, branches, sites; everything else is in the table's functions.
#include "runtime/isa/sass/semantics.hpp"

#include <fmt/format.h>

#include <set>

namespace lanewise::sass {

void lower_bra(LowerContext&, const Instruction&) {}
void lower_exit(LowerContext&, const Instruction&) {}
void lower_push(LowerContext&, const Instruction&) {
  throw Unsupported("the branch stack is not supported yet");
}
void lower_pop(LowerContext&, const Instruction&) {
  throw Unsupported("the branch stack is not supported yet");
}

namespace {

bool is_branch(const Instruction& i) {
  return i.form->lower == lower_bra;
}
bool is_exit(const Instruction& i) {
  return i.form->lower == lower_exit;
}

/// Byte address a branch goes to; the address of a control word means the instruction behind it.
uint64_t target_of(const Instruction& i) {
  const Field f = i.operand(Role::target)->field;
  const unsigned shift = 64U - f.len;
  const int64_t rel = static_cast<int64_t>(f.get(i.word) << shift) >> shift;
  const uint64_t target = i.pc + 8 + static_cast<uint64_t>(rel);
  return target % 32 == 0 ? target + 8 : target;
}

class KernelLowering {
 public:
  KernelLowering(const Kernel& kernel, std::vector<Diagnostic>& out)
      : kernel_(kernel), context_(program_, kernel), out_(out) {
    program_.name = kernel.name;
    program_.isa = ir::Isa::sass;
    program_.wave_lanes = 32;
    program_.params = kernel.params;
    program_.param_bytes = kernel.param_bytes;
    program_.shared_bytes = kernel.shared_bytes;
    program_.local_bytes = kernel.local_bytes.value_or(uses_local() ? kUnsaidLocal : 0);
    program_.max_block = kernel.max_block[0] * kernel.max_block[1] * kernel.max_block[2];
  }

  ir::Program run() {
    find_blocks();
    for (size_t n = 0; n < kernel_.code.size(); ++n) {
      const auto block = blocks_.find(n);
      if (block != blocks_.end()) enter(block->second);
      lower_one(n);
    }
    context_.b.set_guard({});
    if (open_) context_.b.exit();
    return std::move(program_);
  }

 private:
  void error(const Instruction& i, const std::string& message) {
    out_.push_back({i.line, i.column, message, false});
  }

  /// Bytes of local memory a lane gets when the input does not say how much it needs.
  static constexpr uint32_t kUnsaidLocal = 4096;

  bool uses_local() const {
    for (const Instruction& i : kernel_.code)
      if (i.form->lower == lower_ldl || i.form->lower == lower_stl || i.form->lower == lower_ld ||
          i.form->lower == lower_st)
        return true;
    return false;
  }

  size_t index_of(uint64_t pc) const {
    for (size_t n = 0; n < kernel_.code.size(); ++n)
      if (kernel_.code[n].pc == pc) return n;
    return kernel_.code.size();
  }

  void find_blocks() {
    std::set<size_t> leaders = {0};
    for (size_t n = 0; n < kernel_.code.size(); ++n) {
      const Instruction& i = kernel_.code[n];
      if (is_branch(i)) {
        const size_t target = index_of(target_of(i));
        if (target == kernel_.code.size())
          error(i, fmt::format("branch target {:#x} is not an instruction of '{}'", target_of(i),
                               kernel_.name));
        else
          leaders.insert(target);
      }
      if ((is_branch(i) || is_exit(i)) && n + 1 < kernel_.code.size()) leaders.insert(n + 1);
    }
    for (size_t n : leaders) blocks_[n] = context_.b.add_block(label_at(n));
    exit_block_ = context_.b.add_block("exit");
    context_.b.set_block(exit_block_);
    context_.b.exit();
  }
  std::string label_at(size_t n) const {
    for (const Label& l : kernel_.labels)
      if (l.index == n) return l.name;
    return fmt::format("pc_{:x}", kernel_.code[n].pc);
  }
  uint32_t block_at(size_t n) const {
    const auto found = blocks_.find(n);
    return found == blocks_.end() ? exit_block_ : found->second;
  }

  void enter(uint32_t block) {
    context_.b.set_guard({});
    if (open_) context_.b.jump(block);
    context_.b.set_block(block);
    open_ = true;
  }

  void lower_one(size_t n) {
    const Instruction& i = kernel_.code[n];
    program_.sites.push_back({i.line, i.pc, i.text.empty() ? print(i) : i.text, {}, 0});
    context_.b.set_site(static_cast<uint32_t>(program_.sites.size() - 1));
    bool refused = false;
    for (Diagnostic& d : check(i)) {
      refused = refused || !d.warning;
      out_.push_back(std::move(d));
    }
    if (refused) return;
    if (i.form->lower == nullptr)
      return error(i, fmt::format("{} is not supported yet in this form", i.form->mnemonic));
    if (is_branch(i) || is_exit(i)) return jump(n);
    try {
      context_.begin(i);
      i.form->lower(context_, i);
    } catch (const Unsupported& e) {
      error(i, e.what());
    }
  }

  void jump(size_t n) {
    const Instruction& i = kernel_.code[n];
    context_.b.set_guard({});
    const uint32_t target = is_exit(i) ? exit_block_ : block_at(index_of(target_of(i)));
    const bool never = i.guard() == kPT && i.guard_negated();
    if (i.guard() == kPT)
      context_.b.jump(never ? block_at(n + 1) : target);
    else
      context_.b.branch({context_.predicate(i.guard()), i.guard_negated()}, target, block_at(n + 1),
                        i.mod(ModId::uniform) != 0);
    open_ = false;
  }

  const Kernel& kernel_;
  ir::Program program_;
  LowerContext context_;
  std::vector<Diagnostic>& out_;
  std::map<size_t, uint32_t> blocks_;
  uint32_t exit_block_ = 0;
  bool open_ = false;
};

}  // namespace

LowerResult lower(const Listing& listing) {
  LowerResult result;
  result.module.isa = ir::Isa::sass;
  result.module.target = fmt::format("sm_{}", listing.arch);
  result.module.globals = listing.globals;
  for (const Kernel& k : listing.kernels)
    result.module.kernels.push_back(KernelLowering(k, result.diagnostics).run());
  return result;
}

}  // namespace lanewise::sass
