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

/// Of the active lanes' accesses, from the range's begin on. Addresses of 32 bits are computed so.
template <typename A>
struct Offsets {
  A of[kMaxWave];
  bool in_row = false;  ///< each lane's element behind that of the one before
};

LANEWISE_INLINE uint64_t address_of(const Code& c, uint64_t operand) {
  return (operand + c.offset) & c.keep;
}
LANEWISE_INLINE bool fits(const Code& c, const Range& r, uint64_t address) {
  return r.data != nullptr && address - r.base <= r.limit && (address & c.aligned) == 0;
}

/// Do all active lanes' accesses lie in the range?
template <typename E, typename A>
LANEWISE_INLINE bool all_fit(const Wave& w, const Code& c, const A* operands, Offsets<A>& out) {
  const Range& r = w.ranges[c.access];
  constexpr uint64_t kMost = static_cast<A>(~A{0});
  if (r.data == nullptr || r.base > kMost) return false;
  const auto base = static_cast<A>(r.base), aligned = static_cast<A>(c.aligned);
  const auto offset = static_cast<A>(c.offset), keep = static_cast<A>(c.keep);
  // What lies below the base must not wrap into the range.
  const auto limit = static_cast<A>(r.limit < kMost - r.base ? r.limit : kMost - r.base);
  if (w.mask == w.all) {
    const A first = (operands[0] + offset) & keep;
    A apart = 0;
    for (size_t part = 0; part < w.stride; part += kChunk) {
      LANEWISE_INDEPENDENT
      for (size_t i = 0; i < kChunk; ++i) {
        const A address = (operands[part + i] + offset) & keep;
        out.of[part + i] = address - base;
        apart |= (address - first) ^ static_cast<A>((part + i) * sizeof(E));
      }
    }
    if (apart == 0) {
      out.in_row = true;
      const A from = out.of[0], to = out.of[w.stride - 1];
      return from <= to && to <= limit && ((first | static_cast<A>(sizeof(E))) & aligned) == 0;
    }
    A bad = 0;
    for (size_t part = 0; part < w.stride; part += kChunk) {
      LANEWISE_INDEPENDENT
      for (size_t i = 0; i < kChunk; ++i) {
        const A o = out.of[part + i];
        bad |= (o > limit ? static_cast<A>(~A{0}) : A{0}) | ((o + base) & aligned);
      }
    }
    return bad == 0;
  }
  A bad = 0;
  for (uint64_t left = w.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(__builtin_ctzll(left));
    const A address = (operands[i] + offset) & keep;
    out.of[i] = address - base;
    bad |= (out.of[i] > limit ? A{1} : A{0}) | (address & aligned);
  }
  return bad == 0;
}

template <typename E, typename A>
LANEWISE_INLINE bool found(Wave& w, const Code* c, const A* operands, Offsets<A>& out) {
  if (all_fit<E>(w, *c, operands, out)) return true;
  return find_range(w, c) && all_fit<E>(w, *c, operands, out);
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

template <typename E, typename A>
struct Load {
  using Place = Element<E>;
  using Register = typename Place::Register;

  static const Code* wide(Wave& w, const Code* c) {
    Offsets<A> offsets;
    if (!found<E>(w, c, w.at<A>(c->s0), offsets)) return access_lanes(w, c);
    const Range& r = w.ranges[c->access];
    if (offsets.in_row && r.step == 0 && c->results == 1) {
      auto* d = w.at<Register>(c->d0);
      const std::byte* data = r.data + offsets.of[0];
      for (size_t first = 0; first < w.stride; first += kChunk) {
        LANEWISE_INDEPENDENT
        for (size_t i = 0; i < kChunk; ++i)
          d[first + i] = Place::load(data + (first + i) * sizeof(E));
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
    const size_t i = w.lane;
    const uint64_t address = address_of(*c, w.at<A>(c->s0)[i]);
    const Range& r = w.ranges[c->access];
    if (!fits(*c, r, address) && !(find_range(w, c) && fits(*c, r, address)))
      return access_lanes(w, c);
    const std::byte* at = r.data + (w.first + i) * r.step + (address - r.base);
    for (uint32_t n = 0; n < c->results; ++n)
      w.at<Register>(offset_of(c->dst[n]))[i] = Place::load(at + n * sizeof(E));
    return c + 1;
  }
  /// From a constant address, which all lanes share.
  static const Code* shared(Wave& w, const Code* c) {
    const uint64_t address = address_of(*c, w.at<A>(c->s0)[0]);
    const Range& r = w.ranges[c->access];
    if (!fits(*c, r, address) && !(find_range(w, c) && fits(*c, r, address)))
      return access_lanes(w, c);
    if (r.step != 0) return wide(w, c);
    for (uint32_t n = 0; n < c->results; ++n) {
      const Register value = Place::load(r.data + (address - r.base) + n * sizeof(E));
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
    if (!found<E>(w, c, w.at<A>(c->s0), offsets)) return access_lanes(w, c);
    const Range& r = w.ranges[c->access];
    const uint32_t count = c->sources - 1U;
    if (offsets.in_row && r.step == 0 && count == 1 && c->src[1] != ir::kNone) {
      const auto* s = w.at<Register>(c->s1);
      std::byte* data = r.data + offsets.of[0];
      for (size_t first = 0; first < w.stride; first += kChunk) {
        LANEWISE_INDEPENDENT
        for (size_t i = 0; i < kChunk; ++i)
          Place::store(data + (first + i) * sizeof(E), s[first + i]);
      }
      return c + 1;
    }
    if (count == 1 && c->src[1] != ir::kNone) {
      const auto* s = w.at<Register>(c->s1);
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
    const size_t i = w.lane;
    const uint64_t address = address_of(*c, w.at<A>(c->s0)[i]);
    const Range& r = w.ranges[c->access];
    if (!fits(*c, r, address) && !(find_range(w, c) && fits(*c, r, address)))
      return access_lanes(w, c);
    put(w, *c, i, r.data + (w.first + i) * r.step + (address - r.base));
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
