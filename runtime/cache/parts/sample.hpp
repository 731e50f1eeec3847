// From counts of some sets to those of all.
#pragma once

#include "runtime/cache/parts/results.hpp"

namespace lanewise::cache {

/// The total of `of` sets from the counts of some of them, drawn without putting back, with its 95
/// % interval: S times the mean, with the variance S^2 (1 - n/S) s^2 / n, by Student's t.
Estimate estimate(std::span<const uint64_t> counts, uint32_t of);

/// What an engine's sample says of its whole L2.
Sample estimate_l2(const Engine& engine, uint32_t rate);
/// Makes what a sample of L2 came to what all of it would have.
void scale_l2(Results& results);

}  // namespace lanewise::cache
