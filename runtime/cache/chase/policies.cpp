#include "runtime/cache/chase/policies.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace lanewise::cache {
namespace {

constexpr uint32_t kNobody = ~uint32_t{0};

/// The lines of a set by way, with what the policy remembers of each.
class Set {
 public:
  Set(Replacement policy, uint32_t ways)
      : policy_(policy), line_(ways, kNobody), note_(ways, 0), tree_(ways, 0) {}

  /// True: it was there.
  bool load(uint32_t line) {
    ++time_;
    const auto at = std::ranges::find(line_, line);
    if (at != line_.end()) {
      used(static_cast<uint32_t>(at - line_.begin()));
      return true;
    }
    const auto free = std::ranges::find(line_, kNobody);
    const auto way = static_cast<uint32_t>((free != line_.end() ? free - line_.begin() : victim()));
    line_[way] = line;
    filled(way);
    return false;
  }

 private:
  uint32_t ways() const { return static_cast<uint32_t>(line_.size()); }
  void used(uint32_t way) {
    switch (policy_) {
      case Replacement::lru:
      case Replacement::mru:
        note_[way] = time_;
        break;
      case Replacement::lfu:
        ++note_[way];
        break;
      case Replacement::srrip:
        note_[way] = 0;
        break;
      case Replacement::bit_plru:
        note_[way] = 1;
        if (std::ranges::count(note_, 0U) == 0) {
          std::ranges::fill(note_, 0U);
          note_[way] = 1;
        }
        break;
      case Replacement::tree_plru:
        point_away(way);
        break;
      default:
        break;
    }
  }
  void filled(uint32_t way) {
    if (policy_ == Replacement::lru || policy_ == Replacement::mru || policy_ == Replacement::fifo)
      note_[way] = time_;
    else if (policy_ == Replacement::lfu)
      note_[way] = 1;
    else if (policy_ == Replacement::srrip)
      note_[way] = 2;  // of a 2-bit prediction; 3: to be replaced
    else
      used(way);
  }
  std::ptrdiff_t victim() {
    switch (policy_) {
      case Replacement::mru:
        return std::ranges::max_element(note_) - note_.begin();
      case Replacement::srrip:
        while (std::ranges::find(note_, 3U) == note_.end())
          for (uint64_t& n : note_) ++n;
        return std::ranges::find(note_, 3U) - note_.begin();
      case Replacement::tree_plru: {
        uint32_t node = 1;
        while (node < ways()) node = 2 * node + tree_[node];
        return node - ways();
      }
      default:  // the oldest, the rarest, the one without a bit
        return std::ranges::min_element(note_) - note_.begin();
    }
  }
  /// Each node on the way to the line sends the next victim to its other side.
  void point_away(uint32_t way) {
    for (uint32_t node = way + ways(); node > 1; node /= 2) tree_[node / 2] = (node & 1) ^ 1;
  }

  Replacement policy_;
  std::vector<uint32_t> line_;
  std::vector<uint64_t> note_;
  std::vector<uint32_t> tree_;
  uint64_t time_ = 0;
};

}  // namespace

uint64_t policy_misses(Replacement policy, uint32_t ways, std::span<const uint32_t> round,
                       unsigned warm, unsigned timed) {
  if (policy == Replacement::tree_plru && !std::has_single_bit(ways)) return 0;
  Set set(policy, ways);
  uint64_t misses = 0;
  for (unsigned i = 0; i < warm + timed; ++i)
    for (const uint32_t line : round)
      if (!set.load(line) && i >= warm) ++misses;
  return misses;
}

}  // namespace lanewise::cache
