#include "runtime/ir/passes/values/numbering.hpp"
#include "runtime/ir/passes/values/values.hpp"

namespace lanewise::ir {
namespace {

class Copies {
 public:
  explicit Copies(Program& p) : p_(p), numbers_(p) {}

  bool run() {
    for (const uint32_t b : numbers_.blocks()) {
      numbers_.enter(b);
      std::erase_if(p_.blocks[b].insts, [&](Inst& i) {
        numbers_.next();
        rewrite(i);
        // The register may have that value.
        const bool known = is_plain_move(i) && i.src[0].is_reg() &&
                           numbers_.of(i.src[0]) == numbers_.of(i.dst[0].id);
        numbers_.write_all(i);
        changed_ = changed_ || known;
        return known;
      });
      numbers_.next();
      Terminator& t = p_.blocks[b].term;
      if (t.kind == Terminator::Kind::branch) replace(t.cond.reg.id);
      if (t.kind == Terminator::Kind::switch_ && t.selector.is_reg()) replace(t.selector.index);
    }
    return changed_;
  }

 private:
  void rewrite(Inst& i) {
    if (!i.guard.always()) replace(i.guard.reg.id);
    for (size_t s = 0; s < i.src.size(); ++s) {
      if (!i.src[s].is_reg()) continue;
      if (i.op == Op::readlane && s == 0) continue;  // names a register, of another lane
      replace(i.src[s].index);
    }
    if (i.mem && i.mem->cache.hint.is_reg()) replace(i.mem->cache.hint.index);
  }

  void replace(uint32_t& reg) {
    const uint32_t number = numbers_.of(reg);
    if (number >= holder_.size()) holder_.resize(number + 64, kNone);
    uint32_t& first = holder_[number];
    // A constant has one number in registers of all widths.
    if (first == kNone || numbers_.of(first) != number ||
        p_.regs[first].width != p_.regs[reg].width) {
      first = reg;
    } else if (first != reg) {
      reg = first;
      changed_ = true;
    }
  }

  Program& p_;
  Numbering numbers_;
  std::vector<uint32_t> holder_;  ///< [number] a register that has it, or had
  bool changed_ = false;
};

}  // namespace

bool propagate_copies(Program& program, const PassOptions&) {
  return Copies(program).run();
}

}  // namespace lanewise::ir
