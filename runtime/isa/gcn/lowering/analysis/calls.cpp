#include "runtime/isa/gcn/lowering/analysis/calls.hpp"

#include <algorithm>
#include <optional>
#include <set>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"
#include "runtime/isa/gcn/text/number_text.hpp"

namespace lanewise::gcn {
namespace {

/// Registers that hold the low word of an address in the image.
using Addresses = std::map<unsigned, uint32_t>;

bool is_go(const Instruction& i) {
  return i.row->kind == Kind::call || i.row->kind == Kind::jump;
}

std::optional<uint32_t> number(const Operand& o) {
  return o.code == kLiteral ? std::optional(o.value) : inline_constant(o.code);
}

void step(const Kernel& k, size_t index, Addresses& known) {
  const Instruction& i = k.code[index];
  if (i.row->kind == Kind::call) return known.clear();
  const ScalarSet writes = effects(i).writes;
  Addresses made;
  const auto copy = [&](unsigned from, unsigned to) {
    if (const auto it = known.find(from); it != known.end()) made[to] = it->second;
  };
  const Operand* to = i.operand(Slot::sdst);
  const Meaning& m = i.row->meaning;
  if (i.row->kind == Kind::address) {
    made[to->code] = static_cast<uint32_t>(address_behind(k, index));
  } else if (i.row->kind == Kind::move && !i.operands[1].immediate) {
    for (unsigned n = 0; n < to->count; ++n) copy(i.operands[1].code + n, to->code + n);
  } else if (i.row->encoding == Encoding::sop2 && m.op == ir::Op::add && m.type == ir::Type::u32) {
    const Operand &a = i.operands[1], &b = i.operands[2];
    for (const auto& [base, by] : {std::pair{a, b}, std::pair{b, a}}) {
      const auto it = known.find(base.code);
      const auto n = number(by);
      if (it != known.end() && n) made[to->code] = it->second + *n;
    }
  }
  std::erase_if(known, [&](const auto& entry) { return writes.test(entry.first); });
  known.insert(made.begin(), made.end());
}

/// What is known in front of each instruction, whichever way leads there.
class Flow {
 public:
  explicit Flow(const Kernel& k) : in_(k.code.size()) {
    reach(0, {});
    for (const Label& entry : k.functions) reach(entry.index, {});
    for (size_t n = 0; n < k.code.size(); ++n)
      if (k.code[n].row->kind == Kind::call) reach(n + 1, {});
    while (!work_.empty()) {
      const size_t n = *work_.begin();
      work_.erase(work_.begin());
      Addresses known = *in_[n];
      const Instruction& i = k.code[n];
      step(k, n, known);
      const bool conditional = i.row->kind == Kind::branch && i.row->meaning.count != 0;
      if (!i.row->ends_block() || conditional) reach(n + 1, known);
      if (i.row->kind == Kind::branch) reach(branch_target(k, n), known);
    }
  }
  const std::optional<Addresses>& before(size_t n) const { return in_[n]; }

 private:
  void reach(size_t n, const Addresses& known) {
    if (n >= in_.size()) return;
    if (!in_[n]) {
      in_[n] = known;
    } else {
      const size_t erased = std::erase_if(*in_[n], [&](const auto& entry) {
        const auto it = known.find(entry.first);
        return it == known.end() || it->second != entry.second;
      });
      if (erased == 0) return;
    }
    work_.insert(n);
  }

  std::vector<std::optional<Addresses>> in_;
  std::set<size_t> work_;
};

/// A branch may go to a function as a call's last step does.
bool branches_away(const Kernel& k) {
  for (size_t n = 0; n < k.code.size(); ++n)
    if (k.code[n].row->kind == Kind::branch && branch_target(k, n) == std::string::npos)
      return true;
  return false;
}

/// Control may come to the place behind the last instruction, where other code of the file may be.
bool runs_on(const Kernel& k) {
  const Instruction& last = k.code.back();
  const bool conditional = last.row->kind == Kind::branch && last.row->meaning.count != 0;
  if (conditional || last.row->kind == Kind::call || !ends_block(last)) return true;
  for (size_t n = 0; n < k.code.size(); ++n)
    if (k.code[n].row->kind == Kind::branch && branch_target(k, n) == k.code.size()) return true;
  return false;
}

}  // namespace

uint64_t address_behind(const Kernel& k, size_t index) {
  return k.base + k.code[index].pc + size_of(k.code[index], k.gen);
}

Kernel with_functions(const Kernel& kernel, const Listing& listing) {
  Kernel whole = kernel;
  const bool leaves = branches_away(kernel) || runs_on(kernel);
  if (std::ranges::none_of(kernel.code, is_go) && !leaves) return whole;
  // In the order of their distance from the kernel, by which branches are looked up: those in front
  // of it have the largest, as their places wrap.
  std::vector<const Kernel*> functions;
  for (const Kernel& f : listing.functions) functions.push_back(&f);
  // Names alone do not say what code is: control goes on into another kernel's as into any other.
  for (const Kernel& f : listing.kernels)
    if (leaves && f.base != kernel.base && !f.code.empty()) functions.push_back(&f);
  std::ranges::stable_sort(functions, {}, [&](const Kernel* f) { return f->base - kernel.base; });
  const Kernel* before = &kernel;
  for (const Kernel* f : functions) {
    // Nothing stands behind the last code of the file: what comes to its end has ended.
    if (f->base < before->base && runs_on(*before)) {
      Instruction end = *parse_instruction("s_endpgm", kernel.gen).instruction;
      end.pc = address_behind(*before, before->code.size() - 1) - kernel.base;
      whole.code.push_back(std::move(end));
    }
    before = f;
    whole.functions.push_back({f->name, whole.code.size()});
    whole.labels.push_back({f->name, whole.code.size()});
    for (Instruction i : f->code) {
      i.pc += f->base - kernel.base;
      whole.code.push_back(std::move(i));
    }
  }
  return whole;
}

CallWays call_ways(const Kernel& k) {
  CallWays ways;
  if (std::ranges::none_of(k.code, is_go)) return ways;
  std::map<uint64_t, size_t> at;
  for (size_t n = 0; n < k.code.size(); ++n) at[k.base + k.code[n].pc] = n;
  std::vector<size_t> entries, returns;
  for (const Label& f : k.functions) entries.push_back(f.index);
  for (size_t n = 0; n + 1 < k.code.size(); ++n)
    if (k.code[n].row->kind == Kind::call) returns.push_back(n + 1);
  const Flow flow(k);
  for (size_t n = 0; n < k.code.size(); ++n) {
    const Instruction& i = k.code[n];
    if (!is_go(i)) continue;
    std::vector<size_t>& out = ways.targets[n];
    if (const auto& known = flow.before(n)) {
      const auto word = known->find(i.operand(Slot::ssrc0)->code);
      const auto there = word != known->end() ? at.find(word->second) : at.end();
      if (there != at.end()) out = {there->second};
    }
    if (out.empty()) out = i.row->kind == Kind::call ? entries : returns;
  }
  return ways;
}

}  // namespace lanewise::gcn
