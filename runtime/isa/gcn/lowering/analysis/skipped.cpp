// Whether lanes may go paths of their own at branches that ask whether EXEC is zero.
#include <algorithm>
#include <optional>
#include <set>

#include "runtime/isa/gcn/lowering/analysis/even_exec.hpp"
#include "runtime/isa/gcn/lowering/analysis/own_path.hpp"
#include "runtime/isa/gcn/lowering/analysis/parted_lanes.hpp"
#include "runtime/isa/gcn/lowering/analysis/uniform_masks.hpp"

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

}  // namespace

/// It changes registers at most, or lanes' memory; a scalar load may reach what only an active lane
/// makes sure of, and what looks at other lanes wants all of them there.
ExeczAsks asks_before_skipping(const Instruction& i) {
  switch (i.row->kind) {
    case Kind::mode:
      // Rounding and subnormals are known at translation, at each place for all paths to it.
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

namespace {

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
      answer = std::max(answer, asks_before_skipping(i));
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

/// How a lane that is off comes to where the branch leads; nothing where it goes with its wave.
std::optional<OwnDifference> parts_at(const Kernel& k, const Analysis& a, size_t index) {
  const size_t target = branch_target(k, index), next = index + 1;
  if (target >= k.code.size() || next >= k.code.size()) return {};
  const bool when_zero = k.code[index].row->meaning.cond == ir::Cond::eq;
  return when_zero ? own_path(k, a, index, next, target) : own_path(k, a, index, target, next);
}

}  // namespace

std::map<size_t, ExeczAsks> execz_asks(const Kernel& k, const Analysis& a,
                                       const LowerOptions& options) {
  std::map<size_t, ExeczAsks> asks;
  std::map<size_t, OwnDifference> parting;
  for (size_t n = 0; n < k.code.size(); ++n) {
    const Row& row = *k.code[n].row;
    if (row.kind != Kind::branch || row.meaning.count != kExecz) continue;
    ExeczAsks& asked = asks[n];
    asked = row.meaning.cond == ir::Cond::eq ? plain_asks(k, a, n) : ExeczAsks::wave;
    if (asked != ExeczAsks::wave || !options.by_lane) continue;
    const std::optional<OwnDifference> difference = parts_at(k, a, n);
    if (!difference) continue;
    asked = ExeczAsks::lane;
    if (difference->any()) parting[n] = *difference;
  }
  // Who looks at the registers afterwards sees every difference.
  const bool shown = options.partial_exec || options.keep_scc || !options.numbers.empty();
  if (options.by_lane && !shown) {
    const CallPaths paths(k, a);
    std::map<size_t, ExeczAsks> parted = asks;
    for (const size_t branch : branches_of_one_answer(k, a)) parted[branch] = ExeczAsks::lane;
    const auto asks_wave = [](const auto& ask) { return ask.second == ExeczAsks::wave; };
    if (std::ranges::any_of(asks, asks_wave))
      for (const size_t branch : branches_of_even_exec(k, a, paths))
        if (asks_wave(*parted.find(branch))) parted[branch] = ExeczAsks::lane;
    if (lanes_may_part(k, a, paths, parted, parting)) {
      for (auto& [branch, asked] : parted)
        if (asked == ExeczAsks::wave) asked = ExeczAsks::lane;
      return parted;
    }
  }
  for (const auto& [branch, difference] : parting) asks[branch] = ExeczAsks::wave;
  return asks;
}

}  // namespace lanewise::gcn
