#include "runtime/ir/passes/values/under_guard.hpp"

#include <algorithm>

namespace lanewise::ir {
namespace {

/// Conditions made of conditions, and values made of values, are followed so far.
constexpr int kMostConditions = 8, kMostOperations = 24;
constexpr size_t kMostAssumed = 32;

}  // namespace

UnderGuard::UnderGuard(const Numbers& numbers, uint32_t block, size_t inst)
    : numbers_(numbers), ssa_(numbers.ssa()), p_(ssa_.program()), block_(block), inst_(inst) {
  const Inst& i = p_.blocks[block].insts[inst];
  if (!i.guard.always()) assume(ssa_.guard(block, inst), !i.guard.negate);
  for (int n = 0; n < kMostDominators && block != 0 && block != kNone; ++n) {
    if (const auto way = branch_to(ssa_, block)) assume(way->condition, way->holds);
    block = ssa_.dom().parent[block];
  }
}

Known UnderGuard::use(size_t source) {
  const Known plain = numbers_.use(block_, inst_, source);
  const uint32_t value = ssa_.use(block_, inst_, source);
  if (assumed_.empty() || value == kNone) return plain;
  const Known known = of(value, kMostOperations);
  return known.none() ? plain : known;
}

const bool* UnderGuard::assumed(uint32_t condition) const {
  const auto at = std::ranges::find(assumed_, condition, &std::pair<uint32_t, bool>::first);
  return at == assumed_.end() ? nullptr : &at->second;
}

void UnderGuard::assume(uint32_t condition, bool holds) {
  if (condition == kNone || assumed(condition) != nullptr || assumed_.size() >= kMostAssumed)
    return;
  assumed_.emplace_back(condition, holds);
  assume_parts(condition, holds);
}

/// What else holds by it. Each value named here is the one that the instruction could read itself:
/// its definition dominates that of the condition.
void UnderGuard::assume_parts(uint32_t condition, bool holds) {
  const Ssa::Value& v = ssa_[condition];
  if (v.kind == Ssa::Kind::argument) {
    const auto inputs = ssa_.inputs(condition);
    if (inputs.size() == 1) return assume(inputs[0], holds);
    if (!holds) return;
    for (const uint32_t common : implied_by(condition, condition, kMostConditions))
      assume(common, true);
    return;
  }
  each_implied(ssa_, condition, holds,
               [&](uint32_t part, bool part_holds) { assume(part, part_holds); });
}

/// Conditions that hold where this one does. Of a loop's argument those that all its inputs imply;
/// an input that implies the argument itself, as it was an iteration before, brings nothing new.
std::vector<uint32_t> UnderGuard::implied_by(uint32_t condition, uint32_t argument,
                                             int depth) const {
  std::vector<uint32_t> out;
  if (condition == kNone || depth == 0) return out;
  const Ssa::Value& v = ssa_[condition];
  if (condition != argument) out.push_back(condition);
  const auto append = [&](uint32_t other) {
    if (other == argument) return out.push_back(other);
    for (const uint32_t c : implied_by(other, argument, depth - 1)) out.push_back(c);
  };
  if (v.kind == Ssa::Kind::argument) {
    const auto inputs = ssa_.inputs(condition);
    if (condition != argument) {
      if (inputs.size() == 1) append(inputs[0]);
      return out;
    }
    bool first = true;
    for (const uint32_t input : inputs) {
      if (input == argument) continue;
      const std::vector<uint32_t> here = implied_by(input, argument, depth - 1);
      if (std::ranges::find(here, argument) != here.end()) continue;
      if (first) out = here;
      first = false;
      std::erase_if(out, [&](uint32_t c) { return std::ranges::find(here, c) == here.end(); });
    }
    return out;
  }
  const Inst* made = ssa_.made_by(condition);
  if (v.kind != Ssa::Kind::result || made == nullptr || made->type != Type::pred) return out;
  if (made->op != Op::mov && made->op != Op::and_) return out;
  for (size_t s = 0; s < made->src.size(); ++s) append(ssa_.use(v.block, v.inst, s));
  return out;
}

Known UnderGuard::source(uint32_t block, uint32_t inst, size_t s, int depth) {
  const uint32_t value = ssa_.use(block, inst, s);
  return value == kNone ? numbers_.source(block, inst, s) : of(value, depth);
}

/// None where no lane comes with these conditions.
Known UnderGuard::of(uint32_t value, int depth) {
  if (const auto at = known_.find(value); at != known_.end()) return at->second;
  Known known = numbers_.of(value);
  known_[value] = known;
  if (depth == 0) return known;
  const unsigned bits = numbers_.bits(value);
  for (const auto& [condition, holds] : assumed_)
    known = numbers_.behind(known, value, condition, holds, kMostConditions);
  if (!known.none()) known = met(known, made(value, depth - 1), bits);
  return known_[value] = known;
}

/// By what makes the value.
Known UnderGuard::made(uint32_t value, int depth) {
  const Ssa::Value& v = ssa_[value];
  const Known any = Known::any(numbers_.bits(value));
  const auto inputs = ssa_.inputs(value);
  switch (v.kind) {
    case Ssa::Kind::entry:
      return any;
    case Ssa::Kind::argument:
      return inputs.size() == 1 ? of(inputs[0], depth) : any;
    case Ssa::Kind::merge: {
      const bool* guard = assumed(ssa_.guard(v.block, v.inst));
      if (guard == nullptr) return any;
      return of(inputs[*guard != p_.blocks[v.block].insts[v.inst].guard.negate ? 0 : 1], depth);
    }
    case Ssa::Kind::result:
      break;
  }
  const Inst& inst = p_.blocks[v.block].insts[v.inst];
  if (info(inst.op).trait != OpTrait::pure) return any;
  std::vector<Known> in;
  for (size_t s = 0; s < inst.src.size(); ++s) {
    in.push_back(source(v.block, v.inst, s, depth));
    if (in.back().none()) return any;
  }
  return numbers_.result(inst, v.which, value, in);
}

}  // namespace lanewise::ir
