#include "runtime/script/language/parser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "runtime/script/language/substitute.hpp"

namespace lanewise::script {
namespace {

constexpr uint64_t kMaxExpanded = uint64_t{1} << 26;
constexpr size_t kMaxCases = 100000;
constexpr unsigned kMaxNesting = 8;

void trim(std::string& s) {
  const size_t first = s.find_first_not_of(" \t");
  s = first == std::string::npos ? "" : s.substr(first, s.find_last_not_of(" \t") - first + 1);
}

/// "(u8, 1)" to its parts; anything else is one part, quotes removed.
std::vector<std::string> parts_of(std::string item) {
  std::vector<std::string> parts;
  if (item.front() == '"') return {item.substr(1, item.size() - 2)};
  if (item.front() != '(') return {item};
  item = item.substr(1, item.size() - 2);
  size_t at = 0;
  while (at <= item.size()) {
    const size_t open = item.find_first_not_of(" \t", at);
    if (open != std::string::npos && item[open] == '"') {
      const size_t close = item.find('"', open + 1);
      if (close != std::string::npos) {
        parts.push_back(item.substr(open + 1, close - open - 1));
        const size_t comma = item.find(',', close);
        at = comma == std::string::npos ? item.size() + 1 : comma + 1;
        continue;
      }
    }
    const size_t comma = std::min(item.find(',', at), item.size());
    parts.push_back(item.substr(at, comma - at));
    trim(parts.back());
    at = comma + 1;
  }
  return parts;
}

int64_t bound(std::string_view text, Loc loc) {
  int64_t v = 0;
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), v);
  if (ec != std::errc() || end != text.data() + text.size())
    fail(loc, fmt::format("'{}' is no bound of a range, expected a decimal number", text));
  return v;
}

}  // namespace

void Parser::run(std::string_view text) {
  Lexer lexer{std::string(text), {}};
  lex_ = &lexer;
  statements(nullptr);
  lex_ = nullptr;
  // Where the names distinguish the cases, the sweep's values need not be repeated.
  std::map<std::string, size_t> uses;
  for (const Case& c : script_.cases) ++uses[c.name];
  for (Case& c : script_.cases)
    if (uses[c.name] == 1) c.bindings.clear();
  std::ranges::stable_sort(script_.diagnostics, {},
                           [](const Diagnostic& d) { return std::pair(d.line, d.column); });
}

std::string Parser::bindings_text() const {
  std::string out;
  for (const auto& [name, value] : bindings_)
    out += fmt::format("{}{} = {}", out.empty() ? "" : ", ", name, value);
  return out;
}

void Parser::report(const Problem& p) {
  if (full()) return;
  std::string message = p.message;
  if (!bindings_.empty()) message += fmt::format(" (with {})", bindings_text());
  script_.diagnostics.push_back({p.loc.line, p.loc.column, std::move(message), false});
}

/// Up to the end of the text or, inside a case, to its closing brace.
void Parser::statements(Case* current) {
  while (!full()) {
    try {
      lex_->skip_newlines();
      if (lex_->done()) return;
      if (lex_->is_symbol("}")) {
        if (current != nullptr && depth_ == 0) return;
        fail(lex_->take().loc, "'}' without '{'");
      }
      statement(current);
    } catch (const Problem& p) {
      report(p);
      lex_->skip_statement();
    }
  }
}

void Parser::statement(Case* current) {
  const Loc loc = lex_->peek().loc;
  const std::string word = lex_->expect_word("a statement");
  Token keyword;
  keyword.loc = loc;
  keyword.text = word;
  if (word == "for") return for_(current, loc);
  if (word == "case") {
    if (current != nullptr) fail(loc, "a case cannot stand inside a case");
    return case_(keyword);
  }
  Case& target = current != nullptr ? *current : defaults_;
  if (setting(target, keyword)) return lex_->expect_end_of_statement();
  if (current == nullptr) {
    const bool known = word == "code" || word == "expect" || word == "launch" || word == "dump";
    fail(loc,
         known ? fmt::format("'{}' belongs inside a case", word)
               : fmt::format("unknown statement '{}'; expected a case, a for or a setting", word));
  }
  if (!step(*current, keyword))
    fail(loc, fmt::format("unknown statement '{}'; expected a setting, reg, param, buffer, let, "
                          "code, launch, expect, dump or for",
                          word));
  lex_->expect_end_of_statement();
}

void Parser::case_(const Token& keyword) {
  Case c = defaults_;
  c.loc = keyword.loc;
  c.name = lex_->expect_text("the case's \"name\"");
  c.bindings = bindings_text();
  lex_->skip_newlines();
  lex_->expect_symbol("{", "after the case's name");
  const size_t errors = script_.diagnostics.size();
  const unsigned outer = std::exchange(depth_, 0);
  statements(&c);
  depth_ = outer;
  lex_->expect_symbol("}", "at the end of the case");
  const bool runs = std::ranges::any_of(c.steps, [](const Step& s) {
    return std::holds_alternative<Code>(s) || std::holds_alternative<Launch>(s);
  });
  if (errors != script_.diagnostics.size()) return;
  if (!runs) fail(c.loc, "this case runs nothing: it needs a code or a launch");
  const auto [known, fresh] = seen_.try_emplace({c.name, c.bindings}, c.loc.line);
  if (!fresh)
    fail(c.loc, fmt::format("there is a case \"{}\" on line {} already", c.name, known->second));
  if (script_.cases.size() >= kMaxCases) fail(c.loc, "too many cases");
  script_.cases.push_back(std::move(c));
}

std::vector<std::string> Parser::loop_names() {
  std::vector<std::string> names;
  const bool tuple = lex_->take_symbol("(");
  do {
    names.push_back(lex_->expect_word("the name of a loop variable"));
  } while (tuple && lex_->take_symbol(","));
  if (tuple) lex_->expect_symbol(")", "after the loop variables");
  return names;
}

/// `0..7` or `0..64` followed by `step 8`: numbers from the first to the last.
void Parser::add_range(std::vector<std::vector<std::string>>& out, const std::string& item,
                       Loc loc) {
  const size_t dots = item.find("..");
  const int64_t first = bound(std::string_view(item).substr(0, dots), loc);
  const int64_t last = bound(std::string_view(item).substr(dots + 2), loc);
  int64_t by = 1;
  if (lex_->is_word("step")) {
    lex_->take();
    by = static_cast<int64_t>(number("a step", 1, 1U << 30));
  }
  if (last < first) fail(loc, "the range ends before it starts");
  if (static_cast<uint64_t>(last) - static_cast<uint64_t>(first) > uint64_t{1} << 20)
    fail(loc, "the range is too long");
  for (int64_t v = first; v <= last; v += by) out.push_back({std::to_string(v)});
}

std::vector<std::vector<std::string>> Parser::loop_items(size_t names) {
  std::vector<std::vector<std::string>> items;
  while (true) {
    const Loc loc = lex_->peek().loc;
    const std::string item = lex_->take_item();
    if (item.empty()) break;
    const bool plain = item.front() != '(' && item.front() != '"';
    if (plain && names == 1 && item.find("..") != std::string::npos) {
      add_range(items, item, loc);
      continue;
    }
    items.push_back(parts_of(item));
    if (items.back().size() != names)
      fail(loc, fmt::format("expected {} values, found {}", names, items.back().size()));
  }
  return items;
}

void Parser::for_(Case* current, Loc loc) {
  // Before the values: a million of them may stand in a line.
  if (depth_ + 1 > kMaxNesting) fail(loc, "loops are nested too deeply");
  const std::vector<std::string> names = loop_names();
  if (!lex_->take_word("in")) fail(lex_->peek().loc, "expected 'in' after the loop variable");
  const auto items = loop_items(names.size());
  if (items.empty()) fail(loc, "the 'for' has no values");
  Loc start;
  const std::string body = lex_->take_braced(start);
  const Case saved = defaults_;
  Lexer* const outer = lex_;
  for (const auto& values : items) {
    std::string text = body;
    for (size_t n = 0; n < names.size(); ++n) text = substitute(text, names[n], values[n], start);
    expanded_ += text.size() + 1;
    if (expanded_ > kMaxExpanded) fail(loc, "the loops make too much text");
    for (size_t n = 0; n < names.size(); ++n) bindings_.emplace_back(names[n], values[n]);
    Lexer inner(std::move(text), start);
    lex_ = &inner;
    ++depth_;
    statements(current);
    --depth_;
    lex_ = outer;
    bindings_.resize(bindings_.size() - names.size());
    if (current == nullptr) defaults_ = saved;
    if (full()) break;
  }
}

Script parse(std::string_view text, size_t max_errors) {
  Script script;
  if (text.find('\0') != std::string_view::npos) {
    script.diagnostics.push_back({1, 1, "this is a binary file, expected a stream script", false});
    return script;
  }
  Parser(script, max_errors).run(text);
  if (script.cases.empty() && script.diagnostics.empty())
    script.diagnostics.push_back({1, 1, "the script holds no case", false});
  return script;
}

uint32_t wave_lanes(const Case& c) {
  return c.isa == ir::Isa::gcn ? 64 : 32;
}
Dim3 block_of(const Case& c) {
  return c.block.value_or(Dim3{c.waves * wave_lanes(c), 1, 1});
}

}  // namespace lanewise::script
