#include "runtime/reference/waves/group.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "runtime/events/collector.hpp"
#include "runtime/guest/validate.hpp"
#include "runtime/reference/init/undefined.hpp"
#include "runtime/reference/race/copies.hpp"
#include "runtime/reference/race/watch.hpp"
#include "runtime/reference/waves/lockstep.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::reference {
Group::Group(const LaunchRequest& request, const DecodedProgram& program, const MemoryView& memory,
             const Setting& setting)
    : request_(request),
      program_(program),
      memory_(memory),
      setting_(setting),
      wave_lanes_(request.program->wave_lanes),
      lane_count_(static_cast<uint32_t>(request.block.total())),
      waves_((lane_count_ + wave_lanes_ - 1) / wave_lanes_),
      ranges_(program.accesses),
      shared_(guest::shared_bytes(*request.program, request.dynamic_shared)),
      local_(size_t{lane_count_} * request.program->local_bytes) {
  memory_.shared = shared_;
  memory_.local = local_;
  memory_.local_bytes = request.program->local_bytes;
  const size_t bytes = program.registers.size();
  registers_.reset(new (std::align_val_t{64}) std::byte[bytes * waves_.size()]);
  for (uint32_t n = 0; n < waves_.size(); ++n) {
    Wave& wave = waves_[n];
    wave.index = n;
    wave.first = n * wave_lanes_;
    wave.regs = registers_.get() + n * bytes;
    wave.stride = program.stride;
    wave.all = lowest(program.stride);
    wave.present = lowest(std::min(wave_lanes_, lane_count_ - wave.first));
    wave.codes = program.codes.data();
    wave.ranges = ranges_.data();
    wave.group = this;
    std::memcpy(wave.regs, program.registers.data(), bytes);
    wave.spare = ~wave.present;
    wave.activate(wave.present);
    for (const Code& code : program.once) code.run[wave.single](wave, &code);
  }
  if (checks_written(request))
    written_ = {Written(shared_, request.program->reserved_shared), Written(local_)};
  if (follows_unwritten(request)) undefined_ = std::make_unique<Undefined>(program, waves_.size());
  if (setting.races != nullptr) {
    race_clocks_ =
        std::make_unique<race::Clocks>(lane_count_, wave_lanes_, setting.races->forgotten);
    race_shared_ = std::make_unique<race::Shadow>(~uint64_t{0}, true);
    if (race::watches_copies(request))
      race_copies_ = std::make_unique<race::Copies>(*setting.races, *race_clocks_, lane_count_);
  }
  exact_ = request.events != nullptr && request.events->exact() != nullptr;
  if (request.schedule == WaveSchedule::lockstep)
    lockstep_ = std::make_unique<Lockstep>(*this, program, waves_);
}

Group::~Group() = default;

void Group::start(const std::array<uint32_t, 3>& index) {
  index_ = index;
  barriers_.fill({});
  for (auto& arrivals : arrivals_) arrivals.clear();
  live_ = lane_count_;
  event_count_ = 0;
  faults_.clear();
  if (exact_) policies_.assign(lane_count_, 0);
  if (program_.counts_clocks) clocks_.assign(lane_count_, 0), clock_reads_.assign(lane_count_, 0);
  idle_ = 0;
  idle_turns_ = turns_in_place_ = 0;
  if (request_.events != nullptr) event_words_.assign(lane_count_, {});
  std::fill(shared_.begin(), shared_.end(), std::byte{0});
  std::fill(local_.begin(), local_.end(), std::byte{0});
  for (Written& w : written_) w.forget();
  if (undefined_) {
    undefined_->forget();
    copied_by_.clear();
  }
  if (race_clocks_) start_watch();
  if (setting_.views != nullptr) start_views();
  for (Wave& wave : waves_) {
    wave.live = wave.present;
    wave.spare = ~wave.present;
    wave.at_wave = wave.at_barrier = wave.at_access = wave.faulted = 0;
    std::fill_n(wave.position.begin(), wave.stride, 0U);
    if (std::exchange(wave.stepped, false)) wave.steps.fill(0);
    wave.fresh = true;
    for (const Zeros& z : program_.zeroed) std::memset(wave.regs + z.offset, 0, z.bytes);
  }
  if (lockstep_ == nullptr) return;
  for (WaveWalk& walk : lockstep_->walks) walk.start();
}

bool Group::run_ready_lanes() {
  bool ran = false;
  if (lockstep_ != nullptr) {
    for (WaveWalk& walk : lockstep_->walks) {
      if (abandoned_ || !walk.can_run()) continue;
      ran = true;
      walk.run(false);
    }
    return ran;
  }
  for (Wave& wave : waves_) {
    const uint64_t ready = wave.ready();
    if (ready == 0) continue;
    ran = true;
    if (!setting_.in_turn) {
      run_wave(wave);
    } else if (setting_.ahead) {
      run_ahead(wave);
    } else {
      for (uint64_t left = ready; left != 0 && !abandoned_; left &= left - 1)
        run_lane(wave, static_cast<uint32_t>(std::countr_zero(left)));
    }
    if (abandoned_) return true;
  }
  return ran;
}

bool Group::run(const std::array<uint32_t, 3>& index) {
  start(index);
  while (live_ != 0)
    if (!take_turn()) return false;
  return true;
}

bool Group::take_turn() {
  setting_.deadline.check();
  const uint64_t idle = idle_;
  ++turns_in_place_;
  const bool ran = run_ready_lanes();
  if (abandoned_) return flush_events(), false;
  // Operations that are sure come first; a partial one only when nothing else can move.
  bool moved = run_complete_wave_ops();
  moved = (exact_ && step_waves()) || moved;
  if (!open_barriers() && !moved && !ran) {
    if (!run_partial_wave_ops()) fail_waiting_lanes();
    if (abandoned_) return flush_events(), false;
  }
  idle_turns_ = idle_ > idle ? idle_turns_ + 1 : 0;
  if (live_ == 0) flush_events();
  return true;
}

void Group::end(Wave& wave, uint64_t lanes) {
  wave.live &= ~lanes;
  wave.at_wave &= ~lanes;
  wave.at_barrier &= ~lanes;
  if (!program_.reads_other_lanes) wave.spare |= lanes;
  live_ -= static_cast<uint32_t>(std::popcount(lanes));
  if (lanes != 0) idle_ = 0, turns_in_place_ = 0;
}

void Group::record(Lane lane, Fault fault) {
  if ((lane.wave.faulted & lane.bit()) != 0) return;
  lane.wave.faulted |= lane.bit();
  std::ranges::copy(index_, fault.group);
  fault.lane = lane.linear();
  faults_.push_back(fault);
}

uint64_t Group::collect(std::vector<Fault>& faults, size_t capacity) {
  std::ranges::sort(faults_, {}, &Fault::lane);
  const auto some = std::min(capacity, faults_.size());
  faults.insert(faults.end(), faults_.begin(), faults_.begin() + static_cast<ptrdiff_t>(some));
  return faults_.size();
}

}  // namespace lanewise::reference
