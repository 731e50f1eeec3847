#include "runtime/cache/parts/sample.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace lanewise::cache {
namespace {

/// What Student's t stays below with a probability of 97.5 %: exact for the first two degrees of
/// freedom, then by the expansion around the normal distribution, to three digits.
double t_quantile(double degrees) {
  if (degrees < 1.5) return 12.7062;
  if (degrees < 2.5) return 4.30265;
  const double z = 1.959964, v = degrees;
  const double z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z, z9 = z7 * z * z;
  return z + (z3 + z) / (4 * v) + (5 * z5 + 16 * z3 + 3 * z) / (96 * v * v) +
         (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * v * v * v) +
         (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / (92160 * v * v * v * v);
}

}  // namespace

Estimate estimate(std::span<const uint64_t> counts, uint32_t of) {
  const auto n = static_cast<double>(counts.size()), all = static_cast<double>(of);
  double sum = 0;
  for (const uint64_t c : counts) sum += static_cast<double>(c);
  const double mean = sum / n;
  double squares = 0;
  for (const uint64_t c : counts) squares += std::pow(static_cast<double>(c) - mean, 2);
  Estimate e;
  e.value = all * mean;
  if (counts.size() == of) e.value = sum;
  const double variance = n < 2 ? 0 : all * all * (1 - n / all) * squares / (n - 1) / n;
  const double half = t_quantile(n - 1) * std::sqrt(std::max(0.0, variance));
  e.low = std::max(sum, e.value - half);  // what was seen is there
  e.high = e.value + half;
  return e;
}

Sample estimate_l2(const Engine& engine, uint32_t rate) {
  const auto units = engine.unit_counters();
  Sample sample;
  sample.rate = rate;
  sample.units = static_cast<uint32_t>(units.size());
  sample.of = engine.share().units();
  const Geometry& l2 = engine.preset().l2;
  sample.sets_each = l2.slices * l2.sets / l2_units(l2);
  std::vector<uint64_t> counts(units.size());
  const auto add = [&](std::string_view name, auto count_of) {
    for (size_t i = 0; i < counts.size(); ++i) counts[i] = count_of(i);
    sample.counters.push_back(estimate(counts, sample.of));
    sample.counters.back().counter = name;
  };
  for (size_t k = 0; k < kLevelCounters; ++k)
    add(kCounterNames[k], [&](size_t i) { return std::bit_cast<CounterList>(units[i])[k]; });
  const auto dirty = engine.dirty_by_unit();
  add("dirty_lines_left", [&](size_t i) { return dirty[i].lines; });
  add("dirty_bytes_left", [&](size_t i) { return dirty[i].bytes; });
  return sample;
}

void scale_l2(Results& r) {
  const auto whole = [](double v) { return static_cast<uint64_t>(std::llround(v)); };
  CounterList l2{};
  for (size_t k = 0; k < kLevelCounters; ++k) l2[k] = whole(r.sample->counters[k].value);
  constexpr auto kL2 = static_cast<size_t>(Cache::l2);
  r.counters[kL2] = std::bit_cast<LevelCounters>(l2);
  r.dirty[kL2] = {whole(r.sample->counters[kLevelCounters].value),
                  whole(r.sample->counters[kLevelCounters + 1].value)};
  const double factor = static_cast<double>(r.sample->of) / r.sample->units;
  for (SiteCounters& n : r.sites)
    for (uint64_t SiteCounters::*count :
         {&SiteCounters::l2_hits, &SiteCounters::l2_misses, &SiteCounters::l2_write_hits,
          &SiteCounters::l2_write_misses, &SiteCounters::stale})
      n.*count = whole(static_cast<double>(n.*count) * factor);
}

}  // namespace lanewise::cache
