// The functions expressions can call.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/script/language/expr.hpp"

namespace lanewise::script {
namespace {

void need(const Expr& e, size_t count) {
  if (e.args.size() != count)
    fail(e.loc,
         fmt::format("'{}' takes {} arguments, {} were given", e.text, count, e.args.size()));
  for (const std::string& f : e.fields)
    if (!f.empty()) fail(e.loc, fmt::format("'{}' takes no named arguments", e.text));
}

uint64_t integer(const Expr& e, size_t n, const Env& env) {
  const Value v = evaluate(*e.args[n], env);
  if (v.is_real) fail(e.args[n]->loc, fmt::format("'{}' needs integers", e.text));
  return v.bits;
}

/// u8(x): the low bits, extended; f32(x): rounded.
Value convert(const Expr& e, ir::Type type, const Env& env) {
  const Value v = evaluate(*e.args[0], env);
  if (ir::is_float(type)) {
    if (v.is_real && v.real_bits == bits_of(type)) return v;
    return Value::rounded(v.number(), bits_of(type));
  }
  if (v.is_real)
    fail(e.loc, fmt::format("'{}' needs an integer; bits(...) or int(...) make one", e.text));
  return decode(v.bits, type);
}

/// u8(buffer, offset): what lay at a byte offset at first.
Value peek(const Expr& e, ir::Type type, const Env& env) {
  const Expr& base = *e.args[0];
  if (base.kind != Expr::Kind::name || env.names == nullptr ||
      !env.names->arrays.contains(base.text))
    fail(base.loc, fmt::format("{}(buffer, offset) needs the name of a buffer", e.text));
  const Array& a = env.names->arrays.at(base.text);
  const uint64_t offset = integer(e, 1, env), size = ir::size_of(type);
  if (offset > a.bytes.size() || size > a.bytes.size() - offset)
    fail(e.loc, fmt::format("{} bytes at offset {} do not lie inside '{}' of {} bytes", size,
                            static_cast<int64_t>(offset), base.text, a.bytes.size()));
  return read_element(a.bytes, offset, type);
}

Value to_int(const Expr& e, const Env& env) {
  const Value v = evaluate(*e.args[0], env);
  if (!v.is_real) return v;
  if (!(std::fabs(v.real) < 9.2e18)) fail(e.loc, "the number has no 64-bit integer");
  return Value::integer(static_cast<uint64_t>(static_cast<int64_t>(v.real)));
}

Value bits_of_value(const Expr& e, const Env& env) {
  const Value v = evaluate(*e.args[0], env);
  if (!v.is_real) return v;
  if (v.real_bits == 0) fail(e.loc, "bits(...) needs a number of known size, such as f32(1.5)");
  return Value::integer(v.bits);
}

Value extreme(const Expr& e, const Env& env) {
  const Value a = evaluate(*e.args[0], env), b = evaluate(*e.args[1], env);
  const bool less = a.is_real || b.is_real
                        ? a.number() < b.number()
                        : static_cast<int64_t>(a.bits) < static_cast<int64_t>(b.bits);
  return less == (e.text == "min") ? a : b;
}

Value absolute(const Expr& e, const Env& env) {
  const Value v = evaluate(*e.args[0], env);
  if (!v.is_real) return Value::integer(static_cast<int64_t>(v.bits) < 0 ? 0 - v.bits : v.bits);
  if (v.real_bits == 0) return Value::literal(std::fabs(v.real));
  return Value::encoded(v.bits & ~(uint64_t{1} << (v.real_bits - 1)), v.real_bits);
}

Value unsigned_pair(const Expr& e, const Env& env) {
  const uint64_t a = integer(e, 0, env), b = integer(e, 1, env);
  if (e.text == "ult") return Value::integer(a < b ? 1 : 0);
  if (b == 0) fail(e.loc, "division by zero");
  return Value::integer(e.text == "udiv" ? a / b : a % b);
}

Value fused(const Expr& e, const Env& env) {
  const Value a = evaluate(*e.args[0], env), b = evaluate(*e.args[1], env),
              c = evaluate(*e.args[2], env);
  const unsigned size = std::max({a.real_bits, b.real_bits, c.real_bits});
  if (size == 32)
    return Value::rounded(std::fma(static_cast<float>(a.number()), static_cast<float>(b.number()),
                                   static_cast<float>(c.number())),
                          32);
  if (size == 16) fail(e.loc, "fma(...) is for f32 and f64");
  return Value::rounded(std::fma(a.number(), b.number(), c.number()), 64);
}

}  // namespace

Value call_function(const Expr& e, const Env& env) {
  const std::string& f = e.text;
  if (const auto type = type_named(f)) {
    if (e.args.size() == 2) return peek(e, *type, env);
    need(e, 1);
    return convert(e, *type, env);
  }
  if (f == "as_f16" || f == "as_f32" || f == "as_f64") {
    need(e, 1);
    const unsigned size = f == "as_f16" ? 16 : f == "as_f32" ? 32 : 64;
    return Value::encoded(integer(e, 0, env), size);
  }
  if (f == "int") return need(e, 1), to_int(e, env);
  if (f == "bits") return need(e, 1), bits_of_value(e, env);
  if (f == "min" || f == "max") return need(e, 2), extreme(e, env);
  if (f == "abs") return need(e, 1), absolute(e, env);
  if (f == "udiv" || f == "urem" || f == "ult") return need(e, 2), unsigned_pair(e, env);
  if (f == "fma") return need(e, 3), fused(e, env);
  if (f == "popc")
    return need(e, 1), Value::integer(static_cast<uint64_t>(std::popcount(integer(e, 0, env))));
  if (f == "descriptor" || f == "words")
    fail(e.loc,
         fmt::format("{}(...) is a value for several registers, not part of an expression", f));
  fail(e.loc, fmt::format("unknown function '{}'; there are u8 ... u64, s8 ... s64, f16 f32 f64, "
                          "as_f16 as_f32 as_f64, int, bits, min, max, abs, udiv, urem, ult, fma, "
                          "popc, words, descriptor",
                          f));
}

}  // namespace lanewise::script
