// Loads timed on the card by its own clock, and what a preset's caches make of the same loads.
#pragma once

#include <memory>
#include <string>

#include "runtime/cache/chase/target.hpp"
#include "tests/hardware/truth/driver.hpp"

namespace lanewise::truth {

/// Chains of loads in a buffer of `bytes`, one lane, in cycles of a multiprocessor's clock.
std::unique_ptr<cache::ChaseTarget> card_target(const Card& card, uint64_t bytes);

/// Cycles of a load out of a chain through constant memory: `bytes` (at most 64 KiB), `stride`.
double constant_cycles(const Card& card, uint32_t bytes, uint32_t stride);

/// Chains through constant memory as the loads of L1; what they miss is the next level, which 64
/// KiB do not fill.
std::unique_ptr<cache::ChaseTarget> constant_target(const Card& card);

}  // namespace lanewise::truth
