// Warp-synchronous code: accesses to memory that nothing but the wave's step puts in order.
#include "runtime/ir/passes/waves/wave_steps.hpp"

#include <algorithm>

#include "runtime/ir/make.hpp"
#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/waves/uniformity.hpp"
#include "runtime/ir/yield.hpp"

namespace lanewise::ir {
namespace {

constexpr uint32_t kWholeWave = 0xffffffff;

/// What lanes have done since all of the wave's lanes were at one place.
struct Pending {
  bool reads = false, writes = false;
  bool operator==(const Pending&) const = default;
  void join(const Pending& other) {
    reads = reads || other.reads;
    writes = writes || other.writes;
  }
};

bool gives_old_value(const Inst& i) {
  return i.op == Op::atom && !i.dst.empty() && i.dst[0].valid();
}

/// Who gets a lock goes on, the others try again.
bool may_take_lock(const Inst& i) {
  if (!gives_old_value(i)) return false;
  const AtomOp op = i.mem->atom;
  return op == AtomOp::cas || op == AtomOp::fcas || op == AtomOp::exch;
}

/// Blocks of loops that may take a lock. What stands inside is done by one lane while others try
/// again, so the wave cannot reconverge there, nor need it: the lock is the order.
std::vector<bool> under_locks(const Program& p) {
  std::vector<bool> out(p.blocks.size());
  const Graph graph = block_graph(p);
  const BlockOrder order = reverse_postorder(graph);
  const DomTree dom = dominators(graph);
  if (!reducible(graph, order, dom)) return out;
  const Loops nest = loops(graph, order, dom);
  std::vector<bool> takes(p.blocks.size());
  for (size_t b = 0; b < p.blocks.size(); ++b)
    if (nest.header[b] != kNone && std::ranges::any_of(p.blocks[b].insts, may_take_lock))
      takes[nest.header[b]] = true;
  for (size_t b = 0; b < p.blocks.size(); ++b)
    for (uint32_t h = nest.header[b]; h != kNone; h = nest.parent[h])
      if (takes[h]) out[b] = true;
  return out;
}

bool is_member_of_all(const Operand& o) {
  return o.is_imm() && static_cast<uint32_t>(o.imm) == kWholeWave;
}

/// No lane is behind it before all lanes that come here are at it.
bool brings_together(const Inst& i) {
  if (!i.guard.always()) return false;
  switch (i.op) {
    case Op::barrier:
      return is_waiting_barrier(i);
    case Op::wave_sync:
      return is_member_of_all(i.src[0]);
    case Op::vote_any:
    case Op::vote_all:
    case Op::vote_uni:
    case Op::vote_ballot:
      return is_member_of_all(i.src[1]);
    case Op::shfl:
      return is_member_of_all(i.src[3]);
    default:
      return false;
  }
}

class Steps {
 public:
  Steps(Program& p, StepEvidence evidence) : p_(p), evidence_(evidence), in_(p.blocks.size()) {}

  bool run() {
    for (const Block& b : p_.blocks)
      publishes_ = publishes_ || std::ranges::any_of(b.insts, gives_old_value);
    if (!has_both()) return false;
    locked_ = under_locks(p_);
    const Uniformity u(p_, Together::wave);
    for (uint32_t b = 0; b < p_.blocks.size(); ++b) whole_.push_back(u.block(b));
    solve();
    if (!found_) return false;
    mark_ = true;
    steps_.resize(p_.blocks.size());
    waited_.resize(p_.blocks.size());
    find_reading_loops();
    std::ranges::fill(in_, Pending{});
    solve();
    insert();
    return true;
  }

 private:
  /// Shared memory, and what the guest called volatile wherever it may lie; but that is also how
  /// kernels look at what they publish by atomics.
  bool is_shared(const Mem& m) const {
    if (m.space == Space::shared) return true;
    return m.order == Order::volatile_ && m.space != Space::local && !publishes_;
  }
  bool is_access(const Inst& i) const {
    return (i.op == Op::load || i.op == Op::store) && i.mem.has_value() && is_shared(*i.mem);
  }

  /// Is this access one whose order the programmer can only have left to the step of the wave?
  bool counts(const Inst& i) const {
    return mark_ || evidence_ == StepEvidence::any_access || i.mem->order == Order::volatile_;
  }

  bool has_both() const {
    bool reads = false, writes = false;
    for (const Block& b : p_.blocks)
      for (const Inst& i : b.insts)
        if (is_access(i) && counts(i)) (i.op == Op::load ? reads : writes) = true;
    return reads && writes;
  }

  /// Loops that only read, in each iteration: they need no step but the one in front of them, where
  /// the whole wave is. Lanes that wait there for another group's flag then leave one by one.
  void find_reading_loops() {
    const Graph graph = block_graph(p_);
    const BlockOrder order = reverse_postorder(graph);
    const DomTree dom = dominators(graph);
    if (!reducible(graph, order, dom)) return;
    const Loops nest = loops(graph, order, dom);
    std::vector<bool> writes(p_.blocks.size());
    for (uint32_t b = 0; b < p_.blocks.size(); ++b)
      if (std::ranges::any_of(p_.blocks[b].insts,
                              [&](const Inst& i) { return is_access(i) && i.op == Op::store; }))
        for (uint32_t h = nest.header[b]; h != kNone; h = nest.parent[h]) writes[h] = true;
    for (const uint32_t b : order.nodes) {
      if (p_.blocks[b].term.kind != Terminator::Kind::jump || !whole_[b]) continue;
      const uint32_t h = p_.blocks[b].term.targets[0];
      if (!nest.is_header[h] || writes[h] || locked_[h] || dom.dominates(h, b)) continue;
      const bool only = std::ranges::all_of(
          graph.preds[h], [&](uint32_t from) { return from == b || dom.dominates(h, from); });
      const auto& insts = p_.blocks[h].insts;
      const auto read = std::ranges::find_if(
          insts, [&](const Inst& i) { return is_access(i) || brings_together(i); });
      if (only && read != insts.end() && is_access(*read)) waited_[b] = &*read;
    }
  }

  /// Accesses only ever join: a fixed point is reached after a few rounds.
  void solve() {
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t b = 0; b < p_.blocks.size(); ++b) {
        const Pending out = walk(b);
        for (const uint32_t s : p_.blocks[b].term.targets) {
          const Pending before = in_[s];
          in_[s].join(out);
          changed = changed || in_[s] != before;
        }
      }
    }
  }

  /// Stores of a block by themselves need no order: lanes write places of their own.
  Pending walk(size_t b) {
    const std::vector<Inst>& insts = p_.blocks[b].insts;
    if (mark_) steps_[b].assign(insts.size() + 1, false);
    Pending before = in_[b], here, all = in_[b];
    const auto together = [&](bool everyone) {
      before = here = {};
      if (everyone) all = {};
    };
    for (size_t n = 0; n < insts.size(); ++n) {
      const Inst& i = insts[n];
      if (brings_together(i)) together(whole_[b] || i.op == Op::barrier);
      if (!is_access(i) || !counts(i)) continue;
      const bool read = i.op == Op::load;
      const bool met = !locked_[b] && (read ? before.writes || here.writes
                                            : before.reads || before.writes || here.reads);
      if (read && met) found_ = true;
      if (met && mark_) {
        steps_[b][n] = true;
        together(whole_[b]);
      }
      (read ? here.reads : here.writes) = true;
      (read ? all.reads : all.writes) = true;
    }
    if (mark_ && waited_[b] != nullptr && all.writes) {
      steps_[b][insts.size()] = true;
      together(true);
    }
    return all;
  }

  void insert() {
    std::vector<uint32_t> sites(p_.blocks.size());
    for (size_t b = 0; b < p_.blocks.size(); ++b)
      if (waited_[b] != nullptr) sites[b] = waited_[b]->site;
    for (size_t b = 0; b < p_.blocks.size(); ++b) {
      if (std::ranges::find(steps_[b], true) == steps_[b].end()) continue;
      std::vector<Inst> out;
      std::vector<Inst>& insts = p_.blocks[b].insts;
      for (size_t n = 0; n < steps_[b].size(); ++n) {
        const bool end = n == insts.size();
        if (steps_[b][n]) {
          out.push_back(instruction(Op::wave_sync, Type::none, {}, {Operand::immediate(kWholeWave)},
                                    end ? sites[b] : insts[n].site));
          out.back().mode = kImpliedStep;
        }
        if (!end) out.push_back(std::move(insts[n]));
      }
      insts = std::move(out);
    }
  }

  Program& p_;
  StepEvidence evidence_;
  std::vector<Pending> in_;
  /// [block] All lanes of the wave come here together. What brings lanes together elsewhere says
  /// nothing of those that have gone another way: they may yet come to what these have done.
  std::vector<bool> whole_;
  std::vector<bool> locked_;              ///< [block] under_locks()
  std::vector<std::vector<bool>> steps_;  ///< [block][instruction], and one for the block's end
  std::vector<const Inst*> waited_;       ///< [block in front of a loop that reads] its access
  bool publishes_ = false;                ///< some atomic's old value is looked at
  bool mark_ = false, found_ = false;
};

}  // namespace

bool step_waves(Program& program, StepEvidence evidence) {
  return Steps(program, evidence).run();
}

}  // namespace lanewise::ir
