// One cache of the literal model: lines, victims and counts, and the sets of addresses that it is
// asked about.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace oracle {

using Bytes = std::vector<uint64_t>;  ///< addresses, each once, in order

enum class Rank { first, normal, last };               ///< who goes first
enum class Hint { normal, first, last, unchanged };    ///< what an access asks for
enum class Way { fill, no_fill, cg, glc, drop };       ///< what a load does in its first cache
enum class First { l1, read_only, constant, scalar };  ///< the cache it comes to
enum class Does { preset, evict, write_back };         ///< what a store does there
enum class Kind { load, store, atomic, control, fence };

/// What an instruction means to the caches.
struct Meaning {
  Kind kind = Kind::load;
  bool local = false;
  First first = First::l1;
  Way way = Way::fill;
  Does does = Does::preset;
  Hint l1 = Hint::normal, l2 = Hint::normal;
  bool refetch_system = false, write_through = false, uncached = false, stream = false;
  bool acquires = false, last_use = false;
  unsigned prefetch = 0;  ///< bytes that come along into L2
  unsigned bytes = 4;     ///< a lane
  int sixteenths = -1;    ///< of a policy word: that share is l2, the rest is evict_first
  std::string control;    ///< of a control operation
};

struct Shape {
  bool present = false, infinite = false, ipoly = false, ipoly_sets = false;
  unsigned slices = 1, sets = 1, ways = 1, line = 128, sector = 32, shared_by = 1;
};

struct CacheLine {
  uint64_t address = 0;
  unsigned way = 0;
  Rank rank = Rank::normal;
  Bytes valid, dirty, stale;
  bool local = false, read_only = false;
  uint64_t writer = ~uint64_t{0};  ///< who wrote last
};

struct Counts {
  std::map<std::string, uint64_t> n;
  uint64_t& operator[](const std::string& name) { return n[name]; }
};

class Cache {
 public:
  Cache(const Shape& shape, unsigned percent, unsigned owner)
      : owner(owner),
        shape_(shape),
        limit_(shape.infinite ? ~uint64_t{0}
                              : uint64_t{shape.slices} * shape.sets * shape.ways * percent / 100) {}

  const Shape& shape() const { return shape_; }
  uint64_t line_of(uint64_t address) const { return address / shape_.line * shape_.line; }
  uint64_t set_of(uint64_t address) const {
    const uint64_t n = address / shape_.line;
    if (!shape_.ipoly && !shape_.ipoly_sets) return n % (uint64_t{shape_.slices} * shape_.sets);
    if (shape_.slices > 1) {
      const uint64_t slice =
          shape_.ipoly ? remainder(n, shape_.slices) % shape_.slices : n % shape_.slices;
      const uint64_t rest = n / shape_.slices;
      return slice * shape_.sets +
             (shape_.ipoly_sets ? remainder(rest, shape_.sets) : rest) % shape_.sets;
    }
    return remainder(n, shape_.sets) % shape_.sets;
  }
  CacheLine* find(uint64_t line) {
    for (CacheLine& x : sets_[set_of(line)])
      if (x.address == line) return &x;
    return nullptr;
  }
  /// Of a full set the next to go; else null.
  CacheLine* victim(uint64_t line) {
    auto& set = sets_[set_of(line)];
    if (shape_.infinite || set.size() < shape_.ways) return nullptr;
    return &*std::min_element(set.begin(), set.end(), [](const CacheLine& a, const CacheLine& b) {
      return a.rank < b.rank;
    });
  }
  void remove(const CacheLine* gone) {
    auto& set = sets_[set_of(gone->address)];
    for (auto it = set.begin(); it != set.end(); ++it)
      if (&*it == gone) {
        set.erase(it);
        return;
      }
  }
  /// A new line. One that asks for evict_unchanged leaves the order of the others as it is and is
  /// the next to go.
  CacheLine& add(uint64_t line, Hint hint) {
    auto& set = sets_[set_of(line)];
    CacheLine x;
    x.address = line;
    while (std::any_of(set.begin(), set.end(), [&](const CacheLine& o) { return o.way == x.way; }))
      ++x.way;
    CacheLine& added =
        hint == Hint::unchanged ? (set.push_front(x), set.front()) : (set.push_back(x), set.back());
    if (hint == Hint::first) rank(added, Rank::first);
    if (hint == Hint::last) rank(added, Rank::last);
    return added;
  }
  void use(CacheLine& x, Hint hint) {
    if (hint == Hint::unchanged) return;
    auto& set = sets_[set_of(x.address)];
    for (auto it = set.begin(); it != set.end(); ++it)
      if (&*it == &x) set.splice(set.end(), set, it);
    if (hint == Hint::first) rank(x, Rank::first);
    if (hint == Hint::last) rank(x, Rank::last);
  }
  /// No more lines than the share may be the last to go.
  void rank(CacheLine& x, Rank wanted) {
    if (x.rank == wanted) return;
    if (wanted == Rank::last) {
      uint64_t all = 0;
      for (const auto& [number, set] : sets_)
        for (const CacheLine& o : set) all += o.rank == Rank::last ? 1 : 0;
      if (all >= limit_) wanted = Rank::normal;
    }
    x.rank = wanted;
  }
  /// All lines, set by set and way by way.
  std::vector<CacheLine*> all() {
    std::vector<CacheLine*> lines;
    for (auto& [number, set] : sets_) {
      const size_t from = lines.size();
      for (CacheLine& x : set) lines.push_back(&x);
      std::sort(lines.begin() + static_cast<long>(from), lines.end(),
                [](const CacheLine* a, const CacheLine* b) { return a->way < b->way; });
    }
    return lines;
  }
  uint64_t sectors(const Bytes& bytes) const {
    uint64_t n = 0, last = ~uint64_t{0};
    for (const uint64_t b : bytes) n += std::exchange(last, b / shape_.sector) != b / shape_.sector;
    return n;
  }
  Bytes widen(const Bytes& bytes) const {
    Bytes all;
    uint64_t last = ~uint64_t{0};
    for (const uint64_t b : bytes) {
      if (std::exchange(last, b / shape_.sector) == b / shape_.sector) continue;
      for (unsigned i = 0; i < shape_.sector; ++i) all.push_back(last * shape_.sector + i);
    }
    return all;
  }
  std::map<uint64_t, Bytes> lines(const Bytes& bytes) const {
    std::map<uint64_t, Bytes> split;
    for (const uint64_t b : bytes) split[line_of(b)].push_back(b);
    return split;
  }

  unsigned owner;

 private:
  /// Of a polynomial over GF(2) by a primitive one, bit by bit.
  static uint64_t remainder(uint64_t n, unsigned slots) {
    static constexpr uint64_t kPrimitive[] = {1, 3, 7, 11, 19, 37, 67, 131, 285, 529, 1033};
    unsigned degree = 0;
    while ((1u << degree) < slots) ++degree;
    if ((1u << degree) != slots) degree = std::min(10u, degree + 3);
    for (int bit = 63; bit >= static_cast<int>(degree); --bit)
      if ((n >> bit & 1) != 0) n ^= kPrimitive[degree] << (bit - static_cast<int>(degree));
    return n;
  }

  Shape shape_;
  uint64_t limit_;
  std::map<uint64_t, std::list<CacheLine>> sets_;
};

inline Bytes minus(const Bytes& a, const Bytes& b) {
  Bytes out;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}
inline Bytes both(const Bytes& a, const Bytes& b) {
  Bytes out;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  return out;
}
inline void join(Bytes& a, const Bytes& b) {
  Bytes out;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(out));
  a.swap(out);
}
inline void take(Bytes& a, const Bytes& b) {
  if (!a.empty()) a = minus(a, b);
}
inline Bytes range(uint64_t from, uint64_t count) {
  Bytes all;
  for (uint64_t i = 0; i < count; ++i) all.push_back(from + i);
  return all;
}

}  // namespace oracle
