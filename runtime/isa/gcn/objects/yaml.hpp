// The YAML of metadata: maps and lists in block and flow style, plain and quoted texts, tags that
// say "text". Every scalar is a string.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "runtime/isa/gcn/objects/metadata.hpp"

namespace lanewise::gcn {

struct YamlError {
  size_t line;  ///< counts from 0
  std::string message;
};

/// Reports the text's contents to the metadata. Throws YamlError; also for what is YAML and not
/// read here: anchors, texts of several lines.
void read_yaml(std::string_view text, Metadata& to);

}  // namespace lanewise::gcn
