#include <algorithm>

#include "runtime/ir/passes/flow/liveness.hpp"
#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/passes/values/numbering.hpp"
#include "runtime/ir/passes/values/values.hpp"

namespace lanewise::ir {
namespace {

/// Without any effect but its results. Loads may fault, except those of parameters at a known
/// place.
bool removable(const Program& p, const Inst& i) {
  if (info(i.op).trait == OpTrait::pure) return true;
  if (i.op != Op::load || i.mem->space != Space::param || i.event != 0) return false;
  if (!i.src[0].is_imm()) return false;
  const uint64_t address = (i.src[0].imm + static_cast<uint64_t>(i.mem->offset)) & 0xffffffff;
  const bool aligned = i.mem->align != AlignRule::trap || address % i.mem->alignment() == 0;
  return aligned && address + i.mem->bytes() <= p.param_bytes;
}

bool is_self_move(const Inst& i) {
  return is_plain_move(i) && i.src[0] == Operand(i.dst[0]);
}

/// Instructions whose results reach no effect, over all writes of a register: takes whole circles
/// of them, in time linear in the program.
class Unneeded {
 public:
  explicit Unneeded(Program& p) : p_(p), needed_(read_by_others(p)), writers_(p.regs.size()) {}

  bool run() {
    for (size_t r = 0; r < needed_.size(); ++r) {
      if (needed_[r]) work_.push_back(static_cast<uint32_t>(r));
    }
    const auto need = [this](uint32_t r) { this->need(r); };
    for (Block& b : p_.blocks) {
      for (Inst& i : b.insts) {
        if (removable(p_, i)) {
          for (const Reg r : i.dst) writers_[r.id].push_back(&i);
        } else {
          for_each_use(i, need);
        }
      }
      for_each_use(b.term, need);
    }
    while (!work_.empty()) {
      const uint32_t r = work_.back();
      work_.pop_back();
      for (const Inst* i : writers_[r]) for_each_use(*i, need);
    }
    return sweep();
  }

 private:
  void need(uint32_t r) {
    if (needed_[r]) return;
    needed_[r] = true;
    work_.push_back(r);
  }

  bool sweep() {
    bool changed = false;
    for (Block& b : p_.blocks) {
      const size_t gone = std::erase_if(b.insts, [&](const Inst& i) {
        return removable(p_, i) &&
               std::none_of(i.dst.begin(), i.dst.end(), [&](Reg r) { return needed_[r.id]; });
      });
      changed = changed || gone != 0;
    }
    return changed;
  }

  Program& p_;
  std::vector<bool> needed_;
  std::vector<std::vector<const Inst*>> writers_;
  std::vector<uint32_t> work_;
};

/// Writes that are written over before anybody reads them.
bool remove_overwritten(Program& p) {
  bool changed = false;
  const Liveness l = liveness(p);
  const std::vector<bool> by_others = read_by_others(p);
  for (size_t b = 0; b < p.blocks.size(); ++b) {
    Block& block = p.blocks[b];
    std::vector<bool> live = l.out[b];
    step_back(block.term, live);
    std::vector<Inst> kept;
    kept.reserve(block.insts.size());
    for (size_t i = block.insts.size(); i-- > 0;) {
      Inst& inst = block.insts[i];
      const bool read = std::any_of(inst.dst.begin(), inst.dst.end(),
                                    [&](Reg r) { return live[r.id] || by_others[r.id]; });
      if (removable(p, inst) && (!read || is_self_move(inst))) continue;
      step_back(inst, live);
      kept.push_back(std::move(inst));
    }
    changed = changed || kept.size() != block.insts.size();
    std::reverse(kept.begin(), kept.end());
    block.insts = std::move(kept);
  }
  return changed;
}

}  // namespace

bool remove_dead(Program& program, const PassOptions&) {
  const bool unneeded = Unneeded(program).run();
  return remove_overwritten(program) || unneeded;
}

}  // namespace lanewise::ir
