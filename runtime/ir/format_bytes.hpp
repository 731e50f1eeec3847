#pragma once

#include <cstdint>

namespace lanewise::ir {

/// Of an element, by the DATA_FORMAT of descriptor word 3 (bits 15 to 18); 0 = no format.
inline constexpr uint8_t kFormatBytes[16] = {0, 1, 2, 2, 4, 4, 4, 4, 4, 4, 4, 8, 8, 12, 16, 0};

}  // namespace lanewise::ir
