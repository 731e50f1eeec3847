// What assemblers of both instruction sets do with lines before they read them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "runtime/support/cursor.hpp"

namespace lanewise {

/// Blanks in front and behind go, those between words become one.
std::string with_single_blanks(std::string_view text);

struct CommentStyle {
  /// Beside `//` and block comments, `;` and lines that begin with `#`; and texts in quotes have
  /// none.
  bool assembler = false;
  /// For what a line begins with: the text up to which all lines are left alone, or empty.
  std::function<std::string_view(std::string_view)> raw = {};
};
/// Comments become blanks so that lines and columns stay what they were.
std::string without_comments(std::string_view text, const CommentStyle& style = {});

}  // namespace lanewise
