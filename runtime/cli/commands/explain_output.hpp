// What `explain` prints.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "runtime/explain/report.hpp"

namespace lanewise::cli {

/// The first lane that takes part in full, the others in a line each; one lane alone in full.
void print_explanation(const std::string& file, const explain::InstructionReport& r, bool full);
nlohmann::json to_json(const explain::InstructionReport& r);

}  // namespace lanewise::cli
