#include <algorithm>
#include <set>

#include "runtime/ir/passes/passes.hpp"

namespace lanewise::ir {
namespace {

class PhaseSplitter {
 public:
  explicit PhaseSplitter(const Program& p) {
    out_.program = p;
    out_.resume = out_.program.add_reg(Width::b32, std::string("resume"));
    out_.barrier_id = out_.program.add_reg(Width::b32, std::string("barrier_id"));
    out_.barrier_count = out_.program.add_reg(Width::b32, std::string("barrier_count"));
  }

  Phases run() {
    make_room_for_entry();
    // Splitting appends the rest of a block as a new block, which the loop then reaches.
    for (uint32_t b = 1; b < out_.program.blocks.size(); ++b) split(b);
    for (uint32_t b = 1; b < out_.program.blocks.size(); ++b) {
      Block& block = out_.program.blocks[b];
      if (block.term.kind == Terminator::Kind::exit && !waits_.contains(b)) {
        block.insts.push_back(set(out_.resume, Operand::immediate(kPhaseEnded), block.term.site));
      }
    }
    write_entry();
    find_carried();
    return std::move(out_);
  }

 private:
  static Inst set(Reg reg, Operand value, uint32_t site, Guard guard = {}) {
    Inst i;
    i.op = Op::mov;
    i.type = Type::u32;
    i.guard = guard;
    i.dst = {reg};
    i.src = {value};
    i.site = site;
    return i;
  }

  /// Block 0 becomes the dispatch on `resume`; the kernel's own entry moves.
  void make_room_for_entry() {
    auto& blocks = out_.program.blocks;
    start_ = static_cast<uint32_t>(blocks.size());
    for (Block& b : blocks) {
      std::replace(b.term.targets.begin(), b.term.targets.end(), 0U, start_);
    }
    blocks.push_back(std::move(blocks[0]));
    blocks[0] = Block{};
  }

  /// Cuts the block behind its first barrier.
  void split(uint32_t b) {
    auto& blocks = out_.program.blocks;
    for (size_t i = 0; i < blocks[b].insts.size(); ++i) {
      const Inst inst = blocks[b].insts[i];
      if (inst.op == Op::trap) {
        // The lane ends here, so it must not be resumed.
        const Inst ended = set(out_.resume, Operand::immediate(kPhaseEnded), inst.site, inst.guard);
        blocks[b].insts.insert(blocks[b].insts.begin() + static_cast<ptrdiff_t>(i), ended);
        ++i;
      } else if (inst.op == Op::barrier) {
        cut(b, i, inst);
        return;
      }
    }
  }

  void cut(uint32_t b, size_t at, Inst barrier) {
    auto& blocks = out_.program.blocks;
    const auto rest = static_cast<uint32_t>(blocks.size());
    Block after;
    after.label = blocks[b].label;
    after.insts.assign(blocks[b].insts.begin() + static_cast<ptrdiff_t>(at) + 1,
                       blocks[b].insts.end());
    after.term = std::move(blocks[b].term);
    blocks[b].insts.resize(at);
    blocks[b].term = {};
    blocks.push_back(std::move(after));
    uint32_t wait = b;
    if (!barrier.guard.always()) {
      wait = static_cast<uint32_t>(blocks.size());
      blocks.push_back({blocks[b].label, {}, {}});
      Terminator t;
      t.kind = Terminator::Kind::branch;
      t.cond = barrier.guard;
      t.targets = {wait, rest};
      t.site = barrier.site;
      blocks[b].term = std::move(t);
      barrier.guard = {};
    }
    end_phase(wait, barrier);
    resume_at_.push_back(rest);
    out_.barriers.push_back(std::move(barrier));
  }

  void end_phase(uint32_t wait, const Inst& barrier) {
    Block& block = out_.program.blocks[wait];
    const uint32_t k = static_cast<uint32_t>(out_.barriers.size()) + 1;
    if (!barrier.src[0].is_imm()) {
      block.insts.push_back(set(out_.barrier_id, barrier.src[0], barrier.site));
    }
    if (!barrier.src[1].is_imm()) {
      block.insts.push_back(set(out_.barrier_count, barrier.src[1], barrier.site));
    }
    block.insts.push_back(set(out_.resume, Operand::immediate(k), barrier.site));
    block.term.site = barrier.site;
    waits_.insert(wait);
  }

  void write_entry() {
    auto& blocks = out_.program.blocks;
    Terminator t;
    t.kind = Terminator::Kind::switch_;
    t.selector = out_.resume;
    t.cases.push_back(0);
    t.targets.push_back(start_);
    for (size_t k = 0; k < resume_at_.size(); ++k) {
      t.cases.push_back(k + 1);
      t.targets.push_back(resume_at_[k]);
    }
    t.targets.push_back(static_cast<uint32_t>(blocks.size()));
    blocks.push_back({"ended", {}, {}});
    blocks[0].label = "resume";
    blocks[0].term = std::move(t);
  }

  void find_carried() {
    const Liveness live = liveness(out_.program);
    std::set<uint32_t> carried;
    for (const uint32_t b : resume_at_) {
      for (uint32_t r = 0; r < live.in[b].size(); ++r) {
        if (live.in[b][r]) carried.insert(r);
      }
    }
    // Between the phases the engine reads a reduction's operand and writes its result.
    for (const Inst& barrier : out_.barriers) {
      for (const Reg r : barrier.dst) carried.insert(r.id);
      if (barrier.src.size() > 2 && barrier.src[2].is_reg()) carried.insert(barrier.src[2].index);
    }
    carried.erase(out_.resume.id);
    for (const uint32_t r : carried) out_.carried.push_back(Reg{r});
  }

  Phases out_;
  uint32_t start_ = 0;
  std::vector<uint32_t> resume_at_;
  std::set<uint32_t> waits_;  ///< blocks whose exit is the end of a phase, not of the lane
};

}  // namespace

Phases split_phases(const Program& program) {
  return PhaseSplitter(program).run();
}

}  // namespace lanewise::ir
