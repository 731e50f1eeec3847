#include "runtime/isa/ptx/text/lexer.hpp"

#include <array>
#include <cstdio>

namespace lanewise::ptx {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_word(char c) {
  return is_digit(c) || is_alpha(c) || c == '_';
}
bool is_follow(char c) {
  return is_word(c) || c == '$';
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

template <typename Test>
bool all_of(std::string_view text, Test test) {
  for (const char c : text) {
    if (!test(c)) return false;
  }
  return !text.empty();
}

/// Whether a run of letters and digits that starts with a digit is an integer constant.
bool is_integer(std::string_view word) {
  if (word.ends_with('U')) word.remove_suffix(1);
  if (word.size() > 1 && word[0] == '0') {
    const char base = word[1];
    if (base == 'x' || base == 'X') return all_of(word.substr(2), is_hex);
    if (base == 'b' || base == 'B') {
      return all_of(word.substr(2), [](char c) { return c == '0' || c == '1'; });
    }
    return all_of(word, [](char c) { return c >= '0' && c <= '7'; });
  }
  return all_of(word, is_digit);
}

std::string hex_byte(char c) {
  std::array<char, 8> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "0x%02X", static_cast<unsigned char>(c));
  return buffer.data();
}

class Lexer {
 public:
  Lexer(std::string_view text, size_t max_errors) : text_(text), max_errors_(max_errors) {}

  LexResult run() {
    if (!check_text()) {
      result_.unreadable = true;
    } else {
      if (text_.starts_with("\xEF\xBB\xBF")) pos_ = line_start_ = 3;
      while (!full() && next()) {
      }
    }
    begin();
    push(Token::Kind::end);
    return std::move(result_);
  }

 private:
  char at(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  bool full() const { return max_errors_ != 0 && result_.diagnostics.size() >= max_errors_; }

  void error(uint32_t line, uint32_t column, std::string message) {
    result_.diagnostics.push_back({line, column, std::move(message)});
  }
  void error_here(std::string message) { error(start_line_, start_column_, std::move(message)); }

  /// The parser meets a token that was reported already and drops its statement in silence.
  void stray(std::string message) {
    error_here(std::move(message));
    push(Token::Kind::malformed);
  }

  /// Refuses what cannot be PTX text with a single message.
  bool check_text() {
    if (text_.size() > kMaxTextBytes) {
      error(1, 1, "the file is larger than 512 MiB, a smaller PTX file was expected");
      return false;
    }
    // The PTX image in a fat binary ends with a zero byte or several.
    while (text_.ends_with('\0')) text_.remove_suffix(1);
    if (text_.starts_with("\x7F"
                          "ELF")) {
      error(1, 1, "this is an ELF file (a cubin?), PTX text was expected");
      return false;
    }
    for (size_t i = 0, line = 1, start = 0; i < text_.size(); ++i) {
      if (text_[i] == '\n') ++line, start = i + 1;
      if (text_[i] != '\0') continue;
      error(static_cast<uint32_t>(line), static_cast<uint32_t>(i - start + 1),
            "byte 0x00: this is a binary file, PTX text was expected");
      return false;
    }
    return true;
  }

  void begin() {
    start_ = pos_;
    start_line_ = line_;
    start_column_ = static_cast<uint32_t>(pos_ - line_start_ + 1);
  }

  void push(Token::Kind kind, uint16_t punct = 0) {
    Token t;
    t.kind = kind;
    t.punct = punct;
    t.line = start_line_;
    t.column = start_column_;
    t.offset = static_cast<uint32_t>(start_);
    t.length = static_cast<uint32_t>(pos_ - start_);
    t.first_on_line = result_.tokens.empty() || result_.tokens.back().line != t.line;
    result_.tokens.push_back(t);
  }

  void new_line() {
    ++pos_;
    ++line_;
    line_start_ = pos_;
  }
  void skip_line() {
    while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
  }

  /// Reads one token or one run of white space; false at the end of the text.
  bool next() {
    if (pos_ >= text_.size()) return false;
    const char c = text_[pos_];
    if (c == '\n') {
      new_line();
      return true;
    }
    if (is_space(c)) {
      ++pos_;
      return true;
    }
    begin();
    if (c == '/' && at(pos_ + 1) == '/') {
      skip_line();
    } else if (c == '/' && at(pos_ + 1) == '*') {
      block_comment();
    } else if (c == '"') {
      string();
    } else if (c == '#') {
      line_marker();
    } else if (c == '@' && text_.substr(pos_).starts_with("@@DWARF")) {
      skip_line();  // debug data of very old compilers
    } else if (is_digit(c)) {
      number();
    } else if (c == '.') {
      dot();
    } else if (is_alpha(c) || ((c == '_' || c == '%' || c == '$') && is_follow(at(pos_ + 1)))) {
      ++pos_;
      while (is_follow(at(pos_))) ++pos_;
      push(Token::Kind::identifier);
    } else if (c == '_') {
      ++pos_;
      push(Token::Kind::identifier);
    } else {
      punctuation(c);
    }
    return true;
  }

  void block_comment() {
    pos_ += 2;
    while (pos_ < text_.size()) {
      if (text_[pos_] == '*' && at(pos_ + 1) == '/') {
        pos_ += 2;
        return;
      }
      if (text_[pos_] == '\n') {
        new_line();
      } else {
        ++pos_;
      }
    }
    error_here("the comment has no end, `*/` was expected");
    result_.cut = true;
  }

  void string() {
    ++pos_;
    while (pos_ < text_.size() && text_[pos_] != '\n' && text_[pos_] != '"') {
      pos_ += text_[pos_] == '\\' && (at(pos_ + 1) == '"' || at(pos_ + 1) == '\\') ? 2 : 1;
    }
    if (at(pos_) == '"') {
      ++pos_;
    } else {
      error_here("the string has no end, `\"` was expected on the same line");
    }
    push(Token::Kind::string);
  }

  /// `# 12 "file.cu"` is left over by a preprocessor; anything else asks for one.
  void line_marker() {
    size_t i = pos_ + 1;
    while (is_space(at(i))) ++i;
    if (!is_digit(at(i)) && !text_.substr(i).starts_with("line")) {
      error_here("preprocessor directives are not run, preprocessed PTX was expected");
      push(Token::Kind::malformed);
    }
    skip_line();
  }

  void number() {
    while (is_word(at(pos_))) ++pos_;
    const std::string_view word = text_.substr(start_, pos_ - start_);
    if (word.size() > 1 && word[0] == '0') {
      const char kind = word[1];
      if (kind == 'f' || kind == 'F') return hex_float(word, 8, Token::Kind::single);
      if (kind == 'd' || kind == 'D') return hex_float(word, 16, Token::Kind::double_);
    }
    pos_ = start_;
    if (decimal_float()) return;
    while (is_follow(at(pos_))) ++pos_;
    if (is_integer(text_.substr(start_, pos_ - start_))) return push(Token::Kind::integer);
    malformed("a decimal, 0x, 0b, octal, 0f or 0d constant was expected");
  }

  void hex_float(std::string_view word, size_t digits, Token::Kind kind) {
    if (word.size() == digits + 2 && all_of(word.substr(2), is_hex)) return push(kind);
    malformed(std::to_string(digits) + " hex digits were expected after `" +
              std::string(word.substr(0, 2)) + "`");
  }

  void malformed(const std::string& expected) {
    std::string word(text_.substr(start_, std::min<size_t>(pos_ - start_, 40)));
    error_here("malformed number `" + word + "`, " + expected);
    push(Token::Kind::malformed);
  }

  /// `1.5`, `1.`, `1e5`, `.5e-3`; leaves pos_ alone when it is none of them.
  bool decimal_float() {
    size_t i = pos_;
    bool is_float = false;
    while (is_digit(at(i))) ++i;
    if (at(i) == '.' && !is_alpha(at(i + 1)) && at(i + 1) != '_') {
      is_float = true;
      ++i;
      while (is_digit(at(i))) ++i;
    }
    if (at(i) == 'e' || at(i) == 'E') {
      size_t j = i + 1;
      if (at(j) == '+' || at(j) == '-') ++j;
      if (is_digit(at(j))) {
        is_float = true;
        i = j;
        while (is_digit(at(i))) ++i;
      }
    }
    if (!is_float) return false;
    pos_ = i;
    if (is_follow(at(pos_))) {
      while (is_follow(at(pos_))) ++pos_;
      malformed("a decimal floating-point constant was expected");
    } else {
      push(Token::Kind::decimal);
    }
    return true;
  }

  void dot() {
    const bool joined = start_ > 0 && is_follow(text_[start_ - 1]);
    if (!joined && is_digit(at(pos_ + 1)) && is_dot_float()) {
      decimal_float();
      return;
    }
    ++pos_;
    if (!is_word(at(pos_))) return stray("`.` stands alone, a name was expected right after it");
    while (true) {
      while (is_word(at(pos_))) ++pos_;
      if (at(pos_) != ':' || at(pos_ + 1) != ':' || !is_word(at(pos_ + 2))) break;
      pos_ += 2;
    }
    push(Token::Kind::modifier);
  }

  /// `.5` and `.5e3`, but not `.1d` or `.16x256b`.
  bool is_dot_float() const {
    size_t i = pos_ + 1;
    while (is_digit(at(i))) ++i;
    if (at(i) == 'e' || at(i) == 'E') {
      const char sign = at(i + 1);
      return is_digit(sign) || ((sign == '+' || sign == '-') && is_digit(at(i + 2)));
    }
    return !is_follow(at(i)) && at(i) != ':';
  }

  void punctuation(char c) {
    static constexpr std::string_view kSingle = "{}[]()<>,;:+-*/%!~&|^?=@";
    static constexpr std::array<std::string_view, 8> kDouble = {
        "==", "!=", "<=", ">=", "<<", ">>", "&&", "||"};
    for (const std::string_view pair : kDouble) {
      if (text_.substr(pos_, 2) != pair) continue;
      pos_ += 2;
      return push(Token::Kind::punct, punct2(pair[0], pair[1]));
    }
    if (kSingle.find(c) != std::string_view::npos) {
      ++pos_;
      return push(Token::Kind::punct, static_cast<unsigned char>(c));
    }
    // One message for a run of them: a byte of UTF-8 seldom comes alone.
    const auto is_stray = [](char b) {
      const auto u = static_cast<unsigned char>(b);
      return u >= 0x7F || (u < 0x20 && b != '\n' && !is_space(b));
    };
    if (is_stray(c)) {
      while (pos_ < text_.size() && is_stray(text_[pos_])) ++pos_;
      return stray("byte " + hex_byte(c) + " is not part of PTX, ASCII text was expected");
    }
    ++pos_;
    stray(std::string("`") + c +
          "` has no meaning in PTX, a name, number or operator was expected");
  }

  std::string_view text_;
  size_t max_errors_;
  LexResult result_;
  size_t pos_ = 0, line_start_ = 0, start_ = 0;
  uint32_t line_ = 1, start_line_ = 1, start_column_ = 1;
};

}  // namespace

LexResult tokenize(std::string_view text, size_t max_errors) {
  return Lexer(text, max_errors).run();
}

}  // namespace lanewise::ptx
