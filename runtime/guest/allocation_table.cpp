#include "runtime/guest/allocation_table.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "runtime/layout/host_shader.h"
#include "runtime/layout/push_words.hpp"

namespace lanewise::guest {

using namespace host_shader;

void AllocationTable::assign(std::span<const Allocation> allocations) {
  entries_.clear();
  entries_.reserve(allocations.size());
  for (const Allocation& a : allocations)
    entries_.push_back({a.address, a.address + a.size, a.read_only});
}

uint64_t AllocationTable::start() const {
  return entries_.front().start >> kSmallestShift << kSmallestShift;
}

uint64_t AllocationTable::last_byte() const {
  return std::max(entries_.back().end, start() + 1) - 1 - start();
}

uint32_t AllocationTable::shift() const {
  uint32_t shift = kSmallestShift;
  while (last_byte() >> shift >= kMostGranules) ++shift;
  return shift;
}

uint32_t AllocationTable::granules() const {
  return entries_.empty() ? 0 : static_cast<uint32_t>(last_byte() >> shift()) + 1;
}

size_t AllocationTable::words() const {
  return FIRST_ENTRY + ENTRY_WORDS * std::max<size_t>(entries_.size(), 1) + granules();
}

void AllocationTable::write(uint32_t* words) const {
  const auto count = static_cast<uint32_t>(entries_.size());
  std::fill_n(words, FIRST_ENTRY + ENTRY_WORDS, 0);
  if (entries_.empty()) return;
  for (size_t i = 0; i < entries_.size(); ++i) {
    uint32_t* entry = words + FIRST_ENTRY + ENTRY_WORDS * i;
    put64(entry, entries_[i].start);
    put64(entry + 2, entries_[i].end);
    if (entries_[i].read_only) entry[3] |= READ_ONLY_BIT;
  }
  const uint64_t from = start();
  const uint32_t size_shift = shift(), granule_count = granules();
  words[ALLOCATION_COUNT] = count;
  words[GRANULE_COUNT] = granule_count;
  words[FIRST_GRANULE] = FIRST_ENTRY + ENTRY_WORDS * count;
  words[GRANULE_SHIFT] = size_shift;
  put64(words + GRANULES_START, from);
  uint32_t* table = words + words[FIRST_GRANULE];
  uint32_t begun = 0, most = 0;
  for (uint32_t g = 0; g < granule_count; ++g) {
    const uint64_t first = from + (uint64_t{g} << size_shift);
    const uint64_t last = first + ((uint64_t{1} << size_shift) - 1);
    while (begun < count && entries_[begun].start <= first) ++begun;
    table[g] = begun;
    while (begun < count && entries_[begun].start <= last) ++begun;
    most = std::max(most, begun - table[g]);
  }
  words[FIRST_STEP] = std::bit_floor(most);
}

}  // namespace lanewise::guest
