// How the kit's programs print what they found: one JSON object a line, with "kind" and "name".
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

namespace lanewise::kit {

using Json = nlohmann::ordered_json;

inline constexpr int kPassed = 0, kWrong = 1, kUsage = 2, kDeviceError = 3, kSkipped = 77;

inline void print_row(const Json& row) {
  const std::string text = row.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::puts(text.c_str());
  std::fflush(stdout);
}

inline Json figure(const std::string& name, double value, const std::string& unit) {
  return {{"kind", "figure"}, {"name", name}, {"value", value}, {"unit", unit}};
}

/// The stage ends, skipped, with the reason as its output.
inline int skip(const std::string& why) {
  std::puts(why.c_str());
  return kSkipped;
}

}  // namespace lanewise::kit
