// What is known of memory itself: per 32-byte sector how often it was written and by whom last
// (writes.hpp), and per 128-byte block which L1 caches may hold a copy. Pages appear when they are
// touched.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "runtime/cache/engine/memory/columns.hpp"
#include "runtime/cache/engine/memory/writes.hpp"

namespace lanewise::cache {

/// Of a block, since the kernel began: what was read through the read-only path, what was written,
/// and who did so last.
struct ReadOnlyUse {
  Mask read, written;
  uint32_t reader = ~uint32_t{0}, writer = ~uint32_t{0};
};

/// Of 64 KiB. One that lies untouched while many others come is packed into a few hundred bytes
/// (memory.cpp).
struct Page {
  /// Bit = SM modulo 64. A bit may outlive the line, never the other way round.
  std::array<uint64_t, kPageBytes / kBlockBytes> sharers{};
  Writes writes;                     ///< none in a page that is only read
  bool in_other_caches = false;      ///< constant, instruction or scalar
  bool system = false;               ///< part of a buffer in host memory
  std::unique_ptr<uint8_t[]> bytes;  ///< only with values
  /// Of each block; only where a rule asks. Of the kernel with the number `read_only_of`.
  std::unique_ptr<ReadOnlyUse[]> read_only;
  uint32_t read_only_of = 0;

  uint64_t& sharers_of(uint64_t address) { return sharers[address % kPageBytes / kBlockBytes]; }
  /// As it was when nobody had touched it, but for `writes`.
  void clear() {
    sharers.fill(0);
    in_other_caches = system = false;
    bytes.reset();
    read_only.reset();
    read_only_of = 0;
  }
};

class Memory {
 public:
  /// line: bytes of what is mostly written at once.
  explicit Memory(unsigned line) : slots_(256), hash_shift_(64 - 8), writes_(line) {}

  Page& page(uint64_t address) {
    settle();
    return find(address);
  }
  /// Writes (of block, mask, context) by a lone SM, of which nobody else can have a copy; at most
  /// kMostLater. They are made by the time of the next page(); until then the host may fetch what
  /// they change.
  template <class List>
  void write_later(const List& writes) {
    settle();
    Write* end = waiting_.data();
    for (const auto* w : writes) {
      SectorState* const four = sectors_of_page(w->block) + w->block % kPageBytes / 32;
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
  WritesPool& writes() { return writes_; }
  /// Of the kernel with this number.
  ReadOnlyUse& read_only_use(uint64_t address, uint32_t kernel) {
    Page& p = page(address);
    if (p.read_only == nullptr || p.read_only_of != kernel) [[unlikely]] {
      p.read_only = std::make_unique<ReadOnlyUse[]>(kPageBytes / kBlockBytes);
      p.read_only_of = kernel;
    }
    return p.read_only[address % kPageBytes / kBlockBytes];
  }
  /// Pages of these addresses that were ever asked for: f(first address, page).
  template <class F>
  void each_page(uint64_t begin, uint64_t end, F f) {
    settle();
    for (const Slot& s : slots_)
      if (s.key != 0)
        for (size_t i = 0; i < kRegionPages; ++i) {
          const uint64_t number = (s.key - 1) * kRegionPages + i, first = number << kPageShift;
          if (first >= end || first + kPageBytes <= begin || !s.region->known(i)) continue;
          f(first, find(first));
          trim();
        }
  }
  template <class F>
  void each_page(F f) {
    each_page(0, ~uint64_t{0}, f);
  }
  /// Packs pages where there are many. References to pages are void then.
  void trim() {
    if (unpacked_.size() > most_unpacked_) [[unlikely]]
      trim_now();
  }
  size_t memory_bytes() const {
    return slabs_.size() * kSlabPages * sizeof(Page) + slots_.capacity() * sizeof(Slot) +
           regions_.size() * sizeof(Region) + packed_bytes_ + read_only_bytes() +
           writes_.memory_bytes();
  }

 private:
  /// Pages that lie together: what is looked up for each write stays in the host's nearest caches.
  static constexpr size_t kRegionPages = 64;
  struct Region {
    std::array<Page*, kRegionPages> pages{};
    std::array<std::unique_ptr<uint8_t[]>, kRegionPages> packed;
    /// Of pages that were written later: entries of their sectors, which stay until it is packed.
    std::array<SectorState*, kRegionPages> sectors{};
    bool known(size_t i) const { return pages[i] != nullptr || packed[i] != nullptr; }
  };
  struct Slot {
    uint64_t key = 0;  ///< number of a region + 1; 0 = free
    Region* region = nullptr;
  };

  Page& find(uint64_t address) {
    const uint64_t number = address >> kPageShift;
    Region* const region = region_of(number);
    if (region == nullptr) return add(number);
    Page* const page = region->pages[number % kRegionPages];
    return page != nullptr ? *page : add_to(*region, number);
  }
  Region* region_of(uint64_t number) const {
    const uint64_t key = number / kRegionPages + 1;
    size_t at = hash(key);
    for (; slots_[at].key != key; at = (at + 1) & (slots_.size() - 1))
      if (slots_[at].key == 0) return nullptr;
    return slots_[at].region;
  }
  SectorState* sectors_of_page(uint64_t address) {
    const uint64_t number = address >> kPageShift, key = number / kRegionPages + 1;
    const Slot& slot = slots_[hash(key)];
    SectorState* const known =
        slot.key == key ? slot.region->sectors[number % kRegionPages] : nullptr;
    return known != nullptr ? known : find_sectors_of_page(address);
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
  Page& add(uint64_t number);
  Page& add_to(Region& region, uint64_t number);
  Page& new_page();
  SectorState* find_sectors_of_page(uint64_t address);
  void trim_now();
  bool pack(Region& region, uint64_t number);
  void unpack(const uint8_t* bytes, Page& page);
  size_t read_only_bytes() const;

  std::vector<Slot> slots_;  ///< a power of two of them
  unsigned hash_shift_;
  std::deque<Region> regions_;
  static constexpr size_t kSlabPages = HugePages<Page>::kBytes / sizeof(Page);
  std::vector<std::vector<Page, HugePages<Page>>> slabs_;  ///< never move their pages
  std::vector<Page*> free_;
  struct Unpacked {
    Region* region;
    uint64_t number;
  };
  std::deque<Unpacked> unpacked_;  ///< since when they are, the first for longest
  size_t most_unpacked_ = 128;
  uint32_t lately_packed_ = 0, lately_unpacked_ = 0;
  size_t packed_bytes_ = 0;
  PutColumns columns_;
  WritesPool writes_;
  struct Write {
    SectorState* four;
    uint32_t context;
    Sectors mask;
  };
  std::array<Write, kMostLater> waiting_;
  size_t waits_ = 0;
};

}  // namespace lanewise::cache
