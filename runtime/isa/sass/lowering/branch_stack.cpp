#include "runtime/isa/sass/lowering/branch_stack.hpp"

namespace lanewise::sass {

BranchStack::Id BranchStack::push(Id stack, Token kind, size_t target) {
  constexpr unsigned kSeveral = 4;
  const unsigned alike = run(stack, kind, target);
  if (alike > kSeveral) return stack;
  const auto id = static_cast<Id>(tokens_.size() + 1);
  const auto [at, added] = known_.try_emplace({kind, target, stack}, id);
  if (!added) return at->second;
  const bool many = alike == kSeveral && kind != Token::ret;
  tokens_.push_back({kind, target, many ? id : stack, calls(stack) + (kind == Token::ret ? 1U : 0U),
                     many ? kSeveral + 1 : alike + 1, bottom(stack, alike)});
  return id;
}

BranchStack::Id BranchStack::bottom(Id stack, unsigned alike) const {
  for (; alike > 0; --alike) stack = tokens_[stack - 1].below;
  return stack;
}

unsigned BranchStack::run(Id stack, Token kind, size_t target) const {
  if (stack == kEmpty || kind == Token::ret) return 0;
  const Entry& top = tokens_[stack - 1];
  return top.kind == kind && top.target == target ? top.alike : 0;
}

std::optional<BranchStack::Entry> BranchStack::find(Id stack, Token kind) const {
  while (stack != kEmpty) {
    const Entry& t = tokens_[stack - 1];
    if (t.kind == kind) return t;
    stack = t.below == stack ? t.bottom : t.below;
  }
  return std::nullopt;
}

}  // namespace lanewise::sass
