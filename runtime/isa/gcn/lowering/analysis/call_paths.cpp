#include "runtime/isa/gcn/lowering/analysis/call_paths.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "runtime/isa/gcn/lowering/analysis/own_state.hpp"

namespace lanewise::gcn {
namespace {

/// Follows calls from the kernel's begin with what scalar registers hold, which says where a
/// function returns to.
class PathFinder {
 public:
  PathFinder(const Kernel& kernel, const Analysis& analysis)
      : kernel_(kernel), analysis_(analysis) {}

  /// Nothing where some path is not certain, or there are too many.
  std::optional<std::vector<PathBlock>> find() {
    come({kOwnCode, 0}, OwnWords());
    while (!work_.empty()) {
      const Place place = *work_.begin();
      work_.erase(work_.begin());
      const auto exits = exits_of(place);
      if (!exits || places_.size() > kMostPlaces) return {};
      for (const Place& next : exits->to) come(next, exits->words);
    }
    return numbered();
  }

 private:
  static constexpr size_t kMostPlaces = 4000, kMostCalls = 32, kOwnCode = 0;

  /// A call that is not over.
  struct Pending {
    size_t caller = kOwnCode, call = 0, depth = 0;
  };
  using Place = std::pair<size_t, size_t>;  ///< the number of a pending call, and a block
  struct Exits {
    OwnWords words;
    std::vector<Place> to;
  };

  void come(const Place& place, const OwnWords& words) {
    const auto [it, fresh] = places_.try_emplace(place, words);
    if (fresh || it->second.join(words)) work_.insert(place);
  }

  std::optional<Exits> exits_of(const Place& place) {
    const BasicBlock& block = analysis_.blocks[place.second];
    Exits exits{places_.at(place), {}};
    for (size_t n = block.begin; n < block.end; ++n) {
      const Instruction& i = kernel_.code[n];
      if (i.row->kind == Kind::jump) {
        if (const auto back = place_behind_call(place.first, i, exits.words)) {
          exits.to = {*back};
          return exits;
        }
        if (!analysis_.calls.certain.contains(n)) return {};
      }
      exits.words.step(i, analysis_.effects[n].writes);
      if (i.row->kind == Kind::call) {
        const auto inside = place_in_function(place.first, n);
        if (!inside) return {};
        exits.words.put_address_behind(*i.operand(Slot::sdst), n);
        exits.to = {*inside};
        return exits;
      }
    }
    for (const size_t next : block.successors) exits.to.emplace_back(place.first, next);
    return exits;
  }
  std::optional<Place> place_behind_call(size_t pending, const Instruction& jump,
                                         const OwnWords& words) const {
    const Pending& over = pending_[pending];
    const size_t next = over.call + 1;
    const bool returns = pending != kOwnCode && next < kernel_.code.size() &&
                         words.leads_behind(*jump.operand(Slot::ssrc0), over.call);
    return returns ? std::optional(Place(over.caller, analysis_.block_of[next])) : std::nullopt;
  }
  std::optional<Place> place_in_function(size_t pending, size_t call) {
    const size_t depth = pending_[pending].depth + 1;
    if (!analysis_.calls.certain.contains(call) || depth > kMostCalls) return {};
    const auto [inside, fresh] = inside_.emplace(std::pair(pending, call), pending_.size());
    if (fresh) pending_.push_back({pending, call, depth});
    const size_t target = analysis_.calls.targets.at(call).front();
    return Place(inside->second, analysis_.block_of[target]);
  }

  std::vector<PathBlock> numbered() {
    std::map<Place, size_t> numbers;
    for (const auto& [place, words] : places_) numbers.emplace(place, numbers.size());
    std::vector<PathBlock> out;
    for (const auto& [place, number] : numbers) {
      PathBlock block;
      block.block = place.second;
      const Exits exits = *exits_of(place);
      for (const Place& next : exits.to) block.successors.push_back(numbers.at(next));
      out.push_back(std::move(block));
    }
    return out;
  }

  const Kernel& kernel_;
  const Analysis& analysis_;
  std::vector<Pending> pending_ = {{}};                 ///< the first stands for none
  std::map<std::pair<size_t, size_t>, size_t> inside_;  ///< by caller and call
  std::map<Place, OwnWords> places_;                    ///< with what is known at the begin
  std::set<Place> work_;
};

std::vector<PathBlock> each_once(const Analysis& analysis) {
  std::vector<PathBlock> out;
  for (const BasicBlock& block : analysis.blocks) out.push_back({out.size(), 0, block.successors});
  return out;
}

std::vector<PathBlock> by_calls(const Kernel& kernel, const Analysis& analysis) {
  const auto is_call = [](const Instruction& i) { return i.row->kind == Kind::call; };
  if (std::ranges::none_of(kernel.code, is_call)) return each_once(analysis);
  auto found = PathFinder(kernel, analysis).find();
  return found ? std::move(*found) : each_once(analysis);
}

}  // namespace

CallPaths::CallPaths(const Analysis& analysis, std::vector<PathBlock> blocks)
    : analysis_(analysis), blocks_(std::move(blocks)) {
  for (PathBlock& block : blocks_) {
    const BasicBlock& own = analysis.blocks[block.block];
    block.first = instructions_;
    instructions_ += own.end - own.begin;
  }
}

CallPaths::CallPaths(const Analysis& analysis) : CallPaths(analysis, each_once(analysis)) {}

CallPaths::CallPaths(const Kernel& kernel, const Analysis& analysis)
    : CallPaths(analysis, by_calls(kernel, analysis)) {}

std::optional<size_t> CallPaths::next(const PathBlock& from, size_t instruction) const {
  if (instruction >= analysis_.block_of.size()) return {};
  const size_t block = analysis_.block_of[instruction];
  for (const size_t n : from.successors)
    if (blocks_[n].block == block) return n;
  return {};
}

}  // namespace lanewise::gcn
