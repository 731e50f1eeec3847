// JSON that leaves the program: every document names the version that wrote it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lanewise {

/// Of all documents; it grows where a member changes its meaning or goes, and stays for new ones.
inline constexpr int kJsonFormat = 1;

/// "0.1.0", of program and library.
const char* program_version();

/// The text of a document, ended by a new line. Its member "lanewise" holds both versions; a list
/// has no members, so each object in it gets one. Bytes that are not UTF-8, as names in traces may
/// have, are replaced.
std::string json_document(nlohmann::json document, int indent = 2);
std::string json_document(nlohmann::ordered_json document, int indent = 2);  ///< stands first
/// {"version":"0.1.0","format":1}, for who writes the text of a document in parts.
std::string json_versions();

}  // namespace lanewise
