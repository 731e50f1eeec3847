#include "runtime/cache/level.hpp"

#include <algorithm>

#include "runtime/cache/index_hash.hpp"

namespace lanewise::cache {

Level::Level(const Geometry& g, uint32_t dirty_limit_percent, uint32_t persisting_percent)
    : geometry_(g),
      line_bytes_(g.line),
      line_shift_(static_cast<unsigned>(std::countr_zero(g.line))),
      hash_(g.hash),
      replacement_(g.replacement) {
  blocks_per_set_ = (g.ways + 15) / 16;
  last_block_mask_ = (1u << (g.ways - 16 * (blocks_per_set_ - 1))) - 1;
  resize(g.slices * g.sets);
  const uint64_t lines = uint64_t{total_sets_} * g.ways;
  dirty_limit_ = static_cast<uint32_t>(lines * dirty_limit_percent / 100);
  persisting_limit_ =
      g.infinite ? ~uint32_t{0} : static_cast<uint32_t>(lines * persisting_percent / 100);
  if (hash_ == IndexHash::ipoly) slice_table_ = ipoly_table(g.slices > 1 ? g.slices : g.sets);
}

void Level::resize(uint32_t sets) {
  total_sets_ = sets;
  set_mask_ = std::has_single_bit(sets) ? sets - 1 : 0;
  const size_t blocks = size_t{sets} * blocks_per_set_;
  ways_.assign(blocks, Ways{});
  lines_.assign(blocks * 16, Line{});
  histories_.assign(blocks * 16, History{});
  trees_.assign(replacement_ == Replacement::tree_plru ? sets : 0, 0);
  for (Ways& w : ways_) std::fill(std::begin(w.tag), std::end(w.tag), ~uint32_t{0});
  // Ways beyond the geometry never lose: they do not exist.
  for (uint32_t s = 0; s < sets; ++s) {
    Ways& last = ways_[size_t{s} * blocks_per_set_ + blocks_per_set_ - 1];
    for (unsigned w = 0; w < 16; ++w)
      if ((last_block_mask_ >> w & 1) == 0) last.stamp[w] = 0x7fff'ffff;
  }
}

uint32_t Level::hashed_set(uint64_t n) const {
  const uint32_t slices = geometry_.slices, sets = total_sets_ / slices;
  switch (hash_) {
    case IndexHash::linear:
      return static_cast<uint32_t>(n % total_sets_);
    case IndexHash::fold:
      return static_cast<uint32_t>((n ^ n >> 10 ^ n >> 20 ^ n >> 30) % total_sets_);
    case IndexHash::fermi:
      return fermi_set(n << line_shift_) % total_sets_;
    case IndexHash::ipoly:
      break;
  }
  const uint32_t h = ipoly_hash(slice_table_, n);
  if (slices == 1) return h % sets;
  return (h % slices) * sets + static_cast<uint32_t>(n / slices % sets);
}

namespace {

uint32_t lowest_stamp(const uint32_t* stamp, uint32_t best) {
#if defined(__SSE2__)
  // Stamps stay below 2^31, so the signed compare that SSE2 has is right.
  const auto* at = reinterpret_cast<const __m128i*>(stamp);
  const auto lower = [](__m128i a, __m128i b) {
    const __m128i take_b = _mm_cmpgt_epi32(a, b);
    return _mm_or_si128(_mm_and_si128(take_b, b), _mm_andnot_si128(take_b, a));
  };
  __m128i m = lower(lower(_mm_load_si128(at), _mm_load_si128(at + 1)),
                    lower(_mm_load_si128(at + 2), _mm_load_si128(at + 3)));
  m = lower(m, _mm_shuffle_epi32(m, 0x4e));
  m = lower(m, _mm_shuffle_epi32(m, 0xb1));
  return std::min(best, static_cast<uint32_t>(_mm_cvtsi128_si32(m)));
#else
  for (unsigned w = 0; w < 16; ++w) best = std::min(best, stamp[w]);
  return best;
#endif
}

}  // namespace

uint32_t Level::oldest(uint32_t set) const {
  const uint32_t first = set * blocks_per_set_;
  uint32_t best = 0x7fff'ffff;
  for (uint32_t b = 0; b < blocks_per_set_; ++b) best = lowest_stamp(ways_[first + b].stamp, best);
  for (uint32_t b = 0;; ++b)
    if (const uint32_t at = match(ways_[first + b].stamp, best) & way_mask(b); at != 0)
      return (first + b) * 16 + static_cast<uint32_t>(std::countr_zero(at));
}

uint32_t Level::victim(uint64_t address) {
  uint32_t set = set_of(address);
  uint32_t index = choose(set);
  while (geometry_.infinite && !lines_[index].empty()) {
    grow();
    index = choose(set_of(address));
  }
  return index;
}

uint32_t Level::choose(uint32_t set) {
  const uint32_t index = oldest(set);
  const Priority lowest = priority(index);
  if (lowest == Priority::empty) return index;
  if (dirty_limit_ != 0 && dirty_ < dirty_limit_ && lines_[index].dirty.any())
    if (const uint32_t clean = choose_clean(set, lowest); clean != kNoLine) return clean;
  if (replacement_ == Replacement::lru || replacement_ == Replacement::fifo ||
      replacement_ == Replacement::lfu)
    return index;
  return choose_by_policy(set, static_cast<uint32_t>(lowest));
}

uint32_t Level::choose_clean(uint32_t set, Priority p) const {
  uint32_t best = kNoLine;
  const uint32_t first = set * blocks_per_set_ * 16;
  for (uint32_t i = first; i < first + geometry_.ways; ++i)
    if (priority(i) == p && lines_[i].dirty.none() && (best == kNoLine || stamp(i) < stamp(best)))
      best = i;
  return best;
}

uint32_t Level::choose_by_policy(uint32_t set, uint32_t lowest) {
  const uint32_t first = set * blocks_per_set_ * 16, end = first + geometry_.ways;
  const auto candidate = [&](uint32_t i) { return stamp(i) >> kTimeBits == lowest; };
  if (replacement_ == Replacement::tree_plru) {
    const uint32_t i = tree_victim(set);
    if (candidate(i)) return i;
  }
  if (replacement_ == Replacement::random) {
    uint32_t count = 0;
    for (uint32_t i = first; i < end; ++i) count += candidate(i) ? 1 : 0;
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    uint32_t pick = static_cast<uint32_t>((random_ >> 32) % count);
    for (uint32_t i = first; i < end; ++i)
      if (candidate(i) && pick-- == 0) return i;
  }
  uint32_t best = kNoLine;
  for (uint32_t i = first; i < end; ++i) {
    if (!candidate(i)) continue;
    const bool better =
        best == kNoLine ||
        (replacement_ == Replacement::mru ? stamp(i) > stamp(best) : stamp(i) < stamp(best));
    if (better) best = i;
  }
  if (replacement_ == Replacement::srrip) {
    // All lines of the class age until the oldest is due.
    const uint32_t age = stamp(best) & kTimeMask;
    for (uint32_t i = first; i < end; ++i)
      if (candidate(i)) stamp(i) -= age;
  }
  return best;
}

uint32_t Level::tree_victim(uint32_t set) const {
  uint32_t node = 1;
  while (node < geometry_.ways) node = 2 * node + static_cast<uint32_t>(trees_[set] >> node & 1);
  return set * blocks_per_set_ * 16 + (node - geometry_.ways);
}

void Level::touch_tree(uint32_t index) {
  const uint32_t stride = blocks_per_set_ * 16;
  uint64_t& tree = trees_[index / stride];
  for (uint32_t node = index % stride + geometry_.ways; node > 1; node /= 2) {
    const uint64_t bit = uint64_t{1} << (node / 2);
    tree = (node & 1) != 0 ? tree & ~bit : tree | bit;  // points away from the line
  }
}

void Level::touch_other(uint32_t index) {
  switch (replacement_) {
    case Replacement::lfu:
      if ((stamp(index) & kTimeMask) != kTimeMask) ++stamp(index);
      break;
    case Replacement::srrip:
      set_time(index, 3);
      break;
    case Replacement::tree_plru:
      touch_tree(index);
      break;
    case Replacement::bit_plru: {
      set_time(index, 1);
      const uint32_t stride = blocks_per_set_ * 16, first = index / stride * stride;
      bool all = true;
      for (uint32_t i = first; i < first + geometry_.ways; ++i)
        all = all && (stamp(i) & kTimeMask) == 1;
      for (uint32_t i = first; all && i < first + geometry_.ways; ++i)
        if (i != index) set_time(i, 0);
      break;
    }
    default:  // fifo and random keep the time of the fill
      break;
  }
}

Line& Level::place(uint32_t index, uint64_t address, Priority p, bool least_recent) {
  uint32_t time = 0;
  switch (replacement_) {
    case Replacement::lfu:
    case Replacement::srrip:
      time = 1;
      break;
    case Replacement::tree_plru:
    case Replacement::bit_plru:
      break;
    default:
      time = least_recent ? 0 : tick();
  }
  ways_[index >> 4].tag[index & 15] = tag_of(address);
  stamp(index) = static_cast<uint32_t>(Priority::normal) << kTimeBits | time;
  lines_[index] = Line{};
  lines_[index].address = address;
  if (p != Priority::normal) set_priority(index, p);
  if (!least_recent &&
      (replacement_ == Replacement::tree_plru || replacement_ == Replacement::bit_plru))
    touch_other(index);
  return lines_[index];
}

void Level::set_priority(uint32_t index, Priority p) {
  const Priority old = priority(index);
  if (old == p) return;
  if (p == Priority::last && persisting_ >= persisting_limit_) p = Priority::normal;
  if (old == Priority::last) --persisting_;
  if (p == Priority::last) ++persisting_;
  stamp(index) = static_cast<uint32_t>(p) << kTimeBits | (stamp(index) & kTimeMask);
}

void Level::remove(uint32_t index) {
  if (priority(index) == Priority::last) --persisting_;
  if (lines_[index].dirty.any()) --dirty_;
  ways_[index >> 4].tag[index & 15] = ~uint32_t{0};
  stamp(index) = 0;
  lines_[index] = Line{};
}

void Level::compress_times() {
  // Keeps the order inside each set, which is all that a victim depends on.
  const uint32_t stride = blocks_per_set_ * 16;
  std::vector<uint32_t> order;
  for (uint32_t set = 0; set < total_sets_; ++set) {
    order.clear();
    for (uint32_t i = set * stride; i < set * stride + geometry_.ways; ++i)
      if (!lines_[i].empty()) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
      return (stamp(a) & kTimeMask) < (stamp(b) & kTimeMask);
    });
    for (uint32_t rank = 0; rank < order.size(); ++rank) set_time(order[rank], rank + 1);
  }
  clock_ = stride + 1;
}

void Level::grow() {
  const std::vector<Line> lines = std::move(lines_);
  const std::vector<History> histories = std::move(histories_);
  const std::vector<Ways> ways = std::move(ways_);
  const std::vector<uint8_t> data = std::move(data_);
  const uint32_t sets = total_sets_ * 2;
  geometry_.sets *= 2;
  resize(sets);
  if (data_stride_ != 0) data_.assign(lines_.size() * data_stride_, 0);
  for (uint32_t i = 0; i < lines.size(); ++i) {
    if (lines[i].empty()) continue;
    // A growing set splits in two, so there is always room.
    const uint32_t to = oldest(set_of(lines[i].address));
    ways_[to >> 4].tag[to & 15] = tag_of(lines[i].address);
    stamp(to) = ways[i >> 4].stamp[i & 15];
    lines_[to] = lines[i];
    histories_[to] = histories[i];
    if (data_stride_ != 0)
      std::copy_n(data.data() + i * data_stride_, data_stride_, data_.data() + to * data_stride_);
  }
}

void Level::keep_values() {
  data_stride_ = std::max<uint64_t>(kBlockBytes, line_bytes_);
  data_.assign(lines_.size() * data_stride_, 0);
}

size_t Level::memory_bytes() const {
  return ways_.capacity() * sizeof(Ways) + lines_.capacity() * sizeof(Line) +
         histories_.capacity() * sizeof(History) + trees_.capacity() * 8 + data_.capacity();
}

}  // namespace lanewise::cache
