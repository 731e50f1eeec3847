// Part of each_host.hpp: loads and stores. The lanes' addresses are held together against one range
// in which all is right; where they do not fit, another range is looked for, and at last each lane
// is served by itself.
#pragma once

#include "runtime/reference/lanes/compute.hpp"

namespace lanewise::reference::LANEWISE_LANES {
namespace {

template <typename E>
struct Element {
  using Register = typename WordOf<sizeof(E) == 8>::type;
  LANEWISE_INLINE static Register load(const std::byte* from) {
    E e;
    __builtin_memcpy(&e, from, sizeof(E));
    return widen(e);
  }
  LANEWISE_INLINE static Register widen(E e) { return static_cast<Register>(e); }
  LANEWISE_INLINE static void store(std::byte* to, Register value) {
    const auto e = static_cast<E>(value);
    __builtin_memcpy(to, &e, sizeof(E));
  }
};

/// Lanes whose accesses are looked at together: rows of tiles have so many mostly.
constexpr size_t kRun = 16;

/// Of the active lanes' accesses, from the range's begin on. Addresses of 32 bits are computed so.
template <typename A>
struct Offsets {
  A of[kMaxWave];
  /// All lanes are active, and of each run `of` has the first alone: the others have their elements
  /// one behind the other, or all the same.
  bool in_runs = false;
  bool same[kMaxWave / kRun];  ///< the latter
};

/// Where the range lies, for addresses of that width.
template <typename A>
struct Fit {
  A base, limit, offset, keep, aligned;
  bool possible;

  LANEWISE_INLINE Fit(const Range& r, const Code& c)
      : base(static_cast<A>(r.base)),
        offset(static_cast<A>(c.offset)),
        keep(static_cast<A>(c.keep)),
        aligned(static_cast<A>(c.aligned)),
        possible(r.data != nullptr && r.base <= kOnes) {
    // What lies below the base must not wrap into the range.
    limit = static_cast<A>(r.limit < kOnes - r.base ? r.limit : kOnes - r.base);
  }
  LANEWISE_INLINE A address(A operand) const { return (operand + offset) & keep; }
  static constexpr A kOnes = static_cast<A>(~A{0});
};

/// `apart` is 0 where the lanes' elements lie one behind the other, `differs` where they are one.
template <typename E, typename A>
LANEWISE_INLINE void compare_run(const Fit<A>& fit, const A* operands, A& apart, A& differs) {
  const A start = operands[0], first = fit.address(start);
  const auto compare = [&](A delta, size_t i) __attribute__((always_inline)) {
    apart |= delta ^ static_cast<A>(i * sizeof(E));
    differs |= delta;
  };
  if (fit.keep == Fit<A>::kOnes) {
    LANEWISE_INDEPENDENT_FEW
    for (size_t i = 0; i < kRun; ++i) compare(operands[i] - start, i);
  } else {
    LANEWISE_INDEPENDENT_FEW
    for (size_t i = 0; i < kRun; ++i) compare(fit.address(operands[i]) - first, i);
  }
}

/// All lanes are active. False: their accesses make no runs, or do not fit.
template <typename E, typename A>
LANEWISE_INLINE bool runs_fit(const Wave& w, const Fit<A>& fit, const A* operands,
                              Offsets<A>& out) {
  A bad = 0;
  for (size_t run = 0; run < w.stride; run += kRun) {
    A apart = 0, differs = 0;
    compare_run<E>(fit, operands + run, apart, differs);
    const bool same = differs == 0;
    if (apart != 0 && !same) return false;
    const A first = fit.address(operands[run]), from = first - fit.base;
    const A to = from + (same ? A{0} : static_cast<A>((kRun - 1) * sizeof(E)));
    bad |= (from > to || to > fit.limit ? A{1} : A{0}) |
           ((first | (same ? A{0} : static_cast<A>(sizeof(E)))) & fit.aligned);
    out.of[run] = from;
    out.same[run / kRun] = same;
  }
  return out.in_runs = bad == 0;
}

/// Do all active lanes' accesses lie in the range? `runs`: those of whole runs may be given as
/// such.
template <typename E, typename A>
LANEWISE_INLINE bool all_fit(const Wave& w, const Code& c, const A* operands, bool runs,
                             Offsets<A>& out) {
  const Range& r = w.ranges[c.access];
  const Fit<A> fit(r, c);
  if (!fit.possible) return false;
  if (runs && r.step == 0 && w.mask == w.all && runs_fit<E>(w, fit, operands, out)) return true;
  A bad = 0;
  const auto look = [&](size_t i) __attribute__((always_inline)) {
    const A address = fit.address(operands[i]);
    out.of[i] = address - fit.base;
    return (out.of[i] > fit.limit ? Fit<A>::kOnes : A{0}) | (address & fit.aligned);
  };
  if (w.few) {
    for (uint64_t left = w.mask; left != 0; left &= left - 1)
      bad |= look(static_cast<size_t>(__builtin_ctzll(left)));
    return bad == 0;
  }
  for (size_t part = 0; part < w.stride; part += kChunk) {
    const auto active = static_cast<A>(static_cast<uint32_t>(w.mask >> part));
    LANEWISE_INDEPENDENT
    for (size_t i = 0; i < kChunk; ++i)
      bad |= look(part + i) & ((active & kLaneBits<A>.bit[i]) != 0 ? Fit<A>::kOnes : A{0});
  }
  return bad == 0;
}

template <typename E, typename A>
LANEWISE_INLINE bool found(Wave& w, const Code* c, bool runs, Offsets<A>& out) {
  const A* operands = w.at<A>(c->s0);
  if (all_fit<E>(w, *c, operands, runs, out)) return true;
  return find_range(w, c) && all_fit<E>(w, *c, operands, runs, out);
}

/// Lane by lane between memory and the registers of one element.
template <typename A, typename Visit>
LANEWISE_INLINE void for_each_place(const Wave& w, const Range& r, const Offsets<A>& offsets,
                                    Visit visit) {
  if (w.mask == w.all && r.step == 0) {
    std::byte* data = r.data;
    for (size_t i = 0; i < w.stride; ++i) visit(i, data + offsets.of[i]);
    return;
  }
  std::byte* data = r.data + w.first * r.step;
  for (uint64_t left = w.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(__builtin_ctzll(left));
    visit(i, data + i * r.step + offsets.of[i]);
  }
}

/// Of the only active lane. Null: the access needs a closer look.
template <typename A>
LANEWISE_INLINE std::byte* place_of_one(Wave& w, const Code* c) {
  const uint64_t address = c->address(w.at<A>(c->s0)[w.lane]);
  const Range& r = w.ranges[c->access];
  if (!r.holds(*c, address) && !(find_range(w, c) && r.holds(*c, address))) return nullptr;
  return r.data + (w.first + w.lane) * r.step + (address - r.base);
}

template <typename E, typename A>
struct Load {
  using Place = Element<E>;
  using Register = typename Place::Register;

  static const Code* wide(Wave& w, const Code* c) {
    Offsets<A> offsets;
    if (!found<E>(w, c, c->results == 1, offsets)) return access_lanes(w, c);
    const Range& r = w.ranges[c->access];
    if (offsets.in_runs) {
      for (size_t run = 0; run < w.stride; run += kRun) {
        const std::byte* data = r.data + offsets.of[run];
        auto* d = w.at<Register>(c->d0) + run;
        if (offsets.same[run / kRun]) {
          const Register value = Place::load(data);
          LANEWISE_INDEPENDENT_FEW
          for (size_t i = 0; i < kRun; ++i) d[i] = value;
        } else {
          // Where the next group reads, mostly; the host does not guess that of so many rows.
          __builtin_prefetch(data + w.stride * sizeof(E));
          LANEWISE_INDEPENDENT_FEW
          for (size_t i = 0; i < kRun; ++i) d[i] = Place::load(data + i * sizeof(E));
        }
      }
      return c + 1;
    }
    for (uint32_t n = 0; n < c->results; ++n) {
      auto* d = w.at<Register>(offset_of(c->dst[n]));
      for_each_place(
          w, r, offsets, [&](size_t i, std::byte * at) __attribute__((always_inline)) {
            d[i] = Place::load(at + n * sizeof(E));
          });
    }
    return c + 1;
  }
  static const Code* one(Wave& w, const Code* c) {
    const std::byte* at = place_of_one<A>(w, c);
    if (at == nullptr) return access_lanes(w, c);
    for (uint32_t n = 0; n < c->results; ++n)
      w.at<Register>(offset_of(c->dst[n]))[w.lane] = Place::load(at + n * sizeof(E));
    return c + 1;
  }
  /// From a constant address, which all lanes share.
  static const Code* shared(Wave& w, const Code* c) {
    const uint64_t address = c->address(w.at<A>(c->s0)[0]);
    const Range& r = w.ranges[c->access];
    if (!r.holds(*c, address) && !(find_range(w, c) && r.holds(*c, address)))
      return access_lanes(w, c);
    return r.step != 0 ? wide(w, c) : spread(w, c, r.data + (address - r.base));
  }

 private:
  /// All active lanes load what lies there.
  LANEWISE_INLINE static const Code* spread(Wave& w, const Code* c, const std::byte* at) {
    for (uint32_t n = 0; n < c->results; ++n) {
      const Register value = Place::load(at + n * sizeof(E));
      each(
          w, w.at<Register>(offset_of(c->dst[n])), [&](size_t) __attribute__((always_inline)) {
            return value;
          });
    }
    return c + 1;
  }
};

template <typename E, typename A>
struct Store {
  using Place = Element<E>;
  using Register = typename Place::Register;

  static const Code* wide(Wave& w, const Code* c) {
    Offsets<A> offsets;
    const uint32_t count = c->sources - 1U;
    const bool one_element = count == 1 && c->src[1] != ir::kNone;
    if (!found<E>(w, c, one_element, offsets)) return access_lanes(w, c);
    const Range& r = w.ranges[c->access];
    const auto* s = w.at<Register>(c->s1);
    if (offsets.in_runs) {
      for (size_t run = 0; run < w.stride; run += kRun) {
        std::byte* data = r.data + offsets.of[run];
        if (offsets.same[run / kRun]) {
          Place::store(data, s[run + kRun - 1]);
          continue;
        }
        LANEWISE_INDEPENDENT_FEW
        for (size_t i = 0; i < kRun; ++i) Place::store(data + i * sizeof(E), s[run + i]);
      }
      return c + 1;
    }
    if (one_element) {
      for_each_place(
          w, r, offsets, [&](size_t i, std::byte * at) __attribute__((always_inline)) {
            Place::store(at, s[i]);
          });
      return c + 1;
    }
    // Lanes that overlap: the later one wins, with all of its elements.
    for_each_place(
        w, r, offsets, [&](size_t i, std::byte * at) __attribute__((always_inline)) {
          put(w, *c, i, at);
        });
    return c + 1;
  }
  static const Code* one(Wave& w, const Code* c) {
    std::byte* at = place_of_one<A>(w, c);
    if (at == nullptr) return access_lanes(w, c);
    put(w, *c, w.lane, at);
    return c + 1;
  }

 private:
  LANEWISE_INLINE static void put(const Wave& w, const Code& c, size_t i, std::byte* at) {
    for (uint32_t n = 1; n < c.sources; ++n)
      if (c.src[n] != ir::kNone)
        Place::store(at + (n - 1) * sizeof(E), w.at<Register>(offset_of(c.src[n]))[i]);
  }
};

}  // namespace
}  // namespace lanewise::reference::LANEWISE_LANES
