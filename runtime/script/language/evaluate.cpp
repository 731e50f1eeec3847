// Evaluation: integers are 64 bits, two's complement and signed where it matters.
#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "runtime/script/language/expr.hpp"

namespace lanewise::script {
namespace {

/// Lets that use lets: every level is a stack frame.
constexpr unsigned kMaxDepth = 3000;

/// Bounds time and stack, whatever the script says.
class Spend {
 public:
  Spend(const Env& env, Loc loc) : names_(env.names) {
    if (names_ == nullptr) return;
    if (names_->budget == 0) fail(loc, "the script's expressions take too long to evaluate");
    if (names_->depth >= kMaxDepth) fail(loc, "the expression is nested too deeply");
    --names_->budget;
    ++names_->depth;
  }
  ~Spend() {
    if (names_ != nullptr) --names_->depth;
  }
  Spend(const Spend&) = delete;
  Spend& operator=(const Spend&) = delete;

 private:
  const Names* names_;
};

const Array* find_array(const Env& env, const Expr& e) {
  if (e.kind != Expr::Kind::name || env.names == nullptr) return nullptr;
  const auto it = env.names->arrays.find(e.text);
  return it == env.names->arrays.end() ? nullptr : &it->second;
}

/// The let a name stands for, latest first; `inside` is what its own value may see.
const Let* find_let(const Env& env, const Expr& e, Env& inside) {
  if (e.kind != Expr::Kind::name || env.names == nullptr) return nullptr;
  const std::vector<Let>& lets = env.names->lets;
  for (size_t n = std::min(env.visible_lets, lets.size()); n-- > 0;) {
    if (lets[n].name != e.text) continue;
    inside = env;
    inside.visible_lets = n;
    return &lets[n];
  }
  return nullptr;
}

Value name_value(const Expr& e, const Env& env) {
  if (e.var) {
    const auto v = static_cast<size_t>(*e.var);
    if (!env.known[v]) fail(e.loc, fmt::format("'{}' has no value here", e.text));
    return Value::integer(env.vars[v]);
  }
  if (e.text == "nan") return Value::literal(std::numeric_limits<double>::quiet_NaN());
  if (e.text == "inf") return Value::literal(std::numeric_limits<double>::infinity());
  if (e.text == "true" || e.text == "false") return Value::integer(e.text == "true" ? 1 : 0);
  Env inside;
  if (const Let* let = find_let(env, e, inside)) return evaluate(*let->value, inside);
  if (const Array* a = find_array(env, e)) return Value::integer(a->address);
  fail(e.loc, fmt::format("unknown name '{}'; expected lane, wave, group, tid, gid, active, i, "
                          "lanes, waves, groups, a buffer or a let",
                          e.text));
}

Value unary(const Expr& e, const Env& env) {
  Value v = evaluate(*e.args[0], env);
  if (e.op == Operator::negation) return Value::integer(v.truth() ? 0 : 1);
  if (e.op == Operator::add) return v;
  if (v.is_real) {
    if (e.op == Operator::complement) fail(e.loc, "'~' needs an integer");
    if (v.real_bits == 0) return Value::literal(-v.real);
    return Value::encoded(v.bits ^ uint64_t{1} << (v.real_bits - 1), v.real_bits);
  }
  return Value::integer(e.op == Operator::subtract ? 0 - v.bits : ~v.bits);
}

template <typename T>
std::optional<bool> compare(Operator op, T x, T y) {
  switch (op) {
    case Operator::equal:
      return x == y;
    case Operator::not_equal:
      return x != y;
    case Operator::less:
      return x < y;
    case Operator::less_equal:
      return x <= y;
    case Operator::greater:
      return x > y;
    case Operator::greater_equal:
      return x >= y;
    default:
      return std::nullopt;
  }
}

Value real_binary(const Expr& e, const Value& a, const Value& b) {
  const double x = a.number(), y = b.number();
  if (const auto holds = compare(e.op, x, y)) return Value::integer(*holds ? 1 : 0);
  double r = 0;
  if (e.op == Operator::add)
    r = x + y;
  else if (e.op == Operator::subtract)
    r = x - y;
  else if (e.op == Operator::multiply)
    r = x * y;
  else if (e.op == Operator::divide)
    r = x / y;
  else
    fail(e.loc, fmt::format("'{}' needs integers", e.text));
  // The narrower sizes round a double once more: exact for one operation on f16 and f32.
  const unsigned size = std::max(a.real_bits, b.real_bits);
  return size == 0 ? Value::literal(r) : Value::rounded(r, size);
}

uint64_t divide(const Expr& e, int64_t x, int64_t y) {
  const bool quotient = e.op == Operator::divide;
  if (y == 0) fail(e.loc, "division by zero");
  if (y == -1) return quotient ? 0 - static_cast<uint64_t>(x) : 0;
  return static_cast<uint64_t>(quotient ? x / y : x % y);
}

uint64_t integer_binary(const Expr& e, uint64_t a, uint64_t b) {
  const auto x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  switch (e.op) {
    case Operator::add:
      return a + b;
    case Operator::subtract:
      return a - b;
    case Operator::multiply:
      return a * b;
    case Operator::divide:
    case Operator::remainder:
      return divide(e, x, y);
    case Operator::bit_and:
      return a & b;
    case Operator::bit_or:
      return a | b;
    case Operator::bit_xor:
      return a ^ b;
    case Operator::shift_left:
      return b > 63 ? 0 : a << b;
    case Operator::shift_right_unsigned:
      return b > 63 ? 0 : a >> b;
    case Operator::shift_right:
      return static_cast<uint64_t>(x >> (b > 63 ? 63 : b));
    default:
      return compare(e.op, x, y).value() ? 1 : 0;
  }
}

Value binary(const Expr& e, const Env& env) {
  const Value a = evaluate(*e.args[0], env);
  if (e.op == Operator::both && !a.truth()) return Value::integer(0);
  if (e.op == Operator::either && a.truth()) return Value::integer(1);
  const Value b = evaluate(*e.args[1], env);
  if (e.op == Operator::both || e.op == Operator::either) return Value::integer(b.truth() ? 1 : 0);
  if (a.is_real || b.is_real) return real_binary(e, a, b);
  return Value::integer(integer_binary(e, a.bits, b.bits));
}

const Expr& element(const Expr& list, uint64_t index, Loc loc) {
  if (index < list.args.size()) return *list.args[index];
  fail(loc, fmt::format("the list has {} elements, number {} is needed", list.args.size(),
                        static_cast<int64_t>(index)));
}

Value index(const Expr& e, const Env& env) {
  const Expr& base = *e.args[0];
  const Value at = evaluate(*e.args[1], env);
  if (at.is_real) fail(e.args[1]->loc, "an index must be an integer");
  if (base.kind == Expr::Kind::list) return evaluate(element(base, at.bits, e.loc), env);
  Env inside;
  if (const Let* let = find_let(env, base, inside)) {
    if (let->value->kind != Expr::Kind::list)
      fail(e.loc, fmt::format("'{}' is no list", base.text));
    return evaluate(element(*let->value, at.bits, e.loc), inside);
  }
  const Array* a = find_array(env, base);
  if (a == nullptr) fail(e.loc, "only buffers and lists have elements");
  if (at.bits >= a->count())
    fail(e.loc, fmt::format("'{}' has {} elements, number {} is needed", base.text, a->count(),
                            static_cast<int64_t>(at.bits)));
  return read_element(a->bytes, at.bits * ir::size_of(a->type), a->type);
}

}  // namespace

Value evaluate(const Expr& e, const Env& env) {
  const Spend spend(env, e.loc);
  switch (e.kind) {
    case Expr::Kind::integer:
      return Value::integer(e.bits);
    case Expr::Kind::real:
      return Value::literal(e.real);
    case Expr::Kind::name:
      return name_value(e, env);
    case Expr::Kind::unary:
      return unary(e, env);
    case Expr::Kind::binary:
      return binary(e, env);
    case Expr::Kind::ternary:
      return evaluate(*e.args[evaluate(*e.args[0], env).truth() ? 1 : 2], env);
    case Expr::Kind::call:
      return call_function(e, env);
    case Expr::Kind::index:
      return index(e, env);
    case Expr::Kind::list:
      return evaluate(element(e, env.list_index, e.loc), env);
  }
  fail(e.loc, "internal error: unknown kind of expression");
}

std::vector<uint32_t> evaluate_words(const Expr& e, const Env& env, unsigned count) {
  const Spend spend(env, e.loc);
  Env inside;
  if (const Let* let = find_let(env, e, inside)) return evaluate_words(*let->value, inside, count);
  std::vector<uint32_t> words;
  if (e.kind == Expr::Kind::call && e.text == "descriptor") {
    const auto four = descriptor_words(e, env);
    words.assign(four.begin(), four.end());
  } else if (e.kind == Expr::Kind::call && e.text == "words") {
    for (const ExprPtr& a : e.args)
      words.push_back(static_cast<uint32_t>(encode(evaluate(*a, env), 32, Takes::any, a->loc)));
  } else if (count <= 2) {
    const uint64_t v = encode(evaluate(e, env), 32 * count, Takes::any, e.loc);
    words.push_back(static_cast<uint32_t>(v));
    if (count == 2) words.push_back(static_cast<uint32_t>(v >> 32));
  } else {
    fail(e.loc,
         fmt::format("{} registers take words(...) of {} values or descriptor(...)", count, count));
  }
  if (words.size() != count)
    fail(e.loc, fmt::format("this gives {} words for {} registers", words.size(), count));
  return words;
}

uint64_t evaluate_constant(const Expr& e, const char* what, uint64_t low, uint64_t high) {
  const Value v = evaluate(e, {});
  if (v.is_real || v.bits < low || v.bits > high)
    fail(e.loc, fmt::format("expected {} from {} to {}", what, low, high));
  return v.bits;
}

}  // namespace lanewise::script
