// What is known of memory itself: per 32-byte sector how often it was written and by whom last, and
// per 128-byte block which L1 caches may hold a copy. Pages appear when they are touched.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/cache/engine/huge_pages.hpp"
#include "runtime/cache/engine/mask.hpp"
#include "runtime/cache/engine/vector.hpp"

namespace lanewise::cache {

inline constexpr unsigned kPageShift = 16;
inline constexpr uint64_t kPageBytes = uint64_t{1} << kPageShift;

inline constexpr uint32_t kHostSm = 1023;  ///< "SM" of copies and stores by the host

/// In one word, so that a write is one update. All zero: never written.
class SectorState {
 public:
  uint32_t version() const { return static_cast<uint32_t>(bits_) & kVersions; }
  uint32_t sm() const { return (static_cast<uint32_t>(bits_ >> 22) & 1023) ^ kHostSm; }
  uint32_t writer() const { return ~static_cast<uint32_t>(bits_ >> 32); }  ///< context
  void written(uint32_t context, uint32_t sm) {
    bits_ = uint64_t{~context} << 32 | uint64_t{sm ^ kHostSm} << 22 |
            ((static_cast<uint32_t>(bits_) + 1) & kVersions);
  }
  /// Of a block's four sectors, those with a byte in the mask. Without branches.
  static void written(SectorState* four, Sectors mask, uint32_t context, uint32_t sm) {
    using Four = int64_t __attribute__((vector_size(32)));
    SectorState fresh;
    fresh.written(context, sm);
    Four state;
    std::memcpy(&state, four, sizeof state);
    const Four after = ((state + 1) & int64_t{kVersions}) |
                       static_cast<int64_t>(fresh.bits_ & ~uint64_t{kVersions});
    const Four which = __builtin_convertvector(mask != 0, Four);
    state = (after & which) | (state & ~which);
    std::memcpy(static_cast<void*>(four), &state, sizeof state);
  }

 private:
  static constexpr uint32_t kVersions = (1u << 22) - 1;  ///< shown to people, so they may wrap
  uint64_t bits_ = 0;
};

struct Page {
  /// Bit = SM modulo 64. A bit may outlive the line, never the other way round.
  std::array<uint64_t, kPageBytes / kBlockBytes> sharers{};
  std::array<SectorState, kPageBytes / 32> sectors{};
  /// Bytes of the sector that its last writer has written since nobody else did.
  std::array<uint32_t, kPageBytes / 32> written{};
  bool in_other_caches = false;      ///< constant, instruction or scalar
  bool system = false;               ///< part of a buffer in host memory
  std::unique_ptr<uint8_t[]> bytes;  ///< only with values

  uint64_t& sharers_of(uint64_t address) { return sharers[address % kPageBytes / kBlockBytes]; }
  SectorState& sector(uint64_t address) { return sectors[address % kPageBytes / 32]; }
  uint32_t& written_bytes(uint64_t address) { return written[address % kPageBytes / 32]; }
};

class Memory {
 public:
  Memory() : slots_(256), hash_shift_(64 - 8) {}

  Page& page(uint64_t address) {
    settle();
    return find(address);
  }
  /// Writes (of block, mask, context) by a lone SM, of which nobody else can have a copy; at most
  /// kMostLater. They are made by the time of the next page(); until then the host may fetch what
  /// they change.
  template <class Writes>
  void write_later(const Writes& writes) {
    settle();
    Write* end = waiting_.data();
    for (const auto* w : writes) {
      SectorState* const four = &find(w->block).sector(w->block);
      __builtin_prefetch(four, 1);
      *end++ = {four, w->context, sectors_of(w->mask)};
    }
    waits_ = static_cast<size_t>(end - waiting_.data());
  }
  static constexpr size_t kMostLater = 512;
  void settle() {
    for (const Write *w = waiting_.data(), *const end = w + waits_; w != end; ++w)
      SectorState::written(w->four, w->mask, w->context, 0);
    waits_ = 0;
  }
  template <class F>
  void each_page(F f) {
    settle();
    for (const Slot& s : slots_)
      if (s.key != 0)
        for (size_t i = 0; i < kRegionPages; ++i)
          if (s.region->pages[i] != nullptr)
            f(((s.key - 1) * kRegionPages + i) << kPageShift, *s.region->pages[i]);
  }
  size_t memory_bytes() const {
    return slabs_.size() * kSlabPages * sizeof(Page) + slots_.capacity() * sizeof(Slot) +
           regions_.size() * sizeof(Region);
  }

 private:
  /// Pages that lie together: what is looked up for each write stays in the host's nearest caches.
  static constexpr size_t kRegionPages = 64;
  struct Region {
    std::array<Page*, kRegionPages> pages{};
  };
  struct Slot {
    uint64_t key = 0;  ///< number of a region + 1; 0 = free
    Region* region = nullptr;
  };

  Page& find(uint64_t address) {
    const uint64_t number = address >> kPageShift, key = number / kRegionPages + 1;
    size_t at = hash(key);
    while (slots_[at].key != key) {
      if (slots_[at].key == 0) return add(number);
      at = (at + 1) & (slots_.size() - 1);
    }
    Page* const page = slots_[at].region->pages[number % kRegionPages];
    return page != nullptr ? *page : add_to(*slots_[at].region, number);
  }
  size_t hash(uint64_t key) const {
    // The top bits of a product with the golden ratio: neighbouring regions hardly ever collide.
    return static_cast<size_t>(key * 0x9e3779b97f4a7c15ULL >> hash_shift_);
  }
  void put(uint64_t key, Region* region) {
    size_t at = hash(key);
    while (slots_[at].key != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {key, region};
  }
  [[gnu::noinline]] Page& add(uint64_t number) {
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
  [[gnu::noinline]] Page& add_to(Region& region, uint64_t number) {
    if (slabs_.empty() || slabs_.back().size() == kSlabPages)
      slabs_.emplace_back().reserve(kSlabPages);
    Page& page = slabs_.back().emplace_back();
    region.pages[number % kRegionPages] = &page;
    return page;
  }

  std::vector<Slot> slots_;  ///< a power of two of them
  unsigned hash_shift_;
  std::deque<Region> regions_;
  static constexpr size_t kSlabPages = HugePages<Page>::kBytes / sizeof(Page);
  std::vector<std::vector<Page, HugePages<Page>>> slabs_;  ///< never move their pages
  struct Write {
    SectorState* four;
    uint32_t context;
    Sectors mask;
  };
  std::array<Write, kMostLater> waiting_;
  size_t waits_ = 0;
};

}  // namespace lanewise::cache
