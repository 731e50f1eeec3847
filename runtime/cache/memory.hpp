// What is known of memory itself: per 32-byte sector how often it was written and by whom last, and
// per 128-byte block which L1 caches may hold a copy. Pages appear when they are touched.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/cache/mask.hpp"

namespace lanewise::cache {

inline constexpr unsigned kPageShift = 16;
inline constexpr uint64_t kPageBytes = uint64_t{1} << kPageShift;

inline constexpr uint32_t kHostSm = 1023;  ///< "SM" of copies and stores by the host

struct SectorState {
  uint32_t version : 22 = 0;  ///< writes so far; shown to people, so it may wrap
  uint32_t sm : 10 = kHostSm;
  uint32_t writer = ~uint32_t{0};  ///< context
};

struct Page {
  /// Bit = SM modulo 64. A bit may outlive the line, never the other way round.
  std::array<uint64_t, kPageBytes / kBlockBytes> sharers{};
  std::array<SectorState, kPageBytes / 32> sectors{};
  bool in_other_caches = false;      ///< constant, instruction or scalar
  bool system = false;               ///< part of a buffer in host memory
  std::unique_ptr<uint8_t[]> bytes;  ///< only with values

  uint64_t& sharers_of(uint64_t address) { return sharers[address % kPageBytes / kBlockBytes]; }
  SectorState& sector(uint64_t address) { return sectors[address % kPageBytes / 32]; }
};

class Memory {
 public:
  Memory() : slots_(1024) {}

  Page& page(uint64_t address) {
    const uint64_t key = (address >> kPageShift) + 1;
    size_t at = hash(key);
    while (slots_[at].key != key) {
      if (slots_[at].key == 0) return add(key);
      at = (at + 1) & (slots_.size() - 1);
    }
    return *slots_[at].page;
  }
  /// The sharers and the sectors of a block, when its page exists.
  void prefetch(uint64_t address) const {
    const uint64_t key = (address >> kPageShift) + 1;
    const Slot& slot = slots_[hash(key)];
    if (slot.key != key) return;
    __builtin_prefetch(&slot.page->sharers_of(address), 1);
    __builtin_prefetch(&slot.page->sector(address & ~(kBlockBytes - 1)), 1);
  }
  template <class F>
  void each_page(F f) {
    for (const Slot& s : slots_)
      if (s.key != 0) f((s.key - 1) << kPageShift, *s.page);
  }
  size_t memory_bytes() const {
    return pages_.size() * sizeof(Page) + slots_.capacity() * sizeof(Slot);
  }

 private:
  struct Slot {
    uint64_t key = 0;  ///< page number + 1; 0 = free
    Page* page = nullptr;
  };
  size_t hash(uint64_t key) const {
    return static_cast<size_t>(key * 0x9e3779b97f4a7c15ULL >> 20) & (slots_.size() - 1);
  }
  void put(uint64_t key, Page* page) {
    size_t at = hash(key);
    while (slots_[at].key != 0) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = {key, page};
  }
  Page& add(uint64_t key) {
    if (2 * (pages_.size() + 1) > slots_.size()) {
      std::vector<Slot> old(slots_.size() * 2);
      old.swap(slots_);
      for (const Slot& s : old)
        if (s.key != 0) put(s.key, s.page);
    }
    pages_.push_back(std::make_unique<Page>());
    put(key, pages_.back().get());
    return *pages_.back();
  }

  std::vector<Slot> slots_;
  std::vector<std::unique_ptr<Page>> pages_;
};

}  // namespace lanewise::cache
