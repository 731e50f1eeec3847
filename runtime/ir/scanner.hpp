// Characters and words of the IR's text form, with the place of every error.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lanewise::ir::text {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool at_end() const { return pos_ >= text_.size(); }
  /// Next character on this line after blanks and comments, '\n' at its end, 0 at the text's end.
  char peek();
  /// Takes `c` if it comes next.
  bool accept(char c);
  void expect(char c);
  /// Letters, digits, '_' and '.'; `what` says in the error what was expected.
  std::string_view word(const char* what);
  /// Takes the word if exactly this one comes next.
  bool accept_word(std::string_view wanted);
  void expect_word(std::string_view wanted);
  uint64_t number(uint64_t most = ~uint64_t{0});
  int64_t signed_number();
  std::string quoted();
  void end_of_line();
  /// Skips empty lines and comments; false at the end of the text.
  bool next_line();

  [[noreturn]] void fail(const std::string& message) const;
  /// Fails at the start of the word read last.
  [[noreturn]] void fail_at_word(const std::string& message) const;
  uint64_t to_number(std::string_view digits, uint64_t most) const;

 private:
  [[noreturn]] void fail_at(size_t pos, const std::string& message) const;
  std::string_view peek_word();

  std::string_view text_;
  size_t pos_ = 0, word_ = 0;
};

}  // namespace lanewise::ir::text
