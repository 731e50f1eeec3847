#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

#include <algorithm>
#include <set>

#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {
namespace {

void add_range(ScalarSet& set, unsigned code, unsigned count) {
  for (unsigned n = 0; n < count && is_scalar(code + n); ++n) set.set(code + n);
}

bool is_branch(const Instruction& i) {
  return i.row->kind == Kind::branch;
}
bool is_end(const Instruction& i) {
  return i.row->kind == Kind::end;
}
bool is_conditional(const Instruction& i) {
  return i.row->meaning.count != 0;
}

std::vector<size_t> successors(const Kernel& k, const Analysis& a, const BasicBlock& b) {
  std::vector<size_t> out;
  const Instruction& last = k.code[b.end - 1];
  if (is_end(last)) return out;
  if (const auto ways = a.calls.targets.find(b.end - 1); ways != a.calls.targets.end()) {
    for (const size_t target : ways->second) out.push_back(a.block_of[target]);
    return out;
  }
  if (!is_branch(last) || is_conditional(last))
    if (b.end < k.code.size()) out.push_back(a.block_of[b.end]);
  if (is_branch(last)) {
    const size_t target = branch_target(k, b.end - 1);
    if (target < k.code.size()) out.push_back(a.block_of[target]);
  }
  return out;
}

void find_blocks(const Kernel& k, Analysis& a) {
  std::set<size_t> leaders = {0};
  for (const auto& [from, targets] : a.calls.targets)
    leaders.insert(targets.begin(), targets.end());
  for (size_t n = 0; n < k.code.size(); ++n) {
    if (is_branch(k.code[n]) && branch_target(k, n) < k.code.size())
      leaders.insert(branch_target(k, n));
    if (ends_block(k.code[n]) && n + 1 < k.code.size()) leaders.insert(n + 1);
  }
  for (size_t leader : leaders) {
    if (!a.blocks.empty()) a.blocks.back().end = leader;
    BasicBlock b;
    b.begin = leader;
    a.blocks.push_back(b);
  }
  a.blocks.back().end = k.code.size();
  a.block_of.assign(k.code.size(), 0);
  for (size_t b = 0; b < a.blocks.size(); ++b)
    for (size_t n = a.blocks[b].begin; n < a.blocks[b].end; ++n) a.block_of[n] = b;
  for (BasicBlock& b : a.blocks) b.successors = successors(k, a, b);
  std::vector<size_t> work = {0};
  while (!work.empty()) {
    BasicBlock& b = a.blocks[work.back()];
    work.pop_back();
    if (b.reached) continue;
    b.reached = true;
    work.insert(work.end(), b.successors.begin(), b.successors.end());
  }
}

/// Buffer accesses to LDS have their place there.
bool reads_m0(const Instruction& i) {
  return i.row->does(kReadsM0) || i.lds;
}

/// Reads bits of M0 that the index mode does not use.
bool reads_whole_m0(const Instruction& i) {
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const Operand& o = i.operands[n];
    if (is_source_slot(i.row->operands[n].slot) && !o.immediate && o.code == kM0) return true;
  }
  return reads_m0(i) && !i.row->does(kWritesM0);
}

/// What is live in front of the instruction, of what is live behind it.
void step_back(const Kernel& k, const Analysis& a, size_t index, ScalarSet& live) {
  const Instruction& i = k.code[index];
  const Effects& e = a.effects[index];
  live = (live & ~e.writes) | e.reads;
  if (a.indexed.contains(index)) live.set(kM0);
  if (!a.keeps_m0 && i.row->meaning.indexing == Indexing::enters && i.operands[0].code != kM0)
    live.reset(kM0);
}

void liveness(const Kernel& k, Analysis& a) {
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t n = a.blocks.size(); n-- > 0;) {
      BasicBlock& b = a.blocks[n];
      ScalarSet live;
      for (size_t s : b.successors) live |= a.blocks[s].live_in;
      b.live_out = live;
      for (size_t i = b.end; i-- > b.begin;) step_back(k, a, i, live);
      changed = changed || live != b.live_in;
      b.live_in = live;
    }
  }
}

void forward(const Kernel& k, Analysis& a) {
  a.blocks[0].stale_in.set(kExecLo);
  a.blocks[0].stale_in.set(kExecLo + 1);
  for (bool changed = true; changed;) {
    changed = false;
    for (BasicBlock& b : a.blocks) {
      ScalarSet stale = b.stale_in;
      bool full = b.exec_full_in;
      for (size_t n = b.begin; n < b.end; ++n) {
        step_stale(k.code[n], stale);
        full = full && !a.effects[n].writes.test(kExecLo);
      }
      for (size_t s : b.successors) {
        BasicBlock& next = a.blocks[s];
        const ScalarSet merged = next.stale_in | stale;
        const bool merged_full = next.exec_full_in && full;
        changed = changed || merged != next.stale_in || merged_full != next.exec_full_in;
        next.stale_in = merged;
        next.exec_full_in = merged_full;
      }
    }
  }
}

}  // namespace

bool is_source_slot(Slot s) {
  switch (s) {
    case Slot::sdst:
    case Slot::vdst:
    case Slot::mask_dst:
    case Slot::vcc:
    case Slot::simm16:
    case Slot::label:
    case Slot::waitcnt:
    case Slot::hwreg:
    case Slot::message:
    case Slot::gpr_idx:
    case Slot::probe:
    case Slot::literal:
    case Slot::word:
      return false;
    default:
      return true;
  }
}

std::vector<ScalarSet> live_behind(const Kernel& k, const Analysis& a, const BasicBlock& b) {
  std::vector<ScalarSet> behind(b.end - b.begin);
  ScalarSet live = b.live_out;
  for (size_t n = b.end; n-- > b.begin;) {
    behind[n - b.begin] = live;
    step_back(k, a, n, live);
  }
  return behind;
}

bool ends_block(const Instruction& i) {
  return i.row->ends_block();
}

size_t branch_target(const Kernel& k, size_t index) {
  const auto distance = static_cast<int16_t>(k.code[index].operand(Slot::label)->value);
  const uint64_t pc = k.code[index].pc + 4 + static_cast<uint64_t>(4 * int64_t{distance});
  const auto at = std::ranges::lower_bound(k.code, pc, {}, &Instruction::pc);
  if (at != k.code.end() && at->pc == pc) return static_cast<size_t>(at - k.code.begin());
  return pc == k.code.back().pc + size_of(k.code.back(), k.gen) ? k.code.size() : std::string::npos;
}

Effects effects(const Instruction& i) {
  Effects e;
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const Slot s = i.row->operands[n].slot;
    const Operand& o = i.operands[n];
    if (o.immediate) continue;
    if (is_source_slot(s) && o.code == kScc) e.reads.set(kScc);
    if (is_source_slot(s) && o.code == kVccz) add_range(e.reads, kVccLo, 2);
    if (is_source_slot(s) && o.code == kExecz) add_range(e.reads, kExecLo, 2);
    if (s == Slot::sdst || s == Slot::mask_dst)
      add_range(e.writes, o.code, o.count);
    else if (is_source_slot(s))
      add_range(e.reads, o.code, o.count);
  }
  const Row& row = *i.row;
  if (row.does(kReadsDst)) e.reads |= e.writes;
  if (row.does(kReadsScc)) e.reads.set(kScc);
  if (row.does(kWritesScc)) e.writes.set(kScc);
  if (row.does(kReadsVcc)) add_range(e.reads, kVccLo, 2);
  if (row.does(kWritesVcc)) add_range(e.writes, kVccLo, 2);
  if (row.does(kReadsExec)) add_range(e.reads, kExecLo, 2);
  if (row.does(kWritesExec)) add_range(e.writes, kExecLo, 2);
  if (reads_m0(i)) e.reads.set(kM0);
  if (row.does(kWritesM0)) e.writes.set(kM0);
  // M0 says how many registers further: any of them.
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const unsigned code = i.operands[n].code;
    const bool to = row.operands[n].slot == Slot::sdst;
    if (code >= kSgprs || !(to ? row.meaning.moves_result : row.meaning.moves_source)) continue;
    add_range(e.reads, code, kSgprs - code);
    if (to) add_range(e.writes, code, kSgprs - code);
  }
  return e;
}

std::vector<Effects> all_effects(const Kernel& k) {
  std::vector<Effects> all;
  all.reserve(k.code.size());
  for (const Instruction& i : k.code) all.push_back(effects(i));
  return all;
}

bool is_mask_write(const Instruction& i, const ScalarSet& stale) {
  const Row& row = *i.row;
  if (row.has(Slot::mask_dst) || row.does(kWritesVcc)) return true;
  if (!i.row->does(kMaskLogic)) return false;
  if (row.does(kWritesExec) || i.operands[0].code == kExecLo) return true;
  for (size_t n = 1; n < i.operands.size(); ++n) {
    const Operand& o = i.operands[n];
    if (is_scalar(o.code) && (stale.test(o.code) || stale.test(o.code + 1))) return true;
  }
  return false;
}

void step_stale(const Instruction& i, ScalarSet& stale) {
  const Effects e = effects(i);
  if (is_mask_write(i, stale))
    stale |= e.writes;
  else
    stale &= ~e.writes;
  stale.reset(kScc);
  // EXEC is never kept as a number of its own.
  stale.set(kExecLo);
  stale.set(kExecLo + 1);
}

Analysis analyse(const Kernel& kernel, const CallTargets& calls, const LowerOptions& options) {
  Analysis a;
  a.calls = calls;
  a.effects = all_effects(kernel);
  find_blocks(kernel, a);
  a.blocks[0].exec_full_in = !options.partial_exec;
  a.indexed = indexed(kernel, a);
  a.keeps_m0 = std::ranges::any_of(kernel.code, reads_whole_m0);
  liveness(kernel, a);
  forward(kernel, a);
  find_mask_numbers(kernel, options, a);
  return a;
}

}  // namespace lanewise::gcn
