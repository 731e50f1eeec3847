// Several PTX texts as one: what was compiled for separate linking (nvcc -rdc) refers to functions
// and variables of its neighbours.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lanewise::ptx {

/// One text in which `.extern` declarations meet their definitions, one of several weak definitions
/// stays, names that a file keeps to itself do not clash, and `.file` numbers are distinct. Its
/// version and target are the latest of all. What is defined twice stays so, for the parser to
/// report.
std::string link(const std::vector<std::string>& texts);

}  // namespace lanewise::ptx
