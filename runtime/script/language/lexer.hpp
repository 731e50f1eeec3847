// Tokens of stream scripts. A newline ends a statement except inside ( ) and [ ].
#pragma once

#include <string>
#include <string_view>

#include "runtime/script/problem.hpp"

namespace lanewise::script {

struct Token {
  enum class Kind : uint8_t { end, newline, word, integer, real, text, block, symbol };
  Kind kind = Kind::end;
  Loc loc;
  std::string text;   ///< words, symbols, contents of "..." and """..."""
  uint64_t bits = 0;  ///< integer
  double real = 0;
  size_t begin = 0, end = 0;  ///< place in the text
  bool is(Kind k, std::string_view t) const { return kind == k && text == t; }
};

/// What a message calls a token.
std::string spelled(const Token& token);

class Lexer {
 public:
  Lexer(std::string text, Loc start) : text_(std::move(text)), loc_(start) { advance(); }

  const Token& peek() const { return token_; }
  /// The token in front; throws Problem when it is malformed.
  Token take();
  bool done() const { return token_.kind == Token::Kind::end && bad_.empty(); }

  bool is_symbol(std::string_view s) const { return token_.is(Token::Kind::symbol, s); }
  bool is_word(std::string_view w) const { return token_.is(Token::Kind::word, w); }
  bool take_symbol(std::string_view s);
  bool take_word(std::string_view w);
  void expect_symbol(std::string_view s, const char* where);
  std::string expect_word(const char* what);
  std::string expect_text(const char* what);
  void skip_newlines();
  /// The statement must end here.
  void expect_end_of_statement();
  /// Error recovery: to the next statement of this level.
  void skip_statement();
  /// Raw characters between the `{` in front and its partner, which is taken too.
  std::string take_braced(Loc& start);
  /// Raw items of a `for`: a word, a "text" or a (tuple); empty at `{`.
  std::string take_item();

 private:
  void advance();
  void scan();
  void scan_number();
  void scan_text();
  void scan_block();
  void skip_blanks();
  void step(size_t n = 1);
  char at(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::string text_;
  size_t at_ = 0;
  Loc loc_;
  Token token_;
  std::string bad_;  ///< why the token in front is malformed
  int depth_ = 0;    ///< open ( and [
};

}  // namespace lanewise::script
