// Warnings of one kind are one, with a count.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

namespace lanewise::trace {

class Warnings {
 public:
  /// `what` is followed by how often, and that by `then`: "LDG.FOO: suffix ...: 12 accesses ...".
  void count(const std::string& what, const char* then) { ++counts_[{what, then}]; }
  std::vector<std::string> text() const {
    std::vector<std::string> all;
    for (const auto& [what, n] : counts_)
      all.push_back(fmt::format("{}: {} {}", what.first, n, what.second));
    return all;
  }

 private:
  std::map<std::pair<std::string, std::string>, uint64_t> counts_;
};

}  // namespace lanewise::trace
