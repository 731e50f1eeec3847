#include "runtime/isa/gcn/text/source/macro.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace lanewise::gcn {
namespace {

bool in_identifier(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.';
}

/// Length of the operator in front, which ties what stands on both of its sides together, blanks
/// or not.
size_t operator_length(std::string_view text) {
  for (const std::string_view op : {"==", "!=", "||", "&&", "<<", ">>", "<=", ">=", "<>"})
    if (text.starts_with(op)) return 2;
  return !text.empty() && std::string_view("+-~/*|^&!<>").find(text[0]) != std::string_view::npos
             ? 1
             : 0;
}

std::string take_string(Cursor& in) {
  const size_t at = in.at();
  std::string out;
  in.seek(at + 1);
  for (; in.peek() != '"'; in.seek(in.at() + 1)) {
    if (in.peek() == '\0') Cursor::fail_at(at, "the text that begins here has no end");
    if (in.peek() == '\\') {
      out += '\\';
      in.seek(in.at() + 1);
    }
    out += in.peek();
  }
  in.seek(in.at() + 1);
  return out;
}

/// `<text>` with `!` in front of a character that is meant as it is; nothing where no end follows.
std::optional<std::string> take_angle(Cursor& in) {
  if (in.peek() != '<') return std::nullopt;
  std::string out;
  for (size_t n = 1;; ++n) {
    char c = in.peek(n);
    if (c == '>') {
      in.seek(in.at() + n + 1);
      return out;
    }
    if (c == '!') c = in.peek(++n);
    if (c == '\0') return std::nullopt;
    out += c;
  }
}

/// Ends at a comma or blank outside of parentheses. Nothing where no token stands: "" is one.
std::optional<std::string> read_argument(Cursor& in, const ArgumentStyle& style) {
  in.skip_blanks();
  if (style.alternate && in.peek() == '%') {
    in.seek(in.at() + 1);
    return std::to_string(style.evaluate(in));
  }
  if (style.alternate)
    if (auto text = take_angle(in)) return text;
  std::optional<std::string> out;
  const auto append = [&](std::string_view text) {
    if (!out) out.emplace();
    *out += text;
  };
  const size_t start = in.at();
  for (int depth = 0;;) {
    const char c = in.peek();
    if (depth != 0 && operator_length(in.rest()) == 2) {
      append(in.rest().substr(0, 2));
      in.seek(in.at() + 2);
      continue;
    }
    if (c == '=' && in.peek(1) != '=')
      Cursor::fail_at(in.at(), "'=' stands behind the name of a parameter only");
    if (depth == 0) {
      if (c == ',') return out;
      const size_t before = in.at();
      in.skip_blanks();
      if (const size_t n = operator_length(in.rest()); n != 0) {
        append(in.rest().substr(0, n));
        in.seek(in.at() + n);
        in.skip_blanks();
        continue;
      }
      if (in.at() != before) return out;
    }
    if (c == '\0') {
      if (depth != 0) Cursor::fail_at(start, "parentheses of the argument are not balanced");
      return out;
    }
    if (c == '"') {
      append(take_string(in));
      continue;
    }
    if (c == '(') ++depth;
    if (c == ')' && depth > 0) --depth;
    append({&c, 1});
    in.seek(in.at() + 1);
  }
}

/// `name =` in front of a value, which is no comparison.
std::string_view take_keyword(Cursor& in) {
  Cursor look = in;
  look.skip_blanks();
  const std::string_view name = read_name(look);
  if (name.empty() || !look.take('=') || look.peek() == '=') return {};
  in = look;
  return name;
}

size_t index_of(const std::vector<MacroParameter>& parameters, std::string_view name) {
  return static_cast<size_t>(std::ranges::find(parameters, name, &MacroParameter::name) -
                             parameters.begin());
}

MacroParameter read_parameter(Cursor& in, const Macro& macro, const ArgumentStyle& style) {
  MacroParameter p;
  const size_t at = in.at();
  p.name = read_name(in);
  if (p.name.empty()) in.fail("expected a parameter's name" + in.found());
  if (index_of(macro.parameters, p.name) != macro.parameters.size())
    Cursor::fail_at(at, fmt::format("macro '{}' has two parameters '{}'", macro.name, p.name));
  if (in.take(':')) {
    in.skip_blanks();
    const size_t qualifier_at = in.at();
    const std::string_view qualifier = read_name(in);
    p.required = qualifier == "req";
    p.rest = qualifier == "vararg";
    if (!p.required && !p.rest)
      Cursor::fail_at(qualifier_at, "expected req or vararg" + in.found(qualifier_at));
  }
  if (in.take('=')) p.otherwise = read_argument(in, style);
  return p;
}

}  // namespace

std::string_view read_name(Cursor& in) {
  in.skip_blanks();
  const size_t at = in.at();
  const std::string_view rest = in.rest();
  size_t n = 0;
  if (rest.empty() || std::isdigit(static_cast<unsigned char>(rest[0])) != 0) return {};
  while (n < rest.size() && (in_identifier(rest[n]) || rest[n] == '@')) ++n;
  in.seek(at + n);
  return rest.substr(0, n);
}

Macro read_macro_head(Cursor& in, const ArgumentStyle& style) {
  Macro m;
  m.name = read_name(in);
  if (m.name.empty()) in.fail("expected the macro's name" + in.found());
  in.take(',');
  while (!in.done()) {
    if (!m.parameters.empty() && m.parameters.back().rest)
      in.fail(fmt::format("'{}:vararg' takes all that follows: it is the last parameter",
                          m.parameters.back().name));
    m.parameters.push_back(read_parameter(in, m, style));
    in.take(',');
  }
  return m;
}

std::vector<std::string> read_call(Cursor& in, const Macro& macro, const ArgumentStyle& style) {
  const std::vector<MacroParameter>& wanted = macro.parameters;
  std::vector<std::optional<std::string>> given(wanted.size());
  bool by_name = false;
  for (size_t n = 0; !in.done(); ++n) {
    const size_t at = in.at();
    if (n >= wanted.size())
      Cursor::fail_at(at, fmt::format("macro '{}' takes {} arguments, and more are here",
                                      macro.name, wanted.size()));
    size_t to = n;
    if (const std::string_view keyword = take_keyword(in); !keyword.empty()) {
      by_name = true;
      to = index_of(wanted, keyword);
      if (to == wanted.size())
        Cursor::fail_at(at, fmt::format("macro '{}' has no parameter '{}'", macro.name, keyword));
    } else if (by_name) {
      Cursor::fail_at(at, "arguments stand in order or by name, not both");
    }
    const bool takes_rest = !wanted.empty() && n + 1 == wanted.size() && wanted.back().rest;
    std::optional<std::string> value;
    if (takes_rest) {
      value = std::string(in.rest());
      in.seek(in.at() + value->size());
    } else {
      value = read_argument(in, style);
    }
    if (value && to < given.size()) given[to] = std::move(value);
    in.take(',');
  }
  std::vector<std::string> out;
  for (size_t n = 0; n < wanted.size(); ++n) {
    if (!given[n] && wanted[n].required)
      in.fail(fmt::format("macro '{}' needs a value for '{}'", macro.name, wanted[n].name));
    out.push_back(given[n] ? *given[n] : wanted[n].otherwise.value_or(""));
  }
  return out;
}

std::vector<std::string> read_values(Cursor& in, const ArgumentStyle& style) {
  std::vector<std::string> out;
  while (!in.done()) {
    out.push_back(read_argument(in, style).value_or(""));
    in.take(',');
  }
  return out;
}

std::string substituted(const std::string& body, const std::vector<MacroParameter>& parameters,
                        const std::vector<std::string>& values, std::optional<uint64_t> count,
                        bool alternate) {
  std::string out;
  const auto name_at = [&](size_t at) {
    size_t end = at;
    while (end < body.size() && in_identifier(body[end])) ++end;
    return std::string_view(body).substr(at, end - at);
  };
  for (size_t at = 0; at < body.size();) {
    const bool escaped = body[at] == '\\' && at + 1 < body.size();
    if (!escaped && !(alternate && in_identifier(body[at]))) {
      out += body[at++];
      continue;
    }
    const size_t begin = at + (escaped ? 1 : 0);
    if (escaped && count && body[begin] == '@') {
      out += std::to_string(*count);
      at = begin + 1;
      continue;
    }
    const std::string_view name = name_at(begin);
    const size_t index = index_of(parameters, name);
    if (index < parameters.size()) {
      out += values[index];
    } else if (escaped && body.compare(begin, 2, "()") == 0) {
      at = begin + 2;
      continue;
    } else {
      out.append(body, at, begin - at + name.size());
    }
    at = begin + name.size();
  }
  return out;
}

}  // namespace lanewise::gcn
