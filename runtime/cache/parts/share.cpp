#include "runtime/cache/parts/share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/cache/engine/sets/mask.hpp"
#include "runtime/support/error.hpp"

namespace lanewise::cache {
namespace {

uint32_t lines_of_a_block(const Geometry& l2) {
  return static_cast<uint32_t>(kBlockBytes / std::min<uint64_t>(l2.line, kBlockBytes));
}
/// The slice is hashed by itself, and sets lie inside slices; else all sets are hashed at once.
bool slices_apart(const Geometry& l2) {
  return l2.slices > 1 && (l2.set_hash != IndexHash::linear || l2.hash == IndexHash::ipoly);
}

/// The same on every machine: parts are made on several.
uint64_t next_random(uint64_t& state) {
  uint64_t z = state += 0x9e3779b97f4a7c15ULL;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ z >> 27) * 0x94d049bb133111ebULL;
  return z ^ z >> 31;
}

/// By unit: its rank in a random order. Neighbouring sets are often as busy as each other, and
/// strides use every other one.
std::vector<uint32_t> random_ranks(uint32_t units) {
  std::vector<uint32_t> ranks(units);
  std::iota(ranks.begin(), ranks.end(), 0U);
  uint64_t state = 22;
  for (uint32_t i = units; i > 1; --i)
    std::swap(ranks[i - 1], ranks[static_cast<size_t>(next_random(state) % i)]);
  return ranks;
}

}  // namespace

// The lines of a block differ in the lowest bits of their numbers alone, and every hash leaves or
// flips those: such lines go to neighbours among the sets, or where the slice is hashed apart, to
// the same set of neighbouring slices.
uint32_t l2_unit_of(const Geometry& l2, uint32_t set) {
  const uint32_t lines = lines_of_a_block(l2);
  return slices_apart(l2) ? set / l2.sets / lines * l2.sets + set % l2.sets : set / lines;
}
uint32_t l2_units(const Geometry& l2) {
  return l2.slices * l2.sets / lines_of_a_block(l2);
}

std::string crosses_sets(const Preset& p) {
  const Geometry& l2 = p.l2;
  if (l2.replacement->word == Policy::Word::of_cache)
    return fmt::format("l2.replacement {}: the next victim of any set hangs on all before",
                       l2.replacement->name);
  if (p.knobs.dirty_limit_percent != 0)
    return fmt::format("dirty_limit_percent {}: the dirty lines of all sets are counted together",
                       p.knobs.dirty_limit_percent);
  if (l2.infinite)
    return p.knobs.l2_written_back_at_kernel_end
               ? "l2_written_back_at_kernel_end with an infinite L2: the order of its lines hangs "
                 "on how the table grew"
               : "";
  const uint32_t lines = lines_of_a_block(l2);
  if ((slices_apart(l2) ? l2.slices : l2.slices * l2.sets) % lines != 0)
    return fmt::format(
        "l2.{}: no multiple of the {} lines of a 128-byte block, which lie in sets "
        "of different parts then",
        slices_apart(l2) ? "slices" : "sets", lines);
  return "";
}

/// keep(rank, units): the unit with this rank is kept.
template <class Keep>
Share Share::of(const Preset& preset, Keep keep) {
  Share s;
  s.grows_ = preset.l2.infinite;
  s.units_ = s.grows_ ? kBuckets : l2_units(preset.l2);
  const std::vector<uint32_t> ranks = random_ranks(s.units_);
  if (s.grows_) {
    s.kept_bucket_.resize(kBuckets);
    for (uint32_t unit = 0; unit < kBuckets; ++unit)
      s.kept_units_ += s.kept_bucket_[unit] = keep(ranks[unit], s.units_) ? 1 : 0;
    return s;
  }
  std::vector<uint32_t> number(s.units_, kNoSet);  // of units, among the kept ones
  for (uint32_t unit = 0; unit < s.units_; ++unit)
    if (keep(ranks[unit], s.units_)) number[unit] = s.kept_units_++;
  s.places_.assign(preset.l2.slices * preset.l2.sets, kNoSet);
  for (uint32_t set = 0; set < s.places_.size(); ++set) {
    const uint32_t unit = number[l2_unit_of(preset.l2, set)];
    if (unit == kNoSet) continue;
    s.places_[set] = s.kept_sets();
    s.sets_.push_back(set);
    s.unit_of_place_.push_back(unit);
  }
  return s;
}

Share Share::part(const Preset& preset, uint32_t index, uint32_t count) {
  if (count == 0 || index >= count)
    throw Error(ErrorKind::usage, fmt::format("part {} of {}: parts are numbered from 0 to one "
                                              "less than there are",
                                              index, count));
  if (const std::string why = crosses_sets(preset); !why.empty())
    throw Error(ErrorKind::usage,
                fmt::format("preset {} cannot be run in parts: {}", preset.name, why));
  const uint32_t units = preset.l2.infinite ? kBuckets : l2_units(preset.l2);
  if (count > units)
    throw Error(ErrorKind::usage, fmt::format("preset {} cannot be run in {} parts: its L2 can be "
                                              "divided into {}",
                                              preset.name, count, units));
  Share s = of(preset, [&](uint32_t rank, uint32_t) { return rank % count == index; });
  s.first_ = index == 0;
  return s;
}

Share Share::sample(const Preset& preset, uint32_t rate) {
  std::string why = crosses_sets(preset);
  if (preset.l2.infinite) why = "l2.infinite: it has no sets";
  if (!why.empty())
    throw Error(ErrorKind::usage, fmt::format("preset {} cannot be sampled: {}", preset.name, why));
  if (rate == 0 || l2_units(preset.l2) < 2)
    throw Error(ErrorKind::usage,
                fmt::format("preset {} cannot be sampled at 1/{}: that takes two of its {} sets",
                            preset.name, rate, l2_units(preset.l2)));
  Share s = of(preset, [&](uint32_t rank, uint32_t units) {
    return rank < std::max(2U, (units + rate - 1) / rate);
  });
  s.sampled_ = true;
  return s;
}

}  // namespace lanewise::cache
