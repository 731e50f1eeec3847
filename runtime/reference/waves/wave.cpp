// Cross-lane operations: who takes part, and what each lane gets.
#include <algorithm>
#include <array>
#include <bit>

#include "runtime/ir/wave_ops.hpp"
#include "runtime/reference/waves/group.hpp"
#include "runtime/reference/waves/lockstep.hpp"

namespace lanewise::reference {
namespace {

using ir::Op;

constexpr uint64_t kAllLanes = ~uint64_t{0};

uint32_t combine(ir::AtomOp op, bool is_signed, uint32_t a, uint32_t b) {
  const bool less = is_signed ? static_cast<int32_t>(a) < static_cast<int32_t>(b) : a < b;
  switch (op) {
    case ir::AtomOp::min:
      return less ? a : b;
    case ir::AtomOp::max:
      return less ? b : a;
    case ir::AtomOp::and_:
      return a & b;
    case ir::AtomOp::or_:
      return a | b;
    case ir::AtomOp::xor_:
      return a ^ b;
    default:
      return a + b;
  }
}

}  // namespace

/// What the lanes of a wave brought to the operation, read before any result is written.
struct Group::Gathered {
  uint64_t participants = 0, members = 0;
  uint64_t present = 0;                  ///< lanes that exist, ended ones too
  std::array<uint64_t, kMaxWave> value;  ///< first source, of all lanes that exist
  uint64_t yes = 0;                      ///< members whose first source is true
  uint32_t reduced = 0;

  uint64_t equal_to(uint64_t v) const {
    uint64_t mask = 0;
    for_each_lane(members, [&](uint32_t i) { mask |= uint64_t{value[i] == v} << i; });
    return mask;
  }
};

uint64_t Group::live_mask(uint32_t wave) const {
  uint64_t mask = 0;
  for (uint32_t i = 0; i < wave_lanes_ && wave * wave_lanes_ + i < lanes_.size(); ++i) {
    if (lane_of(wave, i).state != LaneState::ended) mask |= uint64_t{1} << i;
  }
  return mask;
}

uint64_t Group::waiting_mask(uint32_t wave) const {
  uint64_t mask = 0;
  for_each_lane(live_mask(wave), [&](uint32_t i) {
    if (lane_of(wave, i).state == LaneState::at_wave) mask |= uint64_t{1} << i;
  });
  return mask;
}

uint64_t Group::member_mask(const Lane& lane) const {
  const Code& code = program_.codes[lane.position];
  const int operand = ir::member_operand(code.op);
  if (operand < 0) return kAllLanes;
  const uint64_t mask = lane.r[code.src[operand]] & 0xffffffff;
  return mask == 0xffffffff ? kAllLanes : mask;
}

bool Group::at_rendezvous(const Lane& lane) const {
  return program_.codes[lane.position].rendezvous;
}

/// Which of two lanes of a wave stands at the lower place: negative = a, 0 = the same place.
int Group::compare_places(const Lane& a, const Lane& b) const {
  if (program_.order == nullptr) return a.position < b.position ? -1 : a.position > b.position;
  const auto place = [&](const Lane& lane) -> const ir::WaveOrder::Place& {
    return program_.order->places[program_.codes[lane.position].place];
  };
  const ir::WaveOrder::Place &at = place(a), &bt = place(b);
  const size_t depth = std::min(at.loops.size(), bt.loops.size());
  for (size_t i = 0; i < depth; ++i) {
    const ir::Reg iteration = at.loops[i].iteration;
    if (iteration != bt.loops[i].iteration) break;
    if (a.r[iteration.id] != b.r[iteration.id])
      return a.r[iteration.id] < b.r[iteration.id] ? -1 : 1;
  }
  if (at.position != bt.position) return at.position < bt.position ? -1 : 1;
  return a.position < b.position ? -1 : a.position > b.position;
}

/// None of the lanes can come to where `first` waits.
bool Group::none_below(uint32_t wave, uint64_t lanes, const Lane& first) const {
  bool none = true;
  for_each_lane(lanes, [&](uint32_t i) {
    const Lane& lane = lane_of(wave, i);
    const int order = compare_places(lane, first);
    // One that stands in front of the instruction comes to it next.
    none = none && (order > 0 || (order == 0 && lane.state == LaneState::at_wave));
  });
  return none;
}

/// Two lanes that wait carry an operation out together.
bool Group::meet(const Lane& a, const Lane& b) const {
  if (member_mask(a) != member_mask(b)) return false;
  const Code &at = program_.codes[a.position], &bt = program_.codes[b.position];
  if (at.rendezvous || bt.rendezvous) return at.rendezvous == bt.rendezvous && at.kind == bt.kind;
  return a.position == b.position && compare_places(a, b) == 0;
}

/// The lanes of the wave that wait with `first`.
uint64_t Group::lanes_at(uint32_t wave, const Lane& first) const {
  uint64_t mask = 0;
  for_each_lane(waiting_mask(wave), [&](uint32_t i) {
    if (meet(lane_of(wave, i), first)) mask |= uint64_t{1} << i;
  });
  return mask;
}

/// A rendezvous: all lanes of its mask are there. Else: no lane can come any more. In lockstep the
/// walk over the tree knows that.
bool Group::is_complete(uint32_t wave, const Lane& first, uint64_t here, uint64_t live) const {
  if (at_rendezvous(first)) return (member_mask(first) & live & ~here) == 0;
  return lockstep_ == nullptr && none_below(wave, live & ~here, first);
}

bool Group::run_complete_wave_ops() {
  bool ran = false;
  for (uint32_t wave = 0; wave < waves_; ++wave) {
    uint64_t unreleased = waiting_mask(wave);
    const uint64_t live = unreleased != 0 ? live_mask(wave) : 0;
    while (unreleased != 0) {
      const Lane& first = lane_of(wave, static_cast<uint32_t>(std::countr_zero(unreleased)));
      const uint64_t here = lanes_at(wave, first);
      unreleased &= ~here;
      if (!is_complete(wave, first, here, live)) continue;
      run_wave_op(wave, here);
      ran = true;
    }
  }
  return ran;
}

bool Group::run_partial_wave_ops() {
  bool ran = false;
  for (uint32_t wave = 0; wave < waves_; ++wave) {
    const Lane* first = nullptr;
    for_each_lane(waiting_mask(wave), [&](uint32_t i) {
      const Lane& lane = lane_of(wave, i);
      if (first == nullptr || compare_places(lane, *first) < 0) first = &lane;
    });
    if (first == nullptr) continue;
    ran = true;
    if (lockstep_ != nullptr) {
      lockstep_->walks()[wave].run(true);
    } else {
      run_wave_op(wave, lanes_at(wave, *first));
    }
  }
  return ran;
}

void Group::run_wave_op(uint32_t wave, uint64_t participants) {
  idle_ = 0;
  const Lane& first = lane_of(wave, static_cast<uint32_t>(std::countr_zero(participants)));
  const Code& code = program_.codes[first.position];
  Gathered g;
  g.participants = participants;
  g.members = participants & member_mask(first);
  for (uint32_t i = 0; i < wave_lanes_ && wave * wave_lanes_ + i < lanes_.size(); ++i) {
    g.present |= uint64_t{1} << i;
    const Lane& lane = lane_of(wave, i);
    // Lanes meet at instructions of one kind, each with operands of its own.
    const Code& own = (participants >> i & 1) != 0 ? program_.codes[lane.position] : code;
    g.value[i] = own.sources > 0 ? lane.r[own.s0] : 0;
  }
  for_each_lane(g.members, [&](uint32_t i) { g.yes |= uint64_t{g.value[i] != 0} << i; });
  if (code.op == Op::redux && g.members != 0) {
    const auto lowest = static_cast<uint32_t>(std::countr_zero(g.members));
    g.reduced = static_cast<uint32_t>(g.value[lowest]);
    for_each_lane(g.members & (g.members - 1), [&](uint32_t i) {
      g.reduced = combine(code.mem->atom, ir::is_signed(code.type), g.reduced,
                          static_cast<uint32_t>(g.value[i]));
    });
  }
  for_each_lane(participants, [&](uint32_t i) {
    Lane& lane = lane_of(wave, i);
    finish_wave_op(lane, program_.codes[lane.position], g);
    ++lane.position;
    lane.state = LaneState::ready;
  });
}

void Group::finish_wave_op(Lane& lane, const Code& code, const Gathered& g) {
  uint64_t* r = lane.r;
  const uint64_t own = g.value[lane.in_wave];
  switch (code.op) {
    case Op::ballot:
    case Op::vote_ballot:
      r[code.d0] = code.op == Op::ballot ? g.yes : g.yes & 0xffffffff;
      break;
    case Op::vote_any:
      r[code.d0] = g.yes != 0;
      break;
    case Op::vote_all:
      r[code.d0] = g.yes == g.members;
      break;
    case Op::vote_uni:
      r[code.d0] = g.yes == g.members || g.yes == 0;
      break;
    case Op::shfl:
      shuffle(lane, code, g);
      break;
    case Op::match_any:
      r[code.d0] = g.equal_to(own) & 0xffffffff;
      break;
    case Op::match_all: {
      const bool agree = g.equal_to(own) == g.members;
      r[code.d0] = agree ? g.members & 0xffffffff : 0;
      r[code.d1] = agree;
      break;
    }
    case Op::redux:
      r[code.d0] = g.reduced;
      break;
    case Op::activemask:
      r[code.d0] = g.participants & 0xffffffff;
      break;
    case Op::elect: {
      const uint64_t from = g.members != 0 ? g.members : g.participants;
      const auto leader = static_cast<uint32_t>(std::countr_zero(from));
      r[code.d0] = leader;
      r[code.d1] = leader == lane.in_wave;
      break;
    }
    case Op::readlane: {
      const uint32_t from = static_cast<uint32_t>(r[code.s1]) & (wave_lanes_ - 1);
      r[code.d0] = (g.present >> from & 1) != 0 ? g.value[from] : 0;
      break;
    }
    case Op::readfirst:
      r[code.d0] = g.value[static_cast<uint32_t>(std::countr_zero(g.participants))];
      break;
    default:
      break;  // wave_sync gives nothing
  }
}

/// Operand c: bits 4:0 the clamp, bits 12:8 the mask that cuts the wave into segments.
void Group::shuffle(Lane& lane, const Code& code, const Gathered& g) {
  const uint64_t* r = lane.r;
  const auto self = static_cast<int>(lane.in_wave & 31);
  const auto b = static_cast<int>(r[code.s1] & 31), c = static_cast<int>(r[code.s2]);
  const int clamp = c & 31, segment = c >> 8 & 31;
  const int lowest = self & segment;
  const int limit = lowest | (clamp & ~segment);
  int from = self;
  bool in_range = false;
  switch (static_cast<ir::ShflMode>(code.mode)) {
    case ir::ShflMode::up:
      from = self - b;
      in_range = from >= limit;
      break;
    case ir::ShflMode::down:
      from = self + b;
      in_range = from <= limit;
      break;
    case ir::ShflMode::bfly:
      from = self ^ b;
      in_range = from <= limit;
      break;
    case ir::ShflMode::idx:
      from = lowest | (b & ~segment);
      in_range = from <= limit;
      break;
  }
  if (!in_range) from = self;
  // Waves of 64 shuffle in halves.
  const uint32_t lane_read = static_cast<uint32_t>(from) | (lane.in_wave & 32);
  const bool takes_part = (g.participants >> lane_read & 1) != 0;
  lane.r[code.d0] = g.value[takes_part ? lane_read : lane.in_wave];
  lane.r[code.d1] = in_range;
}

}  // namespace lanewise::reference
