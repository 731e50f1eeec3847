// Pages that come, are packed and come back.
#include "runtime/cache/engine/memory/memory.hpp"

#include <algorithm>

namespace lanewise::cache {
namespace {

constexpr size_t kBlocks = kPageBytes / kBlockBytes;
enum PackedFlag : uint8_t {
  kInOtherCaches = 1,
  kSystem = 2,
  kReadOnly = 4,
  kWritten = 8,  ///< any sector ever
  kAlike = 16,   ///< the four sectors of each block
  kHalves = 32   ///< else: the two sectors of each line of 64 bytes
};

/// Of a block, entries that are not equal to the one before.
unsigned different_in_block(uint8_t flags) {
  return (flags & kWritten) == 0 ? 0 : (flags & kAlike) != 0 ? 1 : (flags & kHalves) != 0 ? 2 : 4;
}

/// Most words have one bit, whose number is a smaller one.
uint64_t short_form(uint64_t sharers) {
  if (sharers == 0) return 0;
  return (sharers & (sharers - 1)) == 0 ? static_cast<uint64_t>(std::countr_zero(sharers)) + 1 : 65;
}

/// All entries of each block are equal.
bool blocks_alike(const Writes& w) {
  const size_t entries = w.count() / kBlocks;
  uint64_t other = 0;
  for (size_t i = 0; i < w.count(); i += entries)
    for (size_t e = i + 1; e < i + entries; ++e)
      other |= (w.states()[e].bits() ^ w.states()[i].bits()) | (w.bytes()[e] ^ w.bytes()[i]);
  return other == 0;
}

}  // namespace

Page& Memory::add(uint64_t number) {
  if (2 * (regions_.size() + 1) > slots_.size()) {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    --hash_shift_;
    for (const Slot& s : old)
      if (s.key != 0) put(s.key, s.region);
  }
  Region& region = regions_.emplace_back();
  put(number / kRegionPages + 1, &region);
  return add_to(region, number);
}

Page& Memory::new_page() {
  if (!free_.empty()) {
    Page& page = *free_.back();
    free_.pop_back();
    return page;
  }
  if (slabs_.empty() || slabs_.back().size() == kSlabPages)
    slabs_.emplace_back().reserve(kSlabPages);
  return slabs_.back().emplace_back();
}

Page& Memory::add_to(Region& region, uint64_t number) {
  const size_t i = number % kRegionPages;
  const bool used = !free_.empty();
  Page& page = new_page();
  if (std::unique_ptr<uint8_t[]>& packed = region.packed[i]; packed != nullptr) {
    uint32_t size = 0;
    std::memcpy(&size, packed.get(), sizeof size);
    unpack(packed.get() + sizeof size, page);
    packed.reset();
    packed_bytes_ -= size;
    ++lately_unpacked_;
  } else if (used) {
    page.clear();
  }
  region.pages[i] = &page;
  unpacked_.push_back({&region, number});
  return page;
}

SectorState* Memory::find_sectors_of_page(uint64_t address) {
  Writes& w = find(address).writes;
  writes_.spread(w);
  const uint64_t number = address >> kPageShift;
  return region_of(number)->sectors[number % kRegionPages] = w.states();
}

void Memory::trim_now() {
  settle();
  // Who comes back again and again should have stayed.
  if (lately_packed_ >= 2 * most_unpacked_) {
    if (4 * lately_unpacked_ > lately_packed_) most_unpacked_ *= 2;
    lately_packed_ = lately_unpacked_ = 0;
  }
  while (unpacked_.size() > most_unpacked_) {
    const Unpacked oldest = unpacked_.front();
    unpacked_.pop_front();
    if (!pack(*oldest.region, oldest.number)) ++most_unpacked_;  // stays, and on no list
    ++lately_packed_;
  }
}

/// False: it cannot be.
bool Memory::pack(Region& region, uint64_t number) {
  const size_t at = number % kRegionPages;
  Page& page = *region.pages[at];
  if (page.bytes != nullptr) return false;
  PutColumns& out = columns_;
  out.clear();
  const bool written = !page.writes.none(), alike = written && blocks_alike(page.writes),
             halves = written && !alike && page.writes.shift() == 6;
  const uint8_t flags = static_cast<uint8_t>(
      (page.in_other_caches ? kInOtherCaches : 0) | (page.system ? kSystem : 0) |
      (page.read_only != nullptr ? kReadOnly : 0) | (written ? kWritten : 0) |
      (alike ? kAlike : 0) | (halves ? kHalves : 0));
  const auto& sharers = page.sharers;
  const auto several = [&](size_t i) { return short_form(sharers[i]) == 65 ? sharers[i] : 0; };
  out.add(1, [&](size_t) { return flags; });
  out.add(kBlocks, [&](size_t i) { return short_form(sharers[i]); });
  out.add(kBlocks, several);
  const unsigned different = different_in_block(flags);
  const size_t entries = page.writes.count() / kBlocks;
  const SectorState* const states = page.writes.states();
  for (unsigned s = 0; s < different; ++s)
    out.add(kBlocks, [&](size_t i) { return states[entries * i + s].version(); });
  for (unsigned s = 0; s < different; ++s)
    out.add(kBlocks, [&](size_t i) { return states[entries * i + s].sm() ^ kHostSm; });
  for (unsigned s = 0; s < different; ++s)
    out.add(kBlocks, [&](size_t i) { return page.writes.bytes()[entries * i + s]; });
  for (unsigned s = 0; s < different; ++s)
    out.add(kBlocks, [&](size_t i) { return ~states[entries * i + s].writer(); });
  writes_.end(page.writes);
  region.sectors[at] = nullptr;
  if (page.read_only != nullptr) {
    const auto use = [&](size_t i) -> const ReadOnlyUse& { return page.read_only[i]; };
    out.add(kBlocks, [&](size_t i) { return ~use(i).writer; });
    out.add(kBlocks, [&](size_t i) { return ~use(i).reader; });
    out.add(kBlocks, [&](size_t i) { return use(i).read.lo; });
    out.add(kBlocks, [&](size_t i) { return use(i).read.hi; });
    out.add(kBlocks, [&](size_t i) { return use(i).written.lo; });
    out.add(kBlocks, [&](size_t i) { return use(i).written.hi; });
    out.add(1, [&](size_t) { return page.read_only_of; });
    page.read_only.reset();
  }
  const auto bytes = out.bytes();
  // Its length comes first.
  const auto size = static_cast<uint32_t>(sizeof(uint32_t) + bytes.size());
  region.packed[at] = std::make_unique_for_overwrite<uint8_t[]>(size);
  std::memcpy(region.packed[at].get(), &size, sizeof size);
  std::copy(bytes.begin(), bytes.end(), region.packed[at].get() + sizeof size);
  packed_bytes_ += size;
  region.pages[at] = nullptr;
  free_.push_back(&page);
  return true;
}

void Memory::unpack(const uint8_t* bytes, Page& page) {
  TakeColumns in(bytes);
  const auto flags = static_cast<uint8_t>(in.take(1)[0]);
  page.in_other_caches = (flags & kInOtherCaches) != 0;
  page.system = (flags & kSystem) != 0;
  const auto each = [&](auto f) {
    const auto column = in.take(kBlocks);
    for (size_t i = 0; i < kBlocks; ++i) f(i, column[i]);
  };
  each([&](size_t i, uint64_t v) {
    page.sharers[i] = v == 0 || v == 65 ? 0 : uint64_t{1} << (v - 1);
  });
  each([&](size_t i, uint64_t v) { page.sharers[i] |= v; });
  if (const unsigned different = different_in_block(flags); different != 0) {
    writes_.begin(page.writes, different == 4 ? Writes::kSectorShift : writes_.line_shift());
    Writes& w = page.writes;
    // Each number is one of a block's, or all of them.
    const size_t entries = w.count() / kBlocks, alike = entries / different;
    std::vector<uint32_t> version(w.count()), sm(w.count());
    const auto each_entry = [&](auto f) {
      for (size_t s = 0; s < entries; s += alike)
        each([&](size_t i, uint64_t v) {
          for (size_t e = s; e < s + alike; ++e) f(entries * i + e, static_cast<uint32_t>(v));
        });
    };
    each_entry([&](size_t at, uint32_t v) { version[at] = v; });
    each_entry([&](size_t at, uint32_t v) { sm[at] = v; });
    each_entry([&](size_t at, uint32_t v) { w.bytes()[at] = v; });
    each_entry([&](size_t at, uint32_t v) {
      w.states()[at] = SectorState::of(~v, sm[at] ^ kHostSm, version[at]);
    });
  }
  page.read_only.reset();
  if ((flags & kReadOnly) == 0) return;
  page.read_only = std::make_unique<ReadOnlyUse[]>(kBlocks);
  ReadOnlyUse* const use = page.read_only.get();
  each([&](size_t i, uint64_t v) { use[i].writer = ~static_cast<uint32_t>(v); });
  each([&](size_t i, uint64_t v) { use[i].reader = ~static_cast<uint32_t>(v); });
  each([&](size_t i, uint64_t v) { use[i].read.lo = v; });
  each([&](size_t i, uint64_t v) { use[i].read.hi = v; });
  each([&](size_t i, uint64_t v) { use[i].written.lo = v; });
  each([&](size_t i, uint64_t v) { use[i].written.hi = v; });
  page.read_only_of = static_cast<uint32_t>(in.take(1)[0]);
}

size_t Memory::read_only_bytes() const {
  size_t pages = 0;
  for (const Unpacked& u : unpacked_)
    if (u.region->pages[u.number % kRegionPages]->read_only != nullptr) ++pages;
  return pages * kBlocks * sizeof(ReadOnlyUse);
}

}  // namespace lanewise::cache
