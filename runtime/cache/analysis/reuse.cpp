#include "runtime/cache/analysis/reuse.hpp"

#include <algorithm>
#include <bit>

namespace lanewise::cache {
namespace {

constexpr uint32_t kFirstTimes = 1024;
constexpr uint64_t kSingle = 64;  ///< distances below are counted one by one
constexpr unsigned kPerOctave = 16;

}  // namespace

ReuseStack::ReuseStack() : tree_(kFirstTimes + 1) {}

void ReuseStack::add(uint32_t time, int32_t change) {
  for (uint32_t at = time + 1; at < tree_.size(); at += at & (~at + 1))
    tree_[at] += static_cast<uint32_t>(change);
}

/// Lines whose latest use was at this time or before.
uint32_t ReuseStack::sum_to(uint32_t time) const {
  uint32_t sum = 0;
  for (uint32_t at = time + 1; at != 0; at &= at - 1) sum += tree_[at];
  return sum;
}

void ReuseStack::renumber() {
  std::vector<Entry*> by_time;
  by_time.reserve(latest_.size());
  for (auto& [line, entry] : latest_) by_time.push_back(&entry);
  std::sort(by_time.begin(), by_time.end(),
            [](const Entry* a, const Entry* b) { return a->time < b->time; });
  tree_.assign(std::max<size_t>(kFirstTimes, 4 * by_time.size()) + 1, 0);
  now_ = 0;
  for (Entry* e : by_time) e->time = now_++;
  // A node holds the sum of the (at & -at) times that end with it.
  for (uint32_t at = 1; at < tree_.size(); ++at) {
    tree_[at] += at <= now_ ? 1 : 0;
    if (const uint32_t up = at + (at & (~at + 1)); up < tree_.size()) tree_[up] += tree_[at];
  }
}

ReuseStack::Use ReuseStack::use(uint64_t line) {
  if (now_ + 1 >= tree_.size()) renumber();
  const auto [it, first] = latest_.try_emplace(line);
  Use use{kFirstUse, it->second.evicted};
  if (!first) {
    use.distance = latest_.size() - sum_to(it->second.time);
    add(it->second.time, -1);
  }
  it->second = {now_, false};
  add(now_++, 1);
  return use;
}

void ReuseStack::evicted(uint64_t line) {
  if (const auto it = latest_.find(line); it != latest_.end()) it->second.evicted = true;
}

size_t ReuseStack::memory_bytes() const {
  // A node of the table: the pair, the next node, and its bucket.
  return tree_.capacity() * sizeof(uint32_t) +
         latest_.size() * (sizeof(std::pair<const uint64_t, Entry>) + sizeof(void*)) +
         latest_.bucket_count() * sizeof(void*);
}

size_t ReuseCurve::step_of(uint64_t distance) {
  if (distance < kSingle) return static_cast<size_t>(distance);
  const unsigned octave = static_cast<unsigned>(std::bit_width(distance)) - 1;
  const uint64_t part = (distance >> (octave - 4)) & (kPerOctave - 1);
  return static_cast<size_t>(kSingle + uint64_t{octave - 6} * kPerOctave + part);
}

/// The smallest distance of a step.
uint64_t ReuseCurve::edge(size_t step) {
  if (step < kSingle) return step;
  const size_t octave = (step - kSingle) / kPerOctave + 6, part = (step - kSingle) % kPerOctave;
  return (uint64_t{kPerOctave} + part) << (octave - 4);
}

uint64_t ReuseCurve::misses(uint64_t lines) const {
  uint64_t n = first_uses_;
  for (size_t step = steps_.size(); step-- > 0 && edge(step) >= lines;) n += steps_[step];
  return n;
}

std::vector<ReuseCurve::Point> ReuseCurve::points() const {
  std::vector<Point> all{{0, uses_}};
  uint64_t left = uses_;
  for (size_t step = 0; step < steps_.size(); ++step) {
    if (steps_[step] == 0) continue;
    // A cache that is as large as the next step's smallest distance holds all of this step.
    left -= steps_[step];
    all.push_back({edge(step + 1), left});
  }
  return all;
}

}  // namespace lanewise::cache
