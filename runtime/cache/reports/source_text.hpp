// The source that a page shows beside its counts: of each file that instructions name, the lines
// around them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "runtime/trace/event.hpp"

namespace lanewise::cache {

struct SourceLines {
  uint32_t first = 1;  ///< line number
  std::vector<std::string> text;
};

struct SourceFile {
  std::string name;                 ///< as the instructions say
  std::string why;                  ///< why there is no text, where there is none
  std::vector<SourceLines> chunks;  ///< in their order, apart from each other
};

/// Files of the sites that have a line, in order of their names. Only files whose ending is that of
/// source code are opened (a trace may name any), under their own name or, below one of `folders`,
/// under the longest end of it.
std::vector<SourceFile> source_files(std::span<const trace::Site> sites,
                                     std::span<const std::string> folders);

}  // namespace lanewise::cache
