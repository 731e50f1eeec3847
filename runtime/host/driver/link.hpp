// What cuLink* makes: a program of several, which the device's loader links.
#pragma once

#include <cstddef>

namespace lanewise::driver {

/// Bytes of what cuLinkComplete gave out, or a copy of it; 0 for anything else.
size_t linked_bytes(const void* data);

}  // namespace lanewise::driver
