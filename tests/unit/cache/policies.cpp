// Each policy of the engine's sets against the same policy as a textbook has it: a list of lines,
// searched and reordered without stamps or words.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <random>

#include "runtime/cache/chase/method.hpp"

using namespace lanewise::cache;

namespace {

struct Entry {
  uint32_t line, way;
  unsigned count = 1;       ///< LFU: uses; bit PLRU: its bit
  unsigned prediction = 2;  ///< SRRIP
};

class Textbook {
 public:
  Textbook(std::string policy, uint32_t ways) : policy_(std::move(policy)), ways_(ways) {}

  bool load(uint32_t line) {
    const auto at = std::ranges::find(set_, line, &Entry::line);
    const bool hit = at != set_.end();
    Entry e{line, static_cast<uint32_t>(set_.size())};
    if (hit) {
      e = *at;
      ++e.count;
      e.prediction = 0;
    } else if (set_.size() == ways_) {
      const auto victim = victim_at();
      e.way = victim->way;
      set_.erase(victim);
    }
    // The list is in the order of use, or of arrival.
    if (hit && (policy_ == "lru" || policy_ == "mru")) set_.erase(at);
    if (!hit || policy_ == "lru" || policy_ == "mru")
      set_.push_back(e);
    else
      *at = e;
    if (policy_ == "bit_plru") set_bit(e.way);
    for (uint32_t low = 0, size = ways_; size > 1; size /= 2) {
      const bool right = e.way >= low + size / 2;
      if (policy_ == "tree_plru") left_next_[{low, size}] = right;
      low += right ? size / 2 : 0;
    }
    return hit;
  }

 private:
  using At = std::vector<Entry>::iterator;

  At of_way(uint32_t way) { return std::ranges::find(set_, way, &Entry::way); }
  template <class Less>
  At first_way(Less less) {
    At best = of_way(0);
    for (uint32_t way = 1; way < ways_; ++way)
      if (less(*of_way(way), *best)) best = of_way(way);
    return best;
  }
  At victim_at() {
    if (policy_ == "mru") return set_.end() - 1;
    if (policy_ == "lfu")
      return first_way([](const Entry& a, const Entry& b) { return a.count < b.count; });
    if (policy_ == "bit_plru")
      return first_way(
          [&](const Entry& a, const Entry& b) { return !bits_[a.way] && bits_[b.way]; });
    if (policy_ == "srrip") {
      const auto due = [](const Entry& a, const Entry& b) { return a.prediction > b.prediction; };
      while (first_way(due)->prediction < 3)
        for (Entry& e : set_) ++e.prediction;
      return first_way(due);
    }
    if (policy_ == "tree_plru") {
      uint32_t low = 0;
      for (uint32_t size = ways_; size > 1; size /= 2)
        low += left_next_[{low, size}] ? 0 : size / 2;
      return of_way(low);
    }
    return set_.begin();  // LRU and FIFO
  }
  void set_bit(uint32_t way) {
    bits_[way] = true;
    bool all = true;
    for (uint32_t w = 0; w < ways_; ++w) all = all && bits_[w];
    for (uint32_t w = 0; all && w < ways_; ++w) bits_[w] = w == way;
  }

  std::string policy_;
  uint32_t ways_;
  std::vector<Entry> set_;
  std::map<uint32_t, bool> bits_;
  /// By the ways under a node: the next victim is in its left half.
  std::map<std::pair<uint32_t, uint32_t>, bool> left_next_;
};

}  // namespace

TEST_CASE("policies: random loads of one set miss as the textbook's do") {
  std::mt19937 random(7);
  for (const char* name : {"lru", "fifo", "mru", "lfu", "tree_plru", "bit_plru", "srrip"})
    for (const uint32_t ways : {1U, 2U, 4U, 8U, 64U}) {
      CAPTURE(name);
      CAPTURE(ways);
      for (int n = 0; n < 20; ++n) {
        std::vector<uint32_t> loads(400);
        for (uint32_t& line : loads) line = random() % (ways + 1 + random() % (1 + ways / 2));
        Textbook set(name, ways);
        uint64_t misses = 0;
        for (const uint32_t line : loads) misses += set.load(line) ? 0 : 1;
        REQUIRE_EQ(policy_misses(*policy_named(name), ways, loads, 0, 1), misses);
      }
    }
}

TEST_CASE("policies: each file of the folder is one, by its name") {
  CHECK_EQ(policies().size(), 8);
  for (const Policy* p : policies()) CHECK_EQ(policy_named(p->name), p);
  CHECK_EQ(policy_named("plru"), nullptr);
}
