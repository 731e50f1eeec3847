#include "runtime/spirv/waves/swap_loops.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/ir/passes/flow/cfg.hpp"
#include "runtime/ir/passes/values/numbering.hpp"
#include "runtime/spirv/waves/terms.hpp"
#include "runtime/support/enum_set.hpp"

namespace lanewise::spirv {
namespace {

using ir::Op;
using ir::Space;

/// Of what is looked at in one loop: instructions and blocks on all paths, and iterations.
constexpr size_t kMostSteps = 10'000, kMostRounds = 32;

/// Blocks that each lead to each other, entered at the header alone, with no such blocks inside.
struct Innermost {
  uint32_t header = ir::kNone;
  std::vector<uint32_t> blocks;
};

class InnermostLoops {
 public:
  explicit InnermostLoops(const ir::Graph& graph)
      : graph_(graph), components_(graph), inside_(graph.size()) {}

  std::vector<Innermost> find() {
    std::vector<std::vector<uint32_t>> work = {ir::reverse_postorder(graph_).nodes};
    while (!work.empty()) {
      const std::vector<uint32_t> nodes = std::move(work.back());
      work.pop_back();
      for (const std::vector<uint32_t>& c : components_.of(nodes))
        if (cycles(c)) take_apart(c, work);
    }
    return std::move(found_);
  }

 private:
  bool cycles(const std::vector<uint32_t>& c) const {
    return c.size() > 1 || std::ranges::find(graph_.succs[c[0]], c[0]) != graph_.succs[c[0]].end();
  }

  void take_apart(const std::vector<uint32_t>& c, std::vector<std::vector<uint32_t>>& work) {
    for (const uint32_t b : c) inside_[b] = true;
    std::vector<uint32_t> entries, rest;
    for (const uint32_t b : c) {
      const bool entered =
          b == graph_.root ||
          std::ranges::any_of(graph_.preds[b], [&](uint32_t p) { return !inside_[p]; });
      (entered ? entries : rest).push_back(b);
    }
    for (const uint32_t b : c) inside_[b] = false;
    const auto parts = components_.of(rest);
    if (entries.size() == 1 &&
        std::ranges::none_of(parts, [&](const auto& part) { return cycles(part); })) {
      found_.push_back({entries[0], c});
    } else {
      work.push_back(std::move(rest));
    }
  }

  const ir::Graph& graph_;
  ir::Components components_;
  std::vector<bool> inside_;
  std::vector<Innermost> found_;
};

/// Memory of one of them is never that of another.
bool apart(Space a, Space b) {
  const auto own = [](Space s) {
    return s == Space::shared || s == Space::global || s == Space::local;
  };
  return a == Space::local || (own(a) && own(b) && a != b);
}

/// Of what an instruction gives that nothing else is known about.
uint32_t most_bits(const ir::Inst& inst) {
  const bool narrow = inst.op == Op::load && !ir::is_signed(inst.mem->elem);
  return narrow ? 8 * ir::size_of(inst.mem->elem) : 64;
}

/// An atomic that is one compare-and-swap of bits, and says what it found.
bool whole_swap(const ir::Inst& inst) {
  const ir::Mem& m = *inst.mem;
  if (m.atom != ir::AtomOp::cas || m.checked) return false;
  const bool one = m.count == 1 || (m.count == 2 && m.elem == ir::Type::u64);
  return one && inst.dst.size() == m.count && inst.src.size() == 1U + 2U * m.count &&
         std::ranges::all_of(inst.dst, [](ir::Reg reg) { return reg.valid(); });
}

/// One iteration of a loop, on all paths from its header to its header.
class Iteration {
 public:
  Iteration(const ir::Program& program, const Innermost& loop)
      : program_(program), loop_(loop), inside_(program.blocks.size()) {
    for (const uint32_t b : loop.blocks) inside_[b] = true;
  }

  bool proven() {
    if (!find_swap()) return false;
    Path first;
    first.block = loop_.header;
    for (const ir::RegInfo& reg : program_.regs)
      first.regs.push_back(terms_.unknown(reg.width == ir::Width::pred ? 1 : 64));
    at_header_ = first.regs;
    paths_.push_back(std::move(first));
    while (!paths_.empty()) {
      Path path = std::move(paths_.back());
      paths_.pop_back();
      if (!follow(std::move(path))) return false;
    }
    return std::ranges::all_of(rounds_, [&](const Round& round) { return hands_over(round); });
  }

 private:
  /// How far a lane has come, and what it knows.
  struct Path {
    uint32_t block = 0;
    size_t inst = 0;
    std::vector<Term> regs;
    Terms::Bindings known;
    bool swapped = false, succeeded = false;
    Term address = 0;
    std::vector<Term> returned;
  };
  /// A lane that iterates: what it takes along.
  struct Round {
    std::vector<Term> regs;
    Terms::Bindings known;
    Term address;
    std::vector<Term> returned;
  };
  /// What a try asks for, in terms of what registers held at the header.
  struct Try {
    Term address;
    std::vector<Term> compared;
    auto operator<=>(const Try&) const = default;
  };
  struct Loaded {
    const ir::Inst* inst;
    Term address;
  };

  bool find_swap() {
    for (const uint32_t b : loop_.blocks) {
      for (const ir::Inst& inst : program_.blocks[b].insts) {
        if (inst.op != Op::atom) continue;
        if (swap_ != nullptr || !whole_swap(inst)) return false;
        swap_ = &inst;
      }
    }
    return swap_ != nullptr && std::ranges::all_of(loop_.blocks, [&](uint32_t b) {
             return std::ranges::all_of(program_.blocks[b].insts,
                                        [&](const ir::Inst& inst) { return harmless(inst); });
           });
  }

  /// Waits for nobody, and writes nothing that the compare-and-swap could read.
  bool harmless(const ir::Inst& inst) const {
    static constexpr EnumSet<Op> kHarmless{Op::load, Op::atom,   Op::fence,
                                           Op::trap, Op::report, Op::async_note};
    if (inst.op == Op::store) return apart(inst.mem->space, swap_->mem->space);
    return kHarmless.has(inst.op) || ir::info(inst.op).trait == ir::OpTrait::pure;
  }

  Term value(const Path& path, const ir::Operand& o) {
    if (o.is_reg()) return path.regs[o.index];
    if (o.kind == ir::Operand::Kind::symbol) return terms_.address_of(o);
    return terms_.constant(o.imm);
  }
  Term condition(const Path& path, const ir::Guard& guard) {
    if (guard.always()) return terms_.constant(1);
    const Term reg = path.regs[guard.reg.id];
    return terms_.replaced(guard.negate ? terms_.opposite(reg) : reg, path.known);
  }

  /// To the end of the block, from where all paths that stay in the loop are noted. False:
  /// something is not proven.
  bool follow(Path path) {
    const ir::Block& block = program_.blocks[path.block];
    for (++steps_; path.inst < block.insts.size(); ++steps_) {
      if (steps_ > kMostSteps) return false;
      const ir::Inst& inst = block.insts[path.inst++];
      if (inst.op == Op::trap && inst.guard.always()) return true;
      if (&inst != swap_) {
        compute(path, inst);
      } else if (!swap(path)) {
        return false;
      }
    }
    const ir::Terminator& term = block.term;
    if (term.kind != ir::Terminator::Kind::branch || term.targets[0] == term.targets[1])
      return std::ranges::all_of(term.targets, [&](uint32_t to) { return go_on(path, to); });
    const Term decides = condition(path, term.cond);
    const auto known = terms_.bits(decides);
    for (const bool side : {true, false}) {
      if (known && (*known != 0) != side) continue;
      Path taken = path;
      terms_.assume(decides, side, taken.known);
      if (!go_on(std::move(taken), term.targets[side ? 0 : 1])) return false;
    }
    return true;
  }

  bool go_on(Path path, uint32_t to) {
    if (to == loop_.header) return next_iteration(std::move(path));
    if (!inside_[to]) return true;
    path.block = to;
    path.inst = 0;
    paths_.push_back(std::move(path));
    return true;
  }

  void write(Path& path, const ir::Inst& inst, Term guard, size_t which, Term term) {
    const ir::Reg reg = inst.dst[which];
    if (reg.valid()) path.regs[reg.id] = terms_.choice(guard, term, path.regs[reg.id]);
  }

  void compute(Path& path, const ir::Inst& inst) {
    if (inst.dst.empty()) return;
    const Term guard = condition(path, inst.guard);
    std::vector<Term> sources;
    for (const ir::Operand& o : inst.src) sources.push_back(value(path, o));
    const bool same = ir::is_plain_move(inst) || ir::repeatable(inst);
    const bool known =
        same && !inst.buffer && !inst.any_nan && (inst.op != Op::load || inst.src[0].is_imm());
    std::vector<Term> results;
    for (uint32_t k = 0; k < inst.dst.size(); ++k)
      results.push_back(known ? terms_.result(inst, k, sources) : terms_.unknown(most_bits(inst)));
    for (size_t k = 0; k < results.size(); ++k) write(path, inst, guard, k, results[k]);
    if (inst.op == Op::load && !known && ir::is_strong(inst))
      loads_.push_back({results[0], {&inst, terms_.replaced(sources[0], path.known)}});
  }

  /// The lane tries; where that may turn out as one or the other, the path on which it succeeds is
  /// noted.
  bool swap(Path& path) {
    const Term guard = condition(path, swap_->guard);
    const auto tries = terms_.bits(guard);
    if (tries && *tries == 0) return true;
    if (!tries) {
      Path without = path;
      terms_.assume(guard, false, without.known);
      paths_.push_back(std::move(without));
      terms_.assume(guard, true, path.known);
    }
    if (path.swapped) return false;
    path.swapped = true;
    const uint32_t bytes = ir::size_of(swap_->mem->elem);
    Try now{terms_.replaced(value(path, swap_->src[0]), path.known), {}};
    for (size_t k = 0; k < swap_->dst.size(); ++k) {
      const Term given = terms_.replaced(value(path, swap_->src[1 + k]), path.known);
      now.compared.push_back(terms_.low_bytes(given, bytes));
    }
    Path success = path;
    success.succeeded = true;
    for (size_t k = 0; k < swap_->dst.size(); ++k) {
      success.regs[swap_->dst[k].id] = now.compared[k];
      path.returned.push_back(terms_.unknown(8 * bytes));
      path.regs[swap_->dst[k].id] = path.returned[k];
    }
    paths_.push_back(std::move(success));
    path.address = now.address;
    if (!just_loaded(now)) tries_.insert(std::move(now));
    return true;
  }

  /// A strong load of this iteration found the comparand where the compare-and-swap looks for it.
  bool just_loaded(const Try& now) const {
    const ir::Mem& m = *swap_->mem;
    return now.compared.size() == 1 && std::ranges::any_of(loads_, [&](const auto& load) {
             const ir::Mem& l = *load.second.inst->mem;
             return load.first == now.compared[0] && load.second.address == now.address &&
                    l.offset == m.offset && l.space == m.space && l.count == 1 &&
                    ir::size_of(l.elem) == ir::size_of(m.elem) && l.align == m.align;
           });
  }

  bool next_iteration(Path path) {
    if (!path.swapped || path.succeeded || rounds_.size() == kMostRounds) return false;
    rounds_.push_back({std::move(path.regs), std::move(path.known), path.address, path.returned});
    return true;
  }

  /// Whatever the lane tries in its next iteration, it asks for what it was given, at the same
  /// address.
  bool hands_over(const Round& round) {
    return std::ranges::all_of(tries_, [&](const Try& next) {
      if (in_next_iteration(next.address, round) != terms_.replaced(round.address, round.known))
        return false;
      for (size_t k = 0; k < round.returned.size(); ++k)
        if (in_next_iteration(next.compared[k], round) != round.returned[k]) return false;
      return true;
    });
  }

  /// A term over the registers at the header, when these are what the lane brings there.
  Term in_next_iteration(Term term, const Round& round) {
    Terms::Bindings by;
    for (const Term leaf : terms_.unknowns(term)) {
      const auto reg = std::ranges::lower_bound(at_header_, leaf);
      const bool from_header = reg != at_header_.end() && *reg == leaf;
      by[leaf] = from_header ? round.regs[static_cast<size_t>(reg - at_header_.begin())]
                             : terms_.unknown();
    }
    return terms_.replaced(terms_.replaced(term, by), round.known);
  }

  const ir::Program& program_;
  const Innermost& loop_;
  std::vector<bool> inside_;
  const ir::Inst* swap_ = nullptr;
  Terms terms_;
  std::vector<Term> at_header_;  ///< [register], ascending
  std::vector<Path> paths_;      ///< that nobody has followed yet
  std::vector<std::pair<Term, Loaded>> loads_;
  std::set<Try> tries_;
  std::vector<Round> rounds_;
  size_t steps_ = 0;
};

/// The convergence point of all exits of the loop, past blocks that only lead on.
uint32_t convergence_point(const ir::Program& program, const std::vector<uint32_t>& blocks) {
  const std::set<uint32_t> inside(blocks.begin(), blocks.end());
  std::set<uint32_t> ends;
  for (const uint32_t b : blocks) {
    for (uint32_t to : program.blocks[b].term.targets) {
      if (inside.contains(to)) continue;
      for (size_t n = 0; n < program.blocks.size(); ++n) {
        const ir::Block& block = program.blocks[to];
        if (!block.insts.empty() || block.term.kind != ir::Terminator::Kind::jump) break;
        to = block.term.targets[0];
      }
      ends.insert(to);
    }
  }
  return ends.size() == 1 ? *ends.begin() : ir::kNone;
}

}  // namespace

std::vector<SwapLoop> swap_loops(const ir::Program& program) {
  std::vector<SwapLoop> found;
  const auto swaps = [](const ir::Inst& i) { return i.op == Op::atom && whole_swap(i); };
  if (!ir::any_inst(program, swaps)) return found;
  const ir::Graph graph = ir::block_graph(program);
  for (Innermost& loop : InnermostLoops(graph).find()) {
    if (!Iteration(program, loop).proven()) continue;
    const uint32_t to = convergence_point(program, loop.blocks);
    found.push_back({std::move(loop.blocks), to});
  }
  return found;
}

}  // namespace lanewise::spirv
