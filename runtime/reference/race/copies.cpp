#include "runtime/reference/race/copies.hpp"

#include <algorithm>

namespace lanewise::reference::race {
namespace {

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

bool watches_copies(const LaunchRequest& request) {
  const auto notes = [](const ir::Inst& inst) { return inst.op == ir::Op::async_note; };
  return checks_copies(request) &&
         std::ranges::any_of(request.program->blocks, [&](const ir::Block& block) {
           return std::ranges::any_of(block.insts, notes);
         });
}

void Copies::start(const std::array<uint32_t, 3>& group) {
  group_ = group;
  copies_.clear();
  free_.clear();
  places_ = {};
  barriers_.clear();
  of_lanes_.assign(size_t{lanes_} * 3, {});
}

template <typename Visit>
void Copies::each_under(const Span& span, const Visit& visit) {
  const uint64_t place = span.place, end = span.place + span.bytes;
  ++look_;
  for (Places& places : places_) {
    if (place >= places.high || end <= places.low) continue;
    for (uint64_t n = place >> Places::kShift; n <= (end - 1) >> Places::kShift; ++n) {
      const auto at = places.near.find(n);
      if (at == places.near.end()) continue;
      // Visitors may remove copies.
      for (size_t i = at->second.size(); i-- != 0;) {
        const Places::Entry entry = at->second[i];
        if (entry.place >= end || place >= entry.end) continue;
        Copy& copy = copies_[entry.slot];
        if (copy.look == look_) continue;
        copy.look = look_;
        visit(entry.slot, copy);
      }
    }
  }
}

uint32_t Copies::new_slot() {
  if (free_.empty()) {
    copies_.emplace_back();
    return static_cast<uint32_t>(copies_.size() - 1);
  }
  const uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void Copies::remove(uint32_t slot) {
  Copy& copy = copies_[slot];
  Places& places = places_[copy.span.shared ? 0 : 1];
  const uint64_t last = (copy.span.place + copy.span.bytes - 1) >> Places::kShift;
  for (uint64_t n = copy.span.place >> Places::kShift; n <= last; ++n) {
    std::vector<Places::Entry>& near = places.near[n];
    const auto at = std::ranges::find(near, slot, &Places::Entry::slot);
    *at = near.back();
    near.pop_back();
  }
  copy.number = 0;
  copy.phases.clear();
  free_.push_back(slot);
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
  each_under(span, [&](uint32_t slot, const Copy& other) {
    const bool conflicts = (writes || other.writes) && !(reduces && other.reduces);
    const bool done = is_done(other, lane);
    if (conflicts && !done) return report(other, lane, site, span, access);
    // Whoever is behind this one will be behind that one, too.
    if (done && covers(span, other.span) && (writes || !other.writes)) remove(slot);
  });
  const uint32_t slot = new_slot();
  Copy& copy = copies_[slot];
  copy.number = ++count_;
  copy.waited = {};
  copy.span = span;
  copy.lane = lane;
  copy.site = site;
  copy.kind = kind;
  copy.writes = writes;
  copy.reduces = reduces;
  OfLane& own = of(lane, kind);
  copy.group = own.open;
  own.copies.push_back({slot, copy.number});
  Places& places = places_[span.shared ? 0 : 1];
  const uint64_t end = span.place + span.bytes;
  for (uint64_t n = span.place >> Places::kShift; n <= (end - 1) >> Places::kShift; ++n)
    places.near[n].push_back({span.place, end, slot});
  places.low = places.low == places.high ? span.place : std::min(places.low, span.place);
  places.high = std::max(places.high, end);
}

void Copies::commit(uint32_t lane, ir::AsyncKind kind) {
  ++of(lane, kind).open;
}

/// What a copy did to global memory is left to the check of races once its lane has waited.
void Copies::wait(uint32_t lane, ir::AsyncKind kind, uint64_t younger, bool reads_only) {
  OfLane& own = of(lane, kind);
  std::erase_if(own.copies, [&](const Ref& ref) {
    Copy* const known = find(ref);
    if (known == nullptr) return true;
    Copy& copy = *known;
    if (copy.group + younger >= own.open || (copy.writes && reads_only)) return false;
    if (copy.span.shared)
      copy.waited = {clocks_.group(), clocks_.now(lane), copy.site, static_cast<uint16_t>(lane)};
    else
      remove(ref.slot);
    return true;
  });
}

void Copies::track(uint32_t lane, ir::AsyncKind kind, uint64_t place) {
  Barrier& barrier = barriers_[place];
  OfLane& own = of(lane, kind);
  std::erase_if(own.copies, [&](const Ref& ref) {
    Copy* const copy = find(ref);
    if (copy == nullptr) return true;
    copy->phases.emplace_back(place, barrier.phase);
    if (!copy->writes && !copy->span.shared) barrier.reads.push_back(ref);
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
  std::erase_if(barrier.reads, [&](const Ref& ref) {
    const Copy* const copy = find(ref);
    if (copy == nullptr) return true;
    const bool ended = std::ranges::any_of(copy->phases, [&](const auto& tracked) {
      return tracked.first == place && tracked.second < barrier.phase;
    });
    if (ended) remove(ref.slot);
    return ended;
  });
}

void Copies::meet_all() {
  if (free_.size() == copies_.size()) return;
  for (uint32_t slot = 0; slot < copies_.size(); ++slot)
    if (copies_[slot].number != 0 && is_done_for_all(copies_[slot])) remove(slot);
  if (free_.size() == copies_.size()) places_ = {};
}

void Copies::access(uint32_t lane, uint32_t site, const Span& span, RaceAccess access) {
  each_under(span, [&](uint32_t, const Copy& copy) {
    if (!copy.writes && access == RaceAccess::load) return;
    if (copy.reduces && access == RaceAccess::atomic) return;
    if (!is_done(copy, lane)) report(copy, lane, site, span, access);
  });
}

void Copies::report(const Copy& copy, uint32_t lane, uint32_t site, const Span& span,
                    RaceAccess access) {
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
  watch_.add({copy.site, site, race.other_access, access},
             fault_at(group_, lane, site, span.address, span.bytes), race);
}

}  // namespace lanewise::reference::race
