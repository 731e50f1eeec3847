// Single lines of PTX inside the module that declares the names they use.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace lanewise::test {

/// The module around the lines.
struct Frame {
  std::string head, tail;
  size_t first = 0;  ///< number of the first line between them
};
/// Of a file in which `// <candidate line>` stands for the lines. Throws std::runtime_error.
Frame frame_of(const std::string& path);

struct LineVerdict {
  std::string letters;  ///< for each target `A`, accepted, or `R`, refused
  std::string why;      ///< messages of the first target that refuses
};
/// What `ptx::check` says for each target.
std::vector<LineVerdict> judge_lines(std::span<const std::string> lines, const Frame& frame,
                                     std::span<const std::string> targets);

}  // namespace lanewise::test
