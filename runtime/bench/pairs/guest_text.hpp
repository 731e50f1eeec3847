// The programs of runtime/bench/guest.
#pragma once

#include <string_view>

namespace lanewise::bench {

/// By file name, "own.ptx"; empty when there is none.
std::string_view guest_text(std::string_view file);

}  // namespace lanewise::bench
