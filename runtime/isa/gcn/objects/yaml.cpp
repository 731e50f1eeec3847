#include "runtime/isa/gcn/objects/yaml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "runtime/support/message.hpp"

namespace lanewise::gcn {
namespace {

std::string_view without_blanks(std::string_view s) {
  constexpr std::string_view kBlanks = " \t\r";
  s.remove_prefix(std::min(s.find_first_not_of(kBlanks), s.size()));
  return s.substr(0, s.find_last_not_of(kBlanks) + 1);
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\0';
}

class YamlReader {
 public:
  YamlReader(std::string_view text, Metadata& to) : to_(to) {
    for (size_t number = 0; !text.empty(); ++number) {
      const std::string_view line = text.substr(0, text.find('\n'));
      text.remove_prefix(std::min(line.size() + 1, text.size()));
      const std::string_view body = without_blanks(line);
      if (body.empty() || body[0] == '#' || line.starts_with("---") || line.starts_with("..."))
        continue;
      lines_.push_back({line.find_first_not_of(" \t"), body, number});
    }
  }

  void run() {
    if (lines_.empty()) return;
    block(0);
    if (!at_end()) fail("this line's indentation fits nothing in front of it");
  }

 private:
  struct Line {
    size_t indent;
    std::string_view body;
    size_t number;
  };

  bool at_end() const { return line_ == lines_.size(); }
  Line& now() { return lines_[line_]; }
  [[noreturn]] void fail(const std::string& message) const {
    const size_t last = lines_.empty() ? 0 : lines_.back().number;
    throw YamlError{line_ < lines_.size() ? lines_[line_].number : last, "metadata: " + message};
  }
  void check(bool shallow) const {
    if (!shallow) fail("nested too deeply");
  }
  void report(std::string text) { to_.string(text); }
  static bool is_item(std::string_view body) {
    return body.starts_with('-') && (body.size() == 1 || is_blank(body[1]));
  }

  void block(size_t least) {
    if (at_end() || now().indent < least) return report("");
    const size_t indent = now().indent;
    if (is_item(now().body)) return list(indent);
    if (key_length(now().body) != 0) return map(indent);
    inline_value();
  }

  void list(size_t indent) {
    check(to_.start_array());
    while (!at_end() && now().indent == indent && is_item(now().body)) {
      const std::string_view rest = without_blanks(now().body.substr(1));
      if (rest.empty() || rest[0] == '#') {
        ++line_;
      } else {
        now().indent += now().body.size() - rest.size();
        now().body = rest;
      }
      block(indent + 1);
    }
    to_.end_array();
  }

  /// The key in front of a colon, quotes included; 0 where there is none.
  static size_t key_length(std::string_view body) {
    const char quote = body[0] == '\'' || body[0] == '"' ? body[0] : '\0';
    if (body[0] == '[' || body[0] == '{') return 0;
    size_t from = 0;
    if (quote != '\0') from = body.find(quote, 1);
    if (from == std::string_view::npos) return 0;
    for (size_t at = body.find(':', from); at != std::string_view::npos;
         at = body.find(':', at + 1))
      if (at + 1 == body.size() || is_blank(body[at + 1])) return at;
    return 0;
  }

  void map(size_t indent) {
    check(to_.start_object());
    while (!at_end() && now().indent == indent && !is_item(now().body)) {
      const std::string_view body = now().body;
      const size_t colon = key_length(body);
      if (colon == 0) fail(fmt::format("expected 'key: value', found '{}'", cut_long_words(body)));
      to_.key(scalar(without_blanks(body.substr(0, colon))));
      const std::string_view rest = without_blanks(body.substr(colon + 1));
      if (!rest.empty() && rest[0] != '#') {
        now().body = rest;
        inline_value();
        continue;
      }
      ++line_;
      // Lists may stand as far out as their key.
      const bool list_here = !at_end() && now().indent == indent && is_item(now().body);
      list_here ? list(indent) : block(indent + 1);
    }
    to_.end_object();
  }

  /// What stands behind a key or dash: one line, but for flow style.
  void inline_value() {
    const std::string_view body = without_tag(now().body);
    if (body[0] != '[' && body[0] != '{') {
      report(scalar(without_comment(body)));
      ++line_;
      return;
    }
    rest_ = body;
    flow();
    skip_in_line();
    if (!rest_.empty() && rest_[0] != '#')
      fail(fmt::format("unexpected text behind the value: '{}'", cut_long_words(rest_)));
    ++line_;
  }
  /// Up to a comment; quoted texts may hold its sign.
  std::string_view without_comment(std::string_view body) const {
    const char quote = body[0];
    size_t from = 0;
    if (quote == '\'' || quote == '"') from = end_of_quoted(body);
    const size_t at = body.find(" #", from);
    return without_blanks(body.substr(0, at));
  }
  size_t end_of_quoted(std::string_view body) const {
    for (size_t n = 1; n < body.size(); ++n) {
      if (body[0] == '"' && body[n] == '\\') {
        ++n;
      } else if (body[n] == body[0]) {
        if (body[0] != '\'' || n + 1 == body.size() || body[n + 1] != '\'') return n + 1;
        ++n;
      }
    }
    fail("a text in quotes has no end in its line");
  }

  // --- flow style; `rest_` is what is left of the line ---
  void skip_in_line() {
    while (!rest_.empty() && is_blank(rest_[0])) rest_.remove_prefix(1);
  }
  void skip() {
    skip_in_line();
    while (rest_.empty() || rest_[0] == '#') {
      if (line_ + 1 >= lines_.size()) fail("a list or map in brackets has no end");
      ++line_;
      rest_ = now().body;
    }
  }
  bool take(char c) {
    skip();
    if (rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void flow() {
    skip();
    if (take('[')) {
      check(to_.start_array());
      while (!take(']')) {
        if (take(',')) continue;
        flow();
        if (!take(',') && rest_[0] != ']') fail("expected ',' or ']' in the list");
      }
      to_.end_array();
    } else if (take('{')) {
      check(to_.start_object());
      while (!take('}')) {
        to_.key(flow_scalar());
        const bool has_value = take(':') && (skip(), rest_[0] != ',' && rest_[0] != '}');
        has_value ? flow() : report("");
        // As LLVM has it a line's end separates, too.
        const size_t before = line_;
        if (!take(',') && rest_[0] != '}' && line_ == before)
          fail("expected ',' or '}' in the map");
      }
      to_.end_object();
    } else if (is_item(rest_)) {  // block style's list without brackets
      check(to_.start_array());
      while (skip(), is_item(rest_)) {
        rest_.remove_prefix(1);
        flow();
      }
      to_.end_array();
    } else {
      report(flow_scalar());
    }
  }
  std::string flow_scalar() {
    skip();
    rest_ = without_tag(rest_);
    size_t end = 0;
    if (rest_[0] == '\'' || rest_[0] == '"') {
      end = end_of_quoted(rest_);
    } else {
      const auto ends = [&](size_t n) {
        const char c = rest_[n], next = n + 1 < rest_.size() ? rest_[n + 1] : '\0';
        if (c == '#') return n > 0 && is_blank(rest_[n - 1]);
        if (c == ':') return is_blank(next) || next == ',' || next == ']' || next == '}';
        return c == ',' || c == '[' || c == ']' || c == '{' || c == '}';
      };
      while (end < rest_.size() && !ends(end)) ++end;
      if (end == 0) fail(fmt::format("expected a value, found '{}'", cut_long_words(rest_)));
    }
    const std::string out = scalar(without_blanks(rest_.substr(0, end)));
    rest_.remove_prefix(end);
    return out;
  }

  /// The text behind `!str`, which compilers write before what a reader would take for something
  /// else (an argument that is called n, or 1); else the text itself.
  static std::string_view without_tag(std::string_view text) {
    for (const std::string_view tag : {"!str ", "!!str "})
      if (text.starts_with(tag)) return without_blanks(text.substr(tag.size()));
    return text;
  }

  std::string scalar(std::string_view text) const {
    constexpr std::string_view kStyles = "&*|>!?%@`{[";
    if (text.empty()) return {};
    if (kStyles.find(text[0]) != std::string_view::npos)
      fail(fmt::format("this style of YAML is not read: '{}'", cut_long_words(text)));
    if (text[0] != '\'' && text[0] != '"') return std::string(text);
    if (end_of_quoted(text) != text.size())
      fail(fmt::format("unexpected text behind the quotes: '{}'", cut_long_words(text)));
    return text[0] == '"' ? unescaped(text) : single_quoted(text);
  }
  static std::string single_quoted(std::string_view text) {
    std::string out;
    for (size_t n = 1; n + 1 < text.size(); ++n) {
      if (text[n] == '\'') ++n;
      out += text[n];
    }
    return out;
  }
  std::string unescaped(std::string_view text) const {
    constexpr std::string_view kLetters = "0abtnvfre\"/\\", kMeant("\0\a\b\t\n\v\f\r\x1b\"/\\", 12);
    std::string out;
    for (size_t n = 1; n + 1 < text.size(); ++n) {
      if (text[n] != '\\') {
        out += text[n];
        continue;
      }
      const size_t which = kLetters.find(text[++n]);
      const bool hex = text[n] == 'x' && n + 3 < text.size();
      if (hex) {
        out += static_cast<char>(
            std::strtoul(std::string(text.substr(n + 1, 2)).c_str(), nullptr, 16));
        n += 2;
      } else if (which != std::string_view::npos) {
        out += kMeant[which];
      } else {
        fail("a text in quotes has an unknown character behind '\\'");
      }
    }
    return out;
  }

  std::vector<Line> lines_;
  size_t line_ = 0;
  std::string_view rest_;
  Metadata& to_;
};

}  // namespace

void read_yaml(std::string_view text, Metadata& to) {
  YamlReader(text, to).run();
}

}  // namespace lanewise::gcn
