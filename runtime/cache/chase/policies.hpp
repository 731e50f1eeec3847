// One set of a cache under each replacement policy, as textbooks have it: what a chase is compared
// with. It shares nothing with the engine.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/cache/presets/preset.hpp"

namespace lanewise::cache {

/// Misses of the rounds after the first `warm` ones, in a set that is empty at first. `round`:
/// lines by number. Replacement::random has none that could be determined; tree_plru needs a power
/// of two of ways (0 is returned otherwise).
uint64_t policy_misses(Replacement policy, uint32_t ways, std::span<const uint32_t> round,
                       unsigned warm, unsigned timed);

}  // namespace lanewise::cache
