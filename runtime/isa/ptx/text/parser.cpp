#include "runtime/isa/ptx/text/parser.hpp"

#include <algorithm>
#include <array>

namespace lanewise::ptx {
namespace {

/// Directives that stand only at the start of a statement, never after an opcode.
constexpr std::array<std::string_view, 13> kStatementDirectives = {
    "reg",  "loc",     "pragma",  "branchtargets", "calltargets", "callprototype", "entry",
    "func", "section", "visible", "extern",        "file",        "version"};
constexpr std::array<std::string_view, 15> kModuleDirectives = {
    "visible", "weak", "extern",  "common", "entry",   "func",   "global",      "const",
    "shared",  "file", "section", "alias",  "version", "target", "address_size"};

}  // namespace

std::string quoted(std::string_view text) {
  std::string out(1, '`');
  out.append(text);
  out.push_back('`');
  return out;
}

const Token& Parser::peek(size_t ahead) const {
  return tokens_[std::min(pos_ + ahead, tokens_.size() - 1)];
}

const Token& Parser::take() {
  const Token& t = peek();
  if (pos_ + 1 < tokens_.size()) ++pos_;
  return t;
}

bool Parser::is(size_t ahead, char c) const {
  const Token& t = peek(ahead);
  return t.kind == Kind::punct && t.punct == c;
}

bool Parser::is_modifier(std::string_view name) const {
  return peek().kind == Kind::modifier && modifier_of(peek()) == name;
}

bool Parser::is_name(size_t ahead) const {
  const Token& t = peek(ahead);
  return t.kind == Kind::identifier && text_of(t) != "_" && text_of(t) != "WARP_SZ";
}

bool Parser::accept(char c) {
  if (!is(c)) return false;
  take();
  return true;
}

void Parser::expect(char c, std::string_view where) {
  if (!accept(c)) fail_expected(quoted({&c, 1}) + " " + std::string(where));
}

std::string Parser::take_name(std::string_view what) {
  if (!is_name()) fail_expected(what);
  return std::string(text_of(take()));
}

uint64_t Parser::take_integer(std::string_view what) {
  if (peek().kind != Kind::integer) fail_expected(what);
  return literal().bits;
}

uint32_t Parser::take_u32(std::string_view what, uint32_t max) {
  const Token& t = peek();
  const uint64_t value = take_integer(what);
  if (value > max) {
    fail(t, found(t) + " is too large, " + std::string(what) + " of at most " +
                std::to_string(max) + " was expected");
  }
  return static_cast<uint32_t>(value);
}

std::string Parser::take_string(std::string_view what) {
  if (peek().kind != Kind::string) fail_expected(what);
  std::string_view text = text_of(take()).substr(1);
  if (text.ends_with('"')) text.remove_suffix(1);
  return std::string(text);
}

/// The tokens [first, last) as written, comments out and white space squeezed.
std::string Parser::squeezed(size_t first, size_t last) const {
  std::string out;
  for (size_t i = first; i < last; ++i) {
    const Token& t = tokens_[i];
    if (i > first && tokens_[i - 1].offset + tokens_[i - 1].length != t.offset) out += ' ';
    out += text_of(t);
  }
  return out;
}

std::string Parser::found(const Token& t) const {
  constexpr size_t kLongest = 40;
  if (t.kind == Kind::end) return "the end of the file";
  const std::string_view text = text_of(t);
  if (text.size() <= kLongest) return quoted(text);
  return quoted(std::string(text.substr(0, kLongest)).append("..."));
}

void Parser::report(Loc loc, std::string message) {
  diagnostics.push_back({loc.line, loc.column, std::move(message)});
  if (max_errors_ != 0 && diagnostics.size() >= max_errors_) throw EnoughErrors{};
}

void Parser::warn(Loc loc, std::string message) {
  if (max_errors_ != 0 && diagnostics.size() + 1 >= max_errors_) return;
  diagnostics.push_back({loc.line, loc.column, std::move(message), true});
}

void Parser::fail(const Token& t, std::string message) {
  report(loc_of(t), std::move(message));
  throw SyntaxError{};
}

void Parser::fail_expected(std::string_view expected) {
  // A malformed number was reported where it stands.
  if (peek().kind == Kind::malformed || (peek().kind == Kind::end && cut_)) throw SyntaxError{};
  // A comma that is expected is not one of the sentence.
  const char* then = expected.starts_with("`,`") ? " where " : ", ";
  fail(peek(), "found " + found(peek()) + then + std::string(expected) + " was expected");
}

/// Takes the `;`. One that is missing at the end of a line is reported there, and parsing goes on.
void Parser::end_statement(std::string_view after) {
  if (accept(';')) return;
  const Token& previous = tokens_[pos_ > 0 ? pos_ - 1 : 0];
  const bool line_ended = peek().first_on_line && starts_statement();
  if (!line_ended && !is('}')) fail_expected("`,` or `;` after " + std::string(after));
  report({previous.line, previous.column + previous.length},
         "`;` is missing, it was expected after " + std::string(after));
}

bool Parser::starts_line_directive() const {
  const Token& t = peek();
  return t.kind == Kind::modifier &&
         std::ranges::find(kStatementDirectives, modifier_of(t)) != kStatementDirectives.end();
}

bool Parser::starts_statement() const {
  const Token& t = peek();
  if (t.kind == Kind::punct) return is('@') || is('}') || (is('{') && !starts_vector());
  if (t.kind == Kind::modifier) {
    return starts_line_directive() ||
           std::ranges::find(kModuleDirectives, modifier_of(t)) != kModuleDirectives.end();
  }
  if (t.kind != Kind::identifier) return false;
  const Token& after = peek(1);
  if (is(1, ':')) return true;
  if (text_of(t)[0] == '%') return false;
  const std::string_view name = text_of(t);
  return after.kind == Kind::modifier || ((name == "ret" || name == "exit") && is(1, ';'));
}

/// Whether the `{` ahead opens a vector operand rather than a scope.
bool Parser::starts_vector() const {
  const Token& inside = peek(1);
  return (inside.kind == Kind::identifier || inside.kind == Kind::integer) &&
         (is(2, ',') || is(2, '}'));
}

/// After an error: behind the next `;`, or in front of what can only begin or end a statement.
void Parser::recover() {
  uint32_t open = vector_depth_;
  vector_depth_ = 0;
  while (peek().kind != Kind::end) {
    if (is(';')) {
      take();
      return;
    }
    if (is('}')) {
      if (open == 0) return;
      --open;
    } else if (is('{')) {
      if (!starts_vector()) return;
      ++open;
    } else if (peek().first_on_line && starts_statement()) {
      return;
    }
    take();
  }
}

/// What the declaration that began at token `first` and could not be read would have declared.
void Parser::note_unread(size_t first) {
  const Token& t = tokens_[first];
  const bool label = t.kind == Kind::identifier && first + 1 < tokens_.size() &&
                     tokens_[first + 1].kind == Kind::punct && tokens_[first + 1].punct == ':';
  if (t.kind != Kind::modifier && !label) return;
  for (size_t i = first; i < pos_; ++i)
    if (tokens_[i].kind == Kind::identifier) module.unread.emplace(text_of(tokens_[i]));
}

/// Skips `{ ... }` with everything in it; stands behind the closing brace or at the end.
void Parser::skip_block() {
  size_t open = 0;
  do {
    if (is('{')) ++open;
    if (is('}')) --open;
    take();
  } while (open > 0 && peek().kind != Kind::end);
}

/// After an error between functions: in front of the next directive of a module.
void Parser::skip_to_module_item() {
  const bool in_value = vector_depth_ > 0;
  while (peek().kind != Kind::end) {
    if (is('{') && !in_value) {
      skip_block();
      accept(';');
      return;
    }
    if (is(';') || (is('}') && !in_value)) {
      take();
      return;
    }
    const Token& t = peek();
    if (t.kind == Kind::modifier && t.first_on_line &&
        std::ranges::find(kModuleDirectives, modifier_of(t)) != kModuleDirectives.end()) {
      return;
    }
    take();
  }
}

}  // namespace lanewise::ptx
