// The lines of an assembly file as the assembler takes them: comments blanked, conditions decided,
// macros and repetitions written out, included files in their place.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/isa/gcn/text/source/conditions.hpp"
#include "runtime/isa/gcn/text/source/macro.hpp"

namespace lanewise::gcn {

/// What ends the metadata that begin here, before version 3 of code objects and from it on; empty
/// where none do.
std::string_view end_of_metadata(std::string_view text);

class Source {
 public:
  /// `folder`: where included files are looked for; without one nothing can be included.
  Source(std::string_view text, std::optional<std::string> folder, Conditions::Ask ask);

  /// The next line that counts; false behind the last one. The view holds until the next call.
  /// Throws SyntaxError where a line that the conditions decide is wrong.
  bool next(std::string_view& line);
  /// One of the directives that change which lines there are: carried out, true. Throws
  /// SyntaxError.
  bool directive(std::string_view name, Cursor& in);
  bool is_macro(std::string_view name) const { return macros_.contains(name); }
  /// A call of a macro that is defined.
  void call(std::string_view name, Cursor& in);
  /// `bytes` of a file for .incbin.
  std::string included(Cursor& in);

  /// Of the file itself: where a line of an included file counts for, it is that of its .include.
  uint32_t line() const;
  /// The message with the included file, and with the macros that its line came from.
  std::string placed(std::string message) const;
  /// Where a condition begins that has not been closed; 0 when none is open.
  uint32_t unclosed() const { return conditions_.depth() == 0 ? 0 : conditions_.line(); }
  /// Some lines came from macros or included files.
  bool has_expanded() const { return expanded_lines_ != 0; }

 private:
  /// A text in work. Repetitions have another one each time `more` gives it.
  struct Buffer {
    std::string text;
    size_t at = 0;
    uint32_t first = 1, line = 0;  ///< in `file`
    uint32_t taken = 0;            ///< lines behind it that its directive has taken
    std::string file;
    std::string what;  ///< "macro 'm'"; empty for files
    bool macro = false;
    size_t conditions = 0;
    std::function<bool(std::string&)> more;
  };

  std::optional<std::string_view> raw_line();
  void push(Buffer buffer);
  void count(size_t lines, size_t bytes);
  Body read_body(std::string_view opening, std::initializer_list<std::string_view> nested,
                 std::initializer_list<std::string_view> closing);
  void define(Cursor& in);
  void repeat(std::string_view name, Cursor& in);
  void repeat_over(std::string_view name, Cursor& in);
  void include(Cursor& in);
  void leave_macro();
  [[noreturn]] void stop(const std::string& message);
  std::string path_of(Cursor& in);

  std::optional<std::string> folder_;
  ArgumentStyle style_;
  Conditions conditions_;
  std::deque<Buffer> buffers_;  ///< views into their texts hold while others are pushed
  bool stopped_ = false;
  std::map<std::string, Macro, std::less<>> macros_;
  uint64_t calls_ = 0;
  size_t expanded_lines_ = 0, expanded_bytes_ = 0;
};

}  // namespace lanewise::gcn
