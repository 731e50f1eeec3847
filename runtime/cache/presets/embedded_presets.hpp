// The files of presets/ and the HTML report's page, put into the program by embed.cmake at build
// time.
#pragma once

#include <span>
#include <string_view>

namespace lanewise::cache {

struct EmbeddedPreset {
  std::string_view name;
  std::string_view json;
};
std::span<const EmbeddedPreset> embedded_presets();
std::string_view report_page();

}  // namespace lanewise::cache
