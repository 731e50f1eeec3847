#include "runtime/cli/diagnostics.hpp"

namespace lanewise::cli {

nlohmann::json diagnostics_json(const std::string& file, std::span<const Diagnostic> found) {
  nlohmann::json list = nlohmann::json::array();
  for (const Diagnostic& d : found)
    list.push_back({{"file", d.file.empty() ? file : d.file},
                    {"line", d.line},
                    {"column", d.column},
                    {"warning", d.warning},
                    {"message", d.message}});
  return list;
}

}  // namespace lanewise::cli
