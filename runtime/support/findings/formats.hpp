// Findings as files: text, JSON, SARIF 2.1.0, JUnit XML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/support/findings/finding.hpp"

namespace lanewise::findings {

/// What a file is made of.
struct Contents {
  const std::vector<Finding>& findings;
  /// What was checked, in its order: JUnit has a case for each in which nothing was found.
  const std::vector<std::string>& subjects;
  bool baseline = false;  ///< the findings were held against one
};

std::string as_text(const Contents& c);
std::string as_json(const Contents& c);
std::string as_sarif(const Contents& c);
std::string as_junit(const Contents& c);

/// By the ending of a file: .txt, .json, .sarif, .xml. Throws Error(usage) for others.
using Format = std::string (*)(const Contents&);
Format format_of(const std::string& path);

}  // namespace lanewise::findings
