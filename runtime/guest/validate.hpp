// What every engine refuses before it starts: one function, so that all say the same.
#pragma once

#include <cstdint>

#include "runtime/guest/engine.hpp"

namespace lanewise::guest {

inline constexpr uint32_t kMaxLanesPerGroup = 1024;

/// Bytes of shared memory of one group: dynamic memory follows the static part, 16-aligned.
uint64_t shared_bytes(const ir::Program& program, uint32_t dynamic_shared);

/// Throws Error(usage) when the launch makes no sense for the program, with both numbers.
void validate(const LaunchRequest& request);

}  // namespace lanewise::guest
