// What the cases of memory instructions share: EXEC around the access, atomics as functions.
#pragma once

#include "tests/values/gcn/gcn.hpp"

namespace values::gcn {

inline const std::string kAll = "s_mov_b64 exec, -1\n", kSome = "s_mov_b64 exec, s[20:21]\n",
                         kWait = "\ns_waitcnt lgkmcnt(0)\n",
                         kWaitAll = "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n";

/// Inputs: old memory in words 0 and 1, data in words 2 to 5.
inline Tuples memory_inputs() {
  return with_flags({u32(), u32(), u32(), u32(), u32(), u32()}, 512);
}

inline Step whole(std::string text, unsigned words, Rule rule) {
  Step s{std::move(text), std::move(rule), words};
  s.whole_wave = true;
  return s;
}

/// Each lane has a place of its own.
template <typename T>
struct Atomic {
  const char* name;
  T (*f)(T memory, T data);
};

template <typename T>
T increment(T p, T d) {
  return p >= d ? 0 : static_cast<T>(p + 1);
}
template <typename T>
T decrement(T p, T d) {
  return p == 0 || p > d ? d : static_cast<T>(p - 1);
}
template <typename T>
T signed_less(T a, T b) {
  using S = std::make_signed_t<T>;
  return static_cast<S>(a) < static_cast<S>(b) ? a : b;
}
template <typename T>
T signed_greater(T a, T b) {
  using S = std::make_signed_t<T>;
  return static_cast<S>(a) > static_cast<S>(b) ? a : b;
}

// Floats.

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
template <typename T>
T number_of(BitsOf<T> bits) {
  if constexpr (sizeof(T) == 8)
    return f64_of(bits);
  else
    return f32_of(bits);
}

/// Memory and data are not both NaN. A NaN in memory gives way, one in the data changes nothing;
/// -0 is below +0.
template <typename T>
BitsOf<T> least(BitsOf<T> p, BitsOf<T> d, bool greatest) {
  const T a = number_of<T>(p), b = number_of<T>(d);
  if (std::isnan(b)) return p;
  if (std::isnan(a)) return d;
  const bool below = a < b || (a == b && std::signbit(a) && !std::signbit(b));
  return below == greatest ? d : p;
}

}  // namespace values::gcn
