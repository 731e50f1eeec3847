// The content of a report as one JSON object; .json is it, .html draws it.
#pragma once

#include <nlohmann/json.hpp>

#include "runtime/cache/reports/report.hpp"

namespace lanewise::cache {

using Json = nlohmann::ordered_json;

Json report_data(std::span<const Tracker* const> runs);
/// indent -1: one line.
std::string text_of(const Json& j, int indent);

}  // namespace lanewise::cache
