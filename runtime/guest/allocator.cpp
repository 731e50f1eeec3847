#include "runtime/guest/allocator.hpp"

#include <algorithm>

#include "runtime/guest/layout.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::guest {
namespace {

uint64_t round_up(uint64_t n, uint64_t align = kAllocAlign) {
  return (n + align - 1) / align * align;
}

/// Where the next allocation may start: past the end, plus the gap.
uint64_t end_with_gap(const Allocation& a) {
  return round_up(a.address + std::max<uint64_t>(a.size, 1)) + kAllocAlign;
}

void refuse_huge(uint64_t size, const std::string& name) {
  if (size <= kMaxAllocation) return;
  throw Error(ErrorKind::usage, "buffer '" + name + "' of " + std::to_string(size) +
                                    " bytes is larger than the guest address space (2^40)");
}

}  // namespace

uint64_t Allocator::allocate(uint64_t size, std::string name, bool read_only, uint64_t align) {
  refuse_huge(size, name);
  uint64_t at = round_up(kArenaBase, align);
  auto next = live_.begin();
  for (; next != live_.end(); ++next) {
    if (at + round_up(std::max<uint64_t>(size, 1)) + kAllocAlign <= next->address) break;
    at = round_up(end_with_gap(*next), align);
  }
  Allocation made{at, size, std::move(name), read_only};
  const uint64_t end = end_with_gap(made) - kArenaBase;
  live_.insert(next, std::move(made));
  high_water_ = std::max(high_water_, end);
  return at;
}

uint64_t Allocator::allocate_foreign(uint64_t size, std::string name, bool read_only,
                                     uint64_t low_bits) {
  refuse_huge(size, name);
  low_bits %= kAllocAlign;
  uint64_t at = kForeignBase + low_bits;
  auto next = std::ranges::lower_bound(live_, kForeignBase, {}, &Allocation::address);
  for (; next != live_.end(); ++next) {
    if (at + round_up(std::max<uint64_t>(size, 1)) + kAllocAlign <= next->address) break;
    at = end_with_gap(*next) + low_bits;
  }
  live_.insert(next, {at, size, std::move(name), read_only});
  return at;
}

void Allocator::free(uint64_t address) {
  const auto it = std::ranges::find(live_, address, &Allocation::address);
  if (it == live_.end()) {
    throw Error(ErrorKind::usage, "no buffer was allocated at this guest address");
  }
  live_.erase(it);
}

void Allocator::undo(uint64_t address, uint64_t high_water_before) {
  free(address);
  high_water_ = high_water_before;
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

}  // namespace lanewise::guest
