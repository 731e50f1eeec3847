// Whether lanes may go their own ways at branches that ask whether EXEC is zero.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {
namespace {

/// With EXEC = 0 before, these leave EXEC = 0: and-ing, or restoring a mask saved inside the
/// region.
bool keeps_exec_empty(const Instruction& i, const ScalarSet& from_outside) {
  if (i.row->does(kWritesExec)) return i.row->meaning.op == ir::Op::and_ && !i.row->meaning.invert;
  const bool combines_exec = i.operands.size() == 3 && i.operands[1].code == kExecLo;
  if (!combines_exec) return false;
  if (i.row->meaning.op == ir::Op::and_) return true;
  const unsigned other = i.operands[2].code;
  const bool joins = i.row->meaning.op == ir::Op::or_ || i.row->meaning.op == ir::Op::xor_;
  return joins && !i.row->meaning.invert && is_scalar(other) && !from_outside.test(other);
}

/// Who has to be asked before the instruction is skipped where no lane is active. It changes
/// registers at most, or lanes' memory; a scalar load may reach what only an active lane makes sure
/// of, and what looks at other lanes wants all of them there.
ExeczAsks asks(const Instruction& i) {
  switch (i.row->kind) {
    case Kind::mode:
      // Rounding and subnormals are known at translation, at each place for all ways to it.
      return i.row->has(Slot::hwreg) ? ExeczAsks::nobody : ExeczAsks::wave;
    case Kind::barrier:
    case Kind::end:
    case Kind::call:
    case Kind::jump:
    case Kind::trap:
    case Kind::absent:
    case Kind::data:
      return ExeczAsks::wave;
    case Kind::across:
      return ExeczAsks::wave;
    case Kind::store:
    case Kind::atomic:
      return i.row->encoding != Encoding::smrd ? ExeczAsks::nobody : ExeczAsks::wave;
    case Kind::load:
      if (i.row->image.looks_across()) return ExeczAsks::wave;
      return i.row->encoding != Encoding::smrd ? ExeczAsks::nobody : ExeczAsks::lane;
    default:
      return ExeczAsks::nobody;
  }
}

/// What lies between a branch and its target.
class SkippedRegion {
 public:
  SkippedRegion(const Kernel& kernel, const Analysis& analysis, size_t branch, size_t target)
      : kernel_(kernel),
        analysis_(analysis),
        branch_(branch),
        goal_(analysis.block_of[target]),
        first_(analysis.block_of[branch + 1]),
        from_outside_(analysis.blocks[first_].live_in),
        wanted_(analysis.blocks[goal_].live_in) {}

  ExeczAsks asks() {
    ExeczAsks answer = ExeczAsks::nobody;
    std::vector<size_t> work = {first_};
    while (!work.empty()) {
      const size_t b = work.back();
      work.pop_back();
      if (b == goal_ || !blocks_.insert(b).second) continue;
      const BasicBlock& block = analysis_.blocks[b];
      if (block.successors.empty() || block.begin <= branch_) return ExeczAsks::wave;
      answer = std::max(answer, asks_of(block));
      for (const size_t s : block.successors) {
        // A loop may end by what active lanes alone bring.
        if (s <= b) answer = std::max(answer, ExeczAsks::lane);
        work.push_back(s);
      }
    }
    return answer;
  }

 private:
  ExeczAsks asks_of(const BasicBlock& block) const {
    ExeczAsks answer = ExeczAsks::nobody;
    for (size_t n = block.begin; n < block.end; ++n) {
      const Instruction& i = kernel_.code[n];
      answer = std::max(answer, gcn::asks(i));
      ScalarSet writes = effects(i).writes;
      if (writes.test(kExecLo) && !keeps_exec_empty(i, from_outside_)) return ExeczAsks::wave;
      writes.reset(kExecLo);
      writes.reset(kExecLo + 1);
      if ((writes & wanted_).any()) return ExeczAsks::wave;
    }
    return answer;
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  size_t branch_, goal_, first_;
  ScalarSet from_outside_, wanted_;
  std::set<size_t> blocks_;
};

/// Who has to be asked for a branch forwards over code that leaves EXEC to itself.
ExeczAsks plain_asks(const Kernel& k, const Analysis& a, size_t index) {
  const size_t target = branch_target(k, index);
  if (target <= index || target >= k.code.size() || index + 1 >= k.code.size())
    return ExeczAsks::wave;
  if (a.block_of[target] == a.block_of[index + 1]) return ExeczAsks::nobody;
  return SkippedRegion(k, a, index, target).asks();
}

/// What a lane's own bit of each pair of scalar registers is: 0, 1, what it was at the branch, or
/// anything.
class OwnBits {
 public:
  using Bit = uint32_t;
  static constexpr Bit kOff = 0, kAnything = ~0U, kOn = kAnything - 1;

  bool operator==(const OwnBits&) const = default;

  static OwnBits distinct() {
    OwnBits out;
    for (size_t n = 0; n < out.bits_.size(); ++n) out.bits_[n] = static_cast<Bit>(n + 1);
    return out;
  }
  Bit of(unsigned code) const { return bits_[code / 2]; }
  bool exec_off() const { return of(kExecLo) == kOff; }
  /// The lane is off: so are all pairs that hold the same bit.
  void turn_off() {
    const Bit exec = of(kExecLo);
    for (Bit& bit : bits_)
      if (bit == exec && exec != kAnything) bit = kOff;
    bits_[kExecLo / 2] = kOff;
  }
  /// True when that changed anything.
  bool join(const OwnBits& other) {
    const OwnBits before = *this;
    for (size_t n = 0; n < bits_.size(); ++n)
      if (bits_[n] != other.bits_[n]) bits_[n] = kAnything;
    return *this != before;
  }
  /// `fresh` stands for a bit that nothing is known of, or kAnything.
  void step(const Instruction& i, Bit fresh) {
    const bool was_off = exec_off();
    const Bit exec = of(kExecLo);
    std::optional<Bit> result, new_exec;
    if (i.row->does(kMaskLogic)) {
      const Bit x = source(i.operands[1]);
      if (i.row->does(kWritesExec)) {
        new_exec = logic(i.row->meaning, x, exec, fresh);
        result = exec;
      } else {
        result = i.operands.size() < 3 ? only(i.row->meaning, x, fresh)
                                       : logic(i.row->meaning, x, source(i.operands[2]), fresh);
      }
    } else if (i.row->has(Slot::mask_dst) || i.row->does(kWritesVcc)) {
      // Compares and carries have the bits of inactive lanes off.
      result = was_off ? kOff : fresh;
      if (i.row->does(kWritesExec)) new_exec = result;
    }
    const ScalarSet writes = effects(i).writes;
    for (size_t code = writes._Find_first(); code < writes.size(); code = writes._Find_next(code))
      bits_[code / 2] = result.value_or(kAnything);
    if (new_exec) bits_[kExecLo / 2] = *new_exec;
  }

 private:
  static constexpr unsigned kMinusOne = 193;

  Bit source(const Operand& o) const {
    if (o.immediate) return kAnything;
    if (is_scalar(o.code)) return o.code % 2 == 0 ? of(o.code) : kAnything;
    return o.code == kZero ? kOff : o.code == kMinusOne ? kOn : kAnything;
  }
  static Bit inverse(Bit x) { return x == kOff ? kOn : x == kOn ? kOff : kAnything; }
  static Bit only(const Meaning& m, Bit x, Bit fresh) {
    const Bit out = m.op == ir::Op::mov ? x : m.op == ir::Op::not_ ? inverse(x) : kAnything;
    return out != kAnything ? out : fresh;
  }
  static Bit logic(const Meaning& m, Bit x, Bit y, Bit fresh) {
    Bit out = m.invert && x == y && x != kAnything
                  ? combine(m.op, x, y, true)
                  : combine(m.op, x, m.invert ? inverse(y) : y, false);
    if (m.invert_result) out = inverse(out);
    return out != kAnything ? out : fresh;
  }
  /// `opposite`: y is not x, whatever x is.
  static Bit combine(ir::Op op, Bit x, Bit y, bool opposite) {
    const bool same = x == y && x != kAnything && !opposite;
    if (op == ir::Op::and_ || op == ir::Op::or_) {
      const Bit strong = op == ir::Op::and_ ? kOff : kOn;
      if (opposite || x == strong || y == strong) return strong;
      return same || y == inverse(strong) ? x : x == inverse(strong) ? y : kAnything;
    }
    if (op != ir::Op::xor_) return kAnything;
    if (opposite) return kOn;
    if (same) return kOff;
    if (x == kOff || y == kOff) return x == kOff ? y : x;
    return x == kOn ? inverse(y) : y == kOn ? inverse(x) : kAnything;
  }

  std::array<Bit, ScalarSet().size() / 2> bits_{};
};

/// A lane whose bit is off at a branch that asks for EXEC goes to the same place as the wave, only
/// earlier, if all that the wave does on its way there leaves that bit off and the lane as it was.
/// The wave may come by the branch again, so loops may be left lane by lane.
class OwnWay {
 public:
  OwnWay(const Kernel& kernel, const Analysis& analysis, size_t branch, size_t first, size_t goal)
      : kernel_(kernel),
        analysis_(analysis),
        branch_(branch),
        first_(analysis.block_of[first]),
        goal_(analysis.block_of[goal]) {}

  bool possible() {
    const BasicBlock& own = analysis_.blocks[analysis_.block_of[branch_]];
    OwnBits bits = OwnBits::distinct();
    for (size_t n = own.begin; n < branch_; ++n)
      bits.step(kernel_.code[n], static_cast<OwnBits::Bit>(ScalarSet().size() + n));
    bits.turn_off();
    at_branch_ = bits;
    std::set<size_t> work;
    if (first_ != goal_) {
      entered_.emplace(first_, bits);
      work.insert(first_);
    }
    while (!work.empty()) {
      const size_t b = *work.begin();
      work.erase(work.begin());
      OwnBits here = entered_.at(b);
      if (!follow(analysis_.blocks[b], here)) return false;
      for (const size_t next : analysis_.blocks[b].successors) {
        if (next == goal_) {
          if (!at_goal_) at_goal_ = here;
          at_goal_->join(here);
          continue;
        }
        const auto [it, fresh] = entered_.emplace(next, here);
        if (fresh || it->second.join(here)) work.insert(next);
      }
    }
    return !at_goal_ || is_as_before(*at_goal_);
  }

 private:
  bool follow(const BasicBlock& block, OwnBits& bits) {
    if (block.successors.empty()) return false;
    for (size_t n = block.begin; n < block.end; ++n) {
      const Instruction& i = kernel_.code[n];
      if (asks(i) == ExeczAsks::wave) return false;
      written_ |= effects(i).writes;
      bits.step(i, OwnBits::kAnything);
      if (!bits.exec_off()) return false;
    }
    return true;
  }
  /// Numbers that are wanted there would miss what other lanes did to them; masks that nobody wants
  /// the numbers of have but to hold the lane's own bit.
  bool is_as_before(const OwnBits& bits) const {
    const BasicBlock& goal = analysis_.blocks[goal_];
    const ScalarSet changed = written_ & goal.live_in;
    for (unsigned code = 0; code < changed.size(); ++code) {
      const unsigned low = code & ~1U;
      if (!changed.test(code) || low == kExecLo) continue;
      const bool number = goal.numbers_in.test(low) || goal.numbers_in.test(low + 1);
      if (!is_scalar(low) || !goal.stale_in.test(low) || number) return false;
      if (bits.of(low) == OwnBits::kAnything || bits.of(low) != at_branch_.of(low)) return false;
    }
    return true;
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  size_t branch_, first_, goal_;
  OwnBits at_branch_;
  std::optional<OwnBits> at_goal_;
  std::map<size_t, OwnBits> entered_;  ///< blocks on the way, with what is known at their begin
  ScalarSet written_;                  ///< somewhere on the way
};

}  // namespace

ExeczAsks execz_asks(const Kernel& k, const Analysis& a, size_t index, bool by_lane) {
  const bool when_zero = k.code[index].row->meaning.cond == ir::Cond::eq;
  const ExeczAsks plain = when_zero ? plain_asks(k, a, index) : ExeczAsks::wave;
  if (plain != ExeczAsks::wave || !by_lane) return plain;
  const size_t target = branch_target(k, index), next = index + 1;
  if (target >= k.code.size() || next >= k.code.size()) return ExeczAsks::wave;
  const bool own = when_zero ? OwnWay(k, a, index, next, target).possible()
                             : OwnWay(k, a, index, target, next).possible();
  return own ? ExeczAsks::lane : ExeczAsks::wave;
}

}  // namespace lanewise::gcn
