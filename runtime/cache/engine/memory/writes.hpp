// Who has written the sectors of a page: one entry a line while lines are written as wholes, as
// nearly all are, and one a sector from the first write on that makes a difference between them.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "runtime/cache/engine/sets/huge_pages.hpp"
#include "runtime/cache/engine/sets/mask.hpp"
#include "runtime/cache/engine/sets/vector.hpp"

namespace lanewise::cache {

inline constexpr unsigned kPageShift = 16;
inline constexpr uint64_t kPageBytes = uint64_t{1} << kPageShift;

inline constexpr uint32_t kHostSm = 1023;  ///< "SM" of copies and stores by the host

/// In one word, so that a write is one update. All zero: never written.
class SectorState {
 public:
  uint32_t version() const { return static_cast<uint32_t>(bits_) & kVersions; }
  uint32_t sm() const { return (static_cast<uint32_t>(bits_ >> 22) & 1023) ^ kHostSm; }
  static SectorState of(uint32_t writer, uint32_t sm, uint32_t version) {
    SectorState s;
    s.bits_ = uint64_t{~writer} << 32 | uint64_t{sm ^ kHostSm} << 22 | version;
    return s;
  }
  uint32_t writer() const { return ~static_cast<uint32_t>(bits_ >> 32); }  ///< context
  uint64_t bits() const { return bits_; }  ///< equal where all of it is
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
  /// Of a block's four sectors, all ones or 0: those whose writer is this context or a later one,
  /// and those that this SM was the last to write (or nobody, which `since` shows).
  static void last_written(const SectorState* four, uint32_t first, uint32_t sm, Sectors& since,
                           Sectors& by) {
    Sectors two[2];
    std::memcpy(two, four, sizeof two);
    const Sectors low = __builtin_shufflevector(two[0], two[1], 0, 2, 4, 6);
    const Sectors not_writer = __builtin_shufflevector(two[0], two[1], 1, 3, 5, 7);
    since = Sectors(not_writer <= ~first) & Sectors(not_writer != 0);
    by = Sectors((low >> 22) == (sm ^ kHostSm));
  }

 private:
  static constexpr uint32_t kVersions = (1u << 22) - 1;  ///< shown to people, so they may wrap
  uint64_t bits_ = 0;
};

/// Entries of one page. WritesPool gives them.
class Writes {
 public:
  static constexpr unsigned kSectorShift = 5;
  bool none() const { return states_ == nullptr; }
  /// An entry is for 2^shift() bytes: a sector or a line.
  unsigned shift() const { return shift_; }
  bool by_sector() const { return shift_ == kSectorShift; }
  size_t count() const { return kPageBytes >> shift_; }
  /// by_sector(): of a block's four.
  SectorState* sectors(uint64_t block) { return states_ + block % kPageBytes / 32; }
  uint32_t* bytes_of_sectors(uint64_t block) {
    return reinterpret_cast<uint32_t*>(states_ + kPageBytes / 32) + block % kPageBytes / 32;
  }
  SectorState* states() { return states_; }
  const SectorState* states() const { return states_; }
  /// Bytes of each of the entry's sectors that its last writer has written since nobody else did.
  uint32_t* bytes() { return reinterpret_cast<uint32_t*>(states_ + count()); }
  const uint32_t* bytes() const { return reinterpret_cast<const uint32_t*>(states_ + count()); }
  SectorState& state_at(uint64_t address) { return states_[place(address)]; }
  uint32_t& bytes_at(uint64_t address) { return bytes()[place(address)]; }
  // The same of any page.
  SectorState state(uint64_t address) const {
    return none() ? SectorState{} : states_[place(address)];
  }
  uint32_t written(uint64_t address) const { return none() ? 0 : bytes()[place(address)]; }
  /// A block's bytes are of one entry that is for several sectors, and the same of each of them.
  bool takes_as_one(const Mask& m) const {
    const auto alike = [](uint64_t two) { return static_cast<uint32_t>(two) == two >> 32; };
    if (shift_ == 7) return m.lo == m.hi && alike(m.lo);
    return shift_ == 6 && (m.lo == 0 || m.hi == 0) && alike(m.lo | m.hi);
  }
  /// Inlined where it is called: as a function without effects it would be left out.
  [[gnu::always_inline]] void fetch(uint64_t address) const {
    if (none()) return;
    __builtin_prefetch(states_ + place(address), 1);
    __builtin_prefetch(bytes() + place(address), 1);
  }

 private:
  friend class WritesPool;
  size_t place(uint64_t address) const { return address % kPageBytes >> shift_; }

  SectorState* states_ = nullptr;
  unsigned shift_ = 0;  ///< none
};

class WritesPool {
 public:
  /// line: bytes of what is mostly written at once, 64 or 128.
  explicit WritesPool(unsigned line) : line_shift_(line == 64 ? 6 : 7) {}
  unsigned line_shift() const { return line_shift_; }
  /// All zero: nobody has written.
  void begin(Writes& w) { begin(w, line_shift_); }
  /// The same, for whoever fills them in.
  void begin(Writes& w, unsigned shift);
  /// From here on each sector has an entry.
  void spread(Writes& w);
  void end(Writes& w);
  /// f(state, bytes) of a block's sectors, whose bits are given. May be called once for several.
  template <class F>
  void change(Writes& w, uint64_t block, unsigned sectors, F f) {
    if (w.none()) begin(w);
    const auto apart = [](unsigned two) { return two == 1 || two == 2; };
    if ((w.shift() == 7 && sectors != 15 && sectors != 0) ||
        (w.shift() == 6 && (apart(sectors & 3) || apart(sectors >> 2))))
      spread(w);
    for (unsigned s = 0; s < 4; s += 1U << (w.shift() - Writes::kSectorShift))
      if ((sectors >> s & 1) != 0) f(w.state_at(block + 32 * s), w.bytes_at(block + 32 * s));
  }
  size_t memory_bytes() const { return slabs_.size() * kSlabBytes; }

 private:
  static constexpr size_t kSlabBytes = HugePages<uint64_t>::kBytes;
  static size_t words(unsigned shift) { return (kPageBytes >> shift) * 12 / sizeof(uint64_t); }
  SectorState* take(unsigned shift);

  /// Of entries of one size.
  struct Kind {
    std::vector<SectorState*> free;
    SectorState *next = nullptr, *end = nullptr;  ///< of the latest slab
  };
  unsigned line_shift_;
  std::array<Kind, 3> kinds_;  ///< by shift, from that of sectors on
  std::vector<std::vector<SectorState, HugePages<SectorState>>> slabs_;
};

}  // namespace lanewise::cache
