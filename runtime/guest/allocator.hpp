// Deterministic first-fit allocation in the arena: the same calls give the same addresses
// everywhere. What was freed is not given out again at once, so that an access through a pointer to
// it is seen, and is not one to whatever was allocated next.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "runtime/guest/engine.hpp"
#include "runtime/layout/addresses.hpp"

namespace lanewise::guest {

class Allocator {
 public:
  /// Returns an address that is a multiple of `align` (at least kAllocAlign). Neighbouring
  /// allocations never touch: at least one kAllocAlign gap lies between them, so that --memcheck
  /// alloc sees an access one byte past the end.
  uint64_t allocate(uint64_t size, std::string name, bool read_only = false,
                    uint64_t align = kAllocAlign);
  /// A place for a launch's parameters: behind all that allocate() ever gave, and behind `least`
  /// bytes of arena, so that no address that a guest may have kept leads there. Read only.
  uint64_t allocate_parameters(uint64_t size, std::string name, uint64_t least = 0);
  /// An address for memory that lies elsewhere (layout.hpp), as aligned as `low_bits`, the low bits
  /// of its address on the device, say.
  uint64_t allocate_imported(uint64_t size, std::string name, bool read_only, uint64_t low_bits);
  /// The same at a given address; false where that is taken, or below kImportedBase.
  bool place_imported(uint64_t address, uint64_t size, const std::string& name, bool read_only);
  bool has_imported() const { return !live_.empty() && live_.back().address >= kImportedBase; }
  /// Addresses without memory: nothing there can be accessed but what is mapped.
  uint64_t reserve(uint64_t size, const std::string& name, uint64_t align);
  /// A part of what reserve() gave can be accessed from now on, or no longer. Parts that touch are
  /// one allocation. False where the part lies in no reservation, or is in this state already.
  bool set_mapped(uint64_t address, uint64_t size, bool mapped);
  /// Throws Error(usage) when nothing was allocated at this address. The memory is held back until
  /// 16 MiB more, or 1,024 allocations, were freed; an allocation above 16 MiB is not.
  void free(uint64_t address);
  /// Memory is short: what is held back can be had from now on. False when nothing was.
  bool give_back_held();
  void free_parameters(uint64_t address);
  /// The latest freed allocations that nobody has got the whole memory of since, oldest first.
  const std::deque<Allocation>& freed() const { return freed_; }
  /// Takes back the last allocation, whose memory could not be had: the marks are what they were.
  struct Marks {
    uint64_t high_water = 0;  ///< bytes of arena needed to hold everything allocated so far
    uint64_t end = 0;         ///< the same without parameters
  };
  const Marks& marks() const { return marks_; }
  void undo(uint64_t address, const Marks& before);
  /// Bytes of arena needed to hold everything allocated so far (high-water mark).
  uint64_t high_water() const { return marks_.high_water; }
  /// Bytes of arena that hold all that allocate() ever gave: parameters lie behind them.
  uint64_t end() const { return marks_.end; }
  const std::vector<Allocation>& allocations() const { return live_; }  ///< sorted by address
  /// Another number whenever an allocation, parameters apart, came, went or changed.
  uint64_t changes() const { return changes_; }
  /// What begins at this address is out of the guest's reach from now on, or in it again.
  void set_reachable(uint64_t address, bool reachable);
  /// Those of allocations() that the guest reaches, and those that it does not.
  const std::vector<Allocation>& reachable() const { return closed_.empty() ? live_ : open(); }
  std::vector<Allocation> closed() const;

 private:
  Allocation take(uint64_t address);
  uint64_t first_fit(uint64_t size, uint64_t align) const;
  void hold_back(const Allocation& freed);
  const Allocation* reservation_of(uint64_t address, uint64_t size) const;
  const std::vector<Allocation>& open() const;

  std::vector<Allocation> live_;
  std::vector<Allocation> reserved_;  ///< sorted by address; their mapped parts are in `live_`
  std::set<uint64_t> closed_;         ///< addresses of what nobody but the host reaches
  mutable std::vector<Allocation> open_;
  std::deque<Allocation> freed_;
  std::map<uint64_t, uint64_t> held_;  ///< bytes by address
  std::deque<uint64_t> held_order_;    ///< addresses, the first that was freed in front
  uint64_t held_bytes_ = 0;
  Marks marks_;
  uint64_t changes_ = 0;
};

/// The allocation that holds or lies nearest to an address, and the distance in bytes
/// (0 inside, positive beyond its end, negative before its start).
struct Nearest {
  const Allocation* allocation;
  int64_t distance;
};
std::optional<Nearest> nearest_allocation(std::span<const Allocation> sorted, uint64_t address);

/// The latest freed allocation that held the address; null = none did.
const Allocation* freed_at(const std::deque<Allocation>& freed, uint64_t address);

}  // namespace lanewise::guest
