// A position in one line of text, shared by the parsers of SASS and GCN.
#pragma once

#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>

namespace lanewise {

/// Thrown inside the parser only; becomes a Diagnostic. `at` is an index into the line.
struct SyntaxError {
  size_t at;
  std::string message;
  bool value = false;  ///< well written, but out of range: says more than "expected a register"
};

class Cursor {
 public:
  Cursor(std::string_view text, size_t at = 0) : text_(text), at_(at) {}

  size_t at() const { return at_; }
  void seek(size_t at) { at_ = at; }
  bool done() {
    skip_blanks();
    return at_ >= text_.size();
  }
  char peek(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  /// Takes `word` only where no letter, digit or underscore follows it.
  bool take_word(std::string_view word) {
    skip_blanks();
    if (text_.substr(at_, word.size()) != word || is_word(peek(word.size()))) return false;
    at_ += word.size();
    return true;
  }
  void expect(char c, const char* where) {
    if (!take(c)) fail(std::string("expected '") + c + "' " + where + found());
  }
  std::string_view word() {
    skip_blanks();
    const size_t start = at_;
    while (is_word(peek())) ++at_;
    return text_.substr(start, at_ - start);
  }
  std::string_view until(std::string_view stops) {
    const size_t start = at_;
    while (at_ < text_.size() && stops.find(text_[at_]) == std::string_view::npos) ++at_;
    return text_.substr(start, at_ - start);
  }
  /// Hexadecimal with 0x, or decimal; no sign.
  uint64_t number(const char* what) {
    skip_blanks();
    const size_t start = at_;
    const bool hex = peek() == '0' && (peek(1) == 'x' || peek(1) == 'X');
    if (hex) at_ += 2;
    const size_t digits = at_;
    uint64_t value = 0;
    for (int d = digit(peek(), hex); d >= 0; d = digit(peek(), hex)) {
      if (value > (UINT64_MAX - 15) / (hex ? 16 : 10)) fail_at(start, "number too large");
      value = value * (hex ? 16 : 10) + static_cast<uint64_t>(d);
      ++at_;
    }
    if (at_ == digits || is_word(peek()))
      fail_at(start, std::string("expected ") + what + " as a decimal or 0x number" + found(start));
    return value;
  }
  std::string_view rest() const { return text_.substr(at_); }
  std::string found() { return found(at_); }
  std::string found(size_t at) {
    skip_blanks();
    if (at >= text_.size()) return ", found the end of the instruction";
    size_t end = at;
    while (end < text_.size() && is_word(text_[end])) ++end;
    if (end == at) ++end;
    return ", found '" + std::string(text_.substr(at, end - at)) + "'";
  }
  [[noreturn]] void fail(const std::string& message) {
    skip_blanks();
    throw SyntaxError{at_, message};
  }
  [[noreturn]] static void fail_value(size_t at, const std::string& message) {
    throw SyntaxError{at, message, true};
  }
  [[noreturn]] static void fail_at(size_t at, const std::string& message) {
    throw SyntaxError{at, message};
  }
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
  }

 private:
  static int digit(char c, bool hex) {
    if (c >= '0' && c <= '9') return c - '0';
    if (hex && c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (hex && c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
  }

  std::string_view text_;
  size_t at_;
};

}  // namespace lanewise
