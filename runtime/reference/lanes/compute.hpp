// Part of each_host.hpp: instructions that touch registers alone.
#pragma once

#include "runtime/reference/lanes/each_host.hpp"

namespace lanewise::reference::LANEWISE_LANES {
namespace {

using ir::Op;
using ir::Type;
using ir::Width;

constexpr size_t kChunk = 32;  ///< lanes of a loop; waves have one or two of them

template <typename T>
struct LaneBits {
  T bit[kChunk];
  constexpr LaneBits() : bit() {
    for (size_t i = 0; i < kChunk; ++i) bit[i] = T{1} << i;
  }
};
template <typename T>
constexpr LaneBits<T> kLaneBits;

/// d[i] = value(i) of the active lanes, one after another.
template <typename D, typename Value>
LANEWISE_INLINE void each_active(Wave& w, D* d, Value value) {
  for (uint64_t left = w.mask; left != 0; left &= left - 1) {
    const auto i = static_cast<size_t>(__builtin_ctzll(left));
    d[i] = value(i);
  }
}
/// The same at once, and of others where that is cheaper and does no harm.
template <typename D, typename Value>
LANEWISE_INLINE void each(Wave& w, D* d, Value value) {
  if (w.full()) {
    for (size_t first = 0; first < w.stride; first += kChunk) {
      LANEWISE_INDEPENDENT
      for (size_t i = 0; i < kChunk; ++i) d[first + i] = value(first + i);
    }
    return;
  }
  if (w.few) return each_active(w, d, value);
  for (size_t first = 0; first < w.stride; first += kChunk) {
    const auto active = static_cast<D>(static_cast<uint32_t>(w.mask >> first));
    if (active == 0) continue;
    LANEWISE_INDEPENDENT
    for (size_t i = 0; i < kChunk; ++i) {
      const D v = value(first + i);
      d[first + i] = (active & kLaneBits<D>.bit[i]) != 0 ? v : d[first + i];
    }
  }
}
/// The bytes' highest bits.
LANEWISE_INLINE uint32_t pack(const uint8_t (&bytes)[kChunk]) {
#ifdef __SSE2__
  using Sixteen [[gnu::vector_size(16)]] = char;
  const auto* halves = reinterpret_cast<const Sixteen*>(bytes);
  return static_cast<uint32_t>(__builtin_ia32_pmovmskb128(halves[0])) |
         static_cast<uint32_t>(__builtin_ia32_pmovmskb128(halves[1])) << 16;
#else
  uint32_t found = 0;
  for (size_t part = 0; part < kChunk; part += 8) {
    uint64_t eight = 0;
    __builtin_memcpy(&eight, bytes + part, 8);
    found |= static_cast<uint32_t>((eight & 0x0101010101010101) * 0x0102040810204080 >> 56) << part;
  }
  return found;
#endif
}
/// The lanes for which it holds, as bits.
template <typename Holds>
LANEWISE_INLINE uint64_t lanes_where(const Wave& w, Holds holds) {
  uint64_t found = 0;
  if (w.few) {
    for (uint64_t left = w.mask; left != 0; left &= left - 1) {
      const auto i = static_cast<size_t>(__builtin_ctzll(left));
      found |= uint64_t{holds(i)} << i;
    }
    return found;
  }
  for (size_t first = 0; first < w.stride; first += kChunk) {
    alignas(kChunk) uint8_t bytes[kChunk];
    LANEWISE_INDEPENDENT
    for (size_t i = 0; i < kChunk; ++i) bytes[i] = holds(first + i) ? 0xff : 0;
    found |= uint64_t{pack(bytes)} << first;
  }
  return found;
}
LANEWISE_INLINE void put_pred(Wave& w, uint32_t offset, uint64_t lanes) {
  uint64_t& word = *w.at<uint64_t>(offset);
  word = (word & ~w.mask) | (lanes & w.mask);
}

/// A handler pair of a functor with run(Wave&, const Code&, one): all that does not end a block.
template <typename Run, bool single>
const Code* carry_out(Wave& w, const Code* c) {
  Run::template run<single>(w, *c);
  return c + 1;
}
template <typename Run>
constexpr Handlers kHandlers = {carry_out<Run, false>, carry_out<Run, true>};

/// What `find` has for the first of these values that is the given one.
template <auto... values, typename T, typename Find>
Handlers one_of(T value, Find find) {
  Handlers found{};
  static_cast<void>(
      ((value == values && (found = find.template operator()<values>(), true)) || ...));
  return found;
}

// --- signatures ---------------------------------------------------------------------------------
constexpr const char* kSignatures[] = {
#define LW_OP(name, signature, traits) signature,
#include "runtime/ir/ops.def"
#undef LW_OP
};
constexpr char letter(Op op, uint32_t source) {
  const char* s = kSignatures[static_cast<int>(op)];
  while (*s != ':') ++s;
  for (++s; source != 0 && *s != 0; --source) ++s;
  return *s;
}
constexpr bool is_wide(char letter, Type type, Type from) {
  return letter == 'd' || (letter == 'T' && ir::width_of(type) == Width::b64) ||
         (letter == 'F' && ir::width_of(from) == Width::b64);
}
template <bool wide>
struct WordOf {
  using type = uint32_t;
};
template <>
struct WordOf<true> {
  using type = uint64_t;
};
template <Op op, Type type, Type from, uint32_t n>
using Source = typename WordOf<is_wide(letter(op, n), type, from)>::type;
template <Op op, Type type>
using Result = typename WordOf<is_wide(kSignatures[static_cast<int>(op)][0], type, type)>::type;

/// One result and up to four sources of numbers: value(code, a, b, c, d) gives it.
template <Op op, Type type, Type from, bool vector, typename Value>
struct Plain {
  template <bool single>
  LANEWISE_INLINE static void run(Wave& w, const Code& c) {
    auto* d = w.at<Result<op, type>>(c.d0);
    const auto* s0 = w.at<Source<op, type, from, 0>>(c.s0);
    const auto* s1 = w.at<Source<op, type, from, 1>>(c.s1);
    const auto* s2 = w.at<Source<op, type, from, 2>>(c.s2);
    const auto* s3 = w.at<Source<op, type, from, 3>>(c.s3);
    const FloatFlags flags = c.flags;
    const uint8_t mode = c.mode;
    const auto value = LANEWISE_LANE(i) {
      return static_cast<Result<op, type>>(Value::of(flags, mode, s0[i], s1[i], s2[i], s3[i]));
    };
    if constexpr (single) {
      d[w.lane] = value(w.lane);
    } else if constexpr (vector) {
      each(w, d, value);
    } else {
      each_active(w, d, value);
    }
  }
};

template <Op op, Type type>
struct IntegerValue {
  LANEWISE_INLINE static uint64_t of(const FloatFlags&, uint8_t mode, uint64_t a, uint64_t b,
                                     uint64_t c, uint64_t d) {
    return ir::inlined::integer_op(op, type, mode, a, b, c, d);
  }
};
template <Op op, Type type, bool vector = true>
constexpr Handlers kInteger = kHandlers<Plain<op, type, type, vector, IntegerValue<op, type>>>;

struct Unpack {
  template <bool single>
  LANEWISE_INLINE static void run(Wave& w, const Code& c) {
    auto *low = w.at<uint32_t>(c.d0), *high = w.at<uint32_t>(c.d1);
    const auto* a = w.at<uint64_t>(c.s0);
    if constexpr (single) {
      const uint64_t v = a[w.lane];
      low[w.lane] = static_cast<uint32_t>(v), high[w.lane] = static_cast<uint32_t>(v >> 32);
    } else {
      each(
          w, low, LANEWISE_LANE(i) { return static_cast<uint32_t>(a[i]); });
      each(
          w, high, LANEWISE_LANE(i) { return static_cast<uint32_t>(a[i] >> 32); });
    }
  }
};

template <typename T>
struct Select {
  template <bool single>
  LANEWISE_INLINE static void run(Wave& w, const Code& c) {
    auto* d = w.at<T>(c.d0);
    const auto *a = w.at<T>(c.s1), *b = w.at<T>(c.s2);
    const uint64_t which = *w.at<uint64_t>(c.s0);
    if constexpr (single) {
      d[w.lane] = (which >> w.lane & 1) != 0 ? a[w.lane] : b[w.lane];
    } else if (w.few) {
      each_active(
          w, d, LANEWISE_LANE(i) { return (which >> i & 1) != 0 ? a[i] : b[i]; });
    } else {
      for (size_t first = 0; first < w.stride; first += kChunk) {
        const auto yes = static_cast<T>(static_cast<uint32_t>(which >> first));
        const auto active = static_cast<T>(static_cast<uint32_t>((w.mask | w.spare) >> first));
        LANEWISE_INDEPENDENT
        for (size_t i = 0; i < kChunk; ++i) {
          const T bit = kLaneBits<T>.bit[i], x = a[first + i], y = b[first + i], old = d[first + i];
          const T v = (yes & bit) != 0 ? x : y;
          d[first + i] = (active & bit) != 0 ? v : old;
        }
      }
    }
  }
};

/// Operations on predicates: all lanes are one word.
template <Op op>
struct PredLogic {
  template <bool single>
  LANEWISE_INLINE static void run(Wave& w, const Code& c) {
    const uint64_t a = *w.at<uint64_t>(c.s0), b = *w.at<uint64_t>(c.s1);
    const uint64_t e = op == Op::select ? *w.at<uint64_t>(c.s2) : 0;
    uint64_t v = a;
    if (op == Op::and_) v = a & b;
    if (op == Op::or_) v = a | b;
    if (op == Op::xor_) v = a ^ b;
    if (op == Op::not_) v = ~a;
    if (op == Op::select) v = (a & b) | (~a & e);
    put_pred(w, c.d0, v);
  }
};

template <typename T>
struct CompareIntegers {
  template <bool single>
  LANEWISE_INLINE static void run(Wave& w, const Code& c) {
    // Those that a swap and a complement leave of the six conditions.
    const uint32_t table = host::truth(c.cond);
    const bool equality = table == 2 || table == 5, swapped = table == 4 || table == 3;
    const auto *a = w.at<T>(swapped ? c.s1 : c.s0), *b = w.at<T>(swapped ? c.s0 : c.s1);
    const auto same = LANEWISE_LANE(i) {
      return a[i] == b[i];
    };
    const auto less = LANEWISE_LANE(i) {
      return a[i] < b[i];
    };
    uint64_t found = 0;
    if constexpr (single)
      found = uint64_t{equality ? same(w.lane) : less(w.lane)} << w.lane;
    else
      found = equality ? lanes_where(w, same) : lanes_where(w, less);
    put_pred(w, c.d0, table == 2 || table == 1 || table == 4 ? found : ~found);
  }
};

template <typename Bits>
struct CompareFloats {
  template <bool single>
  LANEWISE_INLINE static void run(Wave& w, const Code& c) {
    const auto *a = w.at<Bits>(c.s0), *b = w.at<Bits>(c.s1);
    const uint32_t table = host::truth(c.cond);
    const Bits flushed = c.flags.ftz ? ~Bits{0} : 0;
    const auto holds = LANEWISE_LANE(i) {
      const Bits x = a[i], y = b[i];
      const Bits fx = (host::flush(x) & flushed) | (x & ~flushed);
      const Bits fy = (host::flush(y) & flushed) | (y & ~flushed);
      return (host::order(fx, fy) & table) != 0;
    };
    if constexpr (single) {
      put_pred(w, c.d0, uint64_t{holds(w.lane)} << w.lane);
    } else {
      put_pred(w, c.d0, lanes_where(w, holds));
    }
  }
};

/// Floats to nearest even, without .sat.
template <Op op, Type type, bool ftz>
struct FloatValue {
  using Bits = typename WordOf<type == Type::f64>::type;
  LANEWISE_INLINE static Bits of(const FloatFlags& flags, uint8_t, Bits a, Bits b, Bits c, Bits) {
    if (ftz) a = host::flush(a), b = host::flush(b), c = host::flush(c);
    Bits r = 0;
    constexpr Bits kSign = Bits{1} << (8 * sizeof(Bits) - 1);
    if (op == Op::fneg) {
      r = a ^ kSign;
    } else if (op == Op::fabs) {
      r = a & ~kSign;
    } else if (op == Op::fmin || op == Op::fmax) {
      r = host::min_max(op == Op::fmax, flags.mode == 1, a, b);
    } else if (op == Op::fround) {
      r = host::bits_of<Bits>(host::integral<Bits>(flags.round, host::real(a)));
    } else {
      r = host::arithmetic(op, a, b, c);
    }
    if constexpr (ftz && op == Op::fmul)
      return host::flush_scaled(r, host::real(a) * 0x1p32F * host::real(b));
    if constexpr (ftz && op == Op::ffma)
      return host::flush_scaled(r, host::Host<Bits>::fma(host::real(a) * 0x1p32F, host::real(b),
                                                         host::real(c) * 0x1p32F));
    if constexpr (ftz && op == Op::fdiv)
      return host::flush_scaled(r, host::real(a) * 0x1p32F / host::real(b));
    return ftz ? host::flush(r) : r;
  }
};
#ifdef __FMA__
constexpr bool kHasFma = true;
#else
constexpr bool kHasFma = false;
#endif
template <Op op, Type type, bool ftz>
constexpr Handlers kFloat =
    kHandlers<Plain<op, type, type, op != Op::fround && (op != Op::ffma || kHasFma),
                    FloatValue<op, type, ftz>>>;

/// f2i to 32 bits, i2f and f2f; conversions flush on the f32 side alone.
template <Op op, Type type, Type from>
struct ConvertValue {
  using To = Result<op, type>;
  using From = Source<op, type, from, 0>;
  LANEWISE_INLINE static To of(const FloatFlags& flags, uint8_t, From a, uint32_t, uint32_t,
                               uint32_t) {
    if constexpr (op == Op::f2i) {
      return host::to_integer<From, ir::is_signed(type)>(flags.round, a);
    } else if constexpr (op == Op::i2f) {
      using Int = std::make_signed_t<From>;
      return ir::is_signed(from) ? host::from_integer<To>(static_cast<Int>(a))
                                 : host::from_integer<To>(a);
    } else {
      const To r = host::resize<To>(flags.ftz ? host::flush(a) : a);
      if constexpr (sizeof(To) <
                    sizeof(From))  // half an ulp of numbers below 2^-126 rounds up to it
        if (flags.ftz && __builtin_fabs(host::real(a)) < 0x1p-126 - 0x1p-151) return r & 0x80000000;
      return flags.ftz ? host::flush(r) : r;
    }
  }
};
template <Op op, Type type, Type from>
constexpr Handlers kConvert =
    kHandlers<Plain<op, type, from, op != Op::f2i, ConvertValue<op, type, from>>>;

}  // namespace
}  // namespace lanewise::reference::LANEWISE_LANES
