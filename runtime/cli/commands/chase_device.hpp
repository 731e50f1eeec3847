// A pointer chase on a device, by time.
#pragma once

#include <memory>

#include "lanewise/lanewise.hpp"
#include "runtime/cache/chase/target.hpp"

namespace lanewise::cli {

/// Loads of one lane in a buffer of `bytes`, timed as launches that differ in their number of
/// loads.
std::unique_ptr<cache::ChaseTarget> device_target(const Device& device, uint64_t bytes);

}  // namespace lanewise::cli
