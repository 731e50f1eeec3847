#include "runtime/reference/waves/group.hpp"

#include <algorithm>
#include <cstring>

#include "runtime/events/collector.hpp"
#include "runtime/guest/validate.hpp"
#include "runtime/reference/waves/lockstep.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::reference {

Group::Group(const LaunchRequest& request, const DecodedProgram& program, const MemoryView& memory,
             const StepHook& hook, const TouchHook& touch, const Deadline& deadline)
    : request_(request),
      program_(program),
      memory_(memory),
      hook_(hook),
      touch_(touch),
      deadline_(deadline),
      wave_lanes_(request.program->wave_lanes),
      local_bytes_(request.program->local_bytes) {
  const auto n = static_cast<uint32_t>(request.block.total());
  waves_ = (n + wave_lanes_ - 1) / wave_lanes_;
  lanes_.resize(n);
  registers_.resize(n * program.registers.size());
  shared_.resize(guest::shared_bytes(*request.program, request.dynamic_shared));
  local_.resize(size_t{n} * local_bytes_);
  memory_.shared = shared_;
  if (checks_written(request)) written_ = {Written(shared_), Written(local_)};
  exact_ = request.events != nullptr && request.events->exact() != nullptr;
  if (request.schedule == WaveSchedule::lockstep)
    lockstep_ = std::make_unique<Lockstep>(*this, program, waves_);
}

Group::~Group() = default;

void Group::start(const std::array<uint32_t, 3>& index) {
  index_ = index;
  barriers_.fill({});
  live_ = static_cast<uint32_t>(lanes_.size());
  event_count_ = 0;
  if (exact_) policies_.assign(lanes_.size(), 0);
  idle_ = 0;
  if (request_.events != nullptr) event_words_.assign(lanes_.size(), {});
  std::fill(shared_.begin(), shared_.end(), std::byte{0});
  std::fill(local_.begin(), local_.end(), std::byte{0});
  for (Written& w : written_) w.forget();
  const std::vector<uint64_t>& initial = program_.registers;
  for (uint32_t i = 0; i < lanes_.size(); ++i) {
    Lane& lane = lanes_[i];
    lane = Lane{};
    lane.r = registers_.data() + i * initial.size();
    lane.linear = i;
    lane.in_wave = i % wave_lanes_;
    std::memcpy(lane.r, initial.data(), initial.size() * sizeof(uint64_t));
  }
  if (lockstep_ == nullptr) return;
  for (WaveWalk& walk : lockstep_->walks()) walk.start();
}

bool Group::run_ready_waves() {
  bool ran = false;
  for (WaveWalk& walk : lockstep_->walks()) {
    if (abandoned_ || !walk.can_run()) continue;
    ran = true;
    walk.run(false);
  }
  return ran;
}

bool Group::run_ready_lanes() {
  if (lockstep_ != nullptr) return run_ready_waves();
  bool ran = false;
  for (Lane& lane : lanes_) {
    if (lane.state != LaneState::ready) continue;
    ran = true;
    run_lane(lane);
    if (abandoned_) return true;
  }
  return ran;
}

bool Group::run(const std::array<uint32_t, 3>& index) {
  start(index);
  while (live_ != 0) {
    deadline_.check();
    const bool ran = run_ready_lanes();
    if (abandoned_) return flush_events(), false;
    // Operations that are sure come first; a partial one only when nothing else can move.
    const bool moved = run_complete_wave_ops() | (exact_ && step_waves());
    if (open_barriers() || moved || ran) continue;
    if (!run_partial_wave_ops()) fail_waiting_lanes();
    if (abandoned_) return flush_events(), false;
  }
  flush_events();
  return true;
}

void Group::end(Lane& lane) {
  lane.state = LaneState::ended;
  --live_;
  idle_ = 0;
}

void Group::record(Lane& lane, Fault fault) {
  if (lane.faulted) return;
  lane.faulted = true;
  std::ranges::copy(index_, fault.group);
  fault.lane = lane.linear;
  lane.fault = fault;
}

uint64_t Group::collect(std::vector<Fault>& faults, size_t capacity) const {
  uint64_t count = 0;
  for (const Lane& lane : lanes_) {
    if (!lane.faulted) continue;
    if (count++ < capacity) faults.push_back(lane.fault);
  }
  return count;
}

}  // namespace lanewise::reference
