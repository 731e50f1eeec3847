#include "runtime/ir/passes/values/value_ranges.hpp"

#include <algorithm>
#include <bit>

#include "runtime/ir/passes/passes.hpp"
#include "runtime/ir/signature.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::ir {
namespace {

/// So often may a register's range grow before it becomes everything.
constexpr unsigned kMostGrowths = 16;

uint64_t ones(Width width) {
  return width == Width::b64 ? ~uint64_t{0} : width == Width::b32 ? 0xffffffff : 1;
}
ValueRange all(Width width, uint8_t zeros = 0) {
  return {0, ones(width), zeros};
}
ValueRange exactly(uint64_t value) {
  return {value, value, static_cast<uint8_t>(std::countr_zero(value))};
}
ValueRange up_to(uint64_t most) {
  return most == 0 ? exactly(0) : ValueRange{0, most, 0};
}
ValueRange join(const ValueRange& a, const ValueRange& b) {
  return {std::min(a.least, b.least), std::max(a.most, b.most), std::min(a.zeros, b.zeros)};
}
/// All bits up to the highest one that a number up to `most` can have.
uint64_t below_power(uint64_t most) {
  return most == 0 ? 0 : ~uint64_t{0} >> std::countl_zero(most);
}

class Analysis {
 public:
  Analysis(const Program& p, const Dim3& block) : p_(p), block_(block) {
    ranges_.resize(p.regs.size());
    known_.resize(p.regs.size());
    growths_.resize(p.regs.size());
    // A register that may be read before it is written holds 0 then.
    if (!p.blocks.empty()) {
      const std::vector<bool> unset = liveness(p).in[0];
      for (uint32_t r = 0; r < p.regs.size(); ++r)
        if (unset[r]) known_[r] = true, ranges_[r] = exactly(0);
    }
  }

  std::vector<ValueRange> run() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Block& block : p_.blocks)
        for (const Inst& inst : block.insts) changed = define(inst) || changed;
    }
    for (uint32_t r = 0; r < ranges_.size(); ++r)
      if (!known_[r]) ranges_[r] = all(p_.regs[r].width);  // never written: never read
    return std::move(ranges_);
  }

 private:
  bool define(const Inst& inst) {
    bool changed = false;
    for (size_t d = 0; d < inst.dst.size(); ++d) {
      if (!inst.dst[d].valid() || p_.regs[inst.dst[d].id].width == Width::pred) continue;
      std::optional<ValueRange> made = result(inst, d);
      if (made) changed = grow(inst.dst[d].id, *made) || changed;
    }
    return changed;
  }

  bool grow(uint32_t reg, ValueRange made) {
    const Width width = p_.regs[reg].width;
    if (made.most > ones(width)) made = all(width, made.zeros);
    if (known_[reg]) made = join(ranges_[reg], made);
    if (known_[reg] && made == ranges_[reg]) return false;
    if (++growths_[reg] > kMostGrowths) {
      const ValueRange widest = all(width, growths_[reg] > 2 * kMostGrowths ? 0 : made.zeros);
      if (widest == ranges_[reg]) return false;
      made = widest;
    }
    known_[reg] = true;
    ranges_[reg] = made;
    return true;
  }

  /// Nothing while the operand has no value yet: its definition comes later in the list.
  std::optional<ValueRange> operand(const Inst& inst, size_t i) const {
    const Operand& o = inst.src[i];
    if (o.is_imm()) return exactly(o.imm & ones(source_width(inst, i).value_or(Width::b64)));
    if (!o.is_reg()) return all(Width::b64);
    if (p_.regs[o.index].width == Width::pred) return up_to(1);
    if (!known_[o.index]) return {};
    return ranges_[o.index];
  }

  std::optional<ValueRange> result(const Inst& inst, size_t d) const {
    const Width width = p_.regs[inst.dst[d].id].width;
    if (inst.op == Op::sreg) return special(static_cast<SReg>(inst.mode), width);
    if (inst.op == Op::load && size_of(inst.mem->elem) < 4 && !is_signed(inst.mem->elem))
      return up_to((uint64_t{1} << 8 * size_of(inst.mem->elem)) - 1);
    if (info(inst.op).trait != OpTrait::pure) return all(width);
    std::vector<ValueRange> in;
    for (size_t i = 0; i < inst.src.size(); ++i) {
      const auto range = operand(inst, i);
      if (!range) return {};
      in.push_back(*range);
    }
    return compute(inst, d, in, width);
  }

  static ValueRange sum(const ValueRange& a, const ValueRange& b, Width width) {
    const uint8_t zeros = std::min(a.zeros, b.zeros);
    if (a.most > ones(width) - b.most) return all(width, zeros);
    return {a.least + b.least, a.most + b.most, zeros};
  }
  static ValueRange product(const ValueRange& a, const ValueRange& b, Width width) {
    const auto zeros = static_cast<uint8_t>(std::min(64, a.zeros + b.zeros));
    if (a.most != 0 && b.most > ones(width) / a.most) return all(width, zeros);
    return {a.least * b.least, a.most * b.most, zeros};
  }
  static bool not_negative(const ValueRange& a, Width width) { return a.most <= ones(width) >> 1; }

  static ValueRange compute(const Inst& inst, size_t d, const std::vector<ValueRange>& in,
                            Width width) {
    const ValueRange none = all(width);
    switch (inst.op) {
      case Op::mov:
      case Op::zext64:
        return in[0];
      case Op::select:
        return join(in[1], in[2]);
      case Op::sext64:
        return not_negative(in[0], Width::b32) ? in[0]
                                               : all(width, std::min<uint8_t>(in[0].zeros, 32));
      case Op::trunc32:
        return in[0].most <= 0xffffffff ? in[0] : all(width, in[0].zeros);
      case Op::unpack64:
        if (d == 0) return in[0].most <= 0xffffffff ? in[0] : all(width, in[0].zeros);
        return up_to(in[0].most >> 32);
      case Op::pack64:
        // A lower half of 0 says nothing of the upper one.
        return in[1].most == 0 ? in[0] : all(width, std::min<uint8_t>(in[0].zeros, 32));
      case Op::zext8:
        return in[0].most <= 0xff ? in[0] : ValueRange{0, 0xff, in[0].zeros};
      case Op::zext16:
        return in[0].most <= 0xffff ? in[0] : ValueRange{0, 0xffff, in[0].zeros};
      case Op::add:
        return sum(in[0], in[1], width);
      case Op::sub:
        if (in[0].least >= in[1].most)
          return {in[0].least - in[1].most, in[0].most - in[1].least,
                  std::min(in[0].zeros, in[1].zeros)};
        return all(width, std::min(in[0].zeros, in[1].zeros));
      case Op::mul:
        return product(in[0], in[1], width);
      case Op::mulwide:
        if (inst.type == Type::s32 &&
            !(not_negative(in[0], Width::b32) && not_negative(in[1], Width::b32)))
          return all(width, static_cast<uint8_t>(std::min(32, in[0].zeros + in[1].zeros)));
        return product(in[0], in[1], width);
      case Op::div:
        if (in[1].least == 0 ||
            (is_signed(inst.type) && !(not_negative(in[0], width) && not_negative(in[1], width))))
          return none;
        return {in[0].least / in[1].most, in[0].most / in[1].least, 0};
      case Op::rem:
        if (in[1].least == 0 ||
            (is_signed(inst.type) && !(not_negative(in[0], width) && not_negative(in[1], width))))
          return none;
        return up_to(std::min(in[0].most, in[1].most - 1));
      case Op::min:
      case Op::max: {
        if (is_signed(inst.type) && !(not_negative(in[0], width) && not_negative(in[1], width)))
          return {0, ones(width), std::min(in[0].zeros, in[1].zeros)};
        const uint8_t zeros = std::min(in[0].zeros, in[1].zeros);
        if (inst.op == Op::min)
          return {std::min(in[0].least, in[1].least), std::min(in[0].most, in[1].most), zeros};
        return {std::max(in[0].least, in[1].least), std::max(in[0].most, in[1].most), zeros};
      }
      case Op::and_:
        return {0, std::min(in[0].most, in[1].most), std::max(in[0].zeros, in[1].zeros)};
      case Op::or_:
      case Op::xor_:
        return {0, below_power(std::max(in[0].most, in[1].most)),
                std::min(in[0].zeros, in[1].zeros)};
      case Op::shl: {
        if (in[1].least != in[1].most) return all(width, in[0].zeros);
        const uint64_t by = in[1].least;
        if (by >= (width == Width::b64 ? 64 : 32)) return exactly(0);
        return product(in[0], exactly(uint64_t{1} << by), width);
      }
      case Op::shr: {
        if (is_signed(inst.type) && !not_negative(in[0], width)) return none;
        if (in[1].least > 63) return exactly(0);
        const uint64_t most = in[0].most >> in[1].least;
        if (in[1].least != in[1].most) return up_to(most);
        const auto by = static_cast<int>(in[1].least);
        return {in[0].least >> by, most, static_cast<uint8_t>(std::max(0, in[0].zeros - by))};
      }
      case Op::bfe: {
        if (is_signed(inst.type) || in[2].most > 31) return none;
        return up_to(std::min(in[0].most, (uint64_t{1} << in[2].most) - 1));
      }
      case Op::popc:
      case Op::clz:
        return up_to(64);
      default:
        return none;
    }
  }

  ValueRange special(SReg reg, Width width) const {
    const auto lanes = std::max<uint64_t>(block_.total(), 1);
    switch (reg) {
      case SReg::tid_x:
        return up_to(std::max(block_.x, 1U) - 1);
      case SReg::tid_y:
        return up_to(std::max(block_.y, 1U) - 1);
      case SReg::tid_z:
        return up_to(std::max(block_.z, 1U) - 1);
      case SReg::ntid_x:
        return exactly(block_.x);
      case SReg::ntid_y:
        return exactly(block_.y);
      case SReg::ntid_z:
        return exactly(block_.z);
      case SReg::linear_tid:
        return up_to(lanes - 1);
      case SReg::laneid:
        return up_to(p_.wave_lanes - 1);
      case SReg::warpid:
        return up_to((lanes - 1) / p_.wave_lanes);
      case SReg::shared_window:
        return exactly(guest::kSharedWindow);
      case SReg::local_window:
        return exactly(guest::kLocalWindow);
      default:
        return all(width);
    }
  }

  const Program& p_;
  Dim3 block_;
  std::vector<ValueRange> ranges_;
  std::vector<bool> known_;
  std::vector<unsigned> growths_;
};

}  // namespace

std::vector<ValueRange> value_ranges(const Program& program, const Dim3& block) {
  return Analysis(program, block).run();
}

}  // namespace lanewise::ir
