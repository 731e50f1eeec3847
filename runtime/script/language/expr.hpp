// Expressions: parsed once, evaluated per lane or per element.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/script/language/lexer.hpp"
#include "runtime/script/language/value.hpp"

namespace lanewise::script {

/// The variables an expression may use; absent ones have no meaning where it stands.
enum class Var : uint8_t { lane, wave, group, tid, gid, active, i, lanes, waves, groups };
inline constexpr size_t kVars = 10;
std::string_view name(Var v);

enum class Operator : uint8_t {
  none,
  either,
  both,
  bit_or,
  bit_xor,
  bit_and,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  shift_left,
  shift_right,  ///< with the sign
  shift_right_unsigned,
  add,
  subtract,
  multiply,
  divide,
  remainder,
  negation,
  complement
};

struct Expr;
using ExprPtr = std::shared_ptr<const Expr>;

struct Expr {
  enum class Kind : uint8_t { integer, real, name, unary, binary, ternary, call, index, list };
  Kind kind = Kind::integer;
  Loc loc;
  Operator op = Operator::none;  ///< of unary and binary
  std::optional<Var> var;        ///< of a name that is a variable's
  std::string text;              ///< name, operator or function
  uint64_t bits = 0;
  double real = 0;
  std::vector<ExprPtr> args;
  std::vector<std::string> fields;  ///< names of `name = value` arguments, one per argument
};

/// Problem when there is none in front.
ExprPtr parse_expr(Lexer& lexer);
/// The same, up to a comparison: what may stand in front of `==`.
ExprPtr parse_sum(Lexer& lexer);

/// A buffer as expressions see it: where it lies and what it held at first.
struct Array {
  ir::Type type = ir::Type::u32;
  uint64_t address = 0;
  std::vector<std::byte> bytes;
  uint64_t count() const { return bytes.size() / ir::size_of(type); }
};

struct Let {
  Loc loc;
  std::string name;
  ExprPtr value;
};

/// What names mean. The budget bounds the work of a script, however its lets are nested.
struct Names {
  std::map<std::string, Array> arrays;
  std::vector<Let> lets;
  mutable uint64_t budget = uint64_t{1} << 26;
  mutable unsigned depth = 0;  ///< of the evaluation under way
};

struct Env {
  const Names* names = nullptr;
  std::array<uint64_t, kVars> vars{};
  std::array<bool, kVars> known{};
  uint64_t list_index = 0;  ///< which element of a plain list is meant
  size_t visible_lets = ~size_t{0};

  void set(Var v, uint64_t value) {
    vars[static_cast<size_t>(v)] = value;
    known[static_cast<size_t>(v)] = true;
  }
};

Value evaluate(const Expr& e, const Env& env);
/// The words of a value for several registers: words(...), descriptor(...), else one value of 32 *
/// count bits.
std::vector<uint32_t> evaluate_words(const Expr& e, const Env& env, unsigned count);
/// A value that depends on nothing but literals.
uint64_t evaluate_constant(const Expr& e, const char* what, uint64_t low, uint64_t high);

/// Function calls, in functions.cpp.
Value call_function(const Expr& e, const Env& env);
/// The four words of descriptor(...), in descriptor.cpp.
std::array<uint32_t, 4> descriptor_words(const Expr& e, const Env& env);

}  // namespace lanewise::script
