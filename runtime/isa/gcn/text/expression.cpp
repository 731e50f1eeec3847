#include "runtime/isa/gcn/text/expression.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/isa/gcn/text/operands/number_text.hpp"

namespace lanewise::gcn {
namespace {

bool is_decimal(char c) {
  return c >= '0' && c <= '9';
}
bool begins_name(char c) {
  return c == '.' || c == '_' || c == '$' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

struct Operator {
  std::string_view text;
  int binds;  ///< higher ones first
};
/// Longer ones in front of those they begin with.
constexpr Operator kOperators[] = {{"<<", 6}, {">>", 6}, {"==", 3}, {"!=", 3}, {"<=", 3},
                                   {">=", 3}, {"&&", 2}, {"||", 1}, {"<>", 3}, {"<", 3},
                                   {">", 3},  {"+", 4},  {"-", 4},  {"|", 5},  {"^", 5},
                                   {"&", 5},  {"*", 6},  {"/", 6},  {"%", 6}};

class ExpressionReader {
 public:
  ExpressionReader(Cursor& in, const KnownPlaces& known) : in_(in), known_(known) {}

  Expression primary() { return unary(); }

  Expression binary(int least) {
    Expression left = unary();
    for (;;) {
      const size_t end = in_.at();
      in_.skip_blanks();
      const size_t at = in_.at();
      const Operator* op = next();
      if (op == nullptr || op->binds < least) {
        in_.seek(end);  // a blank can stand between operands
        return left;
      }
      in_.seek(at + op->text.size());
      left = combined(at, op->text, std::move(left), binary(op->binds + 1));
    }
  }

 private:
  const Operator* next() const {
    const std::string_view rest = in_.rest();
    for (const Operator& op : kOperators)
      if (rest.starts_with(op.text)) return &op;
    return nullptr;
  }

  Expression unary() {
    constexpr size_t kDeepest = 64;
    in_.skip_blanks();
    const size_t at = in_.at();
    const char c = in_.peek();
    if (c == '-' || c == '~' || c == '!' || c == '+') {
      if (++nested_ > kDeepest) Cursor::fail_at(at, "expression nests too deep");
      in_.seek(at + 1);
      Expression e = unary();
      --nested_;
      if (c == '+') return e;
      if (c == '-') return combined(at, "-", {}, e);
      const auto n = number_of(e);
      if (!n) return deferred(std::move(e), {});
      return plain(c == '~' ? ~*n : *n == 0 ? 1 : 0);
    }
    if (c == '(') {
      if (++nested_ > kDeepest) Cursor::fail_at(at, "expression nests too deep");
      in_.seek(at + 1);
      Expression e = binary(0);
      in_.expect(')', "behind the expression");
      --nested_;
      return e;
    }
    if (c == '\'' && in_.peek(1) != '\0' && in_.peek(2) == '\'') {
      const char letter = in_.peek(1);
      in_.seek(at + 3);
      return plain(static_cast<unsigned char>(letter));
    }
    if (is_decimal(c)) return plain(static_cast<int64_t>(read_integer(in_, "a number")));
    if (begins_name(c)) return symbol();
    Cursor::fail_at(at, "expected a number or a symbol" + in_.found(at));
  }

  Expression symbol() {
    const size_t at = in_.at();
    size_t end = 0;
    while (in_symbol_name(in_.peek(end))) ++end;
    Expression e;
    e.symbols.push_back({std::string(in_.rest().substr(0, end))});
    e.relative = true;
    in_.seek(at + end);
    if (in_.peek() != '@') return e;
    size_t last = 0;
    while (in_symbol_name(in_.peek(last)) || in_.peek(last) == '@') ++last;
    const std::string kind(in_.rest().substr(0, last));
    if (kind != "@rel32@lo" && kind != "@rel32@hi" && kind != "@rel32")
      Cursor::fail_value(at + end, fmt::format("'{}' needs the loader, expected @rel32@lo or "
                                               "@rel32@hi: distances inside the file",
                                               kind));
    e.upper = kind.ends_with("hi");
    e.names_relation = true;
    in_.seek(at + end + last);
    return e;
  }

  static Expression plain(int64_t n) {
    Expression e;
    e.number = n;
    return e;
  }
  std::optional<int64_t> number_of(const Expression& e) const {
    if (e.is_number()) return e.number;
    return known_ && !e.deferred ? known_(e) : std::nullopt;
  }
  static Expression deferred(Expression a, const Expression& b) {
    a.symbols.insert(a.symbols.end(), b.symbols.begin(), b.symbols.end());
    a.deferred = true;
    a.relative = false;
    return a;
  }

  Expression combined(size_t at, std::string_view op, Expression a, const Expression& b) const {
    if (op == "+" || op == "-") {
      const bool minus = op == "-";
      const auto x = static_cast<uint64_t>(a.number), y = static_cast<uint64_t>(b.number);
      a.number = static_cast<int64_t>(minus ? x - y : x + y);
      for (const Expression::Symbol& s : b.symbols)
        a.symbols.push_back({s.name, minus ? -s.times : s.times});
      a.relative = (a.relative || b.relative) && (!minus || a.names_relation);
      a.names_relation = a.names_relation || b.names_relation;
      a.upper = a.upper || b.upper;
      a.deferred = a.deferred || b.deferred;
      return a;
    }
    const auto x = number_of(a), y = number_of(b);
    return x && y ? plain(computed(at, op, *x, *y)) : deferred(std::move(a), b);
  }

  /// Comparisons that hold give all ones, shifts to the right bring zeros.
  static int64_t computed(size_t at, std::string_view op, int64_t a, int64_t b) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    if ((op == "/" || op == "%") && (b == 0 || (b == -1 && a == INT64_MIN)))
      Cursor::fail_value(at, "division has no result");
    if ((op == "<<" || op == ">>") && y > 63) Cursor::fail_value(at, "shift by more than 63 bits");
    if (op == "*") return static_cast<int64_t>(x * y);
    if (op == "/") return a / b;
    if (op == "%") return a % b;
    if (op == "<<") return static_cast<int64_t>(x << y);
    if (op == ">>") return static_cast<int64_t>(x >> y);
    if (op == "&") return a & b;
    if (op == "|") return a | b;
    if (op == "^") return a ^ b;
    if (op == "&&") return a != 0 && b != 0 ? 1 : 0;
    if (op == "||") return a != 0 || b != 0 ? 1 : 0;
    const bool holds = op == "=="   ? a == b
                       : op == "<"  ? a < b
                       : op == ">"  ? a > b
                       : op == "<=" ? a <= b
                       : op == ">=" ? a >= b
                                    : a != b;
    return holds ? -1 : 0;
  }

  Cursor& in_;
  const KnownPlaces& known_;
  size_t nested_ = 0;
};

/// Places of a `.` that stands for the place itself.
bool is_here(std::string_view text, size_t at) {
  return text[at] == '.' && (at == 0 || !in_symbol_name(text[at - 1])) &&
         (at + 1 == text.size() || !in_symbol_name(text[at + 1]));
}

}  // namespace

KnownPlaces differences(std::function<std::optional<uint64_t>(const std::string&)> address_of) {
  return [address_of = std::move(address_of)](const Expression& e) -> std::optional<int64_t> {
    Expression sum = e;
    sum.relative = false;
    std::string problem;
    return value_of(sum, address_of, 0, problem);
  };
}

bool in_symbol_name(char c) {
  return begins_name(c) || is_decimal(c);
}

bool uses_here(std::string_view text) {
  for (size_t at = 0; at < text.size(); ++at)
    if (is_here(text, at)) return true;
  return false;
}
std::string with_here(std::string_view text, const std::string& here) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) is_here(text, at) ? out += here : out += text[at];
  return out;
}

Expression read_expression(Cursor& in, const KnownPlaces& known) {
  return ExpressionReader(in, known).binary(0);
}
Expression read_primary(Cursor& in) {
  const KnownPlaces none;
  return ExpressionReader(in, none).primary();
}

int64_t read_constant(Cursor& in, const char* what, const KnownPlaces& known) {
  in.skip_blanks();
  const size_t at = in.at();
  const char first = in.peek();
  if ((begins_name(first) && !known) || first == '\0')
    Cursor::fail_at(at, std::string("expected ") + what + in.found(at));
  const Expression e = read_expression(in, known);
  if (e.is_number()) return e.number;
  if (known && !e.deferred)
    if (const auto value = known(e)) return *value;
  if (known)
    Cursor::fail_value(
        at, fmt::format("expected {}, and '{}' has no value here", what, e.symbols[0].name));
  Cursor::fail_value(at, fmt::format("expected {}, and where '{}' lies is known behind the "
                                     "instructions only",
                                     what, e.symbols[0].name));
}

std::optional<int64_t> value_of(
    const Expression& e,
    const std::function<std::optional<uint64_t>(const std::string&)>& address_of, uint64_t here,
    std::string& problem) {
  if (e.deferred) {
    problem = fmt::format("'{}' is an address: it can be added to and subtracted from only",
                          e.symbols[0].name);
    return std::nullopt;
  }
  auto value = static_cast<uint64_t>(e.number);
  int addresses = e.relative ? -1 : 0;
  if (e.relative) value -= here;
  for (const Expression::Symbol& s : e.symbols) {
    const auto at = address_of(s.name);
    if (!at) {
      problem = fmt::format("'{}' is not defined in this file", s.name);
      return std::nullopt;
    }
    value += *at * static_cast<uint64_t>(static_cast<int64_t>(s.times));
    addresses += s.times;
  }
  if (addresses != 0) {
    problem = fmt::format(
        "the value depends on where '{}' is loaded, expected a difference of two symbols or "
        "{}@rel32@lo",
        e.symbols[0].name, e.symbols[0].name);
    return std::nullopt;
  }
  return static_cast<int64_t>(e.upper ? static_cast<uint64_t>(static_cast<int64_t>(value) >> 32)
                                      : value);
}

}  // namespace lanewise::gcn
