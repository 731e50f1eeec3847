// Each hazard as a program that has it, and a twin that comes close and has not.
#pragma once

#include <functional>
#include <span>

#include "tests/unit/cache/support.hpp"

namespace lanewise::cache {

using trace::Dialect;

struct Pair {
  const char* name;
  Dialect dialect;
  const char* preset;
  const char* expected;  ///< verdict of the bad program, advice included
  std::function<void(Stream&)> bad, good;
};

inline constexpr Dialect kSass = Dialect::sass, kPtx = Dialect::ptx, kGcn = Dialect::gcn;
inline constexpr Touch kFlag{kA}, kWarp{kA, 32}, kStack{0x40, 32, 0};

inline trace::Site hinted(const char* text, uint64_t word) {
  trace::Site s = trace::ptx_site(text);
  s.policy = word;
  return s;
}
inline trace::Site emitted(Dialect d, const char* text, trace::Emitted e) {
  trace::Site s = trace::site_from_text(d, text);
  s.emitted = e;
  return s;
}

std::span<const Pair> first_pairs();
std::span<const Pair> more_pairs();

}  // namespace lanewise::cache
