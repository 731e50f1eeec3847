#include "runtime/reference/race/clocks.hpp"

#include <algorithm>
#include <utility>

#include "runtime/reference/lanes/wave.hpp"

namespace lanewise::reference::race {
namespace {

/// Of which a place may know.
constexpr size_t kMostGroups = 1024;

}  // namespace

uint8_t flags_of(const ir::Mem& mem, bool atomic) {
  const bool swap = mem.atom == ir::AtomOp::cas || mem.atom == ir::AtomOp::fcas;
  return (is_strong(mem) ? Mark::kStrong : 0) | (is_wide(mem) ? Mark::kWide : 0) |
         (atomic ? Mark::kAtomic : 0) | (atomic && swap ? Mark::kSwap : 0);
}

void merge(Known& into, const Known& from) {
  for (const Snapshot& s : from) {
    auto at = std::ranges::lower_bound(into, s.group, {}, &Snapshot::group);
    if (at == into.end() || at->group != s.group) {
      into.insert(at, s);
      continue;
    }
    at->base = std::max(at->base, s.base);
    if (at->lanes == s.lanes) continue;
    auto both = std::make_shared<std::vector<Epoch>>(*at->lanes);
    for (size_t i = 0; i < both->size(); ++i) (*both)[i] = std::max((*both)[i], (*s.lanes)[i]);
    at->lanes = std::move(both);
  }
}

bool covers(const Known& known, const Mark& mark) {
  const auto at = std::ranges::lower_bound(known, mark.group, {}, &Snapshot::group);
  if (at == known.end() || at->group != mark.group) return false;
  return mark.epoch < at->base || (*at->lanes)[mark.lane] >= mark.epoch;
}

Clocks::Clocks(uint32_t lanes, uint32_t wave_lanes, uint32_t& forgotten)
    : forgotten_(forgotten),
      lanes_(lanes),
      wave_lanes_(wave_lanes),
      wave_base_((lanes + wave_lanes - 1) / wave_lanes),
      clock_(lanes),
      near_(size_t{lanes} * wave_lanes),
      own_(lanes),
      acquired_(lanes),
      fence_(lanes) {}

void Clocks::start(uint32_t group) {
  group_ = group;
  tick_ = base_ = 1;
  in_parts_ = false;
  std::ranges::fill(wave_base_, 0);
  std::ranges::fill(clock_, 1);
  std::ranges::fill(near_, 0);
  for (const uint32_t lane : holders_) own_[lane] = {};
  holders_.clear();
  everywhere_.clear();
  std::ranges::fill(acquired_, Acquired{});
  std::ranges::fill(fence_, std::array<Epoch, 2>{});
  group_fence_ = {};
  fence_seen_ = {};
  arrived_.fill({});
  shared.clear();
}

bool Clocks::ordered(const Mark& before, uint32_t lane) const {
  if (before.group != group_)
    return before.group <= forgotten_ || covers(own_[lane].known, before) ||
           covers(everywhere_, before);
  if (before.lane == lane || before.epoch < base_) return true;
  if (wave_of(before.lane) == wave_of(lane))
    return before.epoch < wave_base_[wave_of(lane)] ||
           near(lane)[before.lane % wave_lanes_] >= before.epoch;
  const auto& row = own_[lane].row;
  return row && (*row)[before.lane] >= before.epoch;
}

void Clocks::meet_all() {
  base_ = ++tick_;
  for (size_t n = 0; n < 2; ++n)
    if (fence_seen_[n]) group_fence_[n] = base_ - 1;
  for (const uint32_t lane : holders_) {
    // A barrier orders as a fence does.
    merge(everywhere_, own_[lane].known);
    learn(lane, own_[lane].pending);
    merge(everywhere_, own_[lane].known);
    own_[lane] = {};
  }
  in_parts_ = !everywhere_.empty();
  holders_.clear();
}

void Clocks::meet_in_wave(uint32_t wave, uint64_t lanes, bool all) {
  const uint32_t first = wave * wave_lanes_;
  bool more = false;
  if (!holders_.empty())
    for_each_lane(lanes, [&](uint32_t i) { more = more || !own_[first + i].empty(); });
  if (more) {
    Known together;
    for_each_lane(lanes,
                  [&](uint32_t i) { merge(together, knowledge(first + i, now(first + i))); });
    for_each_lane(lanes, [&](uint32_t i) { learn(first + i, together); });
  }
  if (all) {
    wave_base_[wave] = ++tick_;
    return;
  }
  in_parts_ = true;
  std::array<Epoch, kMaxWave> row{};
  for_each_lane(lanes, [&](uint32_t i) {
    const Epoch* own = near(first + i);
    for (uint32_t n = 0; n < wave_lanes_; ++n) row[n] = std::max(row[n], own[n]);
  });
  for_each_lane(lanes, [&](uint32_t i) { row[i] = std::max(row[i], now(first + i)); });
  ++tick_;
  for_each_lane(lanes, [&](uint32_t i) {
    std::copy_n(row.begin(), wave_lanes_, near(first + i));
    clock_[first + i] = tick_;
  });
}

void Clocks::arrive(uint32_t barrier, uint32_t lane) {
  merge(arrived_[barrier], knowledge(lane, now(lane)));
  clock_[lane] = ++tick_;
}

void Clocks::meet_at(uint32_t barrier, std::span<const uint32_t> lanes) {
  Known together = std::move(arrived_[barrier]);
  arrived_[barrier].clear();
  for (const uint32_t lane : lanes) {
    learn_pending(lane);
    merge(together, knowledge(lane, now(lane)));
  }
  ++tick_;
  for (const uint32_t lane : lanes) {
    learn(lane, together);
    clock_[lane] = tick_;
  }
}

void Clocks::fence(uint32_t lane, ir::Order order, ir::Scope scope) {
  const bool wide = scope != ir::Scope::cta;
  if (order != ir::Order::release) learn_pending(lane);
  if (order == ir::Order::acquire) return;
  const Epoch before = now(lane);
  fence_[lane][0] = before;
  if (wide) fence_[lane][1] = before;
  fence_seen_[0] = true;
  fence_seen_[1] = fence_seen_[1] || wide;
  clock_[lane] = ++tick_;
}

Epoch Clocks::fenced(uint32_t lane, bool wide) const {
  return std::max(fence_[lane][wide ? 1 : 0], group_fence_[wide ? 1 : 0]);
}

/// Everything that is ordered before the lane's next access; of its own up to `own`.
Known Clocks::knowledge(uint32_t lane, Epoch own) const {
  auto lanes = std::make_shared<std::vector<Epoch>>(lanes_, base_ - 1);
  const uint32_t first = wave_of(lane) * wave_lanes_;
  const Epoch met = std::max(wave_base_[wave_of(lane)], Epoch{1}) - 1;
  if (own_[lane].row)
    for (uint32_t i = 0; i < lanes_; ++i) (*lanes)[i] = std::max((*lanes)[i], (*own_[lane].row)[i]);
  for (uint32_t i = 0; i < wave_lanes_ && first + i < lanes_; ++i)
    (*lanes)[first + i] = std::max({(*lanes)[first + i], met, near(lane)[i]});
  (*lanes)[lane] = own;
  Known out = everywhere_;
  merge(out, own_[lane].known);
  merge(out, {{group_, base_, std::move(lanes)}});
  return out;
}

void Clocks::learn_pending(uint32_t lane) {
  learn(lane, std::exchange(own_[lane].pending, {}));
}

void Clocks::learn(uint32_t lane, const Known& what) {
  if (what.empty()) return;
  in_parts_ = true;
  Own& own = own_[lane];
  if (own.empty()) holders_.push_back(lane);
  const uint32_t first = wave_of(lane) * wave_lanes_;
  for (const Snapshot& s : what) {
    if (s.group != group_) {
      merge(own.known, {s});
      continue;
    }
    if (!own.row) own.row = std::make_unique<std::vector<Epoch>>(lanes_);
    for (uint32_t i = 0; i < lanes_; ++i) (*own.row)[i] = std::max((*own.row)[i], (*s.lanes)[i]);
    for (uint32_t i = 0; i < wave_lanes_ && first + i < lanes_; ++i)
      near(lane)[i] = std::max(near(lane)[i], (*s.lanes)[first + i]);
  }
}

void Clocks::acquire(uint32_t lane, const Object& from, bool wide, bool at_once) {
  const Acquired now{from.version, wide, at_once};
  if (from.version != 0 && acquired_[lane] == now) return;
  acquired_[lane] = now;
  const auto take = [&](const Known& known) {
    if (known.empty()) return;
    if (at_once) return learn(lane, known);
    if (own_[lane].empty()) holders_.push_back(lane);
    merge(own_[lane].pending, known);
  };
  if (from.group == group_) take(from.own);
  if (wide || from.last == group_) take(from.all);
}

bool Clocks::releases(uint32_t lane, bool ordered) const {
  return ordered || fenced(lane, false) != 0;
}

Epoch Clocks::release(uint32_t lane, Object& to, bool wide, bool ordered, bool keep) {
  if (!keep) to = {};
  if (!releases(lane, ordered)) return now(lane);
  if (to.group != group_) to.own.clear();
  to.group = to.last = group_;
  const Epoch own = ordered ? now(lane) : fenced(lane, false);
  merge(to.own, knowledge(lane, own));
  if (wide && (ordered || fenced(lane, true) != 0))
    merge(to.all, knowledge(lane, ordered ? own : fenced(lane, true)));
  if (to.all.size() > kMostGroups) {
    const auto half = to.all.begin() + kMostGroups / 2;
    forgotten_ = std::max(forgotten_, std::prev(half)->group);
    to.all.erase(to.all.begin(), half);
  }
  clock_[lane] = ++tick_;
  to.version = uint64_t{group_} << 32 | tick_;
  return wide && !ordered && fenced(lane, true) != 0 ? std::min(own, fenced(lane, true)) : own;
}

}  // namespace lanewise::reference::race
