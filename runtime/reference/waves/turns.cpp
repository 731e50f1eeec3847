// A wave's turn: its ready lanes run until each waits, ends, or gives way. Lanes that branches
// part stand apart, and those at the lowest rank go first, so that they meet again where paths do.
#include <algorithm>
#include <bit>
#include <utility>

#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {
namespace {

/// Back edges after which looping lanes give way, so that they may wait for their neighbours.
constexpr uint64_t kSlice = 4096;

}  // namespace

uint64_t Group::slice_length() const {
  return setting_.resident ? kResidentSlice : kSlice;
}

void Group::start_slice() {
  // Lanes that only wait for each other must not use up a budget each.
  slice_ = idle_ < request_.step_budget ? slice_length() : ~uint64_t{0};
}

void Group::run_lane(Wave& wave, uint32_t lane) {
  start_slice();
  setting_.deadline.check();
  wave.fresh = false;
  run_from(wave, wave.position[lane], uint64_t{1} << lane);
}

void Group::run_wave(Wave& wave) {
  start_slice();
  setting_.deadline.check();
  if (std::exchange(wave.fresh, false)) return run_from(wave, 0, wave.ready());
  apart_count_ = 0;
  set_all_apart(wave, wave.ready());
  run_on(wave, take_next(wave));
}

/// Each where it stands.
void Group::set_all_apart(Wave& wave, uint64_t lanes) {
  while (lanes != 0) {
    const uint32_t position = wave.position[static_cast<uint32_t>(std::countr_zero(lanes))];
    const uint64_t same = lanes_of(lanes, [&](uint32_t i) { return wave.position[i] == position; });
    set_apart(wave, position, same);
    lanes &= ~same;
  }
}

/// What of a turn lies before the first instruction whose place among others' can be seen, lanes
/// make together; then each goes on by itself, the lowest first.
void Group::run_ahead(Wave& wave) {
  const uint64_t ready = wave.ready();
  if ((ready & (ready - 1)) == 0)
    return run_lane(wave, static_cast<uint32_t>(std::countr_zero(ready)));
  wave.ahead = true;
  run_wave(wave);
  wave.ahead = false;
  const uint64_t paused = std::exchange(wave.at_access, 0);
  for (uint64_t left = paused; left != 0 && !abandoned_; left &= left - 1)
    run_lane(wave, static_cast<uint32_t>(std::countr_zero(left)));
}

/// No others of the wave's lanes run.
void Group::run_from(Wave& wave, uint32_t position, uint64_t lanes) {
  apart_count_ = 0;
  wave.meet = ~0U;
  wave.activate(lanes);
  set_headroom(wave);
  run_on(wave, wave.codes + position);
}

void Group::run_on(Wave& wave, const Code* code) {
  while (code != nullptr) {
    do code = code->run[wave.single](wave, code);
    while (code != nullptr);
    code = take_next(wave);
  }
}

/// The lanes at the lowest rank become the active ones.
const Code* Group::take_next(Wave& wave) {
  if (apart_count_ == 0 || abandoned_) {
    wave.activate(0);
    return nullptr;
  }
  const Apart& next = apart_[--apart_count_];
  wave.activate(next.lanes);
  wave.meet = apart_count_ != 0 ? apart_[apart_count_ - 1].rank : ~0U;
  set_headroom(wave);
  return wave.codes + next.position;
}

/// The lanes are not active; none of them stands apart already.
void Group::set_apart(Wave& wave, uint32_t position, uint64_t lanes) {
  const uint32_t rank = wave.codes[position].rank;
  uint32_t n = apart_count_;
  while (n > 0 && apart_[n - 1].rank < rank) --n;
  if (n > 0 && apart_[n - 1].rank == rank) {
    apart_[n - 1].lanes |= lanes;
    return;
  }
  std::copy_backward(apart_.begin() + n, apart_.begin() + apart_count_,
                     apart_.begin() + apart_count_ + 1);
  apart_[n] = {rank, position, lanes};
  ++apart_count_;
  wave.meet = apart_[apart_count_ - 1].rank;
}

/// For active lanes that are not so any more.
void Group::note_steps(Wave& wave, uint64_t lanes) {
  if (wave.run_steps == 0) return;
  wave.stepped = true;
  for_each_lane(lanes, [&](uint32_t i) { wave.steps[i] += wave.run_steps; });
}

void Group::set_headroom(Wave& wave) {
  uint64_t most = 0;
  if (wave.stepped)
    for_each_lane(wave.mask, [&](uint32_t i) { most = std::max(most, wave.steps[i]); });
  wave.run_steps = 0;
  wave.headroom = request_.step_budget - most;
}

/// These of the active lanes stop there.
void Group::stop_at(Wave& wave, uint32_t position, uint64_t lanes) {
  note_steps(wave, lanes);
  for_each_lane(lanes, [&](uint32_t i) { wave.position[i] = position; });
  wave.activate(wave.mask & ~lanes);
}

/// More back edges were taken than there was headroom for.
bool Group::count_steps(Wave& wave, const Code& code) {
  note_steps(wave, wave.mask);
  wave.run_steps = 0;
  bool within = true;
  for_each_lane(wave.mask, [&](uint32_t i) {
    if (!within || wave.steps[i] <= request_.step_budget) return;
    within = false;
    --wave.steps[i];
    count_step({wave, i}, code.site, static_cast<uint32_t>(&code - wave.codes));
  });
  if (within)
    set_headroom(wave);
  else
    wave.activate(0);
  return within;
}

bool Group::count_step(Lane lane, uint32_t site, uint32_t here) {
  lane.wave.stepped = true;
  if (++lane.wave.steps[lane.i] <= request_.step_budget) return true;
  std::shared_ptr<const Sync> stuck;
  if (here != ir::kNone) stuck = stuck_at_mbarrier(lane.wave, here);
  record(lane, {.kind = stuck != nullptr ? FaultKind::barrier_divergence : FaultKind::step_budget,
                .site = site,
                .sync = stuck});
  abandoned_ = true;
  end(lane.wave, lane.bit());
  return false;
}

bool Group::slice_goes_on() {
  setting_.deadline.check();
  return --slice_ != 0;
}

/// `lanes`: how many went round together.
void Group::use_up_slice(uint32_t lanes) {
  idle_ += slice_length() * lanes;
}

}  // namespace lanewise::reference
