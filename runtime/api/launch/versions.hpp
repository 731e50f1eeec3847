// Versions of a kernel for what is known of a launch.
#pragma once

#include "runtime/api/launch/launch.hpp"

namespace lanewise::host {

/// Different in every program of the process.
uint64_t new_program_id();

/// A kernel runs in a version for its textures' formats and filters, and without checks of accesses
/// that need none in this launch. Null: the general version. `parameters`: none where only code is
/// made.
const SpecialisedProgram* specialised(const LaunchOrder& order,
                                      std::span<const std::byte> parameters);

}  // namespace lanewise::host
