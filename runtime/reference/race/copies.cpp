#include "runtime/reference/race/copies.hpp"

#include <algorithm>

namespace lanewise::reference::race {
namespace {

bool overlap(const Span& a, const Span& b) {
  return a.place < b.place + b.bytes && b.place < a.place + a.bytes;
}
bool covers(const Span& outer, const Span& inner) {
  return outer.place <= inner.place && inner.place + inner.bytes <= outer.place + outer.bytes;
}

/// What is missing in front of the access.
RaceRemedy remedy(ir::AsyncKind kind, bool writes) {
  if (kind == ir::AsyncKind::lane) return RaceRemedy::copy_group;
  if (kind == ir::AsyncKind::barrier) return RaceRemedy::phase;
  return writes ? RaceRemedy::bulk_group : RaceRemedy::bulk_read;
}

}  // namespace

void Copies::start(const std::array<uint32_t, 3>& group) {
  group_ = group;
  copies_.clear();
  near_.clear();
  barriers_.clear();
  of_lanes_.assign(size_t{lanes_} * 3, {});
  low_ = high_ = 0;
}

template <typename Visit>
void Copies::each_near(uint64_t place, uint64_t bytes, const Visit& visit) {
  if (place >= high_ || place + bytes <= low_) return;
  ++look_;
  for (uint64_t n = place >> kShift; n <= (place + bytes - 1) >> kShift; ++n) {
    const auto at = near_.find(n);
    if (at == near_.end()) continue;
    // Visitors may remove copies.
    for (size_t i = at->second.size(); i-- != 0;) {
      const uint64_t number = at->second[i];
      Copy& copy = copies_.at(number);
      if (copy.look == look_) continue;
      copy.look = look_;
      visit(number, copy);
    }
  }
}

void Copies::remove(uint64_t number) {
  const auto at = copies_.find(number);
  if (at == copies_.end()) return;
  const Span& span = at->second.span;
  const uint64_t last = (span.place + span.bytes - 1) >> kShift;
  for (uint64_t n = span.place >> kShift; n <= last; ++n) std::erase(near_[n], number);
  copies_.erase(at);
}

/// Is the access of this lane ordered behind somebody who has waited?
bool Copies::is_done(const Copy& copy, uint32_t lane) const {
  if (copy.waited.group != 0 && clocks_.ordered(copy.waited, lane)) return true;
  for (const auto& [place, first] : copy.phases) {
    const Barrier& barrier = barriers_.at(place);
    for (uint64_t phase = first; phase < barrier.passed.size(); ++phase) {
      const Passed& passed = barrier.passed[phase];
      if (!passed.by.empty() && passed.by[lane]) return true;
      for (const Mark& mark : passed.marks)
        if (clocks_.ordered(mark, lane)) return true;
    }
  }
  return false;
}

bool Copies::is_done_for_all(const Copy& copy) const {
  const auto before = [&](const Mark& mark) { return mark.epoch < clocks_.base(); };
  if (copy.waited.group != 0 && before(copy.waited)) return true;
  return std::ranges::any_of(copy.phases, [&](const auto& known) {
    const Barrier& barrier = barriers_.at(known.first);
    for (uint64_t phase = known.second; phase < barrier.passed.size(); ++phase)
      if (std::ranges::any_of(barrier.passed[phase].marks, before)) return true;
    return false;
  });
}

void Copies::add(uint32_t lane, uint32_t site, ir::AsyncKind kind, const Span& span,
                 ir::AsyncNote does) {
  const bool writes = does != ir::AsyncNote::read, reduces = does == ir::AsyncNote::reduce;
  const RaceAccess access = writes ? RaceAccess::copy_write : RaceAccess::copy_read;
  each_near(span.place, span.bytes, [&](uint64_t number, const Copy& other) {
    if (!overlap(other.span, span)) return;
    const bool conflicts = (writes || other.writes) && !(reduces && other.reduces);
    const bool done = is_done(other, lane);
    if (conflicts && !done) return report(other, lane, site, span, access);
    // Whoever is behind this one will be behind that one, too.
    if (done && covers(span, other.span) && (writes || !other.writes)) remove(number);
  });
  Copy copy;
  copy.span = span;
  copy.lane = lane;
  copy.site = site;
  copy.kind = kind;
  copy.writes = writes;
  copy.reduces = reduces;
  OfLane& own = of(lane, kind);
  copy.group = own.open;
  const uint64_t number = count_++;
  copies_.emplace(number, std::move(copy));
  own.copies.push_back(number);
  for (uint64_t n = span.place >> kShift; n <= (span.place + span.bytes - 1) >> kShift; ++n)
    near_[n].push_back(number);
  low_ = low_ == high_ ? span.place : std::min(low_, span.place);
  high_ = std::max(high_, span.place + span.bytes);
}

void Copies::commit(uint32_t lane, ir::AsyncKind kind) {
  ++of(lane, kind).open;
}

/// What a copy did to global memory is left to the check of races once its lane has waited.
void Copies::wait(uint32_t lane, ir::AsyncKind kind, uint64_t younger, bool reads_only) {
  OfLane& own = of(lane, kind);
  std::erase_if(own.copies, [&](uint64_t number) {
    const auto at = copies_.find(number);
    if (at == copies_.end()) return true;
    Copy& copy = at->second;
    if (copy.group + younger >= own.open || (copy.writes && reads_only)) return false;
    if (copy.span.shared)
      copy.waited = {clocks_.group(), clocks_.now(lane), copy.site, static_cast<uint16_t>(lane)};
    else
      remove(number);
    return true;
  });
}

void Copies::track(uint32_t lane, ir::AsyncKind kind, uint64_t place) {
  Barrier& barrier = barriers_[place];
  OfLane& own = of(lane, kind);
  std::erase_if(own.copies, [&](uint64_t number) {
    const auto at = copies_.find(number);
    if (at == copies_.end()) return true;
    at->second.phases.emplace_back(place, barrier.phase);
    if (!at->second.writes && !at->second.span.shared) barrier.reads.push_back(number);
    return kind == ir::AsyncKind::barrier;
  });
}

void Copies::pass(uint32_t lane, uint64_t place) {
  const auto at = barriers_.find(place);
  if (at == barriers_.end() || at->second.phase == 0) return;
  Barrier& barrier = at->second;
  barrier.passed.resize(barrier.phase);
  Passed& passed = barrier.passed.back();
  if (passed.by.empty()) passed.by.resize(lanes_);
  if (passed.by[lane]) return;
  passed.by[lane] = true;
  passed.marks.push_back({clocks_.group(), clocks_.now(lane), 0, static_cast<uint16_t>(lane)});
  std::erase_if(barrier.reads, [&](uint64_t number) {
    const auto known = copies_.find(number);
    if (known == copies_.end()) return true;
    const bool ended = std::ranges::any_of(known->second.phases, [&](const auto& tracked) {
      return tracked.first == place && tracked.second < barrier.phase;
    });
    if (ended) remove(number);
    return ended;
  });
}

void Copies::meet_all() {
  std::vector<uint64_t> done;
  for (const auto& [number, copy] : copies_)
    if (is_done_for_all(copy)) done.push_back(number);
  for (const uint64_t number : done) remove(number);
  if (copies_.empty()) low_ = high_ = 0;
}

void Copies::access(uint32_t lane, uint32_t site, const Span& span, RaceAccess access) {
  each_near(span.place, span.bytes, [&](uint64_t, const Copy& copy) {
    if (!overlap(copy.span, span) || !(copy.writes || access != RaceAccess::load)) return;
    if (copy.reduces && access == RaceAccess::atomic) return;
    if (!is_done(copy, lane)) report(copy, lane, site, span, access);
  });
}

void Copies::report(const Copy& copy, uint32_t lane, uint32_t site, const Span& span,
                    RaceAccess access) {
  Fault fault;
  fault.kind = FaultKind::data_race;
  fault.site = site;
  std::ranges::copy(group_, fault.group);
  fault.lane = lane;
  fault.address = span.address;
  fault.size = static_cast<uint32_t>(span.bytes);
  Race race;
  race.access = access;
  race.other_access = copy.writes ? RaceAccess::copy_write : RaceAccess::copy_read;
  race.other_site = copy.site;
  std::ranges::copy(group_, race.other_group);
  race.other_lane = copy.lane;
  const bool ended = std::ranges::any_of(copy.phases, [&](const auto& known) {
    return barriers_.at(known.first).passed.size() > known.second;
  });
  race.remedy =
      copy.waited.group != 0 || ended ? RaceRemedy::behind_wait : remedy(copy.kind, copy.writes);
  if (race.remedy == RaceRemedy::copy_group && !copy.phases.empty())
    race.remedy = RaceRemedy::phase;
  watch_.add(std::move(fault), race);
}

}  // namespace lanewise::reference::race
