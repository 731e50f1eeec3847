// Rules of CCTL and CCTLL that are about more than one bit pattern.
#pragma once

#include <string>
#include <string_view>

namespace lanewise::sass {

/// What the document says of QRY1, in text that has no encoding and in words that have one.
inline constexpr std::string_view kQueryIsIllegal = ".QRY1 is reserved: an illegal encoding";

/// Which rule of the document leaves a CCTL or CCTLL without an encoding; empty when none does.
std::string cache_control_rule(std::string_view text);

}  // namespace lanewise::sass
