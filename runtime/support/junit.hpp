// Reports of tests as CI servers read them: JUnit XML.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lanewise {

/// One suite; its cases stand in the order in which they come.
class JunitReport {
 public:
  explicit JunitReport(std::string suite) : suite_(std::move(suite)) {}

  void pass(std::string_view group, std::string_view name);
  /// `text`: the whole report, of several lines.
  void fail(std::string_view group, std::string_view name, std::string_view type,
            std::string_view message, std::string_view text);
  void skip(std::string_view group, std::string_view name, std::string_view message);
  std::string text() const;

 private:
  void add(std::string_view group, std::string_view name, const std::string& inside);

  std::string suite_, cases_;
  size_t count_ = 0, failed_ = 0, skipped_ = 0;
};

}  // namespace lanewise
