// Compares a library function with a plain C++ oracle, row by row, on every driver and in the
// smallest and largest variant that the driver can run; of the two lavapipes each runs one of them.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <string_view>

#include "tests/support/library_kernel.hpp"
#include "tests/support/shares.hpp"

namespace lanewise::test {

using Row = std::vector<uint32_t>;
using Words = std::vector<uint32_t>;

inline uint64_t at64(const uint32_t* w) {
  return w[0] | uint64_t{w[1]} << 32;
}
inline Row row64(uint64_t v) {
  return {static_cast<uint32_t>(v), static_cast<uint32_t>(v >> 32)};
}
inline Row row(bool v) {
  return {v ? 1U : 0U};
}
inline Row row(uint32_t v) {
  return {v};
}

inline const std::vector<Driver>& drivers() {
  static const std::vector<Driver> all = open_drivers();
  return all;
}

/// The two lavapipes get the same modules for the same LLVM, whose work is most of the time: each
/// takes every other item. Every other driver takes all, as does one lavapipe alone.
inline bool takes(const Driver& d, size_t item) {
  const bool alone = std::ranges::none_of(
      drivers(), [](const Driver& other) { return other.label == "lavapipe25"; });
  if (alone || whole_tests() || !d.label.starts_with("lavapipe")) return true;
  return (item % 2 == 1) == (d.label == "lavapipe25");
}
/// Functions begin with another lavapipe as their names have it.
inline size_t turn_of(std::string_view function) {
  size_t turn = 0;
  for (const char c : function) turn += static_cast<unsigned char>(c);
  return turn;
}

using Oracle = std::function<Row(const uint32_t*)>;
struct Case {
  const char* name;
  Oracle expected;
};

inline void check(const Case& c, const Words& arguments, const std::vector<Driver>& on) {
  const Signature* s = lanewise::spirv::library::find(c.name);
  const std::string function = c.name;
  CAPTURE(function);
  REQUIRE(s != nullptr);
  const unsigned in = argument_words(*s), out = words_of(s->result);
  for (const Driver& d : on) {
    size_t turn = turn_of(function);
    for (const Variant v : {d.variants.front(), d.variants.back()}) {
      if (!takes(d, turn++)) continue;
      const Words got = call(*d.compute, v, c.name, arguments);
      size_t wrong = 0;
      std::string first;
      for (size_t i = 0; i < arguments.size() / in; ++i) {
        const Row want = c.expected(&arguments[i * in]);
        if (std::equal(want.begin(), want.end(), got.begin() + static_cast<ptrdiff_t>(i * out)))
          continue;
        if (wrong++ == 0)
          for (unsigned k = 0; k < in; ++k) first += std::to_string(arguments[i * in + k]) + " ";
      }
      CAPTURE(d.compute->facts().name);
      const std::string variant = lanewise::spirv::library::name(v);
      CAPTURE(variant);
      CAPTURE(first);
      CHECK(wrong == 0);
      if (d.variants.size() == 1) break;
    }
  }
}

}  // namespace lanewise::test
