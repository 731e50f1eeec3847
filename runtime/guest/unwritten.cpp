#include "runtime/guest/unwritten.hpp"

#include <algorithm>

#include "runtime/layout/addresses.hpp"

namespace lanewise::guest {
namespace {

/// Bits [first, first + count) of a map.
void set_bits(std::span<std::byte> map, uint64_t first, uint64_t count) {
  const uint64_t end = first + count;
  for (; first < end && first % 8 != 0; ++first) map[first / 8] |= std::byte(1U << first % 8);
  if (const uint64_t whole = (end - first) / 8; first < end && whole != 0) {
    std::ranges::fill(map.subspan(first / 8, whole), std::byte{0xff});
    first += 8 * whole;
  }
  for (; first < end; ++first) map[first / 8] |= std::byte(1U << first % 8);
}

bool all_bits(std::span<const std::byte> map, uint64_t first, uint64_t count) {
  for (uint64_t n = first; n < first + count; ++n)
    if ((map[n / 8] >> n % 8 & std::byte{1}) == std::byte{0}) return false;
  return true;
}

uint64_t map_bytes(uint64_t bytes) {
  return (bytes + 7) / 8;
}

}  // namespace

std::vector<std::byte>& Unwritten::map_of(Range& range) {
  if (range.map.empty()) range.map.resize(map_bytes(range.bytes));
  return range.map;
}

/// The first range that reaches beyond the address.
std::map<uint64_t, Unwritten::Range>::const_iterator Unwritten::first_behind(
    uint64_t address) const {
  auto at = unwritten_.upper_bound(address);
  if (at == unwritten_.begin()) return at;
  const auto before = std::prev(at);
  return address - before->first < before->second.bytes ? before : at;
}

void Unwritten::add(uint64_t address, uint64_t bytes) {
  if (bytes != 0) unwritten_[address] = {bytes, {}};
}

void Unwritten::note(uint64_t address, uint64_t bytes) {
  const auto first_one = first_behind(address);
  auto at = unwritten_.erase(first_one, first_one);  // the same place, to be changed
  while (at != unwritten_.end() && at->first < address + bytes) {
    Range& range = at->second;
    const uint64_t first = std::max(address, at->first) - at->first;
    const uint64_t end = std::min(address + bytes - at->first, range.bytes);
    if (first == 0 && end == range.bytes) {
      at = unwritten_.erase(at);
      continue;
    }
    set_bits(map_of(range), first, end - first);
    ++at;
  }
}

void Unwritten::lose(uint64_t address, uint64_t bytes, uint64_t allocation,
                     uint64_t allocation_bytes) {
  const auto known = unwritten_.find(allocation);
  Range& range = unwritten_[allocation];
  if (known == unwritten_.end()) {
    range.bytes = allocation_bytes;
    set_bits(map_of(range), 0, allocation_bytes);
  }
  if (range.map.empty()) return;  // nothing of it is written
  for (uint64_t n = address - allocation; n < address - allocation + bytes; ++n)
    range.map[n / 8] &= ~std::byte(1U << n % 8);
}

bool Unwritten::written(uint64_t address, uint64_t bytes) const {
  for (auto at = first_behind(address); at != unwritten_.end() && at->first < address + bytes;
       ++at) {
    const Range& range = at->second;
    const uint64_t first = std::max(address, at->first) - at->first;
    const uint64_t end = std::min(address + bytes - at->first, range.bytes);
    if (range.map.empty() || !all_bits(range.map, first, end - first)) return false;
  }
  return true;
}

std::pair<uint64_t, uint64_t> Unwritten::first_run(uint64_t address, uint64_t bytes,
                                                   uint64_t least) const {
  uint64_t begin = address, length = 0;
  /// False: what was found before is long enough.
  const auto add = [&](uint64_t at, uint64_t count) {
    if (at != begin + length) {
      if (length >= least) return false;
      begin = at;
      length = 0;
    }
    length += count;
    return true;
  };
  bool more = true;
  for (auto at = first_behind(address);
       more && at != unwritten_.end() && at->first < address + bytes; ++at) {
    const Range& range = at->second;
    const uint64_t first = std::max(address, at->first) - at->first;
    const uint64_t end = std::min(address + bytes - at->first, range.bytes);
    if (first >= end) continue;
    if (range.map.empty()) {
      more = add(at->first + first, end - first);
      continue;
    }
    for (uint64_t n = first; more && n < end; ++n) {
      if (n % 8 == 0 && range.map[n / 8] == std::byte{0xff})
        n += 7;
      else if (!all_bits(range.map, n, 1))
        more = add(at->first + n, 1);
    }
  }
  return length >= least ? std::pair(begin, length) : std::pair(uint64_t{0}, uint64_t{0});
}

void Unwritten::fill(std::span<std::byte> map) const {
  std::ranges::fill(map, std::byte{0xff});
  for (const auto& [address, range] : unwritten_) {
    const uint64_t at = (address - kArenaBase) / 8;
    if (at >= map.size()) break;
    const auto part = map.subspan(at, std::min<uint64_t>(map_bytes(range.bytes), map.size() - at));
    std::ranges::fill(part, std::byte{0});
    if (!range.map.empty()) std::copy_n(range.map.begin(), part.size(), part.begin());
    // What shares the last byte of the map is no part of the range.
    const uint64_t bits = 8 * part.size();
    if (bits > range.bytes) set_bits(part, range.bytes, bits - range.bytes);
  }
}

void Unwritten::update(const std::function<void(uint64_t, std::span<std::byte>)>& read) {
  for (auto at = unwritten_.begin(); at != unwritten_.end();) {
    Range& range = at->second;
    read((at->first - kArenaBase) / 8, map_of(range));
    at = all_bits(range.map, 0, range.bytes) ? unwritten_.erase(at) : std::next(at);
  }
}

uint64_t written_map_offset(uint64_t arena) {
  return (arena + kAllocAlign - 1) / kAllocAlign * kAllocAlign;
}

uint64_t written_map_bytes(uint64_t arena) {
  return written_map_offset(arena) / 8 + 4;
}

}  // namespace lanewise::guest
