#include "runtime/cache/chase/method.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include "runtime/cache/engine/sets/level.hpp"

namespace lanewise::cache {
namespace {

using Round = std::vector<uint64_t>;

constexpr uint64_t kLongestLine = 256;  ///< bytes; elements of lists are multiples of it apart
constexpr size_t kLongestList = size_t{1} << 19;  ///< elements
constexpr size_t kShortList = 4096;

Round strided(size_t count, uint64_t stride) {
  Round round(count);
  for (size_t i = 0; i < count; ++i) round[i] = i * stride;
  return round;
}

/// One cache, asked by way of one kind of load. Loads that it misses take `miss`, whatever lies
/// below.
class Chase {
 public:
  Chase(ChaseTarget& target, ChaseWay way, double hit, double miss) : target_(target) {
    out_.way = way;
    out_.hit = hit;
    out_.miss = miss;
    out_.found = true;
  }

  ChasedCache run(bool dense) {
    find_overflow(dense);
    if (!out_.evicts) return out_;
    find_core();
    if (!confirmed()) {
      out_.unsteady = true;
      out_.ways = 0;
      out_.notes.push_back("times are too unsteady to determine more");
      return out_;
    }
    find_fetch();
    find_line();
    find_policies();
    if (out_.line != 0) find_lines();
    return out_;
  }

 private:
  /// Share of the loads that miss.
  double missing(const Round& round) const {
    return std::max(0.0, (target_.time(out_.way, round) - out_.hit) / (out_.miss - out_.hit));
  }
  /// What noise may look like a miss.
  double floor() const { return 3 * target_.noise() * out_.hit / (out_.miss - out_.hit) + 1e-9; }
  bool fits(const Round& round) {
    out_.tried = std::max(out_.tried, round.back() + kLongestLine);
    return missing(round) <= floor();
  }

  /// The shortest list, of the strides tried, that does not fit: one set then has a line too many.
  void find_overflow(bool dense) {
    // Long strides find few sets, so short lists do; L1's must stay in L2, so they are dense.
    Round strides{kLongestLine};
    if (!dense) strides.insert(strides.begin(), 4096);
    for (const uint64_t stride : strides) {
      const size_t most = std::min<uint64_t>(stride == kLongestLine ? kLongestList : kShortList,
                                             target_.bytes() / stride);
      size_t over = 2;
      while (over <= most && fits(strided(over, stride))) over *= 2;
      if (over > most) continue;
      size_t under = over / 2;
      while (over - under > 1) {
        const size_t middle = (over + under) / 2;
        (fits(strided(middle, stride)) ? under : over) = middle;
      }
      core_ = strided(over, stride);
      out_.evicts = true;
      return;
    }
    out_.notes.push_back(
        "no list was too long for it, so neither size, ways, sets nor policy can be determined");
  }

  /// Of the list, the lines of the one set that has one too many: the last one, and those before
  /// that are needed for it not to fit.
  void find_core() {
    Round others(core_.begin(), core_.end() - 1), core{core_.back()};
    drop_groups(others, core.back());
    while (fits(core) && !others.empty()) {
      size_t under = 0, over = others.size();  // so many of the others: fits, does not fit
      while (over - under > 1) {
        const size_t middle = (over + under) / 2;
        Round round(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(middle));
        round.insert(round.end(), core.begin(), core.end());
        (fits(round) ? under : over) = middle;
      }
      core.push_back(others[over - 1]);
      others.resize(over - 1);
    }
    core_ = core;
    out_.ways = static_cast<uint32_t>(core.size() - 1);
  }

  /// Long lists first lose whole groups that the full set has no line in: fewer loads than looking
  /// for each line in all of the list.
  void drop_groups(Round& others, uint64_t last) {
    constexpr size_t kGroups = 16;
    bool dropped = true;
    while (dropped && others.size() > kShortList) {
      dropped = false;
      const size_t length = others.size() / kGroups;
      for (size_t end = others.size(); end > length; end -= std::min(end, length)) {
        const auto from = others.begin() + static_cast<std::ptrdiff_t>(end - length);
        Round round(others.begin(), from);
        round.insert(round.end(), from + static_cast<std::ptrdiff_t>(length), others.end());
        round.push_back(last);
        if (fits(round)) continue;
        round.pop_back();
        others = std::move(round);
        dropped = true;
      }
    }
  }

  /// Of noise, a core may come that is none: it must not fit, and must fit without any of its
  /// lines, each time.
  bool confirmed() const {
    if (target_.noise() == 0) return true;
    if (core_.size() < 2) return false;
    for (unsigned i = 0; i < 6; ++i) {
      Round less(core_);
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(i * less.size() / 6));
      if (missing(core_) <= floor() || missing(less) > floor()) return false;
    }
    return true;
  }

  /// Next to each load one `distance` further: misses of its own, unless the first one brought it.
  void find_fetch() {
    const auto doubled = [&](uint64_t distance) {
      Round round;
      for (const uint64_t a : core_) {
        round.push_back(a);
        round.push_back(a + distance);
      }
      return missing(round);
    };
    const double together = doubled(0);
    uint64_t distance = 32;
    while (distance < kLongestLine && doubled(distance) <= 1.25 * together) distance *= 2;
    if (doubled(distance) <= 1.25 * together)
      out_.notes.push_back("a miss brings 256 bytes or more");
    out_.fetch = static_cast<uint32_t>(distance);
  }

  /// A neighbour of a line of the core is in the same line if it can stand for it, and takes no
  /// space beside it.
  void find_line() {
    for (uint64_t distance = 32; distance <= 2 * kLongestLine; distance *= 2) {
      Round instead(core_), beside(core_.begin(), core_.end() - 1);
      instead.front() += distance;
      beside.push_back(core_.front() + distance);
      if (!fits(instead) && fits(beside)) continue;
      out_.line = static_cast<uint32_t>(distance);
      break;
    }
    if (out_.line == 0) out_.notes.push_back("lines are of more than 256 bytes");
  }

  /// Rounds over the lines of one full set and one more, in any order: how often does each policy
  /// miss?
  void find_policies() {
    // What hangs on all sets has no misses that could be distinguished from a round over one.
    for (const Policy* p : policies())
      if (p->word != Policy::Word::of_cache && (p->takes == nullptr || p->takes(out_.ways)))
        out_.policies.push_back(p);
    std::mt19937 random(1);
    for (unsigned pattern = 0; pattern < 8; ++pattern) {
      std::vector<uint32_t> lines;
      for (uint32_t i = 0; i < core_.size(); ++i) lines.insert(lines.end(), 1 + random() % 3, i);
      std::shuffle(lines.begin(), lines.end(), random);
      Round round;
      for (const uint32_t line : lines) round.push_back(core_[line]);
      if (round.size() > ChaseTarget::kShortRound) return;
      const double share = missing(round);
      if (target_.noise() != 0 && std::abs(missing(round) - share) > floor() + 0.02) {
        out_.unsteady = true;
        out_.policies.clear();
        out_.notes.push_back(
            "equal rounds miss differently: random replacement, or unsteady times");
        return;
      }
      std::erase_if(out_.policies, [&](const Policy* policy) {
        const double expected =
            static_cast<double>(policy_misses(*policy, out_.ways, lines, target_.warm_rounds(),
                                              target_.timed_rounds())) /
            static_cast<double>(round.size() * target_.timed_rounds());
        return std::abs(share - expected) > floor() + (target_.noise() != 0 ? 0.02 : 0);
      });
    }
    if (out_.policies.empty())
      out_.notes.push_back(
          "no policy that is known misses like this: random replacement, for instance");
  }

  /// A long list forth and back: going back, a set that prefers recent lines still has as many as
  /// it has ways, whatever the index function; so has the whole cache.
  void find_lines() {
    const bool recent = std::ranges::any_of(out_.policies, [](const Policy* p) {
      return p->victim == nullptr && p->note != Policy::Note::own;
    });
    if (!recent) return find_lines_by_fit();
    double last = -1;
    for (size_t count = 64; count <= kLongestList * 4 && count * out_.line <= target_.bytes();
         count *= 2) {
      Round round = strided(count, out_.line);
      round.insert(round.end(), round.rbegin(), round.rend());
      out_.tried = std::max(out_.tried, count * out_.line);
      const double held = static_cast<double>(count) * (1 - missing(round));
      if (std::abs(held - last) <= std::max(0.001, 4 * target_.noise()) * held &&
          held < 0.9 * static_cast<double>(count)) {
        settle(static_cast<uint64_t>(std::llround(held)));
        return;
      }
      last = held;
    }
    out_.notes.push_back("no list was long enough to determine the size");
  }
  /// Other policies forget recent lines: the longest stretch of memory that fits.
  void find_lines_by_fit() {
    size_t over = 2;
    while (over <= kLongestList && fits(strided(over, out_.line))) over *= 2;
    size_t under = over / 2;
    while (over - under > 1) {
      const size_t middle = (over + under) / 2;
      (fits(strided(middle, out_.line)) ? under : over) = middle;
    }
    settle(under);
    if (out_.modulo != true)
      out_.notes.push_back(
          "the size is that of the longest stretch of memory that fits; it may be larger where the "
          "index function is uneven");
  }
  void settle(uint64_t lines) {
    out_.sets = (lines + out_.ways / 2) / out_.ways;
    // Of a noisy time comes a number of sets nearby; a cache has whole ones.
    out_.lines = target_.noise() != 0 ? out_.sets * out_.ways : lines;
    if (out_.lines != out_.sets * out_.ways) {
      out_.notes.push_back("the lines are no multiple of the ways: sets differ in what they hold");
      out_.sets = 0;
      return;
    }
    // Lines this far apart share a set if it is the line's number modulo that of sets.
    const uint64_t far = out_.sets * out_.line;
    if ((out_.ways + 1) * far <= target_.bytes()) out_.modulo = !fits(strided(out_.ways + 1, far));
  }

  ChaseTarget& target_;
  ChasedCache out_;
  Round core_;
};

}  // namespace

uint64_t policy_misses(const Policy& policy, uint32_t ways, std::span<const uint32_t> round,
                       unsigned warm, unsigned timed) {
  Geometry g;
  g.ways = ways;
  g.replacement = &policy;
  Level set(g, 0, 100);
  uint64_t misses = 0;
  for (unsigned i = 0; i < warm + timed; ++i)
    for (const uint32_t line : round) {
      const uint64_t address = uint64_t{line} * g.line;
      if (const uint32_t index = set.find(address); index != kNoLine) {
        set.touch(index);
        continue;
      }
      set.place(set.victim(address), address, Priority::normal);
      if (i >= warm) ++misses;
    }
  return misses;
}

ChaseResult chase(ChaseTarget& target, const std::function<void(const std::string&)>& progress) {
  const auto note = [&](const char* what) {
    if (progress) progress(what);
  };
  ChaseResult r;
  const Round one{0};
  const double l2_hit = target.time(ChaseWay::l2, one);
  note("L1");
  for (const ChaseWay way : {ChaseWay::l1, ChaseWay::read_only}) {
    const double hit = target.time(way, one);
    if (hit > 0.8 * l2_hit) continue;
    r.l1 = Chase(target, way, hit, l2_hit).run(true);
    break;
  }
  note("L2");
  // What memory takes: lists get longer until their time does not rise any more.
  double miss = 0;
  size_t count = 256;
  for (double before = 0; count <= 4 * kLongestList && count * kLongestLine <= target.bytes();
       count *= 2) {
    const double now = target.time(ChaseWay::l2, strided(count, kLongestLine));
    r.l2.tried = count * kLongestLine;
    if (count >= kLongestList && now < 1.3 * l2_hit) break;  // larger than any chip's
    if (now > 1.3 * l2_hit && now < 1.02 * before) {
      miss = std::max(now, before);
      if (target.noise() != 0 || 2 * count * kLongestLine > target.bytes()) break;
      // Some policies keep a part of any list; it counts half as much in a list twice as long. A
      // list that filled some sets only is no such case: the next one stands still.
      const double next = target.time(ChaseWay::l2, strided(2 * count, kLongestLine));
      const bool stands_still = std::abs(next - now) < 1e-9 * next;
      miss = stands_still ? next : 2 * now - before;
      break;
    }
    before = now;
  }
  if (miss == 0) {
    r.l2.hit = l2_hit;
    r.l2.way = ChaseWay::l2;
    r.l2.found = true;
    r.l2.notes.push_back(
        "no list was too long for it, so neither size, ways, sets nor policy can be determined");
    return r;
  }
  r.l2 = Chase(target, ChaseWay::l2, l2_hit, miss).run(false);
  return r;
}

}  // namespace lanewise::cache
