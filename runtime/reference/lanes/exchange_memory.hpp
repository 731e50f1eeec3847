// Part of each_host.hpp: atomics of one word. Lanes come one after another, the lowest first; where
// their addresses lie is asked about once for all of them.
#pragma once

#include "runtime/reference/lanes/move_memory.hpp"
#include "runtime/reference/memory/atomic_bits.hpp"

namespace lanewise::reference::LANEWISE_LANES {
namespace {

using ir::AtomOp;

template <typename W, AtomOp op, bool is_signed>
struct ChangeBits {
  LANEWISE_INLINE static W of(const FloatFlags&, W old, W a, W b) {
    return static_cast<W>(atomic_bits(op, sizeof(W), is_signed, old, a, b));
  }
};
/// To nearest even.
template <typename W, bool ftz>
struct AddFloats {
  LANEWISE_INLINE static W of(const FloatFlags& flags, W old, W a, W) {
    return FloatValue < Op::fadd, sizeof(W) == 8 ? Type::f64 : Type::f32,
           ftz > ::of(flags, 0, old, a, 0, 0);
  }
};

template <typename W, typename A, typename Change>
struct Exchange {
  static const Code* wide(Wave& w, const Code* c) {
    Offsets<A> offsets;
    if (!found<W>(w, c, false, offsets)) return access_lanes(w, c);
    for_each_place(
        w, w.ranges[c->access],
        offsets, [&](size_t i, std::byte * at) __attribute__((always_inline)) {
          exchange(w, *c, i, at);
        });
    return c + 1;
  }
  static const Code* one(Wave& w, const Code* c) {
    std::byte* at = place_of_one<A>(w, c);
    if (at == nullptr) return access_lanes(w, c);
    exchange(w, *c, w.lane, at);
    return c + 1;
  }

 private:
  LANEWISE_INLINE static void exchange(const Wave& w, const Code& c, size_t i, std::byte* at) {
    const W a = w.at<W>(c.s1)[i], b = w.at<W>(c.s2)[i];
    W old;
    if (!w.shared) {
      __builtin_memcpy(&old, at, sizeof(W));
      const W now = Change::of(c.flags, old, a, b);
      __builtin_memcpy(at, &now, sizeof(W));
    } else {
      // Such words are aligned (order_seen()).
      auto* word = reinterpret_cast<W*>(at);
      old = __atomic_load_n(word, __ATOMIC_RELAXED);
      while (!__atomic_compare_exchange_n(word, &old, Change::of(c.flags, old, a, b), true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
      }
    }
    if (c.results != 0) w.at<W>(c.d0)[i] = old;
  }
};

template <typename W, typename A, AtomOp op>
Handlers exchange(const Code& c) {
  using Unsigned = Exchange<W, A, ChangeBits<W, op, false>>;
  using Signed = Exchange<W, A, ChangeBits<W, op, true>>;
  if ((op == AtomOp::min || op == AtomOp::max) && ir::is_signed(c.mem->atom_type))
    return {Signed::wide, Signed::one};
  return {Unsigned::wide, Unsigned::one};
}

template <typename W, typename A>
Handlers add_floats(const Code& c) {
  constexpr Type kType = sizeof(W) == 8 ? Type::f64 : Type::f32;
  if (c.mem->atom != AtomOp::add || c.mem->atom_type != kType || c.flags.sat ||
      c.flags.round != ir::Round::rn)
    return {};
  using Flushed = Exchange<W, A, AddFloats<W, true>>;
  using Exact = Exchange<W, A, AddFloats<W, false>>;
  return c.flags.ftz ? Handlers{Flushed::wide, Flushed::one} : Handlers{Exact::wide, Exact::one};
}

template <typename W, typename A>
Handlers exchange(const Code& c) {
  const Type type = c.mem->atom_type;
  const AtomOp op = c.mem->atom;
  const bool of_bits = op == AtomOp::exch || op == AtomOp::cas;
  if (!of_bits && (ir::is_float(type) || type == Type::bf16)) return add_floats<W, A>(c);
  return one_of<AtomOp::add, AtomOp::sub, AtomOp::min, AtomOp::max, AtomOp::inc, AtomOp::dec,
                AtomOp::and_, AtomOp::or_, AtomOp::xor_, AtomOp::exch, AtomOp::cas>(
      op, [&]<auto change>() { return exchange<W, A, change>(c); });
}
template <typename W>
Handlers exchange(const Code& c) {
  if (width_of(c.src[0]) == Width::b64) return exchange<W, uint64_t>(c);
  return c.address_bits == 0xffffffff ? exchange<W, uint32_t>(c) : Handlers{};
}

Handlers find_exchange(const Code& c) {
  if (c.mem->count != 1) return {};
  if (c.mem->elem == Type::u32) return exchange<uint32_t>(c);
  return c.mem->elem == Type::u64 ? exchange<uint64_t>(c) : Handlers{};
}

}  // namespace
}  // namespace lanewise::reference::LANEWISE_LANES
