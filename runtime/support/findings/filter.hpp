// Findings that do not count: suppressions that a person wrote, and baselines that a run wrote.
// Both are lines of RULE SUBJECT SITE, each with * and ? as a shell has them, the last two may be
// left out; # begins a comment.
#pragma once

#include <string>
#include <vector>

#include "runtime/support/findings/finding.hpp"

namespace lanewise::findings {

class Filter {
 public:
  /// Throws Error(usage) with file and line for a rule that does not exist, or a line of more
  /// words.
  void read(const std::string& path);
  /// "FILE:LINE" of the first line that matches, or "".
  std::string match(const Finding& finding);
  /// "FILE:LINE: RULE SUBJECT SITE" of lines that matched nothing.
  std::vector<std::string> unused() const;

 private:
  struct Line {
    std::string place, rule, subject, site;
    bool used = false;
  };
  std::vector<Line> lines_;
};

/// What Filter::read() takes: a line for each finding.
std::string baseline_text(const std::vector<Finding>& all);
/// As a shell matches * and ?.
bool matches(std::string_view pattern, std::string_view text);

}  // namespace lanewise::findings
