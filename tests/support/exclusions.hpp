// What tests/exclusions.tsv leaves out on a device. Test programs look up what is no test case:
// forms, rows, objects. Cases are left out by the command line that CMake makes.
#pragma once

#include <fnmatch.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/shares.hpp"

namespace lanewise::test {

/// Patterns of one kind ("form", "row", "object", "case", "file") for `test` on a device.
inline std::vector<std::string> excluded_patterns(const std::string& test, const std::string& kind,
                                                  const std::string& device) {
  std::ifstream table(LANEWISE_TEST_DATA "/exclusions.tsv");
  std::vector<std::string> patterns;
  for (std::string line; std::getline(table, line);) {
    std::istringstream row(line);
    std::string on, name, what, covered_by, lifted;
    for (std::string* field : {&on, &name, &what, &covered_by, &lifted})
      std::getline(row, *field, '\t');
    if (name != test || (on != device && on != "vulkan") || !what.starts_with(kind + "=")) continue;
    if (whole_tests() && lifted == "whole") continue;
    std::istringstream list(what.substr(kind.size() + 1));
    for (std::string pattern; std::getline(list, pattern, ',');) patterns.push_back(pattern);
  }
  return patterns;
}
/// The same on the device of this test program.
inline std::vector<std::string> excluded_patterns(const std::string& test,
                                                  const std::string& kind) {
  const char* wanted = std::getenv("LANEWISE_TEST_DEVICE");
  if (wanted == nullptr || std::string(wanted) == "reference") return {};
  return excluded_patterns(test, kind, std::string(wanted) + (newer_lavapipe() ? "25" : ""));
}

/// Do they name it as one that stays, with a `!`?
inline bool is_kept(const std::vector<std::string>& patterns, const std::string& name) {
  return std::ranges::any_of(patterns, [&](const std::string& p) {
    return p.starts_with('!') && fnmatch(p.c_str() + 1, name.c_str(), 0) == 0;
  });
}
/// Is `name` left out by these?
inline bool is_excluded(const std::vector<std::string>& patterns, const std::string& name) {
  return !is_kept(patterns, name) && std::ranges::any_of(patterns, [&](const std::string& p) {
    return fnmatch(p.c_str(), name.c_str(), 0) == 0;
  });
}

}  // namespace lanewise::test
