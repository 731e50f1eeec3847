// Wave mode: cross-lane operations as subgroup operations and a choice of slots. What they mean:
// docs/execution.md. Lane n of a wave is invocation n % S of the subgroup in slot n / S; of waves
// smaller than a subgroup, several lie in one.
#include <spirv/unified1/GLSL.std.450.h>

#include <algorithm>
#include <bit>

#include "runtime/ir/wave_ops.hpp"
#include "runtime/spirv/lane/emitter.hpp"
#include "runtime/spirv/waves/reduction.hpp"

namespace lanewise::spirv {
namespace {

using ir::Op;
using ir::ShflMode;
using ir::Width;

uint32_t low_bits(uint32_t count) {
  return count >= 32 ? ~0U : (1U << count) - 1;
}

}  // namespace

/// The lane's number in its wave.
Id LaneEmitter::in_wave(uint32_t slot) {
  const uint32_t size = target_.subgroup_size;
  if (wave_lanes() < size)
    return m_.word(spv::OpBitwiseAnd, {subgroup_lane_, m_.u(wave_lanes() - 1)});
  if (slot == 0) return subgroup_lane_;
  return m_.word(spv::OpIAdd, {subgroup_lane_, m_.u(slot * size)});
}

/// Where the wave begins in its subgroup.
Id LaneEmitter::first_in_subgroup() {
  return m_.word(spv::OpBitwiseAnd, {subgroup_lane_, m_.u(~(wave_lanes() - 1))});
}

LaneEmitter::Mask LaneEmitter::ballot_of(const Ids& of_slots) {
  const uint32_t size = target_.subgroup_size;
  m_.add_capability(spv::CapabilityGroupNonUniformBallot);
  const auto word = [&](Id ballot, uint32_t n) { return m_.extract(ballot, m_.uint_type, n); };
  Mask mask{m_.u(0), m_.u(0)};
  for (uint32_t k = 0; k < of_slots.size(); ++k) {
    const Id one = of_slots[k] == spv::NoResult ? m_.b(true) : of_slots[k];
    const Id ballot =
        m_.op(spv::OpGroupNonUniformBallot, m_.uvec4_type, {m_.u(spv::ScopeSubgroup), one});
    if (wave_lanes() < size) {
      const Id first = first_in_subgroup();
      const Id which = m_.word(spv::OpShiftRightLogical, {first, m_.u(5)});
      const auto chunk = [&](Id number) {
        const Id whole =
            size <= 32 ? word(ballot, 0) : m_.word(spv::OpVectorExtractDynamic, {ballot, number});
        const Id shift = m_.word(spv::OpBitwiseAnd, {first, m_.u(31)});
        const Id moved = m_.word(spv::OpShiftRightLogical, {whole, shift});
        return m_.word(spv::OpBitwiseAnd, {moved, m_.u(low_bits(wave_lanes()))});
      };
      mask.low = chunk(which);
      if (wave_lanes() > 32) mask.high = chunk(m_.word(spv::OpIAdd, {which, m_.u(1)}));
      continue;
    }
    const uint32_t first = k * size;
    Id& part = first < 32 ? mask.low : mask.high;
    const Id bits = word(ballot, 0);
    part = first % 32 == 0
               ? bits
               : m_.word(spv::OpBitwiseOr,
                         {part, m_.word(spv::OpShiftLeftLogical, {bits, m_.u(first % 32)})});
    if (size > 32) mask.high = word(ballot, 1);
  }
  return mask;
}

LaneEmitter::Mask LaneEmitter::all_lanes() {
  const uint32_t lanes = wave_lanes();
  return {m_.u(low_bits(lanes)), m_.u(lanes > 32 ? low_bits(lanes - 32) : 0)};
}

LaneEmitter::Mask LaneEmitter::participants(const Ids& taking_part) {
  const bool everybody = std::ranges::all_of(taking_part, [](Id i) { return i == spv::NoResult; });
  return everybody ? all_lanes() : ballot_of(taking_part);
}

/// Is the lane's bit set?
Id LaneEmitter::holds(const Mask& mask, Id lane) {
  Id word = mask.low;
  if (wave_lanes() > 32) {
    const Id upper = m_.test(spv::OpUGreaterThanEqual, {lane, m_.u(32)});
    word = m_.select(upper, mask.high, mask.low);
  }
  const Id shift = m_.word(spv::OpBitwiseAnd, {lane, m_.u(31)});
  const Id bit =
      m_.word(spv::OpBitwiseAnd, {m_.word(spv::OpShiftRightLogical, {word, shift}), m_.u(1)});
  return m_.differs(bit, 0);
}

Id LaneEmitter::is_empty(const Mask& mask) {
  const Id any = wave_lanes() > 32 ? m_.word(spv::OpBitwiseOr, {mask.low, mask.high}) : mask.low;
  return m_.equals(any, 0);
}

Id LaneEmitter::equal(const Mask& a, const Mask& b) {
  const Id low = m_.test(spv::OpIEqual, {a.low, b.low});
  if (wave_lanes() <= 32) return low;
  return both(low, m_.test(spv::OpIEqual, {a.high, b.high}));
}

/// The lowest lane of a mask that is not empty.
Id LaneEmitter::lowest(const Mask& mask) {
  if (m_.known(mask.low) != nullptr && *m_.known(mask.low) != 0)
    return m_.u(static_cast<uint32_t>(std::countr_zero(*m_.known(mask.low))));
  const Id low = m_.glsl(GLSLstd450FindILsb, m_.uint_type, {mask.low});
  if (wave_lanes() <= 32) return low;
  const Id high =
      m_.word(spv::OpIAdd, {m_.glsl(GLSLstd450FindILsb, m_.uint_type, {mask.high}), m_.u(32)});
  const Id empty = m_.equals(mask.low, 0);
  return m_.select(empty, high, low);
}

Id LaneEmitter::pick_slot(const Ids& values, Id slot) {
  if (m_.known(slot) != nullptr) return values[*m_.known(slot) % values.size()];
  Id picked = values[0];
  for (uint32_t k = 1; k < values.size(); ++k) {
    const Id meant = m_.equals(slot, k);
    picked = m_.select(meant, values[k], picked);
  }
  return picked;
}

/// What invocation `lane` of the subgroup has.
Id LaneEmitter::shuffled(Id value, Id lane) {
  m_.add_capability(spv::CapabilityGroupNonUniformShuffle);
  return m_.word(spv::OpGroupNonUniformShuffle, {m_.u(spv::ScopeSubgroup), value, lane});
}

/// What lane `place` of each four neighbours has.
Id LaneEmitter::quad_lane(Id value, uint32_t place) {
  m_.add_capability(spv::CapabilityGroupNonUniformQuad);
  return m_.word(spv::OpGroupNonUniformQuadBroadcast,
                 {m_.u(spv::ScopeSubgroup), value, m_.u(place)});
}

/// What one lane of the wave has; all of them name the same one.
Id LaneEmitter::value_of_lane(const Ids& values, Id lane) {
  const uint32_t size = target_.subgroup_size;
  if (wave_lanes() < size)
    return shuffled(values[0], m_.word(spv::OpIAdd, {first_in_subgroup(), lane}));
  const auto shift = static_cast<uint32_t>(std::countr_zero(size));
  if (const uint32_t* known = m_.known(lane))
    return shuffled(values[(*known >> shift) % values.size()], m_.u(*known & (size - 1)));
  const Id slot = m_.word(spv::OpShiftRightLogical, {lane, m_.u(shift)});
  return shuffled(values.size() == 1 ? values[0] : pick_slot(values, slot),
                  m_.word(spv::OpBitwiseAnd, {lane, m_.u(size - 1)}));
}

/// What lane `from` of the wave has, a lane for each slot; `inside`: no number is beyond the wave.
Ids LaneEmitter::gathered(const Ids& values, const Ids& from, bool inside) {
  const uint32_t size = target_.subgroup_size;
  Ids results;
  for (const Id lane : from) {
    if (values.size() == 1 && inside) {
      const bool part = wave_lanes() < size;
      const Id place = part ? m_.word(spv::OpBitwiseOr, {lane, first_in_subgroup()}) : lane;
      results.push_back(shuffled(values[0], place));
      continue;
    }
    if (values.size() == 1) {
      const bool part = wave_lanes() < size;
      const Id place = part ? m_.word(spv::OpIAdd, {first_in_subgroup(), lane}) : lane;
      results.push_back(shuffled(values[0], m_.word(spv::OpBitwiseAnd, {place, m_.u(size - 1)})));
      continue;
    }
    if (const size_t done = results.size(); done != 0 && lane == from[done - 1]) {
      results.push_back(results.back());
      continue;
    }
    const Id place = m_.masked(lane, size - 1);
    const auto shift = static_cast<uint32_t>(std::countr_zero(size));
    // Which of the slots that there are, by the number's bits above the place.
    const auto slots = static_cast<uint32_t>(values.size() - 1) << shift;
    const ModuleBuilder::KnownBits bits = m_.known_bits(lane);
    if (((bits.zeros | bits.ones) & slots) == slots) {
      results.push_back(shuffled(values[(bits.ones & slots) >> shift], place));
      continue;
    }
    const Id slot = m_.word(spv::OpShiftRightLogical, {lane, m_.u(shift)});
    Ids moved;
    for (const Id value : values) moved.push_back(shuffled(value, place));
    results.push_back(pick_slot(moved, slot));
  }
  return results;
}

/// The same over a distance that is known: whole subgroups are a change of slots, and what is left
/// of the distance is one shuffle a slot. Lanes outside of the wave are not asked for.
Ids LaneEmitter::shuffled_by(const Ids& values, uint32_t distance, ShflMode mode) {
  const uint32_t size = target_.subgroup_size;
  const auto slots = static_cast<int>(values.size());
  const int far = static_cast<int>(distance / size);
  const uint32_t near = distance % size;
  const auto value = [&](const Ids& of, int slot) {
    return of[static_cast<size_t>(std::clamp(slot, 0, slots - 1))];
  };
  Ids moved = values;
  Id wraps = spv::NoResult;
  if (near != 0) {
    Id place = spv::NoResult;
    if (mode == ShflMode::bfly) {
      place = m_.word(spv::OpBitwiseXor, {subgroup_lane_, m_.u(near)});
    } else if (mode == ShflMode::up) {
      place = m_.word(spv::OpISub, {subgroup_lane_, m_.u(near)});
      wraps = m_.test(spv::OpULessThan, {subgroup_lane_, m_.u(near)});
    } else {
      place = m_.word(spv::OpIAdd, {subgroup_lane_, m_.u(near)});
      wraps = m_.test(spv::OpUGreaterThanEqual, {subgroup_lane_, m_.u(size - near)});
    }
    place = m_.word(spv::OpBitwiseAnd, {place, m_.u(size - 1)});
    for (Id& one : moved) one = shuffled(one, place);
  }
  Ids results;
  for (int k = 0; k < slots; ++k) {
    if (mode == ShflMode::bfly) {
      results.push_back(moved[static_cast<size_t>((k ^ far) % slots)]);
      continue;
    }
    const int step = mode == ShflMode::up ? -1 : 1;
    const Id here = value(moved, k + step * far);
    results.push_back(
        wraps == spv::NoResult ? here : m_.select(wraps, value(moved, k + step * (far + 1)), here));
  }
  return results;
}

/// Results in each slot; `alike` when all lanes get the same one.
void LaneEmitter::give_to_slots(const std::function<Values(uint32_t)>& of_slot, bool alike) {
  if (alike && once_for_all(*inst_)) return set_results(of_slot(0));
  std::vector<Values> all;
  in_slots([&](uint32_t k) { all.push_back(of_slot(k)); });
  in_slots([&](uint32_t k) { set_results(all[k]); });
}

void LaneEmitter::subgroup_operation(const ir::Inst& inst) {
  m_.add_capability(spv::CapabilityGroupNonUniform);
  Ids taking_part, values;
  std::vector<Mask> members;
  const int operand = ir::member_operand(inst.op);
  in_slots([&](uint32_t) {
    const Id guard = inst.guard.always() ? spv::NoResult : guard_value(inst.guard);
    taking_part.push_back(both(guard, active()));
  });
  const Mask present = participants(taking_part);
  member_use_ = members_->of(block_, index_);
  if (member_use_.asked) ask_members(present, taking_part);
  in_slots([&](uint32_t) {
    Mask own = present;
    if (operand >= 0 && inst.src[static_cast<size_t>(operand)] != ir::Operand::immediate(~0U)) {
      const Id named = src_as(static_cast<size_t>(operand), Width::b32);
      own.low = m_.word(spv::OpBitwiseAnd, {present.low, named});
    }
    members.push_back(own);
  });
  const auto slot_values = [&] {
    in_slots([&](uint32_t) { values.push_back(src_as(0, Width::b32)); });
  };
  switch (inst.op) {
    case Op::wave_sync:
      // llvmpipe runs a subgroup in step; it would take the barrier for one of the whole group.
      if (target_.quirks.fence_by_atomic) return fence_call(ir::Scope::cta);
      m_.control_barrier(spv::ScopeSubgroup, spv::MemorySemanticsAcquireReleaseMask |
                                                 spv::MemorySemanticsUniformMemoryMask |
                                                 spv::MemorySemanticsWorkgroupMemoryMask);
      return;
    case Op::activemask:
      return give_to_slots([&](uint32_t) { return Values{present.low}; }, true);
    case Op::elect:
      return give_to_slots(
          [&](uint32_t k) {
            const Id empty = is_empty(members[k]);
            const Mask from = {m_.select(empty, present.low, members[k].low), present.high};
            const Id leader = lowest(from);
            return Values{leader, m_.test(spv::OpIEqual, {leader, in_wave(k)})};
          },
          false);
    case Op::readfirst: {
      slot_values();
      const Id value = value_of_lane(values, lowest(present));
      return give_to_slots([&](uint32_t) { return Values{value}; }, true);
    }
    case Op::readlane:
      return read_lane();
    case Op::shfl:
      return shuffle(present, taking_part);
    case Op::match_any:
    case Op::match_all:
      return match(members, taking_part);
    case Op::redux:
      return reduce(members, taking_part);
    default:
      return vote(members, taking_part);
  }
}

void LaneEmitter::vote(const std::vector<Mask>& members, const Ids& taking_part) {
  Ids wanted;
  in_slots([&](uint32_t k) { wanted.push_back(both(src_as(0, Width::pred), taking_part[k])); });
  const Mask yes = ballot_of(wanted);
  give_to_slots(
      [&](uint32_t k) -> Values {
        Mask own = yes;
        if (members[k].low != yes.low)
          own.low = m_.word(spv::OpBitwiseAnd, {yes.low, members[k].low});
        switch (inst_->op) {
          case Op::ballot:
            return {m_.make64(yes.low, yes.high)};
          case Op::vote_ballot:
            return {own.low};
          case Op::vote_any:
            return {m_.negated(is_empty(own))};
          case Op::vote_all:
            return {equal(own, members[k])};
          default:
            return {m_.test(spv::OpLogicalOr, {equal(own, members[k]), is_empty(own)})};
        }
      },
      true);
}

constexpr uint32_t kSegmentsOfFour = 28;  ///< of five bits, those that four neighbours share

/// Operand c: bits 4:0 the clamp, bits 12:8 the mask that cuts the wave into segments. A lane that
/// does not take part gives 0, as hardware does: NVIDIA's samples of reductions rely on it.
void LaneEmitter::shuffle(const Mask& present, const Ids& taking_part) {
  const auto mode = static_cast<ShflMode>(inst_->mode);
  const ir::Operand &by = inst_->src[1], &limits = inst_->src[2];
  const bool everybody = std::ranges::all_of(taking_part, [](Id i) { return i == spv::NoResult; });
  // Within a segment every lane can be named then.
  const bool any_lane = mode == ShflMode::idx && limits.is_imm() && (limits.imm & 31) == 31;
  const auto word = [&](spv::Op op, Id a, Id b) { return m_.word(op, {a, b}); };
  Ids values, from, in_range;
  in_slots([&](uint32_t k) {
    values.push_back(src_as(0, Width::b32));
    const Id lane = in_wave(k);
    const Id self = wave_lanes() > 32 ? word(spv::OpBitwiseAnd, lane, m_.u(31)) : lane;
    const auto masked = [&](size_t index, uint32_t shift) {
      const ir::Operand& operand = inst_->src[index];
      if (operand.is_imm()) return m_.u(static_cast<uint32_t>(operand.imm) >> shift & 31);
      const Id value = src_as(index, Width::b32);
      return m_.masked(shift == 0 ? value : word(spv::OpShiftRightLogical, value, m_.u(shift)), 31);
    };
    const Id asked = masked(1, 0), clamp = masked(2, 0), segment = masked(2, 8);
    const Id outside = m_.word(spv::OpNot, {segment});
    const Id least = word(spv::OpBitwiseAnd, self, segment);
    const Id limit = word(spv::OpBitwiseOr, least, word(spv::OpBitwiseAnd, clamp, outside));
    Id source = spv::NoResult;
    switch (mode) {
      case ShflMode::up:
        source = word(spv::OpISub, self, asked);
        break;
      case ShflMode::down:
        source = word(spv::OpIAdd, self, asked);
        break;
      case ShflMode::bfly:
        source = word(spv::OpBitwiseXor, self, asked);
        break;
      case ShflMode::idx:
        source = limits.is_imm() && (limits.imm >> 8 & 31) == 0
                     ? asked
                     : word(spv::OpBitwiseOr, least, word(spv::OpBitwiseAnd, asked, outside));
        break;
    }
    const spv::Op legal = mode == ShflMode::up ? spv::OpSGreaterThanEqual : spv::OpSLessThanEqual;
    in_range.push_back(any_lane ? m_.make_bool_constant(true) : m_.test(legal, {source, limit}));
    if (wave_lanes() > 32)
      source = word(spv::OpBitwiseOr, source, word(spv::OpBitwiseAnd, lane, m_.u(32)));
    from.push_back(source);
  });
  Ids brought;
  if (values.size() > 1 && by.is_imm() && mode != ShflMode::idx && wave_lanes() <= 32) {
    brought = shuffled_by(values, by.imm & 31, mode);
  } else if (by.is_imm() && mode == ShflMode::idx && limits.is_imm() && wave_lanes() <= 32 &&
             (limits.imm >> 8 & 31) == 0 && (by.imm & 31) < wave_lanes()) {
    brought.assign(values.size(), value_of_lane(values, m_.u(by.imm & 31)));
  } else if (by.is_imm() && mode == ShflMode::idx && limits.is_imm() && everybody &&
             (limits.imm >> 8 & 31) == kSegmentsOfFour && wave_lanes() >= 4 &&
             target_.quad_operations && target_.subgroup_size >= 4) {
    for (const Id value : values) brought.push_back(quad_lane(value, by.imm & 3));
  } else {
    const bool inside = (mode == ShflMode::idx || mode == ShflMode::bfly) && wave_lanes() >= 32;
    brought = gathered(values, from, inside);
  }
  Ids named, brought_masks;
  if (!member_use_.alike) brought_masks = gathered(named = masks_named(), from);
  give_to_slots(
      [&](uint32_t k) {
        // Below 32 lanes an address may lie inside the clamp and outside the wave.
        Id value = brought[k];
        if (!everybody || wave_lanes() < 32)
          value = m_.select(holds(present, from[k]), value, m_.u(0));
        if (!named.empty())
          value = m_.select(m_.test(spv::OpIEqual, {named[k], brought_masks[k]}), value, m_.u(0));
        if (!any_lane) value = m_.select(in_range[k], value, values[k]);
        return Values{value, in_range[k]};
      },
      false);
}

/// Bit by bit: those of the members whose bit is as one's own.
void LaneEmitter::match(const std::vector<Mask>& members, const Ids& taking_part) {
  const bool wide = ir::width_of(inst_->type) == Width::b64;
  Ids lows, highs, found;
  in_slots([&](uint32_t k) {
    const Id value = src_as(0, wide ? Width::b64 : Width::b32);
    lows.push_back(wide ? m_.lo(value) : value);
    if (wide) highs.push_back(m_.hi(value));
    found.push_back(m_.create_variable(spv::StorageClassFunction, m_.uint_type, "alike"));
    m_.create_store(members[k].low, found[k]);
  });
  const auto compare = [&](const Ids& words) {
    const Id counter = m_.create_variable(spv::StorageClassFunction, m_.uint_type, "bit");
    m_.create_store(m_.u(0), counter);
    Block* header = m_.new_block();
    Block* body = m_.new_block();
    Block* again = m_.new_block();
    Block* merge = m_.new_block();
    m_.create_branch(header);
    m_.set_build_point(header);
    m_.create_loop_merge(merge, again, spv::LoopControlDontUnrollMask);
    m_.create_branch(body);
    m_.set_build_point(body);
    const Id bit = m_.create_load(counter);
    Ids set;
    for (const Id word : words) {
      const Id moved = m_.word(spv::OpShiftRightLogical, {word, bit});
      const Id one = m_.word(spv::OpBitwiseAnd, {moved, m_.u(1)});
      set.push_back(m_.differs(one, 0));
    }
    Ids voting;
    for (size_t k = 0; k < set.size(); ++k) voting.push_back(both(set[k], taking_part[k]));
    const Mask yes = ballot_of(voting);
    const Id no = m_.word(spv::OpNot, {yes.low});
    for (size_t k = 0; k < set.size(); ++k) {
      const Id so_far = m_.create_load(found[k]);
      const Id alike = m_.select(set[k], yes.low, no);
      m_.create_store(m_.word(spv::OpBitwiseAnd, {so_far, alike}), found[k]);
    }
    const Id next = m_.word(spv::OpIAdd, {bit, m_.u(1)});
    m_.create_store(next, counter);
    m_.create_branch(again);
    m_.set_build_point(again);
    m_.create_conditional_branch(m_.test(spv::OpULessThan, {next, m_.u(32)}), header, merge);
    m_.set_build_point(merge);
  };
  compare(lows);
  if (wide) compare(highs);
  const bool all = inst_->op == Op::match_all;
  give_to_slots(
      [&](uint32_t k) -> Values {
        const Id alike = m_.create_load(found[k]);
        if (!all) return {alike};
        const Id agree = m_.test(spv::OpIEqual, {alike, members[k].low});
        return {m_.select(agree, alike, m_.u(0)), agree};
      },
      false);
}

void LaneEmitter::reduce(const std::vector<Mask>& members, const Ids& taking_part) {
  if (!member_use_.alike) return reduce_apart(members);
  Id total = spv::NoResult;
  in_slots([&](uint32_t k) {
    Id value = src_as(0, Width::b32);
    Id counts = taking_part[k];
    if (inst_->src[1] != ir::Operand::immediate(~0U))
      counts = both(counts, holds(members[k], in_wave(k)));
    if (counts != spv::NoResult) value = m_.select(counts, value, m_.u(neutral(*inst_)));
    total = k == 0 ? value : combined(m_, *inst_, total, value);
  });
  const uint32_t width = std::min(wave_lanes(), target_.subgroup_size);
  for (uint32_t step = 1; step < width; step *= 2) {
    const Id other = m_.word(spv::OpBitwiseXor, {subgroup_lane_, m_.u(step)});
    total = combined(m_, *inst_, total, shuffled(total, other));
  }
  give_to_slots(
      [&](uint32_t k) {
        if (inst_->src[1] == ir::Operand::immediate(~0U)) return Values{total};
        return Values{m_.select(is_empty(members[k]), m_.u(0), total)};
      },
      true);
}

/// Any lane of the wave, also one that has ended or is inactive; 0 when there is none.
void LaneEmitter::read_lane() {
  Ids values, from;
  const ir::Operand& named = inst_->src[1];
  in_slots([&](uint32_t) {
    values.push_back(src_as(0, Width::b32));
    const Id lane = named.is_imm() ? m_.u(static_cast<uint32_t>(named.imm) & (wave_lanes() - 1))
                                   : m_.word(spv::OpBitwiseAnd,
                                             {src_as(1, Width::b32), m_.u(wave_lanes() - 1)});
    from.push_back(lane);
  });
  const bool alike = named.is_imm() || shared_[named.index] || (full_ && uniform_[named.index]);
  Ids brought = alike ? Ids(values.size(), value_of_lane(values, from[0])) : gathered(values, from);
  if (shape_.lanes % wave_lanes() != 0) {
    const Id first = m_.word(spv::OpISub, {slots_[0].lane, in_wave(0)});
    for (size_t k = 0; k < brought.size(); ++k) {
      const Id lane = m_.word(spv::OpIAdd, {first, from[k]});
      const Id exists = m_.test(spv::OpULessThan, {lane, m_.u(shape_.lanes)});
      brought[k] = m_.select(exists, brought[k], m_.u(0));
    }
  }
  give_to_slots([&](uint32_t k) { return Values{brought[k]}; }, alike);
}

}  // namespace lanewise::spirv
