#include "runtime/support/report_format.hpp"

#include "runtime/support/error.hpp"

namespace lanewise {

std::string report_format(const std::string& path) {
  if (path.ends_with(".perfetto.json")) return "perfetto";
  for (const char* format : {"txt", "json", "csv", "sarif", "html"})
    if (path.ends_with(std::string(".") + format)) return format;
  throw Error(ErrorKind::usage, path +
                                    ": no report for this ending, expected .txt, .json, .csv, "
                                    ".sarif, .html or .perfetto.json");
}

}  // namespace lanewise
