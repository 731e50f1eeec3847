#include "runtime/cache/engine/sets/level.hpp"

#include <algorithm>

#include "runtime/cache/engine/sets/index_hash.hpp"

namespace lanewise::cache {

Level::Level(const Geometry& g, uint32_t dirty_limit_percent, uint32_t persisting_percent,
             const Share* share)
    : geometry_(g),
      line_bytes_(g.line),
      line_shift_(static_cast<unsigned>(std::countr_zero(g.line))),
      hash_(g.hash),
      policy_(g.replacement),
      share_(share != nullptr && !share->whole() && !share->grows() ? share : nullptr) {
  if (g.infinite) {
    geometry_.ways = kStep;
    geometry_.sets = std::max(g.sets, 2U);
  }
  stride_ = stride_of(geometry_.ways);
  by_time_ = policy_->note == Policy::Note::last_use;
  oldest_loses_ = policy_->victim == nullptr;
  many_ways_ = stride_ > WideSets::kFewWays;
  list_orders_ = many_ways_ && oldest_loses_ && policy_->note != Policy::Note::own;
  linear_ = g.hash == IndexHash::linear && g.set_hash == IndexHash::linear && !g.infinite &&
            share_ == nullptr;
  resize(g.slices * geometry_.sets);
  const uint64_t lines = uint64_t{total_sets_} * g.ways;
  dirty_limit_ = static_cast<uint32_t>(lines * dirty_limit_percent / 100);
  simple_victims_ = oldest_loses_ && dirty_limit_ == 0;
  persisting_limit_ =
      g.infinite ? ~uint32_t{0} : static_cast<uint32_t>(lines * persisting_percent / 100);
  // The quota is that of all sets: who puts shares together looks at it.
  if (share_ != nullptr) persisting_limit_ = ~uint32_t{0};
  if (hash_ == IndexHash::ipoly) slice_table_ = ipoly_table(g.slices > 1 ? g.slices : g.sets);
  slices_by_ipoly_ = hash_ == IndexHash::ipoly && g.set_hash == IndexHash::linear && g.slices > 1 &&
                     std::has_single_bit(g.slices) && std::has_single_bit(g.sets) && !g.infinite;
  slice_bits_ = static_cast<unsigned>(std::countr_zero(g.slices));
  set_bits_ = static_cast<unsigned>(std::countr_zero(g.sets));
  if (g.set_hash == IndexHash::ipoly) set_table_ = ipoly_table(g.sets);
}

void Level::resize(uint32_t sets) {
  total_sets_ = sets;
  kept_sets_ = share_ != nullptr ? share_->kept_sets() : sets;
  set_mask_ = linear_ && std::has_single_bit(sets) ? sets - 1 : 0;
  remainder_of_sets_ = Remainder(sets);
  sets = kept_sets_;
  const size_t lines = size_t{sets} * stride_;
  if (many_ways_)
    wide_.assign(sets, stride_, geometry_.ways);
  else
    tags_.assign(lines, ~uint32_t{0});
  stamps_.assign(lines, 0);
  lines_.assign(lines, Line{});
  histories_ = {};
  spilled_.assign(geometry_.infinite ? sets : 0, 0);
  next_victims_.assign(sets, NextVictim{});
  words_.assign(policy_->word == Policy::Word::of_set ? sets : 1, policy_->first_word);
  for (uint32_t s = 0; s < sets; ++s)
    for (uint32_t w = geometry_.ways; w < stride_; ++w) stamp(s * stride_ + w) = kNeverLoses;
}

uint32_t Level::hashed_set(uint64_t n) const {
  const uint32_t set = hashed_set_of_all(n);
  return share_ == nullptr ? set : share_->places()[set];
}

uint32_t Level::hashed_set_of_all(uint64_t n) const {
  // A table that grows has no sets that a program could distinguish. The lines of one SM often lie
  // a power of two apart; by their low bits they would fill few sets, and the table would double
  // for each of them.
  if (geometry_.infinite) {
    n *= 0x9e3779b97f4a7c15U;
    return static_cast<uint32_t>((n ^ n >> 32) % total_sets_);
  }
  if (slices_by_ipoly_) return set_in_slice(n);
  const uint32_t slices = geometry_.slices, sets = total_sets_ / slices;
  // What is hashed by hash alone spreads over all sets at once, but for ipoly, which names the
  // slice.
  if (geometry_.set_hash == IndexHash::linear && hash_ != IndexHash::ipoly)
    return hash(hash_, slice_table_, n, total_sets_);
  if (slices == 1) return hash(hash_, slice_table_, n, sets);
  return hash(hash_, slice_table_, n, slices) * sets +
         hash(geometry_.set_hash, set_table_, n / slices, sets);
}

uint32_t Level::hash(IndexHash hash, const std::vector<uint16_t>& table, uint64_t n,
                     uint32_t slots) const {
  switch (hash) {
    case IndexHash::linear:
      return static_cast<uint32_t>(n % slots);
    case IndexHash::fold:
      return static_cast<uint32_t>((n ^ n >> 10 ^ n >> 20 ^ n >> 30) % slots);
    case IndexHash::fermi:
      return fermi_set(n << line_shift_) % slots;
    case IndexHash::ipoly:
      break;
  }
  return ipoly_hash(table, n) % slots;
}

/// Where time alone does not decide, or lines are to be spared.
uint32_t Level::choose_among(uint32_t index) {
  const uint32_t first = index / stride_ * stride_;
  const Priority lowest = priority(index);
  if (dirty_limit_ != 0 && dirty_ < dirty_limit_ && lines_[index].dirty.any())
    if (const uint32_t clean = choose_clean(first, lowest); clean != kNoLine) return clean;
  if (oldest_loses_) return index;
  SetView set = view(index / stride_, lowest);
  return first + policy_->victim(set);
}

/// Of a table that grows, when the set at `first` does not have the line.
uint32_t Level::find_spilled(uint64_t address, uint32_t first) const {
  const uint32_t tag = tag_of(address);
  for (uint32_t at = first; spilled_[at / stride_] != 0;) {
    at = next_set(at);
    if (at == first) break;
    for (uint32_t hits = match<false>(tags_.at(at), tag); hits != 0; hits &= hits - 1) {
      const uint32_t index = at + static_cast<uint32_t>(std::countr_zero(hits));
      if (lines_[index].address == address) return index;
    }
  }
  return kNoLine;
}

/// Of a table that grows: a place for a line that it does not have.
uint32_t Level::free_way(uint64_t address) {
  constexpr size_t kFullest = 7;  // eighths
  if (8 * size_t{used_} >= kFullest * lines_.size()) grow();
  for (uint32_t first = set_of(address) * stride_;; first = next_set(first)) {
    const uint32_t index = oldest(first);
    if (lines_[index].empty()) return index;
    spilled_[first / stride_] = 1;
  }
}

uint32_t Level::choose_clean(uint32_t first, Priority p) const {
  uint32_t best = kNoLine;
  for (uint32_t i = first; i < first + geometry_.ways; ++i)
    if (priority(i) == p && lines_[i].dirty.none() && (best == kNoLine || stamp(i) < stamp(best)))
      best = i;
  return best;
}

SetView Level::view(uint32_t set, Priority lowest) {
  return {&stamp(set * stride_), geometry_.ways, &words_[words_.size() > 1 ? set : 0],
          static_cast<uint32_t>(lowest)};
}

void Level::touch_other(uint32_t index) {
  if (policy_->used == nullptr) return;
  SetView set = view(index / stride_);
  policy_->used(set, index % stride_);
}

void Level::place_other(uint32_t index, Priority p, bool least_recent) {
  const uint32_t time = policy_->note == Policy::Note::own ? policy_->first_note
                        : least_recent                     ? earliest()
                                                           : tick();
  stamp(index) = static_cast<uint32_t>(Priority::normal) << kTimeBits | time;
  forget_next_victim(index);
  if (p != Priority::normal) set_priority(index, p);
  if (!least_recent && policy_->fill_is_use) touch_other(index);
}

void Level::set_priority(uint32_t index, Priority p) {
  const Priority old = priority(index);
  if (old == p) return;
  if (p == Priority::last && persisting_ >= persisting_limit_) p = Priority::normal;
  if (old == Priority::last) --persisting_;
  if (many_ways_) wide_.count_own_class(index, is_own_class(p) - is_own_class(old));
  if (p == Priority::last) most_persisting_ = std::max(most_persisting_, ++persisting_);
  stamp(index) = static_cast<uint32_t>(p) << kTimeBits | (stamp(index) & kTimeMask);
  forget_next_victim(index);
  lines_[index].notes |= kOwnClass;
}

void Level::remove(uint32_t index) {
  if (priority(index) == Priority::last) --persisting_;
  if (lines_[index].dirty.any()) --dirty_;
  used_ -= lines_[index].empty() ? 0 : 1;
  if (many_ways_) {
    if (is_own_class(priority(index))) wide_.count_own_class(index, -1);
    if (!lines_[index].empty()) wide_.remove(index, tag_of(lines_[index].address));
  } else {
    *tags_.at(index) = ~uint32_t{0};
  }
  stamp(index) = 0;
  forget_next_victim(index);
  lines_[index] = Line{};
}

void Level::compress_times() {
  // Keeps the order inside each set, which is all that a victim depends on.
  std::vector<uint32_t> order;
  for (uint32_t set = 0; set < kept_sets_; ++set) {
    order.clear();
    for (uint32_t i = set * stride_; i < set * stride_ + geometry_.ways; ++i)
      if (!lines_[i].empty()) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return (stamp(a) & kTimeMask) < (stamp(b) & kTimeMask);
    });
    for (uint32_t rank = 0; rank < order.size(); ++rank)
      set_time(order[rank], kFirstTime + rank + 1);
  }
  clock_ = kFirstTime + stride_ + 1;
  earliest_ = kFirstTime;
  next_victims_.assign(kept_sets_, NextVictim{});
}

void Level::grow() {
  const auto lines = std::move(lines_);
  const auto histories = std::move(histories_);
  const Column stamps = std::move(stamps_);
  const std::vector<uint8_t> data = std::move(data_);
  geometry_.sets += geometry_.sets / 2;
  resize(geometry_.slices * geometry_.sets);
  if (!histories.empty()) histories_.resize(lines_.size());
  if (data_stride_ != 0) data_.assign(lines_.size() * data_stride_, 0);
  used_ = 0;
  for (uint32_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    const uint32_t to = free_way(lines[i].address);
    ++used_;
    *tags_.at(to) = tag_of(lines[i].address);
    stamp(to) = *stamps.at(i);
    lines_[to] = lines[i];
    if (!histories.empty()) histories_[to] = histories[i];
    if (data_stride_ != 0)
      std::copy_n(data.data() + i * data_stride_, data_stride_, data_.data() + to * data_stride_);
  }
}

void Level::keep_values() {
  data_stride_ = std::max<uint64_t>(kBlockBytes, line_bytes_);
  data_.assign(lines_.size() * data_stride_, 0);
}

size_t Level::memory_bytes() const {
  return tags_.memory_bytes() + wide_.memory_bytes() + stamps_.memory_bytes() +
         next_victims_.capacity() * sizeof(NextVictim) + lines_.capacity() * sizeof(Line) +
         histories_.capacity() * sizeof(History) + spilled_.capacity() + words_.capacity() * 8 +
         data_.capacity();
}

}  // namespace lanewise::cache
