// `run` and `check` of stream scripts.
#pragma once

#include <cstddef>
#include <string>

namespace lanewise::cli {

bool is_script(const std::string& file);
/// Both print what they find and return the exit code.
int check_script(const std::string& file, size_t max_errors);
int run_script(const std::string& file, const std::string& device, bool json);

}  // namespace lanewise::cli
