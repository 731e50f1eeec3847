// Reading expressions, by precedence climbing.
#include "runtime/script/language/expr.hpp"

#include <fmt/format.h>

namespace lanewise::script {

std::string_view name(Var v) {
  static constexpr std::array<std::string_view, kVars> kNames = {
      "lane", "wave", "group", "tid", "gid", "active", "i", "lanes", "waves", "groups"};
  return kNames[static_cast<size_t>(v)];
}

namespace {

/// Deep enough for people; keeps hostile nesting off the stack.
constexpr unsigned kMaxParentheses = 100;
constexpr unsigned kMaxLinks = 1000;
constexpr int kSumLevel = 9;  ///< of + and -

struct Infix {
  int level = 0;  ///< the higher, the closer it binds; 0: no operator
  Operator op = Operator::none;
};
Infix infix(std::string_view text) {
  static const std::map<std::string_view, Infix> operators = {
      {"||", {1, Operator::either}},        {"&&", {2, Operator::both}},
      {"|", {3, Operator::bit_or}},         {"^", {4, Operator::bit_xor}},
      {"&", {5, Operator::bit_and}},        {"==", {6, Operator::equal}},
      {"!=", {6, Operator::not_equal}},     {"<", {7, Operator::less}},
      {"<=", {7, Operator::less_equal}},    {">", {7, Operator::greater}},
      {">=", {7, Operator::greater_equal}}, {"<<", {8, Operator::shift_left}},
      {">>", {8, Operator::shift_right}},   {">>>", {8, Operator::shift_right_unsigned}},
      {"+", {kSumLevel, Operator::add}},    {"-", {kSumLevel, Operator::subtract}},
      {"*", {10, Operator::multiply}},      {"/", {10, Operator::divide}},
      {"%", {10, Operator::remainder}}};
  const auto it = operators.find(text);
  return it == operators.end() ? Infix{} : it->second;
}
constexpr std::pair<std::string_view, Operator> kPrefixes[] = {{"-", Operator::subtract},
                                                               {"~", Operator::complement},
                                                               {"!", Operator::negation},
                                                               {"+", Operator::add}};

std::optional<Var> variable(std::string_view text) {
  for (size_t v = 0; v < kVars; ++v)
    if (text == name(static_cast<Var>(v))) return static_cast<Var>(v);
  return std::nullopt;
}

class ExpressionParser {
 public:
  explicit ExpressionParser(Lexer& lexer) : in_(lexer) {}

  ExprPtr sum() { return binary(kSumLevel); }
  ExprPtr ternary() {
    const Guard guard(*this);
    ExprPtr condition = binary(1);
    if (!in_.is_symbol("?")) return condition;
    const Loc loc = in_.take().loc;
    in_.skip_newlines();
    ExprPtr yes = ternary();
    in_.skip_newlines();
    in_.expect_symbol(":", "between the values of '?'");
    in_.skip_newlines();
    return make(Expr::Kind::ternary, loc, "?", {condition, yes, ternary()});
  }

 private:
  struct Guard {
    explicit Guard(ExpressionParser& p) : parser(p) {
      if (++parser.depth_ > kMaxParentheses)
        fail(p.in_.peek().loc, "the expression is nested too deeply");
    }
    ~Guard() { --parser.depth_; }
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ExpressionParser& parser;
  };

  static ExprPtr make(Expr::Kind kind, Loc loc, std::string text, std::vector<ExprPtr> args,
                      Operator op = Operator::none) {
    auto e = std::make_shared<Expr>();
    e->kind = kind;
    e->loc = loc;
    e->op = op;
    e->text = std::move(text);
    e->args = std::move(args);
    return e;
  }

  ExprPtr binary(int lowest) {
    ExprPtr left = unary();
    // A chain of operators is a tree as deep as it is long.
    while (in_.peek().kind == Token::Kind::symbol) {
      const auto [level, op] = infix(in_.peek().text);
      if (level < lowest || level == 0) break;
      if (++links_ > kMaxLinks) fail(in_.peek().loc, "the expression is too long");
      const Token token = in_.take();
      in_.skip_newlines();
      const Guard guard(*this);
      left = make(Expr::Kind::binary, token.loc, token.text, {left, binary(level + 1)}, op);
    }
    return left;
  }

  ExprPtr unary() {
    const Token& t = in_.peek();
    for (const auto& [text, op] : kPrefixes) {
      if (!in_.is_symbol(text)) continue;
      const Guard guard(*this);
      const Loc loc = t.loc;
      in_.take();
      return make(Expr::Kind::unary, loc, std::string(text), {unary()}, op);
    }
    return postfix();
  }

  ExprPtr postfix() {
    ExprPtr e = primary();
    while (in_.is_symbol("[")) {
      if (++links_ > kMaxLinks) fail(in_.peek().loc, "the expression is too long");
      const Loc loc = in_.take().loc;
      ExprPtr index = ternary();
      in_.expect_symbol("]", "after an index");
      e = make(Expr::Kind::index, loc, "[", {e, index});
    }
    return e;
  }

  ExprPtr primary() {
    if (in_.take_symbol("(")) {
      ExprPtr e = ternary();
      in_.expect_symbol(")", "to close the '('");
      return e;
    }
    if (in_.is_symbol("[")) return list();
    const Token::Kind kind = in_.peek().kind;
    if (kind != Token::Kind::integer && kind != Token::Kind::real && kind != Token::Kind::word) {
      const Loc loc = in_.peek().loc;
      const std::string found = spelled(in_.peek());
      if (kind == Token::Kind::symbol) in_.take();  // reports a malformed token as such
      fail(loc, "expected a value, found " + found);
    }
    const Token t = in_.take();
    auto e = std::make_shared<Expr>();
    e->loc = t.loc;
    e->text = t.text;
    e->bits = t.bits;
    e->real = t.real;
    e->kind = kind == Token::Kind::integer ? Expr::Kind::integer
              : kind == Token::Kind::real  ? Expr::Kind::real
                                           : Expr::Kind::name;
    if (e->kind == Expr::Kind::name) e->var = variable(e->text);
    if (e->kind == Expr::Kind::name && in_.take_symbol("(")) arguments(*e);
    return e;
  }

  void arguments(Expr& call) {
    call.kind = Expr::Kind::call;
    if (in_.take_symbol(")")) return;
    do {
      ExprPtr value = ternary();
      std::string field;
      if (value->kind == Expr::Kind::name && in_.take_symbol("=")) {
        field = value->text;
        value = ternary();
      }
      call.args.push_back(value);
      call.fields.push_back(field);
    } while (in_.take_symbol(","));
    in_.expect_symbol(")", "after the arguments");
  }

  ExprPtr list() {
    const Loc loc = in_.take().loc;
    std::vector<ExprPtr> elements;
    while (!in_.is_symbol("]")) {
      elements.push_back(ternary());
      if (!in_.take_symbol(",")) break;
    }
    in_.expect_symbol("]", "to close the list");
    if (elements.empty()) fail(loc, "an empty list has no value");
    return make(Expr::Kind::list, loc, "[", std::move(elements));
  }

  Lexer& in_;
  unsigned depth_ = 0, links_ = 0;
};

}  // namespace

ExprPtr parse_expr(Lexer& lexer) {
  return ExpressionParser(lexer).ternary();
}

ExprPtr parse_sum(Lexer& lexer) {
  return ExpressionParser(lexer).sum();
}

}  // namespace lanewise::script
