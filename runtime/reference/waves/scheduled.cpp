// Steps of a schedule: a lane by itself, or a wave where lanes run in step, from one access that
// others can see to the next.
#include <algorithm>
#include <array>
#include <bit>

#include "runtime/reference/schedule/orders.hpp"
#include "runtime/reference/schedule/store_log.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {

std::span<const uint64_t> Group::runnable() {
  const auto can_run = [](const Wave& w) { return w.ready() | (w.live & w.at_access); };
  if (setting_.in_turn) {
    runnable_.resize(waves_.size());
    for (size_t n = 0; n < waves_.size(); ++n) runnable_[n] = can_run(waves_[n]);
  } else {
    runnable_.assign((waves_.size() + 63) / 64, 0);
    for (size_t n = 0; n < waves_.size(); ++n)
      runnable_[n / 64] |= uint64_t{can_run(waves_[n]) != 0} << n % 64;
  }
  return runnable_;
}

bool Group::step(size_t slot) {
  Orders& orders = *setting_.orders;
  setting_.deadline.check();
  const uint32_t thread = orders.pick(slot, runnable());
  Wave& wave = waves_[setting_.in_turn ? thread / 64 : thread];
  const uint32_t live = live_;
  const uint64_t waited = wave.at_wave | wave.at_barrier;
  start_slice();
  apart_count_ = 0;
  wave.meet = ~0U;
  if (setting_.in_turn && views_ != nullptr)
    advance_late(wave, thread % 64);
  else if (setting_.in_turn)
    advance_lane(wave, thread % 64);
  else
    advance_wave(wave);
  if (abandoned_) return flush_events(), false;
  if (live_ == live && (wave.at_wave | wave.at_barrier) == waited) return true;
  orders.stopped(slot);
  if (!settle(wave)) return flush_events(), false;
  if (live_ == 0) flush_events();
  return true;
}

/// Operations and barriers for which all are there now; where nobody can go on, what take_turn()
/// does then. False: the launch is abandoned.
bool Group::settle(Wave& wave) {
  run_complete_wave_ops(wave);
  open_barriers();
  const auto any = [&] {
    return std::ranges::any_of(runnable(), [](uint64_t mask) { return mask != 0; });
  };
  while (live_ != 0 && !any()) {
    const bool moved = run_complete_wave_ops();
    if (open_barriers() || moved) continue;
    if (!run_partial_wave_ops()) fail_waiting_lanes();
    if (abandoned_) return false;
  }
  return true;
}

void Group::advance_lane(Wave& wave, uint32_t lane) {
  wave.activate(uint64_t{1} << lane);
  set_headroom(wave);
  const Code* code = wave.codes + wave.position[lane];
  if ((wave.at_access & wave.mask) != 0) code = resume(wave, code);
  while (code != nullptr) code = code->run[wave.single](wave, code);
}

/// The lanes at the lowest rank; others wait for them where paths meet.
void Group::advance_wave(Wave& wave) {
  set_all_apart(wave, wave.ready() | (wave.live & wave.at_access));
  const Code* code = take_next(wave);
  const uint64_t stopped = wave.mask & wave.at_access;
  if (stopped != 0 && stopped != wave.mask) {
    // Those who have come later see the access first.
    const auto position = static_cast<uint32_t>(code - wave.codes);
    wave.activate(wave.mask & ~stopped);
    set_apart(wave, position, stopped);
  } else if (stopped != 0) {
    code = resume(wave, code);
  }
  while (code != nullptr) code = code->run[wave.single](wave, code);
  for (; apart_count_ != 0; --apart_count_) {
    const Apart& rest = apart_[apart_count_ - 1];
    for_each_lane(rest.lanes, [&](uint32_t i) { wave.position[i] = rest.position; });
  }
  wave.activate(0);
}

/// The active lanes make the access in front of which they have stopped.
const Code* Group::resume(Wave& wave, const Code* code) {
  wave.at_access &= ~wave.mask;
  const bool alone =
      wave.single != 0 || code->action == Action::load || code->action == Action::nothing;
  if (alone) return make_access(wave, code);
  std::array<uint32_t, kMaxWave> lanes{};
  uint32_t count = 0;
  for_each_lane(wave.mask, [&](uint32_t i) { lanes[count++] = i; });
  setting_.orders->arrange({lanes.data(), count});
  const uint64_t all = wave.mask;
  for (uint32_t n = 0; n < count; ++n) {
    wave.activate(uint64_t{1} << lanes[n]);
    make_access(wave, code);
  }
  wave.activate(all);
  return code + 1;
}

const Code* Group::make_access(Wave& wave, const Code* code) {
  const bool stores = code->action == Action::store || code->action == Action::atom;
  const bool logged = setting_.orders->log != nullptr && stores;
  if (!logged && views_ == nullptr) return code->resumed[wave.single](wave, code);
  const uint64_t guard = code->guarded ? *wave.at<uint64_t>(code->guard) : ~uint64_t{0};
  for_each_lane(wave.mask & (code->guarded && code->negate ? ~guard : guard), [&](uint32_t i) {
    const Lane lane{wave, i};
    Located at;
    if (logged) at = locate(memory_, lane.linear(), access_of(lane, *code));
    if (views_ != nullptr)
      access_views(lane, *code);
    else
      code->resumed[wave.single](wave, code);  // one lane is active
    if (at.data != nullptr) note_stores(lane, *code, at);
  });
  return code + 1;
}

void Group::note_stores(Lane lane, const Code& code, const Located& at) {
  const uint64_t low = at.address & 3;
  for (uint64_t from = 0; from < code.bytes + low; from += 4) {
    const std::byte* word = at.data - low + from;
    if (!setting_.orders->log->watches(word)) continue;
    LoggedStore store{index_, lane.linear(), code.site};
    if (code.action == Action::atom) store.access = RaceAccess::atomic;
    store.word = word;
    store.address = at.address - low + from;
    store.value = static_cast<uint32_t>(read_little_endian(word, 4));
    setting_.orders->log->note(store);
  }
}

}  // namespace lanewise::reference
