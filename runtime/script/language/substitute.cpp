#include "runtime/script/language/substitute.hpp"

#include <fmt/format.h>

#include "runtime/script/language/expr.hpp"

namespace lanewise::script {
namespace {

bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool continues_name(char c) {
  return starts_name(c) || (c >= '0' && c <= '9');
}

/// Replaces whole words; numbers such as 0x1f are words of their own kind.
std::string replace_words(const std::string& text, const std::string& name,
                          const std::string& value, bool& names_left) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (!continues_name(text[i])) {
      out += text[i++];
      continue;
    }
    size_t end = i;
    while (end < text.size() && continues_name(text[end])) ++end;
    const std::string word = text.substr(i, end - i);
    if (word == name)
      out += value.starts_with('-') ? "(" + value + ")" : value;
    else
      out += word;
    if (word != name && starts_name(word[0])) names_left = true;
    if (word == name && starts_name(value.empty() ? '_' : value[0])) names_left = true;
    i = end;
  }
  return out;
}

std::string number_of(const std::string& text, Loc loc) {
  Lexer lexer(text, loc);
  const ExprPtr e = parse_expr(lexer);
  lexer.skip_newlines();
  if (!lexer.done()) fail(loc, fmt::format("'${{{}}}' is no expression", text));
  const Value v = evaluate(*e, {});
  if (v.is_real) return fmt::format("{}", v.real);
  return std::to_string(static_cast<int64_t>(v.bits));
}

}  // namespace

std::string substitute(const std::string& text, const std::string& name, const std::string& value,
                       Loc start) {
  std::string out;
  size_t at = 0;
  while (true) {
    const size_t open = text.find("${", at);
    const size_t close = open == std::string::npos ? open : text.find('}', open);
    if (close == std::string::npos) return out + text.substr(at);
    out += text.substr(at, open - at);
    const std::string inside = text.substr(open + 2, close - open - 2);
    at = close + 1;
    if (inside == name) {
      out += value;
      continue;
    }
    bool names_left = false;
    const std::string replaced = replace_words(inside, name, value, names_left);
    if (names_left || replaced == inside) {
      out += "${" + replaced + "}";
      continue;
    }
    Loc loc = start;
    for (size_t i = 0; i < open; ++i) loc.line += text[i] == '\n' ? 1 : 0;
    if (loc.line != start.line) loc.column = 1;
    out += number_of(replaced, loc);
  }
}

}  // namespace lanewise::script
