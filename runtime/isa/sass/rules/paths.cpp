#include "runtime/isa/sass/rules/paths.hpp"

#include "runtime/isa/sass/lowering/semantics.hpp"

namespace lanewise::sass {
namespace {

constexpr unsigned kMaxFollowed = 8;  ///< nested ones that are followed

bool is_jump(const Instruction& i) {
  return i.form->flow != Flow::next && i.form->flow != Flow::push;
}

/// Can control also come to what stands behind a jump?
bool goes_on(const Instruction& i) {
  const bool guarded = i.guard() != kPT || i.guard_negated();
  const OperandSpec* test = i.operand(Role::test);
  const bool tests = test != nullptr && test->kind == OperandSpec::Kind::cctest &&
                     test->field.get(i.word) != kAlways;
  return tests || (i.form->has_guard && guarded);
}

}  // namespace

Paths::Paths(const Kernel& kernel) : kernel_(kernel) {
  const size_t count = kernel.code.size();
  for (size_t n = 0; n < count; ++n) by_pc_[at(n).pc] = n;
  if (count != 0) leaders_.insert(0);
  for (size_t n = 0; n < count; ++n) {
    const Instruction& i = at(n);
    if (i.operand(Role::target) != nullptr && target(i) < count) leaders_.insert(target(i));
    if ((is_jump(i) || i.form->unknown) && n + 1 < count) leaders_.insert(n + 1);
    if (i.form->unknown) add_unknown(n + 1);
  }
}

bool Paths::ends_block(size_t n) const {
  return is_jump(at(n)) || n + 1 == kernel_.code.size() || leaders_.contains(n + 1);
}

size_t Paths::target(const Instruction& i) const {
  const auto found = by_pc_.find(branch_target(i));
  return found == by_pc_.end() ? kernel_.code.size() : found->second;
}

BranchStack::Id Paths::behind(Place place) {
  const Instruction& i = at(place.index);
  if (i.form->flow != Flow::push || i.operand(Role::target) == nullptr) return place.stack;
  return stacks_.push(place.stack, i.form->token, target(i));
}

std::vector<Place> Paths::successors(Place last) {
  const Instruction& i = at(last.index);
  std::vector<Place> out;
  if (i.form->unknown) return out;
  if (is_jump(i)) taken(i, last, out);
  if (!is_jump(i) || goes_on(i)) out.push_back({last.index + 1, last.stack});
  std::erase_if(out, [&](const Place& p) { return p.index >= kernel_.code.size(); });
  return out;
}

void Paths::taken(const Instruction& i, Place last, std::vector<Place>& out) {
  const bool known = i.operand(Role::target) != nullptr && !i.form->is(kAbsolute);
  switch (i.form->flow) {
    case Flow::branch:
      if (known) out.push_back({target(i), last.stack});
      return;
    case Flow::call:
      if (!known || stacks_.calls(last.stack) >= kMaxFollowed) return add_unknown(last.index + 1);
      out.push_back({target(i), stacks_.push(last.stack, Token::ret, last.index + 1)});
      return;
    case Flow::pop:
      if (const auto token = stacks_.find(last.stack, i.form->token))
        out.push_back({token->target, token->below});
      return;
    default:
      return;
  }
}

}  // namespace lanewise::sass
