// The rows of `lanewise bench`: as JSON, and printed.
#pragma once

#include <nlohmann/json.hpp>

#include "runtime/bench/figure.hpp"
#include "runtime/bench/pairs/measure.hpp"

namespace lanewise::cli {

using Json = nlohmann::ordered_json;

/// Exactly one of "value" (times), "translated" (statistics) and "failed" is in a row.
Json to_row(const bench::Figure& figure);
Json to_row(const bench::CodeFigure& figure);
Json failed_row(const std::string& name, const std::string& why);

void print_figure(const Json& row);
void print_code_heading();
void print_code(const Json& row);

/// Geometric means of our figures over the hand-written ones', of the kernels that targets are
/// stated for: {"unchecked": {"kernels", "Instructions", "Inverse Throughput"}, "checked": ...}.
Json code_means(const Json& rows);
void print_code_means(const Json& means);

}  // namespace lanewise::cli
