#include "runtime/ir/passes/values/numbering.hpp"
#include "runtime/ir/passes/values/values.hpp"

namespace lanewise::ir {
namespace {

/// Sums wrap at the width of their operands, as addresses do: `(x + c) + d` is `x + (c + d)`, and
/// an access at `x + c` with an offset of d is one at x with the offset c + d. The byte that is
/// touched, and the address that a fault reports, stay.
class Addresses {
 public:
  explicit Addresses(Program& p) : p_(p), numbers_(p) {}

  bool run() {
    for (const uint32_t b : numbers_.blocks()) {
      numbers_.enter(b);
      for (Inst& i : p_.blocks[b].insts) {
        numbers_.next();
        if (i.op == Op::load || i.op == Op::store || i.op == Op::atom) into_offset(i);
        if (is_sum(i)) {
          add(i);
        } else {
          numbers_.write_all(i);
        }
      }
    }
    return changed_;
  }

 private:
  /// What a number is the sum of. The base may hold something else by now.
  struct Sum {
    uint32_t base = kNone, base_number = 0;
    uint64_t constant = 0;
  };

  static bool is_sum(const Inst& i) {
    return i.op == Op::add && i.guard.always() && i.src[0].is_reg() && i.src[1].is_imm();
  }

  /// The sum in this register, as far as its base can be read here; else the register itself.
  Sum sum_of(uint32_t reg) {
    const uint32_t number = numbers_.of(reg);
    const auto at = sums_.find(number);
    if (at != sums_.end() && numbers_.of(at->second.base) == at->second.base_number &&
        p_.regs[at->second.base].width == p_.regs[reg].width)
      return at->second;
    return {reg, number, 0};
  }

  void add(Inst& i) {
    Sum sum = sum_of(i.src[0].index);
    sum.constant += i.src[1].imm;
    if (size_of(i.type) == 4) sum.constant &= 0xffffffff;
    if (sum.base != i.src[0].index) {
      i.src = {Reg{sum.base}, Operand::immediate(sum.constant)};
      changed_ = true;
    }
    numbers_.write_all(i);
    sums_[numbers_.of(i.dst[0].id)] = sum;
  }

  void into_offset(Inst& i) {
    if (!i.src[0].is_reg()) return;
    const Sum sum = sum_of(i.src[0].index);
    if (sum.base == i.src[0].index) return;
    const uint64_t offset = static_cast<uint64_t>(i.mem->offset) + sum.constant;
    const bool wide = p_.regs[sum.base].width == Width::b64;
    i.mem->offset = wide ? static_cast<int64_t>(offset)
                         : int64_t{static_cast<int32_t>(static_cast<uint32_t>(offset))};
    i.src[0] = Reg{sum.base};
    changed_ = true;
  }

  Program& p_;
  Numbering numbers_;
  std::unordered_map<uint32_t, Sum> sums_;
  bool changed_ = false;
};

}  // namespace

bool fold_addresses(Program& program, const PassOptions&) {
  return Addresses(program).run();
}

}  // namespace lanewise::ir
