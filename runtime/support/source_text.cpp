#include "runtime/support/source_text.hpp"

namespace lanewise {

std::string with_single_blanks(std::string_view text) {
  std::string out;
  for (char c : text) {
    const bool blank = c == ' ' || c == '\t' || c == '\r';
    if (!blank)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

std::string without_comments(std::string_view text, const CommentStyle& style) {
  std::string out(text);
  const auto at = [&](size_t i, std::string_view s) { return out.compare(i, s.size(), s) == 0; };
  bool begins = true;  // nothing but blanks so far in this line
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i] == '\n') {
      begins = true;
      continue;
    }
    if (out[i] == ' ' || out[i] == '\t') continue;
    if (const std::string_view end =
            begins && style.raw ? style.raw(std::string_view(out).substr(i)) : std::string_view();
        !end.empty()) {
      i = out.find(end, i);
      if (i == std::string::npos) break;
      continue;
    }
    const bool marker = style.assembler && begins && out[i] == '#';
    begins = false;
    if (style.assembler && out[i] == '"') {
      for (++i; i < out.size() && out[i] != '"' && out[i] != '\n'; ++i)
        if (out[i] == '\\' && i + 1 < out.size() && out[i + 1] != '\n') ++i;
      if (i < out.size() && out[i] == '\n') --i;
      continue;
    }
    const bool block = at(i, "/*");
    const bool semicolon = style.assembler && out[i] == ';';
    if (!block && !marker && !semicolon && !at(i, "//")) continue;
    size_t end = block ? out.find("*/", i + 2) : out.find('\n', i);
    end = end == std::string::npos ? out.size() : end + (block ? 2 : 0);
    for (; i < end; ++i)
      if (out[i] != '\n') out[i] = ' ';
    --i;
  }
  return out;
}

}  // namespace lanewise
