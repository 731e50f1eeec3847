// Cross-lane operations: who takes part, and what each lane gets.
#include <algorithm>
#include <array>
#include <bit>

#include "runtime/ir/wave_ops.hpp"
#include "runtime/reference/init/undefined.hpp"
#include "runtime/reference/memory/atomic_bits.hpp"
#include "runtime/reference/race/clocks.hpp"
#include "runtime/reference/waves/group.hpp"
#include "runtime/reference/waves/lockstep.hpp"

namespace lanewise::reference {
namespace {

using ir::Op;

constexpr uint64_t kAllLanes = ~uint64_t{0};

}  // namespace

/// What the lanes of a wave brought to the operation, read before any result is written.
struct Group::Gathered {
  uint64_t participants = 0, members = 0;
  uint64_t present = 0;                  ///< lanes that exist, ended ones too
  std::array<uint64_t, kMaxWave> value;  ///< first source, of all lanes that exist
  uint64_t yes = 0;                      ///< members whose first source is true
  uint32_t reduced = 0;

  uint64_t equal_to(uint64_t v) const {
    return lanes_of(members, [&](uint32_t i) { return value[i] == v; });
  }
};

uint64_t Group::member_mask(Lane lane, const Code& code) {
  const int operand = ir::member_operand(code.op);
  if (operand < 0) return kAllLanes;
  const uint64_t mask = lane.get(code.src[operand]);
  return mask == 0xffffffff ? kAllLanes : mask;
}

/// Which of two lanes of a wave stands at the lower place: negative = a, 0 = the same place.
int Group::compare_places(Lane a, Lane b) const {
  const auto compare = [](uint64_t x, uint64_t y) { return x < y ? -1 : x > y ? 1 : 0; };
  if (program_.order != nullptr) {
    const auto place = [&](Lane lane) -> const ir::WaveOrder::Place& {
      return program_.order->places[lane.code().place];
    };
    const ir::WaveOrder::Place &at = place(a), &bt = place(b);
    const size_t depth = std::min(at.loops.size(), bt.loops.size());
    for (size_t i = 0; i < depth; ++i) {
      const ir::Reg iteration = at.loops[i].iteration;
      if (iteration != bt.loops[i].iteration) break;
      const Slot slot = program_.slots[iteration.id];
      if (const int order = compare(a.get(slot), b.get(slot)); order != 0) return order;
    }
    if (at.position != bt.position) return compare(at.position, bt.position);
  }
  return compare(a.position(), b.position());
}

/// None of the lanes can come to where `first` waits.
bool Group::none_below(Wave& wave, uint64_t lanes, Lane first) const {
  return lanes_of(lanes, [&](uint32_t i) {
           const int order = compare_places({wave, i}, first);
           // One that stands in front of the instruction comes to it next.
           return order < 0 || (order == 0 && (wave.at_wave >> i & 1) == 0);
         }) == 0;
}

/// Two lanes that wait carry an operation out together.
bool Group::meet(Lane a, Lane b) const {
  if (member_mask(a) != member_mask(b)) return false;
  const Code &at = a.code(), &bt = b.code();
  if (at.rendezvous || bt.rendezvous) return at.rendezvous == bt.rendezvous && at.kind == bt.kind;
  return a.position() == b.position() && compare_places(a, b) == 0;
}

/// All lanes that have not ended are active, in front of one operation in one iteration: it waits
/// for nobody.
bool Group::meets_at_once(Wave& wave, const Code& code) const {
  if (setting_.in_turn || lockstep_ != nullptr || wave.mask != wave.live) return false;
  const Lane first{wave, wave.lane};
  bool equal = true;  // of 32 bits, all that is compared
  const auto compare = [&](Slot slot) {
    const uint32_t* values = wave.at<uint32_t>(offset_of(slot));
    uint32_t differs = 0;
    if (wave.mask == wave.all)
      for (uint32_t i = 0; i < wave.stride; ++i) differs |= values[i] ^ values[0];
    else
      for_each_lane(wave.mask, [&](uint32_t i) { differs |= values[i] ^ values[first.i]; });
    equal = equal && differs == 0;
  };
  if (const int operand = ir::member_operand(code.op); operand >= 0) compare(code.src[operand]);
  if (!code.rendezvous && program_.order != nullptr)
    for (const ir::WaveOrder::Loop& loop : program_.order->places[code.place].loops)
      compare(program_.slots[loop.iteration.id]);
  return equal;
}

/// The lanes of the wave that wait with `first`.
uint64_t Group::lanes_at(Wave& wave, Lane first) const {
  return lanes_of(wave.at_wave, [&](uint32_t i) { return meet({wave, i}, first); });
}

/// A rendezvous: all lanes of its mask are there. Else: no lane can come any more. In lockstep the
/// walk over the tree knows that.
bool Group::is_complete(Wave& wave, Lane first, uint64_t here) const {
  const uint64_t missing = wave.live & ~here;
  if (at_rendezvous(first)) return (member_mask(first) & missing) == 0;
  return lockstep_ == nullptr && none_below(wave, missing, first);
}

bool Group::run_complete_wave_ops(Wave& wave) {
  bool ran = false;
  uint64_t unreleased = wave.at_wave;
  while (unreleased != 0) {
    const Lane first{wave, static_cast<uint32_t>(std::countr_zero(unreleased))};
    const uint64_t here = lanes_at(wave, first);
    unreleased &= ~here;
    if (!is_complete(wave, first, here)) continue;
    run_wave_op(wave, here);
    ran = true;
  }
  return ran;
}

bool Group::run_complete_wave_ops() {
  bool ran = false;
  for (Wave& wave : waves_) ran = run_complete_wave_ops(wave) || ran;
  return ran;
}

bool Group::run_partial_wave_ops() {
  bool ran = false;
  for (Wave& wave : waves_) {
    if (wave.at_wave == 0) continue;
    auto lowest = static_cast<uint32_t>(std::countr_zero(wave.at_wave));
    for_each_lane(wave.at_wave, [&](uint32_t i) {
      if (compare_places({wave, i}, {wave, lowest}) < 0) lowest = i;
    });
    ran = true;
    if (lockstep_ != nullptr) {
      lockstep_->walks[wave.index].run(true);
    } else {
      run_wave_op(wave, lanes_at(wave, {wave, lowest}));
    }
  }
  return ran;
}

void Group::run_wave_op(Wave& wave, uint64_t participants) {
  idle_ = 0;
  if (setting_.sync != nullptr) judge_members(wave, participants);
  const Lane first{wave, static_cast<uint32_t>(std::countr_zero(participants))};
  const Code& code = first.code();
  Gathered g;
  g.participants = participants;
  g.members = participants & member_mask(first);
  g.present = wave.present;
  for_each_lane(g.present, [&](uint32_t i) {
    // Lanes meet at instructions of one kind, each with operands of its own.
    const Code& own = (participants >> i & 1) != 0 ? wave.codes[wave.position[i]] : code;
    g.value[i] = own.sources > 0 ? wave.get(own.src[0], i) : 0;
  });
  g.yes = lanes_of(g.members, [&](uint32_t i) { return g.value[i] != 0; });
  if (code.op == Op::redux && g.members != 0) {
    const auto lowest = static_cast<uint32_t>(std::countr_zero(g.members));
    g.reduced = static_cast<uint32_t>(g.value[lowest]);
    for_each_lane(g.members & (g.members - 1), [&](uint32_t i) {
      g.reduced = static_cast<uint32_t>(atomic_bits(
          code.mem->atom, sizeof(uint32_t), ir::is_signed(code.type), g.reduced, g.value[i], 0));
    });
  }
  if (race_clocks_) watch_meeting(wave, g.members, code);
  if (views_ && ir::member_operand(code.op) >= 0) meet_views(wave, g.members);
  if (undefined_ && undefined_->any(wave)) follow_wave_op(wave, participants, g.members);
  for_each_lane(participants, [&](uint32_t i) {
    const Lane lane{wave, i};
    finish_wave_op(lane, lane.code(), g);
    ++lane.position();
  });
  wave.at_wave &= ~participants;
}

void Group::finish_wave_op(Lane lane, const Code& code, const Gathered& g) const {
  const uint64_t own = g.value[lane.i];
  // As many bits as the register has.
  const auto result = [&](uint32_t n, uint64_t value) { lane.set(code.dst[n], value); };
  switch (code.op) {
    case Op::ballot:
    case Op::vote_ballot:
      return result(0, g.yes);
    case Op::vote_any:
      return result(0, g.yes != 0);
    case Op::vote_all:
      return result(0, g.yes == g.members);
    case Op::vote_uni:
      return result(0, g.yes == g.members || g.yes == 0);
    case Op::shfl:
      return shuffle(lane, code, g);
    case Op::match_any:
      return result(0, g.equal_to(own));
    case Op::match_all: {
      const bool agree = g.equal_to(own) == g.members;
      result(0, agree ? g.members : 0);
      return result(1, agree);
    }
    case Op::redux:
      return result(0, g.reduced);
    case Op::activemask:
      return result(0, g.participants);
    case Op::elect: {
      const uint64_t from = g.members != 0 ? g.members : g.participants;
      const auto leader = static_cast<uint32_t>(std::countr_zero(from));
      result(0, leader);
      return result(1, leader == lane.i);
    }
    case Op::readlane: {
      const uint32_t from = static_cast<uint32_t>(lane.get(code.src[1])) & (wave_lanes_ - 1);
      return result(0, (g.present >> from & 1) != 0 ? g.value[from] : 0);
    }
    case Op::readfirst:
      return result(0, g.value[static_cast<uint32_t>(std::countr_zero(g.participants))]);
    default:
      return;  // wave_sync gives nothing
  }
}

namespace {

/// The lane of its half that a shuffle reads, as operand b says; `lowest`: of the lane's segment.
constexpr int source_of(ir::ShflMode mode, int self, int b, int lowest, int segment) {
  switch (mode) {
    case ir::ShflMode::up:
      return self - b;
    case ir::ShflMode::down:
      return self + b;
    case ir::ShflMode::bfly:
      return self ^ b;
    case ir::ShflMode::idx:
      break;
  }
  return lowest | (b & ~segment);
}
/// The same, or the lane itself where that is out of range. Operand c: bits 4:0 the clamp, bits
/// 12:8 the mask that cuts the wave into segments.
constexpr int source_in_range(ir::ShflMode mode, int self, uint32_t b, uint32_t c, bool& in_range) {
  const int clamp = static_cast<int>(c & 31), segment = static_cast<int>(c >> 8 & 31);
  const int lowest = self & segment, limit = lowest | (clamp & ~segment);
  const int from = source_of(mode, self, static_cast<int>(b & 31), lowest, segment);
  in_range = mode == ir::ShflMode::up ? from >= limit : from <= limit;
  return in_range ? from : self;
}

/// Of all lanes of a wave of 32; returns those in range.
template <ir::ShflMode mode>
uint64_t find_sources(const uint32_t* b, const uint32_t* c, std::array<uint32_t, 32>& from) {
  std::array<uint8_t, 32> inside{};
  for (int i = 0; i < 32; ++i) {
    bool in_range = false;
    const auto n = static_cast<size_t>(i);
    from[n] = static_cast<uint32_t>(source_in_range(mode, i, b[i], c[i], in_range));
    inside[n] = in_range ? 1 : 0;
  }
  uint64_t lanes = 0;
  for (size_t i = 0; i < 32; ++i) lanes |= uint64_t{inside[i]} << i;
  return lanes;
}
using FindSources = uint64_t (*)(const uint32_t*, const uint32_t*, std::array<uint32_t, 32>&);
/// [mode]
constexpr FindSources kFindSources[] = {
    find_sources<ir::ShflMode::up>, find_sources<ir::ShflMode::down>,
    find_sources<ir::ShflMode::bfly>, find_sources<ir::ShflMode::idx>};
}  // namespace

/// A shuffle in which all lanes of a full wave of 32 take part; false: it is none.
bool Group::shuffle_all(Wave& wave, const Code& code) {
  if (code.op != Op::shfl || wave.mask != 0xffffffff || wave.stride != 32) return false;
  if (setting_.sync != nullptr || (undefined_ && undefined_->any(wave))) return false;
  idle_ = 0;
  if (race_clocks_) watch_meeting(wave, wave.mask, code);
  std::array<uint32_t, 32> values{}, from{};
  std::copy_n(wave.at<uint32_t>(code.s0), 32, values.begin());
  const uint64_t lanes =
      kFindSources[code.mode](wave.at<uint32_t>(code.s1), wave.at<uint32_t>(code.s2), from);
  uint32_t* d = wave.at<uint32_t>(code.d0);
  for (size_t i = 0; i < 32; ++i) d[i] = values[from[i] & 31];
  *wave.at<uint64_t>(code.d1) = lanes;
  return true;
}

uint32_t Group::shuffle_source(Lane lane, const Code& code, bool& in_range) {
  const auto operand = [&](size_t n) { return static_cast<uint32_t>(lane.get(code.src[n])); };
  const int from = source_in_range(static_cast<ir::ShflMode>(code.mode),
                                   static_cast<int>(lane.i & 31), operand(1), operand(2), in_range);
  // Waves of 64 shuffle in halves.
  return static_cast<uint32_t>(from) | (lane.i & 32);
}

void Group::shuffle(Lane lane, const Code& code, const Gathered& g) {
  bool in_range = false;
  const uint32_t lane_read = shuffle_source(lane, code, in_range);
  const bool takes_part = (g.participants >> lane_read & 1) != 0;
  lane.set(code.dst[0], takes_part ? g.value[lane_read] : 0);
  lane.set(code.dst[1], in_range);
}

}  // namespace lanewise::reference
