// What a command does with findings: it holds them against suppressions and a baseline, and writes
// them down.
#pragma once

#include <string>
#include <vector>

#include "runtime/support/findings/filter.hpp"
#include "runtime/support/findings/finding.hpp"

namespace lanewise::findings {

struct Options {
  std::vector<std::string> files;  ///< by their endings, see formats.hpp
  std::string suppress, baseline, write_baseline;

  bool any() const {
    return !(files.empty() && suppress.empty() && baseline.empty() && write_baseline.empty());
  }
};

class Output {
 public:
  /// Reads what is to be read; throws Error(usage) now for a file that could not be written later.
  explicit Output(Options options);

  void add_subject(const std::string& name);
  /// What does not count is marked; true: it counts.
  bool add(Finding finding);
  const List& found() const { return found_; }
  /// Writes the files. Lines for people: how many did not count, which lines matched nothing.
  std::vector<std::string> finish();

 private:
  Options options_;
  Filter suppressions_, baseline_;
  std::vector<std::string> subjects_;
  List found_;
};

}  // namespace lanewise::findings
