// SARIF 2.1.0, the format in which editors and code hosts take findings.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lanewise::sarif {

using Json = nlohmann::ordered_json;

/// One run of this program: its rules, as {id, shortDescription}, and its results.
Json document(Json rules, Json results);
/// Indented text; bytes that are not UTF-8 are replaced.
std::string text_of(const Json& j);

}  // namespace lanewise::sarif
