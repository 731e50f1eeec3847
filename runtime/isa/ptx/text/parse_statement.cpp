// Statements of a function body.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "runtime/isa/ptx/text/parser.hpp"

namespace lanewise::ptx {
namespace {

constexpr uint32_t kMaxScopes = 128;
constexpr std::array<std::string_view, 6> kSpaces = {"reg",    "local", "shared",
                                                     "global", "const", "param"};
/// They belong between functions: in a body they show that its `}` is missing.
constexpr std::array<std::string_view, 10> kModuleOnly = {
    "visible", "weak",    "extern",       "common", "entry",
    "func",    "version", "address_size", "alias",  "section"};
/// Their address brackets hold coordinates too.
constexpr std::array<std::string_view, 8> kTextureOpcodes = {"tex",   "tld4", "suld", "sust",
                                                             "sured", "cp",   "suq",  "txq"};

template <size_t N>
bool contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

}  // namespace

/// The statements behind `open` up to and with its `}`.
void Parser::body(Scope& scope, const Token& open) {
  while (!accept('}')) {
    if (peek().kind == Kind::end) {
      if (!cut_) {
        report(loc_of(peek()),
               "the file ends, `}` was expected for the `{` of line " + std::to_string(open.line));
      }
      throw EndOfBody{};
    }
    const size_t before = pos_;
    try {
      vector_depth_ = 0;
      statement(scope);
    } catch (const SyntaxError&) {
      recover();
      if (pos_ == before) take();
      note_unread(before);
    }
  }
}

void Parser::statement(Scope& scope) {
  const Token& t = peek();
  if (is('{')) {
    if (depth_ >= kMaxScopes) {
      report(loc_of(t), "scopes are nested deeper than 128, a flatter body was expected");
      skip_block();
      return;
    }
    take();
    ++depth_;
    scope.statements.emplace_back(std::make_unique<Scope>());
    body(*std::get<std::unique_ptr<Scope>>(scope.statements.back()), t);
    --depth_;
    return;
  }
  if (t.kind == Kind::modifier) return directive(scope);
  if (is_name() && is(1, ':')) return label(scope);
  if (is('@') || (is_name() && text_of(t)[0] != '%' && text_of(t)[0] != '$')) {
    return instruction(scope);
  }
  if (is(';')) fail(t, "an empty statement, an instruction was expected before `;`");
  fail_expected("an instruction, a directive or a label");
}

void Parser::directive(Scope& scope) {
  const Token& t = peek();
  const std::string_view name = modifier_of(t);
  if (name == "loc") {
    scope.statements.emplace_back(source_line());
  } else if (name == "pragma") {
    pragma(nullptr);
  } else if (contains(kSpaces, name) || name == "align") {
    for (Variable& v : variables({}, true)) scope.statements.emplace_back(std::move(v));
  } else if (name == "branchtargets" || name == "calltargets" || name == "callprototype") {
    fail(t, found(t) + " has no name, `NAME:` was expected before it");
  } else if (contains(kModuleOnly, name)) {
    report(loc_of(t), found(t) + " inside a body, `}` was expected before it");
    throw EndOfBody{};
  } else {
    take();
    fail(t, "unknown directive " + found(t) +
                ", a declaration, `.loc`, `.pragma` or an instruction was expected");
  }
}

void Parser::label(Scope& scope) {
  const Token& t = take();
  take();
  std::string name(text_of(t));
  if (is_modifier("branchtargets") || is_modifier("calltargets")) {
    scope.statements.emplace_back(target_list(std::move(name), loc_of(t)));
  } else if (is_modifier("callprototype")) {
    scope.statements.emplace_back(prototype(std::move(name), loc_of(t)));
  } else {
    scope.statements.emplace_back(Label{loc_of(t), std::move(name)});
  }
}

TargetList Parser::target_list(std::string name, Loc loc) {
  TargetList list{loc, std::move(name), {}, modifier_of(take()) == "calltargets"};
  do {
    list.targets.push_back(take_name("a label or function name"));
  } while (accept(','));
  end_statement("the list of targets");
  return list;
}

CallPrototype Parser::prototype(std::string name, Loc loc) {
  take();
  CallPrototype p;
  p.loc = loc;
  p.name = std::move(name);
  if (is('(')) p.results = parameters(false, true);
  if (peek().kind != Kind::identifier || text_of(peek()) != "_") {
    fail_expected("`_` in place of the function's name");
  }
  take();
  if (is('(')) p.params = parameters(false, true);
  callable_directives(p.directives);
  end_statement("the prototype");
  return p;
}

std::array<uint32_t, 3> Parser::source_place() {
  std::array<uint32_t, 3> place{};
  place[0] = take_u32("a file number", UINT32_MAX);
  place[1] = take_u32("a line number", UINT32_MAX);
  place[2] = take_u32("a column number", UINT32_MAX);
  return place;
}

/// `.loc FILE LINE COLUMN [, function_name LABEL [+ N], inlined_at FILE LINE COLUMN]`
SourceLine Parser::source_line() {
  take();
  const std::array<uint32_t, 3> place = source_place();
  if (accept(',')) {
    const auto word = [&](std::string_view name, std::string_view expected) {
      if (peek().kind != Kind::identifier || text_of(peek()) != name) fail_expected(expected);
      take();
    };
    word("function_name", "`function_name` or `inlined_at`");
    if (peek().kind != Kind::modifier && !is_name())
      fail_expected("a label or a section such as `.debug_str`");
    take();
    if (accept('+')) take_integer("an offset");
    expect(',', "after the function's name");
    word("inlined_at", "`inlined_at`");
    const Token& t = peek();
    const std::array<uint32_t, 3> caller = source_place();
    if (!source_places_.contains(caller)) {
      report(loc_of(t),
             "`inlined_at` names a place that no `.loc` before it has, one that has was "
             "expected");
    }
  }
  source_places_.insert(place);
  return {place[0], place[1]};
}

/// A pragma never changes what a program means. One says which bytes of the next load matter, so
/// that nobody misses the others.
void Parser::pragma(std::vector<Directive>* directives) {
  static constexpr std::array<std::string_view, 5> kKnown = {
      "nounroll", "used_bytes_mask", "enable_smem_spilling", "frequency", "gridDim"};
  take();
  do {
    const Token& t = peek();
    const std::string text = take_string("a string");
    constexpr std::string_view kUsedBytes = "used_bytes_mask ";
    if (text.starts_with(kUsedBytes))
      used_bytes_ =
          static_cast<uint32_t>(std::strtoul(text.c_str() + kUsedBytes.size(), nullptr, 0));
    if (directives != nullptr) directives->push_back({loc_of(t), "pragma " + text, {}});
    if (!contains(kKnown, std::string_view(text).substr(0, text.find(' ')))) {
      if (directives == &module.directives) continue;
      warn(loc_of(t), "unknown pragma " + found(t) + " has no effect, \"nounroll\" was expected");
    }
  } while (accept(','));
  end_statement("the pragma");
}

std::string Parser::take_guard(bool& negated) {
  take();
  negated = accept('!');
  return take_name("a predicate register after `@`");
}

void Parser::instruction(Scope& scope) {
  const size_t first = pos_;
  Instruction in;
  in.loc = loc_of(peek());
  in.used_bytes = std::exchange(used_bytes_, 0xffffffff);
  if (is('@')) in.guard = take_guard(in.guard_negated);
  if (!is_name() || is(1, ':') || text_of(peek())[0] == '%' || text_of(peek())[0] == '$') {
    fail_expected("an instruction after the predicate");
  }
  in.opcode = take_name("an instruction");
  while (peek().kind == Kind::modifier && !(peek().first_on_line && starts_line_directive())) {
    if (is_modifier("reg")) fail_expected("a qualifier or type");
    in.mods.emplace_back(modifier_of(take()));
  }
  const bool call = in.opcode == "call";
  const bool texture = contains(kTextureOpcodes, in.opcode);
  const bool missing_end = peek().first_on_line && starts_statement();
  if (!is(';') && !is('}') && !missing_end) {
    do {
      const Token& t = peek();
      Operand o = operand(call, texture, in.unified);
      if (!in.operands.empty() && (o.kind == Operand::Kind::sink || !o.pair.empty())) {
        fail(t, "`_` or `a|b` behind the first operand, one plain source was expected");
      }
      in.operands.push_back(std::move(o));
    } while (accept(','));
  }
  const size_t last = pos_;
  end_statement(in.operands.empty() ? quoted(in.opcode) : "the operands");
  in.text = squeezed(first, last);
  scope.statements.emplace_back(std::move(in));
}

}  // namespace lanewise::ptx
