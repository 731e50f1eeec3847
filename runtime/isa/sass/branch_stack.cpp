#include "runtime/isa/sass/branch_stack.hpp"

namespace lanewise::sass {

BranchStack::Id BranchStack::push(Id stack, Kind kind, size_t target) {
  const auto [at, added] =
      known_.try_emplace({kind, target, stack}, static_cast<Id>(tokens_.size() + 1));
  if (added) tokens_.push_back({kind, target, stack, calls(stack) + (kind == Kind::ret ? 1U : 0U)});
  return at->second;
}

std::optional<BranchStack::Token> BranchStack::find(Id stack, Kind kind) const {
  while (stack != kEmpty) {
    const Token& t = tokens_[stack - 1];
    if (t.kind == kind) return t;
    stack = t.below;
  }
  return std::nullopt;
}

}  // namespace lanewise::sass
