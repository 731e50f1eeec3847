#include "runtime/reference/schedule/orders.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace lanewise::reference {
namespace {

/// Steps in a row after which a thread yields, because it may wait for another one.
constexpr uint32_t kSpin = 1024;
/// Groups are shuffled in blocks of so many: those far apart never run at the same time.
constexpr uint64_t kBlock = 4096;
constexpr uint64_t kLowered = uint64_t{1} << 62;

uint64_t mix(uint64_t x) {
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

bool has(std::span<const uint64_t> mask, uint32_t bit) {
  return bit / 64 < mask.size() && (mask[bit / 64] >> bit % 64 & 1) != 0;
}

}  // namespace

uint64_t Random::next() {
  state_ += 0x9e3779b97f4a7c15;
  return mix(state_);
}

Orders::Orders(uint64_t seed, uint64_t groups, bool is_weak)
    : weak(is_weak && seed != 0), random_(seed), seed_(seed), groups_(groups), lowered_(kLowered) {
  draw_style(seed);
}

void Orders::draw_style(uint64_t seed) {
  struct Style {
    Walk walk;
    Base base;
    Behind behind;
  };
  constexpr Style kAdversarial[] = {
      {Walk::priority, Base::forward, Behind::nobody},
      {Walk::priority, Base::backward, Behind::nobody},
      {Walk::turns, Base::forward, Behind::nobody},
      {Walk::turns, Base::backward, Behind::nobody},
      {Walk::priority, Base::forward, Behind::first_thread},
      {Walk::priority, Base::backward, Behind::last_thread},
      {Walk::priority, Base::forward, Behind::first_group},
      {Walk::turns, Base::forward, Behind::any_thread},
  };
  if (seed < std::size(kAdversarial)) {
    const Style& style = kAdversarial[seed];
    walk_ = style.walk, base_ = style.base, behind_ = style.behind;
    return;
  }
  base_ = Base::shuffled;
  constexpr uint32_t kRarities[] = {1, 2, 3, 5, 8, 64};
  walk_ = random_.once_in(1) ? Walk::priority : Walk::random;
  rarity_ = walk_ == Walk::random ? static_cast<uint32_t>(random_.below(4))
                                  : kRarities[random_.below(std::size(kRarities))];
}

uint64_t Orders::rank_of(Base base, uint64_t number) const {
  if (base == Base::shuffled) return mix(mix(seed_ + 1) + number) >> 3;
  return base == Base::forward ? number : (uint64_t{1} << 40) - number;
}

uint64_t Orders::group_at(uint64_t n) {
  if (base_ == Base::backward) n = groups_ - 1 - n;
  if (base_ != Base::shuffled) return n;
  const uint64_t first = n / kBlock * kBlock;
  if (first != block_first_) {
    block_first_ = first;
    block_.resize(std::min(kBlock, groups_ - first));
    std::iota(block_.begin(), block_.end(), first);
    for (size_t i = block_.size(); i > 1; --i) std::swap(block_[i - 1], block_[random_.below(i)]);
  }
  return block_[n - first];
}

void Orders::begin(size_t slot, uint64_t group, std::span<const uint64_t> threads) {
  if (slots_.size() <= slot) slots_.resize(slot + 1);
  Slot& s = slots_[slot];
  s.live = true;
  s.current = kNobody;
  s.streak = 0;
  s.rank = behind_ == Behind::first_group && group == 0 ? ++lowered_ : rank_of(base_, group);
  s.ranks.resize(threads.size() * 64);
  for (uint32_t t = 0; t < s.ranks.size(); ++t) s.ranks[t] = rank_of(base_, (group << 12) + t);
  settled_ = false;
  const auto last = static_cast<uint32_t>(threads.size() * 64) - 1 -
                    static_cast<uint32_t>(std::countl_zero(threads.back()));
  if (behind_ == Behind::first_thread) s.ranks[0] = ++lowered_;
  if (behind_ == Behind::last_thread) s.ranks[last] = ++lowered_;
  if (behind_ == Behind::any_thread) s.ranks[random_of(threads)] = ++lowered_;
}

void Orders::end(size_t slot) {
  slots_[slot].live = false;
  settled_ = false;
}

/// The thread, and maybe its group, goes behind all others.
void Orders::lower(size_t slot, bool whole_group) {
  Slot& s = slots_[slot];
  if (s.current != kNobody) s.ranks[s.current] = ++lowered_;
  if (whole_group) s.rank = ++lowered_;
  settled_ = settled_ && !whole_group;
  s.current = kNobody;
  s.streak = 0;
}

size_t Orders::pick_group() {
  const auto alive = [&](size_t n) { return slots_[n].live; };
  if (walk_ == Walk::turns) {
    const size_t step = base_ == Base::backward ? slots_.size() - 1 : 1;
    do group_ = (group_ + step) % slots_.size();
    while (!alive(group_));
    return group_;
  }
  if (walk_ == Walk::random) {
    if (alive(group_) && rarity_ != 0 && !random_.once_in(rarity_)) return group_;
    do group_ = random_.below(slots_.size());
    while (!alive(group_));
    return group_;
  }
  if (settled_) return group_;
  settled_ = true;
  size_t best = slots_.size();
  for (size_t n = 0; n < slots_.size(); ++n)
    if (alive(n) && (best == slots_.size() || slots_[n].rank < slots_[best].rank)) best = n;
  return group_ = best;
}

uint32_t Orders::pick(size_t slot, std::span<const uint64_t> runnable) {
  Slot& s = slots_[slot];
  const bool goes_on = s.current != kNobody && has(runnable, s.current);
  if (!goes_on) s.streak = 0;
  switch (walk_) {
    case Walk::turns: {
      // Who is behind comes when nobody else can.
      uint32_t next = next_of(runnable, s.current);
      if (behind_ != Behind::nobody && s.ranks[next] > kLowered) next = next_of(runnable, next);
      return s.current = next;
    }
    case Walk::random:
      if (goes_on && rarity_ != 0 && !random_.once_in(rarity_)) return s.current;
      return s.current = random_of(runnable);
    case Walk::priority:
      break;
  }
  if (goes_on && ++s.streak >= kSpin)
    lower(slot, true);
  else if (goes_on && rarity_ < 64 && random_.once_in(rarity_))
    lower(slot, random_.once_in(1));
  else if (goes_on)
    return s.current;
  return s.current = first_of(s, runnable);
}

uint32_t Orders::random_of(std::span<const uint64_t> runnable) {
  uint64_t all = 0;
  for (const uint64_t mask : runnable) all += static_cast<uint64_t>(std::popcount(mask));
  uint64_t left = random_.below(all);
  for (uint32_t n = 0; n < runnable.size(); ++n) {
    uint64_t mask = runnable[n];
    const auto here = static_cast<uint64_t>(std::popcount(mask));
    if (left >= here) {
      left -= here;
      continue;
    }
    for (; left != 0; --left) mask &= mask - 1;
    return n * 64 + static_cast<uint32_t>(std::countr_zero(mask));
  }
  return 0;
}

/// The next one in a circle; itself where it is the only one.
uint32_t Orders::next_of(std::span<const uint64_t> runnable, uint32_t current) const {
  const auto bits = static_cast<uint32_t>(runnable.size() * 64);
  const uint32_t step = base_ == Base::backward ? bits - 1 : 1;
  uint32_t at = current == kNobody ? bits - step : current;
  for (uint32_t n = 0; n < bits; ++n) {
    at = (at + step) % bits;
    if (has(runnable, at)) break;
  }
  return at;
}

uint32_t Orders::first_of(const Slot& slot, std::span<const uint64_t> runnable) {
  uint32_t best = kNobody;
  for (uint32_t n = 0; n < runnable.size(); ++n)
    for (uint64_t mask = runnable[n]; mask != 0; mask &= mask - 1) {
      const uint32_t t = n * 64 + static_cast<uint32_t>(std::countr_zero(mask));
      if (best == kNobody || slot.ranks[t] < slot.ranks[best]) best = t;
    }
  return best;
}

void Orders::arrange(std::span<uint32_t> lanes) {
  if (base_ == Base::backward) std::ranges::reverse(lanes);
  if (base_ != Base::shuffled) return;
  for (size_t i = lanes.size(); i > 1; --i) std::swap(lanes[i - 1], lanes[random_.below(i)]);
}

}  // namespace lanewise::reference
