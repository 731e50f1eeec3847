// Where this very program lies.
#pragma once

#include <string>

namespace lanewise::cli {

/// Empty where the system does not say.
std::string own_program();

}  // namespace lanewise::cli
