// The content of a report as one JSON object; .json is it, .html draws it.
#pragma once

#include <nlohmann/json.hpp>

#include "runtime/cache/reports/report.hpp"

namespace lanewise::cache {

using Json = nlohmann::ordered_json;

/// How often each preset has the finding.
Json by_preset(const Verdict& v);
Json report_data(std::span<const Tracker* const> runs);
/// The instruction with what its policy word says; where that is too long, the instruction is cut.
std::string text_of(const trace::Site& s, size_t most = std::string::npos);
/// What an Insight reports of what was asked for; empty where nothing was.
Json insight_data(const Tracker& t);
std::string insight_text(const Tracker& t);
/// indent -1: one line.
std::string text_of(const Json& j, int indent);

}  // namespace lanewise::cache
