// Compares a library function with a plain C++ oracle, row by row, on every driver and in the
// smallest and largest variant that the driver can run.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "tests/support/library_kernel.hpp"

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

using Oracle = std::function<Row(const uint32_t*)>;
struct Case {
  const char* name;
  Oracle expected;
};

inline void check(const Case& c, const Words& arguments, const std::vector<Driver>& drivers) {
  const Signature* s = lanewise::spirv::library::find(c.name);
  const std::string function = c.name;
  CAPTURE(function);
  REQUIRE(s != nullptr);
  const unsigned in = argument_words(*s), out = words_of(s->result);
  for (const Driver& d : drivers) {
    for (const Variant v : {d.variants.front(), d.variants.back()}) {
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

inline const std::vector<Driver>& drivers() {
  static const std::vector<Driver> all = open_drivers();
  return all;
}

}  // namespace lanewise::test
