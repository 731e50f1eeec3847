// What is wrong with barriers and member masks (--check sync), and who waits for whom where a
// barrier never opens.
#include <algorithm>
#include <bit>
#include <map>

#include "runtime/ir/mbarrier.hpp"
#include "runtime/ir/wave_ops.hpp"
#include "runtime/reference/sync/watch.hpp"
#include "runtime/reference/waves/group.hpp"

namespace lanewise::reference {
namespace {

/// From sm_70 on barriers wait for lanes that have not ended; GCN's hardware counts waves.
bool forbids_ended_lanes(const ir::Program& p) {
  return p.isa != ir::Isa::gcn && !p.rendezvous;
}

/// `lanes`: whom it is about; `what`: the rest of its sentence.
Sync sync_of(SyncKind kind, uint32_t barrier, uint32_t wanted, std::string lanes,
             std::string what = {}) {
  Sync sync;
  sync.kind = kind;
  sync.barrier = barrier;
  sync.wanted = wanted;
  sync.lanes = std::move(lanes);
  sync.what = std::move(what);
  return sync;
}

}  // namespace

/// "0-15, 31", of lanes of the group.
std::string Group::names_of(std::vector<uint32_t> lanes) {
  std::ranges::sort(lanes);
  std::string out;
  for (size_t i = 0, end = 0; i < lanes.size(); i = end) {
    for (end = i + 1; end < lanes.size() && lanes[end] == lanes[end - 1] + 1;) ++end;
    if (!out.empty()) out += ", ";
    out += std::to_string(lanes[i]);
    if (end - i > 1) out.append("-").append(std::to_string(lanes[end - 1]));
  }
  return out;
}

void Group::add_sync(FaultKind kind, Lane lane, uint32_t site, Sync sync) {
  Fault fault{.kind = kind, .site = site};
  std::ranges::copy(index_, fault.group);
  fault.lane = lane.linear();
  setting_.sync->add(std::move(fault), std::move(sync));
}

void Group::note_arrival(uint32_t id, Lane lane, const Code& code, uint32_t count) {
  const auto position = static_cast<uint32_t>(&code - lane.wave.codes);
  arrivals_[id].push_back({lane.linear(), position});
  Sync sync = sync_of(SyncKind::barrier_count, id, count, {});
  const Barrier& barrier = barriers_[id];
  if (count % wave_lanes_ != 0)
    sync.what.append("the count has to be a multiple of ").append(std::to_string(wave_lanes_));
  else if (count > (lane_count_ + wave_lanes_ - 1) / wave_lanes_ * wave_lanes_)
    sync.what = "the group has " + std::to_string(lane_count_);
  else if (barrier.least != barrier.most)
    sync.what =
        "other lanes name " + std::to_string(barrier.least == count ? barrier.most : barrier.least);
  if (!sync.what.empty()) add_sync(FaultKind::barrier_divergence, lane, code.site, std::move(sync));
}

/// `lanes`: how many go on, those that came first.
void Group::judge_opening(uint32_t id, const Barrier& barrier, uint32_t lanes) {
  std::vector<Arrival>& all = arrivals_[id];
  const std::vector<Arrival> gone(all.begin(), all.begin() + lanes);
  const uint32_t here = barrier.arrived - barrier.gone;
  const auto code_of = [&](const Arrival& a) -> const Code& { return waves_[0].codes[a.position]; };
  const Lane first = lane_at(gone.front().lane);
  if (barrier.wanted != 0 && here > barrier.wanted)
    add_sync(
        FaultKind::barrier_divergence, first, code_of(gone.front()).site,
        sync_of(SyncKind::barrier_count, id, barrier.wanted, {},
                std::to_string(here) + " have come, so who meets whom depends on their order"));
  // By wave: the instructions that its lanes are at.
  std::map<uint32_t, std::map<uint32_t, std::vector<uint32_t>>> waves;
  for (const Arrival& a : gone) waves[a.lane / wave_lanes_][a.position].push_back(a.lane);
  for (auto& [index, places] : waves) {
    const Wave& wave = waves_[index];
    uint64_t came = 0;
    for (const auto& [position, members] : places)
      for (const uint32_t lane : members) came |= uint64_t{1} << (lane - wave.first);
    const auto& [position, members] = *places.rbegin();
    const Code& code = wave.codes[position];
    if ((places.size() == 1 && (wave.live & ~came) == 0) || ir::may_come_apart(code.from) ||
        request_.program->isa == ir::Isa::gcn)
      continue;
    Sync sync = sync_of(SyncKind::divergent_barrier, id, 0, names_of(members));
    for (const auto& [other, others] : places)
      if (other != position)
        sync.places.push_back({names_of(others), wave.codes[other].site, true});
    for_each_lane(wave.live & ~came & (wave.at_barrier | wave.at_wave), [&](uint32_t i) {
      sync.places.push_back({names_of({wave.first + i}), wave.codes[wave.position[i]].site,
                             (wave.at_barrier >> i & 1) != 0});
    });
    add_sync(FaultKind::barrier_divergence, lane_at(members.front()), code.site, std::move(sync));
  }
  if (barrier.wanted == 0 && live_ < lane_count_ && forbids_ended_lanes(*request_.program)) {
    std::vector<uint32_t> ended;
    for (const Wave& wave : waves_)
      for_each_lane(wave.present & ~wave.live,
                    [&](uint32_t i) { ended.push_back(wave.first + i); });
    add_sync(FaultKind::barrier_divergence, first, code_of(gone.front()).site,
             sync_of(SyncKind::exited_lanes, id, 0, names_of(ended)));
  }
  all.erase(all.begin(), all.begin() + lanes);
}

/// Lanes are about to carry out an operation of their wave. SASS has no masks before Volta.
void Group::judge_members(Wave& wave, uint64_t participants) {
  const Lane first{wave, static_cast<uint32_t>(std::countr_zero(participants))};
  const Code& code = first.code();
  const int operand = ir::member_operand(code.op);
  if (operand < 0 || request_.program->isa != ir::Isa::ptx || ir::may_come_apart(code.from)) return;
  std::vector<uint32_t> outside, missing;
  uint64_t named = 0;
  for_each_lane(participants, [&](uint32_t i) {
    const Lane lane{wave, i};
    const uint64_t mask = lane.get(lane.code().src[operand]);
    named |= mask;
    if ((mask >> i & 1) == 0) outside.push_back(lane.linear());
  });
  if (!outside.empty())
    add_sync(FaultKind::wave_divergence, lane_at(outside.front()), code.site,
             sync_of(SyncKind::mask_without_lane, 0, 0, names_of(outside)));
  const uint64_t absent = named & wave.live & ~participants;
  if (absent == 0) return;
  std::map<uint32_t, std::vector<uint32_t>> waiting;
  for_each_lane(absent, [&](uint32_t i) {
    missing.push_back(wave.first + i);
    if (((wave.at_barrier | wave.at_wave) >> i & 1) != 0)
      waiting[wave.position[i]].push_back(wave.first + i);
  });
  Sync sync = sync_of(SyncKind::lanes_missing, 0, 0, names_of(missing));
  for (const auto& [position, lanes] : waiting)
    sync.places.push_back({names_of(lanes), wave.codes[position].site});
  add_sync(FaultKind::wave_divergence, first, code.site, std::move(sync));
}

void Group::judge_mbarrier(Lane lane, const Code& code, uint64_t state, uint64_t change) {
  namespace fields = ir::mbarrier;
  const uint64_t pending = state & fields::kCount, arrivals = change & fields::kCount;
  std::string what;
  if (state == 0)
    what = "the mbarrier was not made by mbarrier.init, or was made invalid";
  else if (arrivals > pending)
    what = "the mbarrier gets " + std::to_string(arrivals) + " arrivals, and its phase waits for " +
           std::to_string(pending);
  if (!what.empty())
    add_sync(FaultKind::barrier_divergence, lane, code.site,
             sync_of(SyncKind::mbarrier, 0, 0, {}, std::move(what)));
}

std::shared_ptr<const Sync> Group::deadlock_at(uint32_t id) const {
  const Barrier& barrier = barriers_[id];
  auto sync = std::make_shared<Sync>();
  sync->barrier = id;
  sync->came = barrier.arrived - barrier.gone;
  sync->wanted = barrier.wanted != 0 ? barrier.wanted : live_;
  std::map<uint32_t, std::vector<uint32_t>> places;  // by position; those that ended last
  std::map<uint32_t, bool> at_barrier;
  for (const Wave& wave : waves_)
    for_each_lane(wave.present, [&](uint32_t i) {
      const bool waits = ((wave.at_barrier | wave.at_wave) >> i & 1) != 0;
      const uint32_t position = waits ? wave.position[i] : ir::kNone;
      places[position].push_back(wave.first + i);
      at_barrier[position] = (wave.at_barrier >> i & 1) != 0;
    });
  for (const auto& [position, lanes] : places)
    sync->places.push_back({names_of(lanes),
                            position == ir::kNone ? ir::kNone : waves_[0].codes[position].site,
                            at_barrier[position]});
  return sync;
}

}  // namespace lanewise::reference
