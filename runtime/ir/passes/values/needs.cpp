#include "runtime/ir/passes/values/needs.hpp"

#include <algorithm>
#include <iterator>

#include "runtime/ir/passes/values/numbering.hpp"
#include "runtime/ir/passes/values/values.hpp"

namespace lanewise::ir {
Needs::Needs(const Program& program) : p_(program), ssa_(program), needs_(ssa_.size()) {
  start();
  while (!work_.empty()) {
    const uint32_t value = work_.back();
    work_.pop_back();
    pass_on(value);
  }
}

bool Needs::is_free(const Program& program, const Inst& inst) {
  if (inst.event != 0 || inst.dst.empty()) return false;
  if (inst.op == Op::sreg) return repeatable(inst);
  return info(inst.op).trait == OpTrait::pure || removable(program, inst);
}

bool Needs::only_where(uint32_t value, uint32_t condition, bool holds) const {
  if (value == kNone) return true;
  const Need& n = needs_[value];
  return n.never || std::ranges::binary_search(n.where, Fact{condition, holds});
}

/// What has an effect needs its operands where its guard holds.
void Needs::start() {
  const std::vector<bool> by_others = read_by_others(p_);
  for (uint32_t v = 0; v < ssa_.size(); ++v)
    if (by_others[ssa_[v].reg]) need(v, {});
  for (const uint32_t b : ssa_.order().nodes) {
    for (size_t i = 0; i < p_.blocks[b].insts.size(); ++i) {
      if (is_free(p_, p_.blocks[b].insts[i])) continue;
      const Facts where = guarded(b, i, true);
      for (size_t s = 0; s < p_.blocks[b].insts[i].src.size(); ++s) need(ssa_.use(b, i, s), where);
      need(ssa_.hint(b, i), where);
      need(ssa_.guard(b, i), {});
    }
    need(ssa_.deciding(b), {});
  }
}

/// One more read: what holds at all of them is left.
void Needs::need(uint32_t value, const Facts& where) {
  if (value == kNone) return;
  Need& n = needs_[value];
  if (n.never) {
    n = {false, where};
  } else {
    Facts both;
    std::ranges::set_intersection(n.where, where, std::back_inserter(both));
    if (both.size() == n.where.size()) return;
    n.where = std::move(both);
  }
  work_.push_back(value);
}

void Needs::pass_on(uint32_t value) {
  const Ssa::Value& v = ssa_[value];
  const Facts where = needs_[value].where;
  switch (v.kind) {
    case Ssa::Kind::entry:
      return;
    case Ssa::Kind::argument: {
      // A condition of the block itself, or of one that it dominates, is another one the next time.
      Facts before;
      std::ranges::copy_if(where, std::back_inserter(before), [&](const Fact& fact) {
        const Ssa::Value& c = ssa_[fact.first];
        return c.kind == Ssa::Kind::entry ||
               (c.block != v.block && ssa_.dom().dominates(c.block, v.block));
      });
      for (const uint32_t input : ssa_.inputs(value)) need(input, before);
      return;
    }
    case Ssa::Kind::merge: {
      const uint32_t guard = ssa_.guard(v.block, v.inst);
      const bool sense = !p_.blocks[v.block].insts[v.inst].guard.negate;
      for (const bool taken : {true, false}) {
        if (std::ranges::binary_search(where, Fact{guard, taken != sense})) continue;
        Facts here = where, also = guarded(v.block, v.inst, taken);
        Facts all;
        std::ranges::set_union(here, also, std::back_inserter(all));
        need(ssa_.inputs(value)[taken ? 0 : 1], all);
      }
      return need(guard, where);
    }
    case Ssa::Kind::result:
      break;
  }
  const Inst& inst = p_.blocks[v.block].insts[v.inst];
  if (!is_free(p_, inst)) return;
  for (size_t s = 0; s < inst.src.size(); ++s) need(ssa_.use(v.block, v.inst, s), where);
}

Needs::Facts Needs::guarded(uint32_t block, size_t inst, bool holds) {
  const Guard& guard = p_.blocks[block].insts[inst].guard;
  if (guard.always()) return {};
  return implied(ssa_.guard(block, inst), holds != guard.negate);
}

const Needs::Facts& Needs::implied(uint32_t condition, bool holds) {
  const auto [at, fresh] = implied_.try_emplace(uint64_t{condition} << 1 | (holds ? 1 : 0));
  if (fresh) {
    imply(condition, holds, at->second);
    std::ranges::sort(at->second);
  }
  return at->second;
}

/// Each condition found so could be read where the first one is: its definition dominates.
void Needs::imply(uint32_t condition, bool holds, Facts& out) const {
  if (condition == kNone || out.size() >= kMostFacts) return;
  if (std::ranges::find(out, Fact{condition, holds}) != out.end()) return;
  out.emplace_back(condition, holds);
  each_implied(ssa_, condition, holds,
               [&](uint32_t part, bool part_holds) { imply(part, part_holds, out); });
}

}  // namespace lanewise::ir
