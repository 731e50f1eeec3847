// `${...}` in the body of a `for`.
#pragma once

#include <string>

#include "runtime/script/problem.hpp"

namespace lanewise::script {

/// Puts `value` where `${name}` stands. Inside a longer `${...}` the name is replaced, too; what
/// then holds no name any more is evaluated, so `${4 * n + 1}` becomes a number.
std::string substitute(const std::string& text, const std::string& name, const std::string& value,
                       Loc start);

}  // namespace lanewise::script
