// The YAML of metadata: maps and lists in block and flow style, plain and quoted texts, tags that
// say "text". Every scalar is a string.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace lanewise::gcn {

struct YamlError {
  size_t line;  ///< counts from 0
  std::string message;
};

/// Throws YamlError; also for what is YAML and not read here: anchors, texts of several lines.
nlohmann::json read_yaml(std::string_view text);

}  // namespace lanewise::gcn
