// Which NaN a float operation gives shows only where its bits are looked at. Most results go to
// other float operations, which take all NaNs alike: those need not be made canonical.
#include <algorithm>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/flow/liveness.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/signature.hpp"

namespace lanewise::ir {
namespace {

bool is_wide_float(Type t) {
  return t == Type::f32 || t == Type::f64;
}
bool is_sign_op(Op op) {
  return op == Op::fneg || op == Op::fabs;
}
/// The result is the canonical NaN or no NaN (f16 is computed in the library, which sees to it).
bool computes(const Inst& i) {
  return i.op >= Op::fadd && i.op <= Op::ftanh_approx && !is_sign_op(i.op) && i.op != Op::fcmp &&
         i.op != Op::f2i && is_wide_float(i.type);
}

/// Bits that go from sources to the destination as they are (a sign apart): nothing looks at them.
bool carries(const Inst& i) {
  if (i.sat) return false;
  if (is_sign_op(i.op)) return is_wide_float(i.type);
  return (i.op == Op::mov || i.op == Op::select) && !i.ftz && size_of(i.type) >= 4;
}
size_t first_carried(const Inst& i) {
  return i.op == Op::select ? 1 : 0;
}

/// Source `s` is read as a float whose NaNs are all alike.
bool reads_as_float(const Inst& i, size_t s) {
  if (i.op < Op::fadd || i.op > Op::ftanh_approx || s >= i.src.size()) return false;
  if (i.op == Op::i2f) return false;
  const bool converts = i.op == Op::f2f || i.op == Op::f2i;
  return is_wide_float(converts ? i.from : i.type);
}

/// Is the pattern a NaN other than the canonical one of its width?
bool odd_nan(uint64_t bits, Type type) {
  if (size_of(type) == 8) {
    return (bits << 1) > 0xffe0000000000000 && bits != 0xfff8000000000000;
  }
  return (bits & 0x7fffffff) > 0x7f800000 && (bits & 0xffffffff) != 0x7fffffff;
}

using Set = std::vector<bool>;

/// Joins `from` to `into`; did that change it?
bool join(Set& into, const Set& from) {
  bool changed = false;
  for (size_t i = 0; i < into.size(); ++i) {
    if (!from[i] || into[i]) continue;
    into[i] = changed = true;
  }
  return changed;
}

/// Registers that ever hold what a float operation gave; the others are of no interest. The sets
/// below are over their numbers.
class Candidates {
 public:
  explicit Candidates(const Program& p) : number_(p.regs.size(), kNone) {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Block& b : p.blocks)
        for (const Inst& i : b.insts)
          if (computes(i) || (carries(i) && carries_candidate(i))) changed |= add(i.dst[0]);
    }
  }
  size_t size() const { return count_; }
  uint32_t operator[](uint32_t reg) const { return number_[reg]; }
  bool has(uint32_t reg) const { return number_[reg] != kNone; }

 private:
  bool carries_candidate(const Inst& i) const {
    return std::any_of(i.src.begin() + static_cast<ptrdiff_t>(first_carried(i)), i.src.end(),
                       [&](const Operand& o) { return o.is_reg() && has(o.index); });
  }
  bool add(Reg r) {
    if (has(r.id)) return false;
    number_[r.id] = count_++;
    return true;
  }

  std::vector<uint32_t> number_;
  uint32_t count_ = 0;
};

/// Backwards: registers whose bits somebody may look at before they are written again.
class Seen {
 public:
  Seen(const Program& p, const Graph& graph, const Candidates& candidates)
      : p_(p), candidates_(candidates), in_(p.blocks.size(), Set(candidates.size())), out_(in_) {
    std::vector<uint32_t> work;
    std::vector<bool> waits(p.blocks.size(), true);
    for (uint32_t b = 0; b < p.blocks.size(); ++b) work.push_back(b);
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      waits[b] = false;
      Set now = at_end(b);
      const auto& insts = p.blocks[b].insts;
      for (size_t i = insts.size(); i-- > 0;) step(insts[i], now);
      in_[b] = std::move(now);
      for (const uint32_t pred : graph.preds[b]) {
        if (!join(out_[pred], in_[b]) || waits[pred]) continue;
        waits[pred] = true;
        work.push_back(pred);
      }
    }
  }
  Set at_end(uint32_t block) const {
    Set now = out_[block];
    for_each_use(p_.blocks[block].term, [&](uint32_t r) { see(r, now); });
    return now;
  }
  /// From behind an instruction to in front of it.
  void step(const Inst& i, Set& now) const {
    const bool carried =
        carries(i) && candidates_.has(i.dst[0].id) && now[candidates_[i.dst[0].id]];
    if (i.guard.always()) {
      for (const Reg r : i.dst)
        if (r.valid() && candidates_.has(r.id)) now[candidates_[r.id]] = false;
    }
    if (carries(i) && !carried) return;
    for (size_t s = 0; s < i.src.size(); ++s)
      if (i.src[s].is_reg() && !reads_as_float_only(i, s)) see(i.src[s].index, now);
    if (i.mem && i.mem->cache.hint.is_reg()) see(i.mem->cache.hint.index, now);
  }

 private:
  static bool reads_as_float_only(const Inst& i, size_t s) {
    return !carries(i) && reads_as_float(i, s);
  }
  void see(uint32_t reg, Set& now) const {
    if (candidates_.has(reg)) now[candidates_[reg]] = true;
  }

  const Program& p_;
  const Candidates& candidates_;
  std::vector<Set> in_, out_;
};

/// Forwards: registers that may hold a NaN other than the canonical one (bits from memory, or made
/// by integer operations).
class Odd {
 public:
  Odd(const Program& p, const Graph& graph, const Candidates& candidates)
      : candidates_(candidates), in_(p.blocks.size(), Set(candidates.size())) {
    in_[0].assign(candidates.size(), true);  // what a register holds at the start is not known here
    std::vector<uint32_t> work;
    std::vector<bool> waits(p.blocks.size(), true);
    for (uint32_t b = static_cast<uint32_t>(p.blocks.size()); b-- > 0;) work.push_back(b);
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      waits[b] = false;
      Set now = in_[b];
      for (const Inst& i : p.blocks[b].insts) step(i, now);
      for (const uint32_t next : graph.succs[b]) {
        if (!join(in_[next], now) || waits[next]) continue;
        waits[next] = true;
        work.push_back(next);
      }
    }
  }
  Set at_begin(uint32_t block) const { return in_[block]; }
  void step(const Inst& i, Set& now) const {
    for (const Reg r : i.dst) {
      if (!r.valid() || !candidates_.has(r.id)) continue;
      const bool odd = gives_odd(i, now), stays = !i.guard.always() && now[candidates_[r.id]];
      now[candidates_[r.id]] = odd || stays;
    }
  }

 private:
  bool gives_odd(const Inst& i, const Set& now) const {
    if (computes(i)) return false;
    if (!carries(i)) return true;
    for (size_t s = first_carried(i); s < i.src.size(); ++s) {
      const Operand& o = i.src[s];
      if (o.is_imm() ? odd_nan(o.imm, i.type)
                     : !o.is_reg() || !candidates_.has(o.index) || now[candidates_[o.index]])
        return true;
    }
    // A negative canonical NaN is another one.
    return is_sign_op(i.op);
  }

  const Candidates& candidates_;
  std::vector<Set> in_;
};

/// Registers with a float operation in a loop; [register] = its depth, 0 outside of all.
std::vector<uint32_t> depths_of_results(const Program& p, const std::vector<uint32_t>& depth) {
  std::vector<uint32_t> most(p.regs.size(), 0);
  for (uint32_t b = 0; b < p.blocks.size(); ++b)
    for (const Inst& i : p.blocks[b].insts)
      if (computes(i)) most[i.dst[0].id] = std::max(most[i.dst[0].id], depth[b]);
  return most;
}

std::vector<uint32_t> loop_depths(const Program& p, const Graph& graph) {
  std::vector<uint32_t> depth(p.blocks.size(), 0);
  const BlockOrder order = reverse_postorder(graph);
  const DomTree dom = dominators(graph);
  if (!reducible(graph, order, dom)) return depth;
  const Loops all = loops(graph, order, dom);
  for (uint32_t b = 0; b < p.blocks.size(); ++b)
    if (order.reachable(b) && all.header[b] != kNone) depth[b] = all.depth[all.header[b]];
  return depth;
}

Inst canonical_again(Reg r, Type type, uint32_t site) {
  Inst i;
  i.op = Op::f2f;
  i.type = i.from = type;
  i.dst = {r};
  i.src = {r};
  i.site = site;
  return i;
}

/// A sum that a loop adds up and that is stored behind the loop would be made canonical in each
/// round. Where all that can arrive is canonical anyway, that is done once in front of the store.
void canonical_behind_loops(Program& p, const Graph& graph, const Candidates& candidates) {
  const std::vector<uint32_t> depth = loop_depths(p, graph);
  const std::vector<uint32_t> made = depths_of_results(p, depth);
  const Odd odd(p, graph, candidates);
  for (uint32_t b = 0; b < p.blocks.size(); ++b) {
    Set odd_now = odd.at_begin(b), done(candidates.size());
    std::vector<Inst> out;
    for (Inst& i : p.blocks[b].insts) {
      for (size_t s = 0; s < i.src.size() && !carries(i); ++s) {
        if (!i.src[s].is_reg() || reads_as_float(i, s)) continue;
        const uint32_t r = i.src[s].index;
        if (!candidates.has(r) || made[r] <= depth[b]) continue;
        if (odd_now[candidates[r]] || done[candidates[r]]) continue;
        const Type type = p.regs[r].width == Width::b64 ? Type::f64 : Type::f32;
        out.push_back(canonical_again(Reg{r}, type, i.site));
        done[candidates[r]] = true;
      }
      odd.step(i, odd_now);
      for (const Reg r : i.dst)
        if (r.valid() && candidates.has(r.id)) done[candidates[r.id]] = false;
      out.push_back(std::move(i));
    }
    p.blocks[b].insts = std::move(out);
  }
}

}  // namespace

void relax_nans(Program& program) {
  const Candidates candidates(program);
  if (candidates.size() == 0) return;
  const Graph graph = block_graph(program);
  canonical_behind_loops(program, graph, candidates);
  const Seen seen(program, graph, candidates);
  for (uint32_t b = 0; b < program.blocks.size(); ++b) {
    Set now = seen.at_end(b);
    auto& insts = program.blocks[b].insts;
    for (size_t i = insts.size(); i-- > 0;) {
      if (computes(insts[i])) insts[i].any_nan = !now[candidates[insts[i].dst[0].id]];
      seen.step(insts[i], now);
    }
  }
}

}  // namespace lanewise::ir
