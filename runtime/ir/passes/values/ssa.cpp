#include "runtime/ir/passes/values/ssa.hpp"

#include <algorithm>

#include "runtime/ir/passes/flow/blocks_by_register.hpp"
#include "runtime/ir/passes/flow/liveness.hpp"

namespace lanewise::ir {
namespace {

/// The predicate at the end of the block, and registers that it was computed from, through `and`,
/// `or` and `not` of conditions.
void compared(const Block& block, uint32_t pred, int depth, std::vector<uint32_t>& out) {
  out.push_back(pred);
  const auto writes = [&](const Inst& i) {
    return std::ranges::find(i.dst, Reg{pred}) != i.dst.end();
  };
  const auto last = std::find_if(block.insts.rbegin(), block.insts.rend(), writes);
  if (last == block.insts.rend() || !last->guard.always() || depth == 0) return;
  const bool conditions = last->type == Type::pred && info(last->op).trait == OpTrait::pure;
  if (last->op != Op::icmp && !conditions) return;
  for (const Operand& o : last->src) {
    if (!o.is_reg()) continue;
    if (conditions)
      compared(block, o.index, depth - 1, out);
    else
      out.push_back(o.index);
  }
}

class Placement {
 public:
  Placement(const Program& p, const Graph& graph, const BlockOrder& order, const DomTree& dom)
      : p_(p),
        graph_(graph),
        order_(order),
        dom_(dom),
        reads_(p.regs.size()),
        writes_(p.regs.size()),
        splits_(p.regs.size()) {}

  std::vector<std::vector<uint32_t>> run(Ssa::Split split) {
    find_sites();
    if (split == Ssa::Split::at_branches) find_splits();
    for (auto* blocks : {&reads_, &writes_, &splits_}) blocks->sort();
    find_frontiers();
    args_.resize(p_.blocks.size());
    for (auto* stamps : {&written_, &live_, &has_}) stamps->assign(p_.blocks.size(), kNone);
    for (uint32_t r = 0; r < p_.regs.size(); ++r) place(r);
    return std::move(args_);
  }

 private:
  void find_sites() {
    for (const uint32_t b : order_.nodes) {
      const auto read = [&](uint32_t r) {
        if (!writes_.is_last(r, b)) reads_.add(r, b);
      };
      for (const Inst& i : p_.blocks[b].insts) {
        for_each_use(i, read);
        for (const Reg r : i.dst) {
          if (!r.valid()) continue;
          if (!i.guard.always()) read(r.id);
          writes_.add(r.id, b);
        }
      }
      for_each_use(p_.blocks[b].term, read);
    }
  }

  void find_splits() {
    std::vector<uint32_t> regs;
    for (const uint32_t b : order_.nodes) {
      const Terminator& t = p_.blocks[b].term;
      if (t.kind != Terminator::Kind::branch || t.targets[0] == t.targets[1]) continue;
      regs.clear();
      compared(p_.blocks[b], t.cond.reg.id, 3, regs);
      for (const uint32_t to : t.targets)
        if (to != 0 && graph_.preds[to].size() == 1)
          for (const uint32_t r : regs) splits_.add(r, to);
    }
  }

  void find_frontiers() {
    frontier_.resize(p_.blocks.size());
    for (const uint32_t b : order_.nodes) {
      if (graph_.preds[b].size() < (b == 0 ? 1U : 2U)) continue;
      for (uint32_t at : graph_.preds[b]) {
        if (!order_.reachable(at)) continue;
        // Whoever has it has given it to its dominators, too.
        for (; at != dom_.parent[b]; at = dom_.parent[at]) {
          if (!frontier_[at].empty() && frontier_[at].back() == b) break;
          frontier_[at].push_back(b);
        }
      }
    }
  }

  bool one_value(uint32_t r) const {
    const auto writes = writes_.of(r);
    if (writes.empty()) return true;
    return writes.size() == 1 && std::ranges::all_of(reads_.of(r), [&](uint32_t b) {
             return b != writes[0] && dom_.dominates(writes[0], b);
           });
  }

  void place(uint32_t r) {
    if (reads_.of(r).empty() || (splits_.of(r).empty() && one_value(r))) return;
    for (const uint32_t b : writes_.of(r)) written_[b] = r;
    find_live(r);
    work_.assign(writes_.of(r).begin(), writes_.of(r).end());
    const auto add = [&](uint32_t b) {
      if (has_[b] == r || live_[b] != r) return;
      has_[b] = r;
      args_[b].push_back(r);
      work_.push_back(b);
    };
    for (const uint32_t b : splits_.of(r)) add(b);
    while (!work_.empty()) {
      const uint32_t b = work_.back();
      work_.pop_back();
      for (const uint32_t join : frontier_[b]) add(join);
    }
  }

  void find_live(uint32_t r) {
    work_.assign(reads_.of(r).begin(), reads_.of(r).end());
    for (const uint32_t b : work_) live_[b] = r;
    while (!work_.empty()) {
      const uint32_t b = work_.back();
      work_.pop_back();
      for (const uint32_t from : graph_.preds[b]) {
        if (!order_.reachable(from) || written_[from] == r || live_[from] == r) continue;
        live_[from] = r;
        work_.push_back(from);
      }
    }
  }

  const Program& p_;
  const Graph& graph_;
  const BlockOrder& order_;
  const DomTree& dom_;
  /// That read a register before they write it, write it, and know what a branch found out of it.
  BlocksByRegister reads_, writes_, splits_;
  std::vector<std::vector<uint32_t>> frontier_;  ///< [block] where its values meet others
  std::vector<uint32_t> written_, live_, has_;   ///< [block] the register of which it is true
  std::vector<uint32_t> work_;
  std::vector<std::vector<uint32_t>> args_;
};

}  // namespace

Ssa::Ssa(const Program& program, Split split)
    : program_(&program),
      graph_(block_graph(program)),
      order_(reverse_postorder(graph_)),
      dom_(dominators(graph_)),
      args_(Placement(program, graph_, order_, dom_).run(split)) {
  number_nodes();
  rename();
  list_users();
}

void Ssa::number_nodes() {
  const size_t blocks = program_->blocks.size();
  first_node_.assign(blocks, kNone);
  first_argument_.assign(blocks, 0);
  first_edge_.assign(blocks + 1, 0);
  first_incoming_.assign(blocks, 0);
  arrived_.assign(blocks, 0);
  uint32_t incoming = 0;
  for (uint32_t b = 0; b < blocks; ++b) {
    first_edge_[b + 1] = first_edge_[b] + static_cast<uint32_t>(graph_.succs[b].size());
    first_incoming_[b] = incoming;
    incoming += static_cast<uint32_t>(graph_.preds[b].size()) + (b == 0 ? 1 : 0);
  }
  incoming_.resize(incoming);
  uint32_t slots = 0;
  for (const uint32_t b : order_.nodes) {
    first_node_[b] = nodes();
    first_argument_[b] = static_cast<uint32_t>(values_.size());
    const auto inputs = static_cast<uint32_t>(graph_.preds[b].size()) + (b == 0 ? 1 : 0);
    for (uint32_t n = 0; n < args_[b].size(); ++n) {
      const auto first = static_cast<uint32_t>(inputs_.size());
      values_.push_back({Kind::argument, 0, args_[b][n], b, n, first, inputs});
      inputs_.resize(first + inputs, kNone);
      first_slot_.push_back(slots);
    }
    for (const Inst& i : program_->blocks[b].insts) {
      first_slot_.push_back(slots);
      slots += static_cast<uint32_t>(i.src.size() + 2 + i.dst.size());
    }
    first_slot_.push_back(slots++);
    block_of_.resize(first_slot_.size(), b);
  }
  slots_.assign(slots, kNone);
}

uint32_t Ssa::add(const Value& value) {
  values_.push_back(value);
  return static_cast<uint32_t>(values_.size() - 1);
}

uint32_t Ssa::read(uint32_t reg) {
  if (now_[reg] != kNone) return now_[reg];
  if (entry_[reg] == kNone) entry_[reg] = add({Kind::entry, 0, reg, 0, 0, 0, 0});
  return entry_[reg];
}

void Ssa::write(uint32_t reg, uint32_t value) {
  undo_.emplace_back(reg, now_[reg]);
  now_[reg] = value;
}

/// Down the dominator tree: what holds at the end of a block holds where those that it dominates
/// begin, but for their arguments.
void Ssa::rename() {
  entry_.assign(program_->regs.size(), kNone);
  now_ = entry_;
  std::vector<uint32_t> tree = order_.nodes;
  std::ranges::sort(tree, {}, [&](uint32_t b) { return dom_.enter[b]; });
  std::vector<std::pair<uint32_t, size_t>> above;  ///< blocks, and how much there was to undo
  for (const uint32_t b : tree) {
    while (!above.empty() && !dom_.dominates(above.back().first, b)) {
      for (; undo_.size() > above.back().second; undo_.pop_back())
        now_[undo_.back().first] = undo_.back().second;
      above.pop_back();
    }
    above.emplace_back(b, undo_.size());
    rename(b);
  }
}

void Ssa::rename(uint32_t b) {
  if (b == 0) {
    incoming_[arrived_[0]++] = {};
    for (uint32_t n = 0; n < args_[0].size(); ++n) {
      const uint32_t before = read(args_[0][n]);
      inputs_[values_[first_argument_[0] + n].first_input] = before;
    }
  }
  for (uint32_t n = 0; n < args_[b].size(); ++n) write(args_[b][n], first_argument_[b] + n);
  const Block& block = program_->blocks[b];
  uint32_t node = first_node_[b] + arguments(b);
  for (uint32_t i = 0; i < block.insts.size(); ++i, ++node) {
    const Inst& inst = block.insts[i];
    uint32_t* slot = &slots_[first_slot_[node]];
    for (const Operand& o : inst.src) *slot++ = o.is_reg() ? read(o.index) : kNone;
    const bool guarded = !inst.guard.always();
    *slot++ = guarded ? read(inst.guard.reg.id) : kNone;
    *slot++ = inst.mem && inst.mem->cache.hint.is_reg() ? read(inst.mem->cache.hint.index) : kNone;
    for (size_t d = 0; d < inst.dst.size(); ++d) {
      const Reg reg = inst.dst[d];
      if (!reg.valid()) continue;
      const auto which = static_cast<uint8_t>(d);
      uint32_t value = add({Kind::result, which, reg.id, b, i, 0, 0});
      if (guarded) {
        const uint32_t before = read(reg.id), made = value;
        value = add({Kind::merge, which, reg.id, b, i, static_cast<uint32_t>(inputs_.size()), 2});
        inputs_.insert(inputs_.end(), {made, before});
      }
      slot[d] = value;
    }
    for (size_t d = 0; d < inst.dst.size(); ++d)
      if (inst.dst[d].valid()) write(inst.dst[d].id, slot[d]);
  }
  uint32_t& decides = slots_[first_slot_[node]];
  for_each_use(block.term, [&](uint32_t r) { decides = read(r); });
  for (uint32_t k = 0; k < graph_.succs[b].size(); ++k) {
    const uint32_t to = graph_.succs[b][k], at = arrived_[to]++;
    incoming_[first_incoming_[to] + at] = {b, first_edge_[b] + k};
    for (uint32_t n = 0; n < args_[to].size(); ++n) {
      const uint32_t brought = read(args_[to][n]);
      inputs_[values_[first_argument_[to] + n].first_input + at] = brought;
    }
  }
}

void Ssa::list_users() {
  // Inputs of edges that are never taken are left out.
  for (Value& v : values_)
    if (v.kind == Kind::argument) v.inputs = arrived_[v.block];
  const auto each = [&](const auto& visit) {
    for (uint32_t node = 0; node < nodes(); ++node) {
      const uint32_t b = block_of_[node], index = node - first_node_[b];
      if (index < arguments(b)) {
        for (const uint32_t v : inputs(first_argument_[b] + index)) visit(v, node);
        continue;
      }
      const auto& insts = program_->blocks[b].insts;
      const uint32_t i = index - arguments(b);
      const size_t reads = i < insts.size() ? insts[i].src.size() + 2 : 1;
      for (size_t s = 0; s < reads; ++s)
        if (slots_[first_slot_[node] + s] != kNone) visit(slots_[first_slot_[node] + s], node);
      if (i == insts.size() || insts[i].guard.always()) continue;
      for (size_t d = 0; d < insts[i].dst.size(); ++d)
        if (insts[i].dst[d].valid()) visit(inputs(defined(b, i, d))[1], node);
    }
  };
  first_user_.assign(size() + 1, 0);
  each([&](uint32_t v, uint32_t) { ++first_user_[v + 1]; });
  for (size_t v = 0; v < size(); ++v) first_user_[v + 1] += first_user_[v];
  users_.resize(first_user_.back());
  std::vector<uint32_t> at(first_user_.begin(), first_user_.end() - 1);
  each([&](uint32_t v, uint32_t node) { users_[at[v]++] = node; });
}

const Inst* Ssa::made_by(uint32_t value) const {
  if (value == kNone || values_[value].kind != Kind::result) return nullptr;
  return &program_->blocks[values_[value].block].insts[values_[value].inst];
}

uint32_t Ssa::use(uint32_t block, size_t inst, size_t source) const {
  if (first_node_[block] == kNone) return kNone;
  return slots_[first_slot_[first_node_[block] + args_[block].size() + inst] + source];
}
uint32_t Ssa::guard(uint32_t block, size_t inst) const {
  return use(block, inst, program_->blocks[block].insts[inst].src.size());
}
uint32_t Ssa::hint(uint32_t block, size_t inst) const {
  return use(block, inst, program_->blocks[block].insts[inst].src.size() + 1);
}
uint32_t Ssa::defined(uint32_t block, size_t inst, size_t which) const {
  return use(block, inst, program_->blocks[block].insts[inst].src.size() + 2 + which);
}

std::optional<BranchTo> branch_to(const Ssa& ssa, uint32_t block) {
  const auto& preds = ssa.graph().preds[block];
  if (block == 0 || preds.size() != 1) return {};
  const Terminator& t = ssa.program().blocks[preds[0]].term;
  if (t.kind != Terminator::Kind::branch || t.targets[0] == t.targets[1]) return {};
  return BranchTo{ssa.deciding(preds[0]), (t.targets[0] == block) != t.cond.negate};
}

}  // namespace lanewise::ir
