#include "runtime/isa/gcn/lowering/analysis/own_path.hpp"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "runtime/isa/gcn/lowering/analysis/own_state.hpp"

namespace lanewise::gcn {
namespace {

/// A lane whose bit is off at a branch that asks for EXEC goes to the same place as the wave, only
/// earlier, if all that the wave does on its path there leaves that bit off and the lane as it was.
/// The wave may come by the branch again, so loops may be left lane by lane.
/// Functions that it calls are followed into, once for each call, and must come back.
/// Where the lane is not as it was, it depends on what reads that (parted_lanes.hpp).
class OwnPath {
 public:
  OwnPath(const Kernel& kernel, const Analysis& analysis, size_t branch, size_t first, size_t goal)
      : kernel_(kernel),
        analysis_(analysis),
        branch_(branch),
        first_(analysis.block_of[first]),
        goal_(analysis.block_of[goal]) {}

  std::optional<OwnDifference> difference() {
    const BasicBlock& own = analysis_.blocks[analysis_.block_of[branch_]];
    State start{OwnBits::distinct(), {}};
    for (size_t n = own.begin; n < branch_; ++n)
      start.bits.step(kernel_.code[n], OwnBits::made_by(n));
    start.bits.turn_off();
    at_branch_ = start.bits;
    come({kOwnCode, first_}, start);
    for (size_t visits = 0; !work_.empty(); ++visits) {
      const Place place = *work_.begin();
      work_.erase(work_.begin());
      if (visits > kMostVisits || !follow(place, entered_.at(place))) return {};
    }
    return at_goal_ ? difference_at_goal(*at_goal_) : OwnDifference();
  }

 private:
  static constexpr size_t kMostVisits = 4000, kMostCalls = 32, kOwnCode = 0;

  struct State {
    OwnBits bits;
    OwnWords words;
    bool join(const State& other) {
      const bool changed = bits.join(other.bits);
      return words.join(other.words) || changed;
    }
  };
  /// A call that is not over.
  struct Pending {
    size_t caller = kOwnCode, call = 0, depth = 0;
  };
  using Place = std::pair<size_t, size_t>;  ///< the number of a pending call, and a block

  void come(const Place& place, const State& state) {
    if (place == Place(kOwnCode, goal_)) {
      if (!at_goal_) at_goal_ = state;
      at_goal_->join(state);
      return;
    }
    const auto [it, fresh] = entered_.try_emplace(place, state);
    if (fresh || it->second.join(state)) work_.insert(place);
  }

  bool follow(const Place& place, State state) {
    const BasicBlock& block = analysis_.blocks[place.second];
    for (size_t n = block.begin; n < block.end; ++n) {
      const Instruction& i = kernel_.code[n];
      if (i.row->kind == Kind::call) return follow_call(place.first, n, std::move(state));
      if (i.row->kind == Kind::jump && follow_return(place.first, i, state)) return true;
      if (i.row->kind == Kind::jump && analysis_.calls.certain.count(n) == 0) return false;
      if (i.row->kind != Kind::jump && asks_before_skipping(i) == ExeczAsks::wave) return false;
      step(n, state);
      if (!state.bits.exec_off()) return false;
    }
    for (const size_t next : block.successors) come({place.first, next}, state);
    return !block.successors.empty();
  }
  void step(size_t n, State& state) {
    const ScalarSet& writes = analysis_.effects[n].writes;
    written_ |= writes;
    state.bits.step(kernel_.code[n], writes, OwnBits::kAnything);
    state.words.step(kernel_.code[n], writes);
  }

  bool follow_call(size_t pending, size_t call, State state) {
    const size_t depth = pending_[pending].depth + 1;
    if (analysis_.calls.certain.count(call) == 0 || depth > kMostCalls) return false;
    const Instruction& i = kernel_.code[call];
    step(call, state);
    state.words.put_address_behind(*i.operand(Slot::sdst), call);
    const auto [inside, fresh] = inside_.emplace(std::pair(pending, call), pending_.size());
    if (fresh) pending_.push_back({pending, call, depth});
    const size_t target = analysis_.calls.targets.at(call).front();
    come({inside->second, analysis_.block_of[target]}, state);
    return state.bits.exec_off();
  }
  bool follow_return(size_t pending, const Instruction& i, const State& state) {
    const Pending& over = pending_[pending];
    const size_t next = over.call + 1;
    const bool returns = pending != kOwnCode && next < kernel_.code.size() &&
                         state.words.leads_behind(*i.operand(Slot::ssrc0), over.call);
    if (returns) come({over.caller, analysis_.block_of[next]}, state);
    return returns;
  }

  /// Of numbers that are wanted there; masks that nobody wants the numbers of have but to hold the
  /// lane's own bit.
  OwnDifference difference_at_goal(const State& state) const {
    const BasicBlock& goal = analysis_.blocks[goal_];
    OwnDifference out;
    const ScalarSet changed = written_ & goal.live_in;
    for (unsigned code = 0; code < changed.size(); ++code) {
      const unsigned low = code & ~1U;
      if (!changed.test(code) || low == kExecLo || state.words.is_as_before(code)) continue;
      const bool number = !is_scalar(low) || !goal.stale_in.test(low) ||
                          goal.numbers_in.test(low) || goal.numbers_in.test(low + 1);
      if (number) out.numbers.set(code);
      if (!is_scalar(low) || !(goal.masks_in.test(low) || goal.masks_in.test(low + 1))) continue;
      const OwnBits::Bit bit = state.bits.of(low);
      if (bit == OwnBits::kAnything || bit != at_branch_.of(low)) out.bits.set(low);
    }
    return out;
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  size_t branch_, first_, goal_;
  OwnBits at_branch_;
  std::optional<State> at_goal_;
  std::vector<Pending> pending_ = {{}};                 ///< the first stands for none
  std::map<std::pair<size_t, size_t>, size_t> inside_;  ///< by caller and call
  std::map<Place, State> entered_;                      ///< with what is known at the begin
  std::set<Place> work_;
  ScalarSet written_;  ///< somewhere on the path
};

}  // namespace

std::optional<OwnDifference> own_path(const Kernel& kernel, const Analysis& analysis, size_t branch,
                                      size_t first, size_t goal) {
  return OwnPath(kernel, analysis, branch, first, goal).difference();
}

}  // namespace lanewise::gcn
