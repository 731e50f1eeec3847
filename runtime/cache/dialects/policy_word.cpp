#include "runtime/cache/dialects/policy_word.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace lanewise::cache {
namespace {

constexpr Class kPrimary[] = {Class::unchanged, Class::first, Class::last, Class::normal};

uint64_t encode(Class primary, Class secondary) {
  const auto p = static_cast<uint64_t>(std::find(kPrimary, kPrimary + 4, primary) - kPrimary);
  return (uint64_t{1} << 28 | p << 25 | (secondary == Class::first ? uint64_t{1} << 24 : 0)) << 32;
}

}  // namespace

PolicyWord decode_policy(uint64_t word) {
  PolicyWord p;
  const auto high = static_cast<uint32_t>(word >> 32);
  if (word == 0) {
    p.known = true;
    return p;
  }
  if (high >> 28 != 1 || static_cast<uint32_t>(word) != 0) return p;
  p.known = true;
  p.range = (high >> 27 & 1) != 0;
  p.primary = kPrimary[high >> 25 & 3];
  p.secondary = (high >> 24 & 1) != 0 ? Class::first : Class::unchanged;
  p.sixteenths = (high >> 20 & 15) + 1;
  p.shift = (high >> 20 & 15) + 12;
  p.start = high >> 12 & 127;
  p.blocks = high >> 5 & 127;
  return p;
}

bool in_primary_range(const PolicyWord& p, uint64_t address) {
  const auto block = static_cast<uint32_t>(address >> p.shift & 127);
  return ((block - p.start) & 127) < p.blocks;
}

Class policy_class(const PolicyWord& p, uint64_t line_address) {
  if (p.range) return in_primary_range(p, line_address) ? p.primary : p.secondary;
  const uint64_t h = (line_address >> 7) * 0x9e3779b97f4a7c15ULL >> 60;
  return h < p.sixteenths ? p.primary : p.secondary;
}

std::string describe(const PolicyWord& p) {
  constexpr const char* kNames[] = {"normal", "first", "last", "unchanged"};
  const auto name = [&](Class c) { return kNames[static_cast<size_t>(c)]; };
  if (!p.known) return "no policy word";
  if (p.range) return fmt::format("{} in a range, else {}", name(p.primary), name(p.secondary));
  if (p.sixteenths == 16) return name(p.primary);
  return fmt::format("{} {}/16, else {}", name(p.primary), p.sixteenths, name(p.secondary));
}

std::string policy_of(const trace::Site& site) {
  if (!site.hinted || site.policy == trace::kPolicyAtRunTime) return {};
  return describe(decode_policy(site.policy));
}

uint64_t fractional_policy(Class primary, Class secondary, double fraction) {
  const auto n = static_cast<uint64_t>(std::clamp(fraction, 0.0, 1.0) * 15.99);
  return encode(primary, secondary) | n << 52;
}

uint64_t range_policy(Class primary, Class secondary, uint64_t address, uint32_t primary_size,
                      uint32_t total_size) {
  const int log2_total = total_size <= 1 ? 0 : std::bit_width(total_size - 1);
  const auto shift = static_cast<unsigned>(std::max(log2_total - 7, 12));
  const uint64_t start = address >> shift;
  const uint64_t end = (address + primary_size + (uint64_t{1} << shift) - 1) >> shift;
  return encode(primary, secondary) | uint64_t{1} << 59 | uint64_t{shift - 12} << 52 |
         (start & 127) << 44 | std::min<uint64_t>(127, end - start) << 37;
}

}  // namespace lanewise::cache
