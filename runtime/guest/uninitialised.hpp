// The fault of --check init: a read of bytes that nobody wrote.
#pragma once

#include "lanewise/types.hpp"

namespace lanewise {

inline constexpr auto kUninitialised =
    static_cast<FaultKind>(static_cast<uint8_t>(FaultKind::trap) + 1);

}  // namespace lanewise
