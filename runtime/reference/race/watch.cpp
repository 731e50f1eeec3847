#include "runtime/reference/race/watch.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/guest/policy_of.hpp"

namespace lanewise::reference::race {
namespace {

/// A gigabyte of cells, some 70 MB of the guest's memory. Beyond that all is forgotten.
constexpr uint64_t kMostPages = (uint64_t{1} << 30) / (512 * sizeof(Cell));
constexpr size_t kMostSplit = size_t{1} << 20;
constexpr size_t kMostGuesses = size_t{1} << 16;

RaceAccess kind_of(const Mark& m) {
  if (m.is(Mark::kAtomic)) return RaceAccess::atomic;
  return m.is(Mark::kWrite) ? RaceAccess::store : RaceAccess::load;
}

}  // namespace

Fault fault_at(const std::array<uint32_t, 3>& group, uint32_t lane, uint32_t site, uint64_t address,
               uint64_t size) {
  Fault fault{.kind = FaultKind::data_race, .site = site};
  std::ranges::copy(group, fault.group);
  fault.lane = lane;
  fault.address = address;
  fault.size = static_cast<uint32_t>(size);
  return fault;
}

bool in_lockstep(const LaunchRequest& request) {
  const std::string_view how = guest::policy_of(request, "race.wave");
  if (how == "lockstep" || how == "independent") return how == "lockstep";
  return !request.program->rendezvous;
}

Shadow::Page* Shadow::find(uint64_t number) {
  if (pages_.size() > most_) forget();
  std::unique_ptr<Page>& page = pages_[number];
  if (!page) page = std::make_unique<Page>();
  recent_[number % recent_.size()] = {number, page.get()};
  return page.get();
}

void Shadow::forget() {
  pages_.clear();
  split_.clear();
  recent_.fill({});
}

template <typename Each>
void Shadow::each(const Each& each) const {
  std::vector<uint64_t> numbers;
  for (const auto& [number, page] : pages_) numbers.push_back(number);
  std::ranges::sort(numbers);
  for (const uint64_t number : numbers) {
    const Page& page = *pages_.at(number);
    for (uint64_t i = 0; i < kWords; ++i) {
      const uint64_t place = (number * kWords + i) * 4;
      if (page[i].split == 0) {
        each(place, 4, page[i]);
        continue;
      }
      for (uint64_t b = 0; b < 4; ++b) each(place + b, 1, split_[page[i].split - 1][b]);
    }
  }
}

std::array<Cell, 4>& Shadow::bytes_of(Cell& cell) {
  if (cell.split == 0) {
    if (split_.size() > kMostSplit) {
      forget();
      static std::array<Cell, 4> none;
      return none = {};
    }
    std::array<Cell, 4> bytes;
    bytes.fill(cell);
    for (uint32_t i = 0; i < 4; ++i) {
      bytes[i].before = cell.before >> (8 * i) & 0xff;
      if ((cell.writer.bytes >> i & 1) == 0) bytes[i].writer = {};
    }
    split_.push_back(bytes);
    cell.split = static_cast<uint32_t>(split_.size());
  }
  return split_[cell.split - 1];
}

Watch::Watch(const LaunchRequest& request)
    : looks(checks_races(request)),
      global(kMostPages, false),
      lockstep(in_lockstep(request)),
      shuffle_orders(guest::policy_of(request, "race.shuffle") != "none"),
      unmarked(request.program->isa == ir::Isa::sass),
      always_orders(request.program->isa == ir::Isa::gcn),
      wave_shift_(static_cast<uint32_t>(std::countr_zero(request.program->wave_lanes))),
      same_values_(guest::policy_of(request, "race.same_value") == "report") {}

uint32_t Watch::add_group(const std::array<uint32_t, 3>& index) {
  groups_.push_back(index);
  return static_cast<uint32_t>(groups_.size());
}

void Watch::touch(Shadow& shadow, uint64_t word, const Clocks& clocks, const Touched& t) {
  Cell& cell = shadow.at(word);
  if (t.bytes == 4 && cell.split == 0) return look(cell, word, shadow.own, clocks, t);
  std::array<Cell, 4>& bytes = shadow.bytes_of(cell);
  for (uint32_t i = t.first; i < uint32_t{t.first} + t.bytes; ++i) {
    Touched part = t;
    part.before = t.before >> (8 * i) & 0xff;
    part.after = t.after >> (8 * i) & 0xff;
    // Of words of which others have parts, a compare-and-swap is for the bytes that it changes.
    if (t.mark.is(Mark::kSwap) && part.before == part.after) {
      forgive(bytes[i], word, t.mark);
      continue;
    }
    look(bytes[i], word, shadow.own, clocks, part);
  }
}

void Watch::look(Cell& cell, uint64_t word, bool own, const Clocks& clocks, const Touched& t) {
  const Mark& me = t.mark;
  if (own) {
    if (cell.writer.group != me.group) cell.writer = {};
    for (Mark& r : cell.readers)
      if (r.group != me.group) r = {};
  }
  const auto same_lane = [&](const Mark& m) { return m.lane == me.lane && m.group == me.group; };
  if (me.is(Mark::kSwap)) forgive(cell, word, me);
  if (!me.is(Mark::kWrite))  // as it has read it before
    for (const Mark& r : cell.readers)
      if (same_lane(r) && r.epoch == me.epoch && r.flags == me.flags) return;
  const bool same_value = cell.writer.group != 0 && !same_lane(cell.writer) &&
                          compare(cell.writer, cell.before, word, own, clocks, t);
  if (me.is(Mark::kWrite)) {
    for (Mark& r : cell.readers) {
      if (r.group != 0 && !same_lane(r)) compare(r, 0, word, own, clocks, t);
      r = {};
    }
    if (same_value || stays(cell.writer, me, t.before, t.after)) return;
    cell.writer = me;
    cell.before = t.before;
    return;
  }
  // An atomic that changes nothing does not hide what the lane, or one before it, has read.
  const auto replaces = [&](const Mark& r) { return !me.is(Mark::kStrong) || r.is(Mark::kStrong); };
  for (Mark& r : cell.readers)
    if (r.group == 0 || same_lane(r)) {
      if (r.group == 0 || replaces(r)) r = me;
      return;
    }
  for (Mark& r : cell.readers)
    if (clocks.ordered(r, me.lane)) {
      if (replaces(r)) r = me;
      return;
    }
  Mark& last = cell.readers[in_one_wave(cell.readers[0], me) ? 0 : 1];
  if (replaces(last)) last = me;
}

template <bool kWrite>
void Watch::touch_wave(Shadow& shadow, const Clocks& clocks, const WaveWords& words, Mark me) {
  const Epoch base = clocks.base(), wave_base = clocks.wave_base(words.wave);
  const uint32_t wave_lanes = 1U << wave_shift_, group = me.group;
  const bool own = shadow.own, in_parts = clocks.met_in_parts();
  for_each_lane(words.lanes, [&](uint32_t i) {
    const uint32_t lane = words.first + i;
    me.lane = static_cast<uint16_t>(lane);
    me.epoch = clocks.now(lane);
    std::byte* data = words.data[i];
    uint32_t before = 0;
    if (kWrite) {
      std::memcpy(&before, data, sizeof(before));
      std::memcpy(data, &words.stored[i], sizeof(before));
    }
    // Nothing that could be a race with this access.
    const auto is_past = [&](const Mark& m) {
      if (m.group != group) return own || m.group == 0;
      return m.epoch < base || m.lane == lane ||
             (m.epoch < wave_base && m.lane - words.first < wave_lanes);
    };
    const uint64_t word = reinterpret_cast<uintptr_t>(data) / sizeof(uint32_t);
    Cell& cell = shadow.at(word);
    Mark &a = cell.readers[0], &b = cell.readers[1];
    if (cell.split == 0 && is_past(cell.writer)) {
      if (kWrite) {
        if (is_past(a) && is_past(b)) {
          if (!stays(cell.writer, me, before, words.stored[i])) {
            cell.writer = me;
            cell.before = before;
          }
          a.group = b.group = 0;
          return;
        }
      } else if (b.group == group && b.lane == lane) {
        b = me;
        return;
      } else if (is_past(a)) {
        a = me;
        return;
      } else if (is_past(b)) {
        b = me;
        return;
      } else if (!in_parts && !a.is(Mark::kStrong) && !b.is(Mark::kStrong)) {
        // Whoever is behind both of these by barriers is behind this access, too.
        if (in_one_wave(a, b) && !in_one_wave(a, me)) b = me;
        return;
      }
    }
    Touched t;
    t.mark = me;
    t.address = words.address[i];
    t.before = before;
    std::memcpy(&t.after, data, sizeof(t.after));
    t.size = words.size;
    touch(shadow, word, clocks, t);
  });
}
template void Watch::touch_wave<false>(Shadow&, const Clocks&, const WaveWords&, Mark);
template void Watch::touch_wave<true>(Shadow&, const Clocks&, const WaveWords&, Mark);

/// Loads in front of loops around a compare-and-swap, as assemblers make them of other atomics, or
/// that wait for a lock; stores of which the lanes look which one was the last.
bool Watch::may_be_volatile(const Mark& a, const Mark& b) const {
  if (a.is(Mark::kWrite) && b.is(Mark::kWrite))
    return a.site == b.site && in_one_wave(a, b) && !a.is(Mark::kAtomic);
  return a.is(Mark::kSwap) || b.is(Mark::kSwap);
}

bool Watch::compare(const Mark& first, uint32_t first_before, uint64_t word, bool own,
                    const Clocks& clocks, const Touched& t) {
  const Mark& me = t.mark;
  if (first.is(Mark::kStrong) && me.is(Mark::kStrong) &&
      (first.group == me.group || (first.is(Mark::kWide) && me.is(Mark::kWide))))
    return false;
  if (clocks.ordered(first, me.lane)) return false;
  if (unmarked && own && may_be_volatile(first, me)) return false;
  const bool both = first.is(Mark::kWrite) && me.is(Mark::kWrite);
  const bool same = both && t.before == t.after;
  if (same && !same_values_) return true;
  if (excused_ && excused_(first, me)) return false;
  Race race;
  race.access = kind_of(me);
  race.other_access = kind_of(first);
  race.other_site = first.site;
  std::ranges::copy(groups_[first.group - 1], race.other_group);
  race.other_lane = first.lane;
  race.before = me.is(Mark::kWrite) ? t.before : first_before;
  race.after = t.after;
  race.same_value = same;
  race.remedy = remedy(first, me);
  const auto [less, more] = std::minmax(race.access, race.other_access);
  const Key key{std::min(first.site, me.site), std::max(first.site, me.site), less, more};
  const size_t number =
      add(key, fault_at(groups_[me.group - 1], me.lane, me.site, t.address, t.size), race);
  note_guess(first, me, word, number);
  return false;
}

/// Old values that a loop around a compare-and-swap begins with are often loaded plainly.
void Watch::note_guess(const Mark& a, const Mark& b, uint64_t word, size_t race) {
  const auto is_plain = [](const Mark& m) { return !m.is(Mark::kWrite) && !m.is(Mark::kStrong); };
  if ((!is_plain(a) && !is_plain(b)) || guesses_.size() >= kMostGuesses) return;
  const Mark& load = is_plain(a) ? a : b;
  guesses_[{word, load.group, load.lane}].push_back(race);
}

/// What the lane of a compare-and-swap has loaded plainly before it.
void Watch::forgive(Cell& cell, uint64_t word, const Mark& swap) {
  for (Mark& r : cell.readers)
    if (r.group == swap.group && r.lane == swap.lane && !r.is(Mark::kStrong)) r = {};
  if (guesses_.empty()) return;
  const auto known = guesses_.find({word, swap.group, swap.lane});
  if (known == guesses_.end()) return;
  for (const size_t race : known->second) --races_[race]->times;
  guesses_.erase(known);
}

RaceRemedy Watch::remedy(const Mark& a, const Mark& b) const {
  if (a.is(Mark::kStrong) && b.is(Mark::kStrong)) return RaceRemedy::scope;
  if (a.is(Mark::kAtomic) || b.is(Mark::kAtomic)) return RaceRemedy::atomic;
  if (a.group != b.group) return RaceRemedy::release;
  if (!in_one_wave(a, b)) return RaceRemedy::barrier;
  return lockstep ? RaceRemedy::one_lane : RaceRemedy::wave;
}

size_t Watch::add(const Key& key, Fault fault, const Race& race) {
  const auto [at, fresh] = known_.try_emplace(key, races_.size());
  if (!fresh) {
    ++races_[at->second]->times;
    races_[at->second]->same_value = races_[at->second]->same_value && race.same_value;
    return at->second;
  }
  races_.push_back(std::make_shared<Race>(race));
  fault.race = races_.back();
  found_.push_back(std::move(fault));
  return at->second;
}

namespace {

constexpr size_t kMostTouched = size_t{1} << 22;

bool is_wide_and_strong(const Mark& m) {
  return m.is(Mark::kStrong) && m.is(Mark::kWide);
}

/// What the check knows of a word or byte, without who it was. `now`: its value.
TouchedRange touched_range(const Cell& cell, uint32_t now) {
  TouchedRange out;
  if (cell.writer.group != 0) {
    out.store_site = cell.writer.site;
    out.strong_store = is_wide_and_strong(cell.writer);
    out.same_value = cell.before == now;
  }
  for (const Mark& r : cell.readers) {
    if (r.group == 0) continue;
    // The one that needs an order, where there are two.
    if (out.load_site != ir::kNone && is_wide_and_strong(r)) continue;
    out.load_site = r.site;
    out.strong_load = is_wide_and_strong(r);
  }
  return out;
}

}  // namespace

std::vector<TouchedRange> Watch::touched(
    const std::function<uint64_t(const std::byte*)>& address_of) const {
  std::vector<TouchedRange> out;
  global.each([&](uint64_t place, uint64_t bytes, const Cell& cell) {
    const auto known = [](const Mark& m) { return m.group != 0; };
    if (!known(cell.writer) && std::ranges::none_of(cell.readers, known)) return;
    // Places are addresses of the host.
    const auto* at =
        reinterpret_cast<const std::byte*>(place);  // NOLINT(performance-no-int-to-ptr)
    uint32_t now = 0;
    std::memcpy(&now, at, bytes);
    TouchedRange range = touched_range(cell, now);
    range.address = address_of(at);
    range.bytes = bytes;
    if (range.address == 0) return;
    if (!out.empty() && range.continues(out.back()))
      out.back().bytes += bytes;
    else if (out.size() < kMostTouched)
      out.push_back(range);
  });
  std::ranges::sort(out, {}, &TouchedRange::address);
  return out;
}

void Watch::collect(LaunchResult& result) const {
  for (const Fault& f : found_) {
    if (f.race->times == 0) continue;
    ++result.fault_count;
    if (result.faults.size() < kMaxFaults) result.faults.push_back(f);
  }
}

}  // namespace lanewise::reference::race
