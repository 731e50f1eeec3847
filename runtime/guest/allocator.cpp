#include "runtime/guest/allocator.hpp"

#include <algorithm>

#include "runtime/layout/addresses.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::guest {
namespace {

/// Of freed allocations: what a report can name.
constexpr size_t kMostFreed = 1024;
/// Of freed allocations that are held back: how many, and their bytes together.
constexpr size_t kMostHeld = 1024;
constexpr uint64_t kMostHeldBytes = 16 << 20;

uint64_t round_up(uint64_t n, uint64_t align = kAllocAlign) {
  return (n + align - 1) / align * align;
}

/// Where the next allocation may start: past the end, plus the gap.
uint64_t end_with_gap(uint64_t address, uint64_t size) {
  return round_up(address + std::max<uint64_t>(size, 1)) + kAllocAlign;
}
uint64_t end_with_gap(const Allocation& a) {
  return end_with_gap(a.address, a.size);
}

void refuse_huge(uint64_t size, const std::string& name) {
  if (size <= kMaxAllocation) return;
  throw Error(ErrorKind::usage, "buffer '" + name + "' of " + std::to_string(size) +
                                    " bytes is larger than the guest address space (2^40)");
}

}  // namespace

uint64_t Allocator::allocate(uint64_t size, std::string name, bool read_only, uint64_t align) {
  refuse_huge(size, name);
  const uint64_t at = first_fit(size, align);
  const auto next = std::ranges::lower_bound(live_, at, {}, &Allocation::address);
  std::erase_if(freed_, [&](const Allocation& a) {
    return at <= a.address && a.size <= size && a.address - at <= size - a.size;
  });
  Allocation made{at, size, std::move(name), read_only};
  marks_.end = std::max(marks_.end, end_with_gap(made) - kArenaBase);
  marks_.high_water = std::max(marks_.high_water, marks_.end);
  live_.insert(next, std::move(made));
  ++changes_;
  return at;
}

uint64_t Allocator::allocate_parameters(uint64_t size, std::string name, uint64_t least) {
  refuse_huge(size, name);
  uint64_t at = round_up(kArenaBase + std::max(marks_.end, least));
  auto next = std::ranges::lower_bound(live_, at, {}, &Allocation::address);
  for (; next != live_.end() && next->address < kImportedBase; ++next) at = end_with_gap(*next);
  Allocation made{at, size, std::move(name), true};
  marks_.high_water = std::max(marks_.high_water, end_with_gap(made) - kArenaBase);
  live_.insert(next, std::move(made));
  return at;
}

uint64_t Allocator::allocate_imported(uint64_t size, std::string name, bool read_only,
                                      uint64_t low_bits) {
  refuse_huge(size, name);
  low_bits %= kAllocAlign;
  uint64_t at = kImportedBase + low_bits;
  auto next = std::ranges::lower_bound(live_, kImportedBase, {}, &Allocation::address);
  for (; next != live_.end(); ++next) {
    if (at + round_up(std::max<uint64_t>(size, 1)) + kAllocAlign <= next->address) break;
    at = end_with_gap(*next) + low_bits;
  }
  live_.insert(next, {at, size, std::move(name), read_only});
  ++changes_;
  return at;
}

bool Allocator::place_imported(uint64_t address, uint64_t size, const std::string& name,
                               bool read_only) {
  refuse_huge(size, name);
  if (address < kImportedBase) return false;
  const auto next = std::ranges::lower_bound(live_, address, {}, &Allocation::address);
  if (next != live_.end() && next->address - address < std::max<uint64_t>(size, 1)) return false;
  if (next != live_.begin() &&
      address - std::prev(next)->address < std::max<uint64_t>(std::prev(next)->size, 1))
    return false;
  live_.insert(next, {address, size, name, read_only});
  ++changes_;
  return true;
}

uint64_t Allocator::first_fit(uint64_t size, uint64_t align) const {
  const uint64_t needed = round_up(std::max<uint64_t>(size, 1)) + kAllocAlign;
  uint64_t at = round_up(kArenaBase, align);
  // By address, what is allocated, reserved and held back.
  auto live = live_.begin(), reserved = reserved_.begin();
  auto held = held_.begin();
  for (;;) {
    constexpr uint64_t kNone = ~uint64_t{0};
    const uint64_t next_live = live == live_.end() ? kNone : live->address;
    const uint64_t next_reserved = reserved == reserved_.end() ? kNone : reserved->address;
    const uint64_t next_held = held == held_.end() ? kNone : held->first;
    const uint64_t next = std::min({next_live, next_reserved, next_held});
    if (next == kNone || at + needed <= next) return at;
    const uint64_t taken = next == next_live       ? live++->size
                           : next == next_reserved ? reserved++->size
                                                   : held++->second;
    at = std::max(at, round_up(end_with_gap(next, taken), align));
  }
}

void Allocator::hold_back(const Allocation& freed) {
  if (freed.address >= kImportedBase || freed.size > kMostHeldBytes) return;
  held_.emplace(freed.address, freed.size);
  held_order_.push_back(freed.address);
  held_bytes_ += freed.size;
  while (held_bytes_ > kMostHeldBytes || held_order_.size() > kMostHeld) {
    const auto oldest = held_.find(held_order_.front());
    held_bytes_ -= oldest->second;
    held_.erase(oldest);
    held_order_.pop_front();
  }
}

bool Allocator::give_back_held() {
  const bool any = !held_.empty();
  held_.clear();
  held_order_.clear();
  held_bytes_ = 0;
  return any;
}

uint64_t Allocator::reserve(uint64_t size, const std::string& name, uint64_t align) {
  refuse_huge(size, name);
  const uint64_t at = first_fit(size, align);
  Allocation made{at, size, name, false};
  marks_.end = std::max(marks_.end, end_with_gap(made) - kArenaBase);
  marks_.high_water = std::max(marks_.high_water, marks_.end);
  const auto next = std::ranges::lower_bound(reserved_, at, {}, &Allocation::address);
  reserved_.insert(next, std::move(made));
  return at;
}

const Allocation* Allocator::reservation_of(uint64_t address, uint64_t size) const {
  const auto found = std::ranges::find_if(reserved_, [&](const Allocation& r) {
    return address - r.address < r.size && size <= r.size - (address - r.address);
  });
  return found == reserved_.end() ? nullptr : &*found;
}

bool Allocator::set_mapped(uint64_t address, uint64_t size, bool mapped) {
  const Allocation* const whole = reservation_of(address, size);
  if (whole == nullptr || size == 0) return false;
  const uint64_t end = address + size;
  const auto end_of = [](const Allocation& a) { return a.address + a.size; };
  // The parts that are mapped, of which those that the change touches are made anew.
  auto first =
      std::ranges::find_if(live_, [&](const Allocation& a) { return end_of(a) >= address; });
  auto last = first;
  while (last != live_.end() && last->address <= end) ++last;
  std::vector<Allocation> parts;
  if (mapped) {
    Allocation joined{address, size, whole->name, false};
    for (auto it = first; it != last; ++it) {
      if (it->address < end && end_of(*it) > address) return false;
      const uint64_t joined_end = std::max(end_of(joined), end_of(*it));
      joined.address = std::min(joined.address, it->address);
      joined.size = joined_end - joined.address;
    }
    parts.push_back(std::move(joined));
  } else {
    for (auto it = first; it != last; ++it) {
      if (it->address < address)
        parts.push_back({it->address, address - it->address, whole->name, false});
      if (end_of(*it) > end) parts.push_back({end, end_of(*it) - end, whole->name, false});
    }
    uint64_t covered = 0;
    for (auto it = first; it != last; ++it)
      covered += std::min(end_of(*it), end) - std::max(it->address, address);
    if (covered != size) return false;
  }
  const auto at = live_.erase(first, last);
  live_.insert(at, parts.begin(), parts.end());
  ++changes_;
  return true;
}

void Allocator::set_reachable(uint64_t address, bool reachable) {
  ++changes_;
  if (reachable)
    closed_.erase(address);
  else
    closed_.insert(address);
}

const std::vector<Allocation>& Allocator::open() const {
  open_.clear();
  for (const Allocation& a : live_)
    if (!closed_.contains(a.address)) open_.push_back(a);
  return open_;
}

std::vector<Allocation> Allocator::closed() const {
  std::vector<Allocation> out;
  if (closed_.empty()) return out;
  for (const Allocation& a : live_)
    if (closed_.contains(a.address)) out.push_back(a);
  return out;
}

Allocation Allocator::take(uint64_t address) {
  closed_.erase(address);
  if (const auto whole = std::ranges::find(reserved_, address, &Allocation::address);
      whole != reserved_.end()) {
    Allocation taken = std::move(*whole);
    reserved_.erase(whole);
    std::erase_if(live_, [&](const Allocation& a) { return a.address - address < taken.size; });
    return taken;
  }
  const auto it = std::ranges::find(live_, address, &Allocation::address);
  if (it == live_.end()) {
    throw Error(ErrorKind::usage, "no buffer was allocated at this guest address");
  }
  Allocation taken = std::move(*it);
  live_.erase(it);
  return taken;
}

void Allocator::free(uint64_t address) {
  ++changes_;
  freed_.push_back(take(address));
  hold_back(freed_.back());
  if (freed_.size() > kMostFreed) freed_.pop_front();
}

void Allocator::free_parameters(uint64_t address) {
  take(address);
}

void Allocator::undo(uint64_t address, const Marks& before) {
  ++changes_;
  take(address);
  marks_ = before;
}

std::optional<Nearest> nearest_allocation(std::span<const Allocation> sorted, uint64_t address) {
  std::optional<Nearest> best;
  for (const Allocation& a : sorted) {
    int64_t distance = 0;
    if (address < a.address) {
      distance = -static_cast<int64_t>(a.address - address);
    } else if (address >= a.address + a.size) {
      distance = static_cast<int64_t>(address - (a.address + a.size)) + 1;
    }
    const auto magnitude = [](int64_t d) { return d < 0 ? -d : d; };
    if (!best || magnitude(distance) < magnitude(best->distance)) best = Nearest{&a, distance};
  }
  return best;
}

const Allocation* freed_at(const std::deque<Allocation>& freed, uint64_t address) {
  const auto found = std::find_if(freed.rbegin(), freed.rend(), [&](const Allocation& a) {
    return address - a.address < a.size;
  });
  return found == freed.rend() ? nullptr : &*found;
}

}  // namespace lanewise::guest
