// Which of the tracker's reports a file is.
#pragma once

#include <string>

namespace lanewise {

/// By the file's ending: "txt", "json", "csv", "sarif", "html" or "perfetto". Throws Error(usage)
/// for others.
std::string report_format(const std::string& path);

}  // namespace lanewise
