#include "runtime/ir/scanner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "runtime/support/error.hpp"

namespace lanewise::ir::text {
namespace {

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

std::string show(char c) {
  if (c == '\n') return "the end of the line";
  if (c == '\0') return "the end of the text";
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte >= 0x7f ? fmt::format("byte {:#04x}", byte) : fmt::format("'{}'", c);
}

}  // namespace

char Scanner::peek() {
  while (!at_end()) {
    const char c = text_[pos_];
    if (c == ';') {
      while (!at_end() && text_[pos_] != '\n') ++pos_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      ++pos_;
    } else {
      return c == '\0' ? '\1' : c;
    }
  }
  return '\0';
}

bool Scanner::accept(char c) {
  if (peek() != c) return false;
  ++pos_;
  return true;
}

void Scanner::expect(char c) {
  if (!accept(c)) fail(fmt::format("{}, expected '{}'", show(peek()), c));
}

std::string_view Scanner::peek_word() {
  peek();
  size_t end = pos_;
  while (end < text_.size() && is_word(text_[end])) ++end;
  return text_.substr(pos_, end - pos_);
}

std::string_view Scanner::word(const char* what) {
  const std::string_view w = peek_word();
  if (w.empty()) fail(fmt::format("{}, expected {}", show(peek()), what));
  word_ = pos_;
  pos_ += w.size();
  return w;
}

bool Scanner::accept_word(std::string_view wanted) {
  if (peek_word() != wanted) return false;
  word_ = pos_;
  pos_ += wanted.size();
  return true;
}

void Scanner::expect_word(std::string_view wanted) {
  if (accept_word(wanted)) return;
  const std::string_view w = peek_word();
  fail(fmt::format("{}, expected '{}'", w.empty() ? show(peek()) : fmt::format("'{}'", w), wanted));
}

uint64_t Scanner::to_number(std::string_view digits, uint64_t most) const {
  const bool hex = digits.starts_with("0x");
  const std::string_view body = digits.substr(hex ? 2 : 0);
  uint64_t v = 0;
  const auto [end, error] =
      std::from_chars(body.data(), body.data() + body.size(), v, hex ? 16 : 10);
  if (error == std::errc::result_out_of_range || (error == std::errc() && v > most)) {
    fail_at_word(fmt::format("{} is too large, expected at most {}", digits, most));
  }
  if (error != std::errc() || end != body.data() + body.size()) {
    fail_at_word(fmt::format("'{}', expected a number", digits));
  }
  return v;
}

uint64_t Scanner::number(uint64_t most) {
  return to_number(word("a number"), most);
}

int64_t Scanner::signed_number() {
  const bool negative = accept('-');
  const uint64_t limit = uint64_t{1} << 63;
  const uint64_t v = number(negative ? limit : limit - 1);
  return static_cast<int64_t>(negative ? 0 - v : v);
}

std::string Scanner::quoted() {
  expect('"');
  std::string out;
  while (!at_end() && text_[pos_] != '"' && text_[pos_] != '\n') {
    char c = text_[pos_++];
    if (c == '\\') {
      if (at_end()) break;
      c = text_[pos_++];
      if (c == 'x') {
        unsigned byte = 0;
        const std::string_view digits = text_.substr(pos_, 2);
        const auto [end, error] =
            std::from_chars(digits.data(), digits.data() + digits.size(), byte, 16);
        if (error != std::errc() || end != digits.data() + 2) {
          fail("two hexadecimal digits expected after \\x");
        }
        pos_ += 2;
        c = static_cast<char>(byte);
      } else if (c != '"' && c != '\\') {
        fail(fmt::format("\\{} is no escape, expected \\\", \\\\ or \\xNN", show(c)));
      }
    }
    out += c;
  }
  if (at_end() || text_[pos_] != '"') fail("the string does not end on its line");
  ++pos_;
  return out;
}

void Scanner::end_of_line() {
  const char c = peek();
  if (c != '\n' && c != '\0') fail(fmt::format("{}, expected the end of the line", show(c)));
}

bool Scanner::next_line() {
  while (peek() == '\n') ++pos_;
  return !at_end();
}

void Scanner::fail(const std::string& message) const {
  fail_at(pos_, message);
}

void Scanner::fail_at_word(const std::string& message) const {
  fail_at(word_, message);
}

void Scanner::fail_at(size_t pos, const std::string& message) const {
  const std::string_view before = text_.substr(0, std::min(pos, text_.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const size_t start = before.rfind('\n');
  const size_t column = start == std::string_view::npos ? pos + 1 : pos - start;
  throw Error(ErrorKind::guest, fmt::format("{}:{}: error: {}", line, column, message));
}

}  // namespace lanewise::ir::text
