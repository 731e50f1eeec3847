#include <algorithm>
#include <bit>

#include "runtime/ir/passes/values/numbering.hpp"
#include "runtime/ir/passes/values/values.hpp"

namespace lanewise::ir {
namespace {

/// One instruction with its operands as the rules ask for them.
class Rule {
 public:
  explicit Rule(Inst& inst) : i_(inst) {
    if (inst.type == Type::pred) {
      ones_ = 1;
    } else {
      bits_ = width_of(inst.type) == Width::b64 ? 64 : 32;
      ones_ = bits_ == 64 ? ~uint64_t{0} : 0xffffffff;
    }
  }

  bool apply() {
    const bool swapped = constant_last();
    return simpler() || swapped;
  }

 private:
  bool is(size_t s, uint64_t bits) const { return i_.src[s].is_imm() && i_.src[s].imm == bits; }
  bool same() const { return i_.src[0].is_reg() && i_.src[0] == i_.src[1]; }
  /// The exponent when the operand is a power of two.
  std::optional<uint32_t> power(size_t s) const {
    if (!i_.src[s].is_imm() || !std::has_single_bit(i_.src[s].imm)) return std::nullopt;
    return static_cast<uint32_t>(std::countr_zero(i_.src[s].imm));
  }

  bool become(Operand value) {
    i_.op = Op::mov;
    i_.src = {value};
    i_.mode = 0;
    i_.cond = Cond::eq;
    return true;
  }
  bool become(uint64_t bits) { return become(Operand::immediate(bits)); }
  /// A move of all bits, whatever type the operation had.
  bool become_bits(Operand value) {
    if (i_.type != Type::pred) i_.type = bits_ == 64 ? Type::u64 : Type::u32;
    return become(value);
  }
  bool become(Op op, Operand a, Operand b) {
    i_.op = op;
    i_.src = {a, b};
    return true;
  }

  bool constant_last() {
    const bool swaps = i_.op != Op::icmp && commutes(i_);
    if (!swaps || !i_.src[0].is_imm() || i_.src[1].is_imm()) return false;
    std::swap(i_.src[0], i_.src[1]);
    return true;
  }

  bool simpler() {
    switch (i_.op) {
      case Op::add:
      case Op::sub:
      case Op::mul:
      case Op::div:
      case Op::rem:
        return arithmetic();
      case Op::and_:
      case Op::or_:
      case Op::xor_:
        return logic();
      case Op::min:
      case Op::max:
        return same() && become(i_.src[0]);
      case Op::shl:
      case Op::shr:
        return shift();
      case Op::select:
        return choice();
      case Op::icmp:
        if (!same()) return false;
        i_.type = Type::pred;
        return become(i_.cond == Cond::eq || i_.cond == Cond::le || i_.cond == Cond::ge ? 1 : 0);
      case Op::lop3:
        return table();
      default:
        return false;
    }
  }

  bool arithmetic() {
    const bool by_one = is(1, 1);
    switch (i_.op) {
      case Op::add:
        return is(1, 0) && become(i_.src[0]);
      case Op::sub:
        if (same()) return become(0);
        // One form of sums with constants, for those that join them.
        if (i_.src[1].is_imm())
          return become(Op::add, i_.src[0], Operand::immediate((0 - i_.src[1].imm) & ones_));
        return false;
      case Op::mul:
        if (is(1, 0)) return become(0);
        if (by_one) return become(i_.src[0]);
        if (const auto n = power(1)) return become(Op::shl, i_.src[0], Operand::immediate(*n));
        return false;
      case Op::div:
        if (by_one) return become(i_.src[0]);
        if (const auto n = power(1); n && !is_signed(i_.type))
          return become(Op::shr, i_.src[0], Operand::immediate(*n));
        return false;
      default:
        if (by_one) return become(0);
        if (power(1) && !is_signed(i_.type))
          return become(Op::and_, i_.src[0], Operand::immediate(i_.src[1].imm - 1));
        return false;
    }
  }

  bool logic() {
    if (same()) return i_.op == Op::xor_ ? become(0) : become(i_.src[0]);
    if (is(1, 0)) return i_.op == Op::and_ ? become(0) : become(i_.src[0]);
    if (!is(1, ones_)) return false;
    if (i_.op == Op::and_) return become(i_.src[0]);
    if (i_.op == Op::or_) return become(ones_);
    i_.op = Op::not_;
    i_.src.pop_back();
    return true;
  }

  bool shift() {
    if (is(1, 0)) return become(i_.src[0]);
    const bool beyond = i_.src[1].is_imm() && i_.src[1].imm >= bits_;
    return beyond && (i_.op == Op::shl || !is_signed(i_.type)) && become(0);
  }

  bool choice() {
    if (i_.src[1] == i_.src[2]) return become_bits(i_.src[1]);
    if (i_.src[0].is_imm()) return become_bits(i_.src[i_.src[0].imm != 0 ? 1 : 2]);
    if (i_.type != Type::pred || !i_.src[1].is_imm() || !i_.src[2].is_imm()) return false;
    if (i_.src[1].imm == 1) return become(i_.src[0]);
    i_.op = Op::not_;
    i_.src.resize(1);
    return true;
  }

  bool table() {
    switch (i_.mode) {
      case 0x00:
        return become_bits(Operand::immediate(0));
      case 0xff:
        return become_bits(Operand::immediate(0xffffffff));
      case 0xf0:
        return become_bits(i_.src[0]);
      case 0xcc:
        return become_bits(i_.src[1]);
      case 0xaa:
        return become_bits(i_.src[2]);
      default:
        return false;
    }
  }

  Inst& i_;
  uint32_t bits_ = 1;
  uint64_t ones_ = 0;
};

}  // namespace

bool apply_identities(Program& program, const PassOptions&) {
  bool changed = false;
  for (Block& b : program.blocks) {
    for (Inst& i : b.insts) {
      const bool known = i.op == Op::select || (i.op >= Op::add && i.op <= Op::icmp);
      if (known) changed = Rule(i).apply() || changed;
    }
  }
  return changed;
}

}  // namespace lanewise::ir
