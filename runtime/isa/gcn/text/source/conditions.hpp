// .if and the like: which lines of an assembly file count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "runtime/support/cursor.hpp"

namespace lanewise::gcn {

class Conditions {
 public:
  struct Ask {
    std::function<int64_t(Cursor&)> evaluate;
    std::function<bool(std::string_view name)> defined;
  };
  explicit Conditions(Ask ask) : ask_(std::move(ask)) {}
  int64_t evaluate(Cursor& in) const { return ask_.evaluate(in); }

  /// One of these directives; the name is in lower case.
  static bool is_condition(std::string_view name);
  /// What follows counts for nothing.
  bool skips() const { return !open_.empty() && open_.back().skips; }
  size_t depth() const { return open_.size(); }
  /// Back to the depth that a macro began with.
  void leave(size_t depth) { open_.resize(std::min(depth, open_.size())); }
  /// Where the innermost open one began.
  uint32_t line() const { return open_.back().line; }

  /// Throws SyntaxError; then nothing up to the end of the condition counts.
  void take(std::string_view name, Cursor& in, uint32_t line);

 private:
  struct Open {
    bool met = false, skips = false, has_else = false;
    uint32_t line = 0;
  };
  bool asked(std::string_view name, Cursor& in);
  bool outer_skips() const { return open_.size() > 1 && open_[open_.size() - 2].skips; }

  Ask ask_;
  std::vector<Open> open_;
};

}  // namespace lanewise::gcn
