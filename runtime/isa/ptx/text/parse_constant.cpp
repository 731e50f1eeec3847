// Constant expressions: C operators on 64-bit integers and doubles, folded while parsing.
#include <array>
#include <bit>
#include <charconv>
#include <cstdlib>

#include "runtime/isa/ptx/text/parser.hpp"

namespace lanewise::ptx {
namespace {

constexpr uint32_t kMaxNesting = 200;

struct BinaryOperator {
  uint16_t punct;
  int level;
};
constexpr std::array<BinaryOperator, 18> kOperators = {{
    {punct2('|', '|'), 0},
    {punct2('&', '&'), 1},
    {'|', 2},
    {'^', 3},
    {'&', 4},
    {punct2('=', '='), 5},
    {punct2('!', '='), 5},
    {'<', 6},
    {'>', 6},
    {punct2('<', '='), 6},
    {punct2('>', '='), 6},
    {punct2('<', '<'), 7},
    {punct2('>', '>'), 7},
    {'+', 8},
    {'-', 8},
    {'*', 9},
    {'/', 9},
    {'%', 9},
}};

int level_of(const Token& t) {
  if (t.kind != Token::Kind::punct) return -1;
  for (const BinaryOperator& op : kOperators) {
    if (op.punct == t.punct) return op.level;
  }
  return -1;
}

bool is_true(const Constant& c) {
  return c.is_float ? c.number != 0 : c.bits != 0;
}

Constant truth(bool value) {
  Constant c;
  c.bits = value ? 1 : 0;
  return c;
}

template <typename T>
bool compare(uint16_t op, T a, T b) {
  switch (op) {
    case punct2('=', '='):
      return a == b;
    case punct2('!', '='):
      return a != b;
    case punct2('<', '='):
      return a <= b;
    case punct2('>', '='):
      return a >= b;
    case '<':
      return a < b;
    default:
      return a > b;
  }
}

bool is_comparison(uint16_t op) {
  return op == '<' || op == '>' || op == punct2('=', '=') || op == punct2('!', '=') ||
         op == punct2('<', '=') || op == punct2('>', '=');
}

uint64_t divide(const Constant& a, const Constant& b, bool is_unsigned, bool remainder) {
  if (is_unsigned) return remainder ? a.bits % b.bits : a.bits / b.bits;
  const auto x = static_cast<int64_t>(a.bits);
  const auto y = static_cast<int64_t>(b.bits);
  // The one quotient that does not fit: negate by hand.
  if (y == -1) return remainder ? 0 : 0 - a.bits;
  return static_cast<uint64_t>(remainder ? x % y : x / y);
}

uint64_t shift(uint16_t op, const Constant& a, uint64_t count) {
  if (op == punct2('<', '<')) return a.bits << count;
  if (a.is_unsigned) return a.bits >> count;
  return static_cast<uint64_t>(static_cast<int64_t>(a.bits) >> count);
}

}  // namespace

bool Parser::starts_constant() const {
  const Token& t = peek();
  switch (t.kind) {
    case Kind::integer:
    case Kind::decimal:
    case Kind::single:
    case Kind::double_:
    case Kind::malformed:
      return true;
    case Kind::identifier:
      return text_of(t) == "WARP_SZ";
    case Kind::punct:
      return is('-') || is('+') || is('~') || is('!') || is('(');
    default:
      return false;
  }
}

Constant Parser::constant() {
  nesting_ = 0;
  return conditional();
}

int64_t Parser::integer_constant(std::string_view what) {
  if (!starts_constant()) fail_expected(what);
  const Token& t = peek();
  const Constant c = constant();
  if (c.is_float) fail(t, "a floating-point constant, " + std::string(what) + " was expected");
  return static_cast<int64_t>(c.bits);
}

void Parser::nest() {
  if (++nesting_ > kMaxNesting) {
    fail(peek(), "the expression is nested deeper than 200, a flatter one was expected");
  }
}

Constant Parser::conditional() {
  const Constant condition = binary(0);
  if (!is('?')) return condition;
  if (condition.is_float) fail(peek(), "a floating-point condition, an integer was expected");
  nest();
  take();
  const Constant yes = conditional();
  expect(':', "of the `?`");
  const Constant no = conditional();
  if (yes.is_float || no.is_float)
    fail(peek(), "a floating-point value of a condition, an integer was expected");
  --nesting_;
  return is_true(condition) ? yes : no;
}

/// Operators of at least this level.
Constant Parser::binary(int level) {
  Constant left = unary();
  for (int next = level_of(peek()); next >= level; next = level_of(peek())) {
    const Token& op = take();
    left = apply(op, left, binary(next + 1));
  }
  return left;
}

Constant Parser::apply(const Token& op, const Constant& a, const Constant& b) {
  if (a.is_float != b.is_float) {
    fail(op, "operands of " + found(op) +
                 " are an integer and a floating-point constant, two of one kind were expected");
  }
  Constant r;
  const bool both = op.punct == punct2('&', '&'), either = op.punct == punct2('|', '|');
  if (both || either) {
    if (a.is_float)
      fail(op, found(op) + " between floating-point constants, integers were expected");
    return truth(both ? is_true(a) && is_true(b) : is_true(a) || is_true(b));
  }
  if (a.is_float) {
    if (is_comparison(op.punct)) return truth(compare(op.punct, a.number, b.number));
    r.is_float = true;
    switch (op.punct) {
      case '+':
        r.number = a.number + b.number;
        return r;
      case '-':
        r.number = a.number - b.number;
        return r;
      case '*':
        r.number = a.number * b.number;
        return r;
      case '/':
        r.number = a.number / b.number;
        return r;
      default:
        fail(op, found(op) + " between floating-point constants, integers were expected");
    }
  }
  r.is_unsigned = a.is_unsigned || b.is_unsigned;
  if (is_comparison(op.punct)) {
    return truth(r.is_unsigned ? compare(op.punct, a.bits, b.bits)
                               : compare(op.punct, static_cast<int64_t>(a.bits),
                                         static_cast<int64_t>(b.bits)));
  }
  switch (op.punct) {
    case '+':
      r.bits = a.bits + b.bits;
      break;
    case '-':
      r.bits = a.bits - b.bits;
      break;
    case '*':
      r.bits = a.bits * b.bits;
      break;
    case '&':
      r.bits = a.bits & b.bits;
      break;
    case '|':
      r.bits = a.bits | b.bits;
      break;
    case '^':
      r.bits = a.bits ^ b.bits;
      break;
    case '/':
    case '%':
      if (b.bits == 0) fail(op, "division by zero in a constant, another divisor was expected");
      r.bits = divide(a, b, r.is_unsigned, op.punct == '%');
      break;
    default:
      if (b.bits > 63) fail(op, "shift of a constant by 64 or more, 0 to 63 was expected");
      r.is_unsigned = a.is_unsigned;
      r.bits = shift(op.punct, a, b.bits);
  }
  return r;
}

Constant Parser::unary() {
  if (!is('-') && !is('+') && !is('~') && !is('!')) return primary();
  nest();
  const Token& op = take();
  const Token& what = peek();
  Constant c = unary();
  --nesting_;
  if (op.punct == '+') return c;
  if (op.punct == '!' && !c.is_float) return truth(!is_true(c));
  if (c.is_float) {
    if (op.punct != '-')
      fail(what, found(op) + " before a floating-point constant, an integer was expected");
    c.number = -c.number;
  } else {
    c.bits = op.punct == '-' ? 0 - c.bits : ~c.bits;
  }
  return c;
}

Constant Parser::primary() {
  const Token& t = peek();
  if (is('(')) {
    nest();
    take();
    if (peek().kind == Kind::modifier) {
      const Token& cast = take();
      const std::string_view type = modifier_of(cast);
      if (type != "s64" && type != "u64") {
        fail(cast, "a cast to `." + std::string(type) + "`, `(.s64)` or `(.u64)` was expected");
      }
      expect(')', "after the type of the cast");
      Constant c = unary();
      if (c.is_float) fail(cast, "a cast of a floating-point constant, an integer was expected");
      c.is_unsigned = type == "u64";
      --nesting_;
      return c;
    }
    const Constant c = conditional();
    expect(')', "at the end of the constant expression");
    --nesting_;
    return c;
  }
  if (t.kind == Kind::single || t.kind == Kind::double_) {
    fail(t, found(t) + " stands in an expression, a decimal constant was expected");
  }
  return literal();
}

/// An integer, a decimal floating-point constant, or WARP_SZ.
Constant Parser::literal() {
  const Token& t = peek();
  std::string_view word = text_of(t);
  Constant c;
  if (t.kind == Kind::identifier && word == "WARP_SZ") {
    take();
    c.bits = 32;
    return c;
  }
  if (t.kind == Kind::decimal) {
    take();
    c.is_float = true;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), c.number);
    if (error == std::errc::result_out_of_range) {
      fail(t, found(t) + " does not fit a double, a smaller constant was expected");
    }
    return c;
  }
  if (t.kind != Kind::integer) fail_expected("a constant");
  take();
  c.is_unsigned = word.ends_with('U');
  if (c.is_unsigned) word.remove_suffix(1);
  int base = 10;
  if (word.size() > 1 && word[0] == '0') {
    const char kind = word[1];
    base = kind == 'x' || kind == 'X' ? 16 : kind == 'b' || kind == 'B' ? 2 : 8;
    word.remove_prefix(base == 8 ? 1 : 2);
  }
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), c.bits, base);
  if (error != std::errc{}) {
    fail(t, found(t) + " does not fit 64 bits, a smaller constant was expected");
  }
  // Like ptxas: what does not fit a signed number is unsigned.
  if (c.bits >> 63) c.is_unsigned = true;
  return c;
}

}  // namespace lanewise::ptx
