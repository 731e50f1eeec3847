// Which of L2's sets an engine keeps: all of them, one of several parts (--shard), or a random
// sample (--sample). The caches above L2 are whole in any case.
//
// What is divided are units: the sets that the lines of a 128-byte block go to, so that a block is
// in one part as a whole. With lines of 128 bytes a unit is a set.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/cache/presets/preset.hpp"

namespace lanewise::cache {

inline constexpr uint32_t kNoSet = ~uint32_t{0};

class Share {
 public:
  Share() = default;  ///< all of L2
  /// Part `index` of `count`; all parts together are L2. Both throw Error(usage) for a preset whose
  /// L2 has state that crosses sets, and name the knob.
  static Share part(const Preset& preset, uint32_t index, uint32_t count);
  /// One unit in `rate`, at least two, chosen at random with a fixed seed and none twice.
  static Share sample(const Preset& preset, uint32_t rate);

  bool whole() const { return units_ == 0; }
  bool sampled() const { return sampled_; }
  /// Answers for what no block is named, so that one part alone does.
  bool answers_for_the_rest() const { return sampled_ || first_; }

  // Of an L2 with sets:
  /// By set: its place among those that are kept, which have the same order; or kNoSet.
  const std::vector<uint32_t>& places() const { return places_; }
  uint32_t kept_sets() const { return static_cast<uint32_t>(sets_.size()); }
  uint32_t set_at(uint32_t place) const { return sets_[place]; }
  /// Among the units that are kept.
  uint32_t unit_at(uint32_t place) const { return unit_of_place_[place]; }
  uint32_t units() const { return units_; }
  uint32_t kept_units() const { return kept_units_; }
  // Of one that grows and has none: units are buckets of blocks.
  bool grows() const { return grows_; }
  bool keeps_bucket_of(uint64_t block) const { return kept_bucket_[bucket_of(block)] != 0; }

 private:
  static constexpr uint32_t kBuckets = 4096;
  static uint32_t bucket_of(uint64_t block) {
    return static_cast<uint32_t>((block >> 7) * 0x9e3779b97f4a7c15ULL >> 52);
  }
  template <class Keep>
  static Share of(const Preset& preset, Keep keep);

  bool sampled_ = false, first_ = true, grows_ = false;
  uint32_t units_ = 0, kept_units_ = 0;
  std::vector<uint32_t> places_, sets_, unit_of_place_;
  std::vector<uint8_t> kept_bucket_;
};

/// The units of an L2 with sets, and the unit that a set belongs to.
uint32_t l2_units(const Geometry& l2);
uint32_t l2_unit_of(const Geometry& l2, uint32_t set);

/// Why L2 cannot be divided by sets: the knob and what it does; empty where it can.
std::string crosses_sets(const Preset& preset);

}  // namespace lanewise::cache
