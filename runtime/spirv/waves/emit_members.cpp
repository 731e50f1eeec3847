// Wave mode: operations that would have to wait for lanes of their member mask. A wave is at one
// place, so the lanes look whether all are there, and end the launch where they are not. Masks that
// lanes name apart (tiles of a warp) are each a set of their own.
#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>

#include "runtime/ir/wave_ops.hpp"
#include "runtime/spirv/lane/emitter.hpp"
#include "runtime/spirv/waves/reduction.hpp"

namespace lanewise::spirv {

using ir::Width;

/// Who has ended is kept where somebody asks and the answer can be other than nobody.
void LaneEmitter::plan_members() {
  bool asks = false;
  for (uint32_t b = 0; b < program_.blocks.size(); ++b)
    for (size_t i = 0; i < program_.blocks[b].insts.size(); ++i)
      asks = asks || members_->of(b, i).asked;
  const uint32_t whole = std::max(wave_lanes(), target_.subgroup_size);
  if (!asks || (shape_.lanes % whole == 0 && !ends_apart(code_.body, false))) return;
  in_slots([&](uint32_t) {
    slot_->ended = m_.create_variable(spv::StorageClassFunction, m_.bool_type, "ended");
    m_.create_store(inverse(active()), slot_->ended);
  });
}

/// The active lanes end.
void LaneEmitter::end_active() {
  if (slots_[0].ended == spv::NoResult) return;
  in_slots([&](uint32_t) {
    const Id mask = active();
    const Id ended = m_.create_load(slot_->ended);
    const Id now = mask == spv::NoResult ? m_.b(true) : m_.test(spv::OpLogicalOr, {ended, mask});
    m_.create_store(now, slot_->ended);
  });
}

LaneEmitter::Mask LaneEmitter::live_lanes() {
  if (slots_[0].ended == spv::NoResult) return all_lanes();
  Ids live;
  in_slots([&](uint32_t) { live.push_back(inverse(m_.create_load(slot_->ended))); });
  return ballot_of(live);
}

/// The masks as each slot's lane names them.
Ids LaneEmitter::masks_named() {
  Ids named;
  const auto operand = static_cast<size_t>(ir::member_operand(inst_->op));
  in_slots([&](uint32_t) { named.push_back(src_as(operand, Width::b32)); });
  return named;
}

/// Each lane is content when no lane of its mask is missing and the next one of it, round about,
/// has named the same mask: then all of them have.
void LaneEmitter::ask_members(const Mask& present, const Ids& taking_part) {
  const auto word = [&](spv::Op op, Id a, Id b) { return m_.word(op, {a, b}); };
  const bool everybody = std::ranges::all_of(taking_part, [](Id i) { return i == spv::NoResult; });
  if (member_use_.alike && everybody) return;
  const Ids named = masks_named();
  const Id absent = word(spv::OpBitwiseAnd, live_lanes().low, m_.word(spv::OpNot, {present.low}));
  Ids missing, wrong, next;
  for (uint32_t k = 0; k < named.size(); ++k) {
    missing.push_back(word(spv::OpBitwiseAnd, named[k], absent));
    wrong.push_back(m_.differs(missing[k], 0));
    if (member_use_.alike) continue;
    const Id members = word(spv::OpBitwiseAnd, named[k], present.low);
    const Id upper = word(spv::OpShiftLeftLogical, m_.u(~1U), in_wave(k));
    const Id above = word(spv::OpBitwiseAnd, members, upper);
    const Id none = m_.equals(above, 0);
    const Id from = m_.select(none, members, above);
    next.push_back(m_.glsl(GLSLstd450FindILsb, m_.uint_type, {from}));
  }
  if (!member_use_.alike) {
    const Ids theirs = gathered(named, next);
    for (uint32_t k = 0; k < named.size(); ++k) {
      const Id other = m_.test(spv::OpINotEqual, {theirs[k], named[k]});
      const Id bit =
          word(spv::OpShiftLeftLogical, m_.u(1), word(spv::OpBitwiseAnd, next[k], m_.u(31)));
      missing[k] = m_.select(wrong[k], missing[k], bit);
      wrong[k] = m_.test(spv::OpLogicalOr, {wrong[k], other});
    }
  }
  for (uint32_t k = 0; k < wrong.size(); ++k) wrong[k] = both(wrong[k], taking_part[k]);
  const uint32_t site = inst_->site;
  when(any_of(wrong), [&] {
    in_slots([&](uint32_t k) {
      const uint32_t point = state().points().number(FaultKind::wave_divergence, site);
      state().note(wrong[k], m_.u(point), missing[k], present.low);
    });
    // Others of the group may wait for this wave at a barrier: it goes on, but touches no memory.
    if (frame_.stopped != spv::NoResult)
      m_.create_store(m_.b(true), frame_.stopped);
    else
      leave();
  });
}

/// A reduction where lanes name masks of their own: each takes in the values of its members.
void LaneEmitter::reduce_apart(const std::vector<Mask>& members) {
  Ids values, totals;
  in_slots([&](uint32_t) {
    values.push_back(src_as(0, Width::b32));
    totals.push_back(m_.create_variable(spv::StorageClassFunction, m_.uint_type, "total"));
    m_.create_store(m_.u(neutral(*inst_)), totals.back());
  });
  const auto take_in = [&](Id lane) {
    const Id value = value_of_lane(values, lane);
    for (size_t k = 0; k < totals.size(); ++k) {
      const Id total = m_.create_load(totals[k]);
      const Id more = combined(m_, *inst_, total, value);
      m_.create_store(m_.select(holds(members[k], lane), more, total), totals[k]);
    }
  };
  m_.count_to(wave_lanes(), take_in, "lane");
  give_to_slots(
      [&](uint32_t k) {
        const Id total = m_.create_load(totals[k]);
        return Values{m_.select(is_empty(members[k]), m_.u(0), total)};
      },
      true);
}

}  // namespace lanewise::spirv
