// Op::dot: the sum of products that matrix instructions are made of.
#pragma once

#include <cstdint>

#include "runtime/ir/types.hpp"

namespace lanewise::ir {

/// What the words of a factor hold, the first element lowest.
enum class Element : uint8_t { f16, bf16, tf32, e4m3, e5m2, s8, u8, s4, u4 };

constexpr bool is_integer(Element e) {
  return e >= Element::s8;
}
constexpr unsigned bits_of(Element e) {
  if (e == Element::tf32) return 32;
  if (e <= Element::bf16) return 16;
  return e >= Element::s4 ? 4 : 8;
}

inline constexpr unsigned kDotWords = 8;  ///< of each factor; what is missing is 0

/// Inst::mode.
constexpr uint8_t dot_mode(Element a, Element b) {
  return static_cast<uint8_t>(static_cast<unsigned>(a) | static_cast<unsigned>(b) << 4);
}

/// How many words of each factor count, and how floats are added: the second source. `words` words
/// of each factor, from the first on, make one sum, whose result is the addend of the next. In a
/// sum products are exact; products and the addend are cut, toward zero, after `fraction` bits
/// below the highest exponent of them (those of zeros do not count; a product has the sum of its
/// factors' exponents, also where it is 2 or more); adding that is exact. An f16 result is the
/// nearest; of an f32 result `kept` bits of fraction are kept, toward zero. An exact zero is +0,
/// what lies above the largest number infinite. fraction 0: f32 fma, to nearest, one product after
/// the other; an f16 result is rounded at the end.
struct DotRule {
  uint8_t fraction = 0, kept = 23, words = kDotWords, total = kDotWords;
  bool operator==(const DotRule&) const = default;
};
constexpr uint32_t dot_word(DotRule rule) {
  return rule.fraction | uint32_t{rule.kept} << 8 | uint32_t{rule.words} << 16 |
         uint32_t{rule.total} << 24;
}
constexpr DotRule dot_rule(uint32_t word) {
  return {static_cast<uint8_t>(word), static_cast<uint8_t>(word >> 8),
          static_cast<uint8_t>(word >> 16), static_cast<uint8_t>(word >> 24)};
}

/// What was measured on hardware: docs/numerics.md has the sources.
enum class Accumulate : uint8_t { volta, turing, ampere, ada, hopper, fma };
constexpr DotRule rule_of(Accumulate how, Element factor) {
  switch (how) {
    case Accumulate::volta:
      return {23, 23, 2};
    case Accumulate::hopper:
      return {25, 23, 8};
    case Accumulate::fma:
      return {};
    case Accumulate::ada:
      if (factor == Element::e4m3 || factor == Element::e5m2) return {13, 13, 4};
      [[fallthrough]];
    default:
      return {24, 23, 4};
  }
}

}  // namespace lanewise::ir
