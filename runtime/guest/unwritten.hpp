// Global memory that nobody has written yet, for the check of uninitialised reads (--check init).
//
// What is not known to be unwritten counts as written, so that a launch without the check, which
// writes who knows where, costs one call and leads to no false alarm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <utility>
#include <vector>

namespace lanewise::guest {

class Unwritten {
 public:
  /// An allocation, at a multiple of 32, that starts without contents.
  void add(uint64_t address, uint64_t bytes);
  /// The allocation is there no more, or others may write to it unseen.
  void remove(uint64_t address) { unwritten_.erase(address); }
  void clear() { unwritten_.clear(); }
  /// Somebody wrote these bytes.
  void note(uint64_t address, uint64_t bytes);
  /// What nobody had written was copied to these bytes of an allocation.
  void lose(uint64_t address, uint64_t bytes, uint64_t allocation, uint64_t allocation_bytes);
  /// Has every one of these bytes been written?
  bool written(uint64_t address, uint64_t bytes) const;
  /// Of these bytes the first run of at least `least` that nobody has written: its address and
  /// bytes, 0 of them where there is none.
  std::pair<uint64_t, uint64_t> first_run(uint64_t address, uint64_t bytes, uint64_t least) const;

  /// The map of a launch that runs elsewhere: one bit for each byte from kArenaBase on, set where
  /// it was written; `map` comes zero-filled, and what lies behind its end is left out.
  void fill(std::span<std::byte> map) const;
  /// Takes over what such a launch wrote. `read` fetches bytes of the map from an offset in it on.
  void update(const std::function<void(uint64_t offset, std::span<std::byte>)>& read);

 private:
  struct Range {
    uint64_t bytes = 0;
    std::vector<std::byte> map;  ///< one bit a byte; empty: none of them is written
  };
  static std::vector<std::byte>& map_of(Range& range);
  std::map<uint64_t, Range>::const_iterator first_behind(uint64_t address) const;

  std::map<uint64_t, Range> unwritten_;  ///< by address
};

/// Where a device's map lies, for an arena of so many bytes: right behind it.
uint64_t written_map_offset(uint64_t arena);
/// One word more than the bits take: an access may look at two.
uint64_t written_map_bytes(uint64_t arena);

}  // namespace lanewise::guest
