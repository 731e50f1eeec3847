// The words that options of a kind take, from where the library has them.
#pragma once

#include "runtime/cli/option_values.hpp"

namespace lanewise::cli {

std::vector<std::string> known_words(ValueKind kind);

}  // namespace lanewise::cli
