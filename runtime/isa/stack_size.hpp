// The stack of a lane where no launch sets its size.
#pragma once

#include <cstdint>

namespace lanewise {

/// Of kernels of PTX whose functions call themselves.
inline constexpr uint32_t kStandardStack = 64 << 10;

}  // namespace lanewise
