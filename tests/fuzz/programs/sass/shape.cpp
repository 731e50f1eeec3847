#include "tests/fuzz/programs/sass/shape.hpp"

namespace lanewise::programs::sass {
namespace {

void find_leaves(const Block& block, uint32_t depth, LoopUse& use) {
  for (const Statement& s : block) {
    if (const auto* leave = std::get_if<Leave>(&s.what)) {
      if (leave->levels > depth) use.crosses = true;
      if (leave->levels == depth) (leave->goes_on ? use.continues : use.breaks) = true;
    }
    const bool deeper = std::holds_alternative<Loop>(s.what);
    for (const Block* inner : blocks_in(s)) find_leaves(*inner, depth + (deeper ? 1 : 0), use);
  }
}

}  // namespace

LoopUse use_of(const Loop& loop) {
  LoopUse use;
  find_leaves(loop.body, 1, use);
  return use;
}

bool looks_across(const Program& p, const Statement& s) {
  if (std::holds_alternative<Cross>(s.what) || std::holds_alternative<Exchange>(s.what) ||
      std::holds_alternative<Barrier>(s.what) || std::holds_alternative<Pool>(s.what))
    return true;
  bool found = false;
  const auto look = [&](const Statement& inner) { found = found || looks_across(p, inner); };
  if (const auto* call = std::get_if<Call>(&s.what))
    for (const Statement& inner : p.functions.at(call->function).body) look(inner);
  for (const Block* block : blocks_in(s))
    for (const Statement& inner : *block) look(inner);
  return found;
}

bool looks_across(const Program& p) {
  for (const Statement& s : p.body)
    if (looks_across(p, s)) return true;
  return false;
}

bool always_leaves(const Block& b) {
  if (b.empty()) return false;
  const auto& last = b.back().what;
  return std::holds_alternative<Leave>(last) || std::holds_alternative<Return>(last);
}

}  // namespace lanewise::programs::sass
