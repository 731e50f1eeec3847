#include "runtime/script/language/lexer.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace lanewise::script {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}
bool is_name(char c) {
  return is_letter(c) || is_digit(c);
}

constexpr std::array<std::string_view, 13> kSymbols = {">>>", "..", "==", "!=", "<=", ">=", "<<",
                                                       ">>",  "&&", "||", "{",  "}",  "->"};

}  // namespace

std::string spelled(const Token& t) {
  switch (t.kind) {
    case Token::Kind::end:
      return "the end of the text";
    case Token::Kind::newline:
      return "the end of the line";
    case Token::Kind::text:
      return fmt::format("\"{}\"", t.text);
    case Token::Kind::block:
      return "a \"\"\" block";
    default:
      return fmt::format("'{}'", t.text);
  }
}

void Lexer::step(size_t n) {
  for (; n > 0 && at_ < text_.size(); --n, ++at_) {
    if (text_[at_] == '\n') {
      ++loc_.line;
      loc_.column = 1;
    } else {
      ++loc_.column;
    }
  }
}

void Lexer::skip_blanks() {
  while (at_ < text_.size()) {
    const char c = at();
    if (c == '#' || (c == '/' && at(1) == '/')) {
      while (at_ < text_.size() && at() != '\n') step();
    } else if (c == ' ' || c == '\t' || c == '\r' || (c == '\n' && depth_ > 0)) {
      step();
    } else {
      return;
    }
  }
}

void Lexer::scan_number() {
  const char* begin = text_.data() + at_;
  const bool hex = at() == '0' && (at(1) == 'x' || at(1) == 'X');
  const bool binary = at() == '0' && (at(1) == 'b' || at(1) == 'B');
  size_t length = hex || binary ? 2 : 0;
  const auto digit = [&](char c) {
    return hex ? is_name(c) : is_digit(c) || (binary && is_name(c)) || c == '_';
  };
  while (digit(at(length))) ++length;
  bool real = false;
  if (!hex && !binary) {
    if (at(length) == '.' && at(length + 1) != '.') {
      real = true;
      ++length;
      while (is_digit(at(length))) ++length;
    }
    if (at(length) == 'e' || at(length) == 'E') {
      const size_t sign = at(length + 1) == '-' || at(length + 1) == '+' ? 1 : 0;
      if (is_digit(at(length + 1 + sign))) {
        real = true;
        length += 1 + sign;
        while (is_digit(at(length))) ++length;
      }
    }
  }
  while (is_name(at(length))) {  // 12abc
    ++length;
    bad_ = "malformed number";
  }
  std::string digits;
  for (size_t i = 0; i < length; ++i)
    if (begin[i] != '_') digits += begin[i];
  token_.text.assign(begin, length);
  token_.kind = real ? Token::Kind::real : Token::Kind::integer;
  const char* first = digits.data() + (hex || binary ? 2 : 0);
  const char* last = digits.data() + digits.size();
  std::from_chars_result r{};
  if (real)
    r = std::from_chars(first, last, token_.real);
  else
    r = std::from_chars(first, last, token_.bits, hex ? 16 : binary ? 2 : 10);
  if (r.ec == std::errc::result_out_of_range)
    bad_ = fmt::format("the number {} is too large", token_.text);
  else if (r.ec != std::errc() || r.ptr != last)
    bad_ = fmt::format("malformed number '{}'", token_.text);
  step(length);
}

void Lexer::scan_text() {
  token_.kind = Token::Kind::text;
  step();
  while (at_ < text_.size() && at() != '"' && at() != '\n') {
    token_.text += at();
    step();
  }
  if (at() != '"') {
    bad_ = "a \"text\" must end on its line";
    return;
  }
  step();
}

void Lexer::scan_block() {
  token_.kind = Token::Kind::block;
  step(3);
  if (at() == '\r') step();
  if (at() == '\n') step();
  token_.loc = loc_;
  const size_t end = text_.find("\"\"\"", at_);
  if (end == std::string::npos) {
    bad_ = "this \"\"\" block is never closed";
    step(text_.size() - at_);
    return;
  }
  token_.text = text_.substr(at_, end - at_);
  step(end - at_ + 3);
}

void Lexer::scan() {
  const char c = at();
  if (c == '\n' || c == ';') {
    token_.kind = Token::Kind::newline;
    return step();
  }
  if (is_digit(c) || (c == '.' && is_digit(at(1)))) return scan_number();
  if (c == '"') return at(1) == '"' && at(2) == '"' ? scan_block() : scan_text();
  if (is_letter(c) || ((c == '%' || c == '.') && is_letter(at(1)))) {
    token_.kind = Token::Kind::word;
    size_t n = 1;
    while (is_name(at(n)) || (at(n) == '.' && is_name(at(n + 1)))) ++n;
    token_.text = text_.substr(at_, n);
    if (token_.text.back() == '$' && at(n) == '{') bad_ = "no 'for' binds what stands in '${...}'";
    return step(n);
  }
  token_.kind = Token::Kind::symbol;
  for (const std::string_view s : kSymbols) {
    if (text_.compare(at_, s.size(), s) != 0) continue;
    token_.text = s;
    return step(s.size());
  }
  token_.text = c;
  if (std::string_view("()[],=:+-*/%&|^~!<>?").find(c) == std::string_view::npos)
    bad_ = static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f
               ? fmt::format("unexpected byte 0x{:02x}", static_cast<unsigned char>(c))
               : fmt::format("unexpected character '{}'", c);
  if (c == '(' || c == '[') ++depth_;
  if ((c == ')' || c == ']') && depth_ > 0) --depth_;
  step();
}

void Lexer::advance() {
  bad_.clear();
  token_ = {};
  skip_blanks();
  token_.loc = loc_;
  token_.begin = at_;
  if (at_ < text_.size()) scan();
  token_.end = at_;
}

Token Lexer::take() {
  if (!bad_.empty()) {
    const Problem problem{token_.loc, bad_};
    advance();
    throw problem;
  }
  Token t = std::move(token_);
  advance();
  return t;
}

bool Lexer::take_symbol(std::string_view s) {
  if (!is_symbol(s)) return false;
  take();
  return true;
}
bool Lexer::take_word(std::string_view w) {
  if (!is_word(w)) return false;
  take();
  return true;
}

void Lexer::expect_symbol(std::string_view s, const char* where) {
  if (!bad_.empty()) take();
  if (!take_symbol(s))
    fail(token_.loc, fmt::format("expected '{}' {}, found {}", s, where, spelled(token_)));
}
std::string Lexer::expect_word(const char* what) {
  if (!bad_.empty()) take();
  if (token_.kind != Token::Kind::word)
    fail(token_.loc, fmt::format("expected {}, found {}", what, spelled(token_)));
  return take().text;
}
std::string Lexer::expect_text(const char* what) {
  if (!bad_.empty()) take();
  if (token_.kind != Token::Kind::text)
    fail(token_.loc, fmt::format("expected {}, found {}", what, spelled(token_)));
  return take().text;
}

void Lexer::skip_newlines() {
  while (token_.kind == Token::Kind::newline) take();
}

void Lexer::expect_end_of_statement() {
  if (!bad_.empty()) take();
  if (token_.kind == Token::Kind::end || is_symbol("}")) return;
  if (token_.kind != Token::Kind::newline)
    fail(token_.loc, fmt::format("expected the end of the line, found {}", spelled(token_)));
  take();
}

void Lexer::skip_statement() {
  depth_ = 0;
  int braces = 0;
  while (token_.kind != Token::Kind::end) {
    if (is_symbol("{")) ++braces;
    if (is_symbol("}") && braces-- == 0) return;
    const bool ends = token_.kind == Token::Kind::newline && braces == 0;
    depth_ = 0;
    advance();
    if (ends) return;
  }
}

std::string Lexer::take_braced(Loc& start) {
  const Loc open = token_.loc;
  if (!is_symbol("{")) fail(open, fmt::format("expected '{{', found {}", spelled(token_)));
  start = loc_;
  const size_t begin = token_.end;
  advance();
  for (int braces = 1; token_.kind != Token::Kind::end; advance()) {
    depth_ = 0;
    if (is_symbol("{")) ++braces;
    if (is_symbol("}") && --braces == 0) {
      std::string body = text_.substr(begin, token_.begin - begin);
      advance();
      return body;
    }
    // `${` opens a brace of its own that belongs to no block.
    if (token_.kind == Token::Kind::word && token_.text.back() == '$' && at() == '{') {
      const size_t close = text_.find_first_of("}\n", at_);
      step((close == std::string::npos ? text_.size() : close + 1) - at_);
    }
  }
  fail(open, "this '{' is never closed");
}

std::string Lexer::take_item() {
  skip_newlines();
  if (token_.kind == Token::Kind::end || is_symbol("{")) return {};
  // Back to the raw characters of the token in front.
  loc_ = token_.loc;
  at_ = token_.begin;
  depth_ = 0;
  const size_t begin = at_;
  if (at() == '(' || at() == '"') {
    const char close = at() == '(' ? ')' : '"';
    step();
    while (at_ < text_.size() && at() != close && at() != '\n') step();
    if (at() != close) fail(loc_, fmt::format("expected '{}' on the same line", close));
    step();
  } else {
    while (at_ < text_.size() &&
           std::string_view(" \t\r\n{}(),").find(at()) == std::string_view::npos)
      step();
    if (at_ == begin) fail(loc_, fmt::format("unexpected '{}' in the values of a 'for'", at()));
  }
  std::string item = text_.substr(begin, at_ - begin);
  advance();
  return item;
}

}  // namespace lanewise::script
