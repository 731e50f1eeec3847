// The parser's state and its small tools; one parse_*.cpp file per part of the grammar.
#pragma once

#include <array>
#include <initializer_list>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/isa/ptx/ast.hpp"
#include "runtime/isa/ptx/ptype.hpp"
#include "runtime/isa/ptx/text/lexer.hpp"

namespace lanewise::ptx {

/// Thrown after a diagnostic was recorded, caught where the parser can go on.
struct SyntaxError {};
/// A body that lost its `}`: leaves all its scopes at once.
struct EndOfBody {};
/// As many errors as were asked for.
struct EnoughErrors {};

/// Value of a constant expression: 64-bit integer or double.
struct Constant {
  bool is_float = false;
  bool is_unsigned = false;
  uint64_t bits = 0;
  double number = 0;
};

/// Textures, samplers and surfaces.
inline bool is_opaque(std::string_view type) {
  return type == "texref" || type == "samplerref" || type == "surfref";
}

/// Bytes of a variable of the type, 0 of what no variable can have.
unsigned type_bytes(std::string_view type);

/// In back quotes, as every message shows program text.
std::string quoted(std::string_view text);

class Parser {
 public:
  Parser(std::string_view text, std::vector<Token> tokens, size_t max_errors, bool cut)
      : text_(text), tokens_(std::move(tokens)), max_errors_(max_errors), cut_(cut) {}

  void parse_module();
  Module module;
  std::vector<Diagnostic> diagnostics;

 private:
  using Kind = Token::Kind;

  // Tokens (parser.cpp)
  const Token& peek(size_t ahead = 0) const;
  const Token& take();
  std::string_view text_of(const Token& t) const { return text_.substr(t.offset, t.length); }
  std::string_view modifier_of(const Token& t) const { return text_of(t).substr(1); }
  static Loc loc_of(const Token& t) { return {t.line, t.column}; }
  bool is(char c) const { return peek().kind == Kind::punct && peek().punct == c; }
  bool is(size_t ahead, char c) const;
  bool is_modifier(std::string_view name) const;
  bool is_name(size_t ahead = 0) const;
  bool accept(char c);
  void expect(char c, std::string_view where);
  std::string take_name(std::string_view what);
  uint64_t take_integer(std::string_view what);
  uint32_t take_u32(std::string_view what, uint32_t max);
  std::string take_string(std::string_view what);
  std::string squeezed(size_t first, size_t last) const;

  // Errors (parser.cpp)
  std::string found(const Token& t) const;
  void report(Loc loc, std::string message);
  void warn(Loc loc, std::string message);
  [[noreturn]] void fail(const Token& t, std::string message);
  [[noreturn]] void fail_expected(std::string_view expected);
  void end_statement(std::string_view after);
  void recover();
  bool starts_statement() const;
  bool starts_line_directive() const;
  bool starts_vector() const;
  void skip_block();
  void note_unread(size_t first);
  void skip_to_module_item();

  // Constant expressions (parse_constant.cpp)
  Constant constant();
  int64_t integer_constant(std::string_view what);
  void nest();
  Constant conditional();
  Constant binary(int level);
  Constant unary();
  Constant primary();
  Constant literal();
  Constant apply(const Token& op, const Constant& a, const Constant& b);
  bool starts_constant() const;

  // Operands (parse_operand.cpp)
  Operand operand(bool call, bool texture, std::string& unified);
  Operand element();
  Operand constant_operand();
  Operand name_operand();
  Operand address(bool texture);
  Operand list(char close);
  void index_into(Operand& o);
  std::string component();

  // Statements of a body (parse_statement.cpp)
  void body(Scope& scope, const Token& open);
  void statement(Scope& scope);
  void directive(Scope& scope);
  void instruction(Scope& scope);
  void label(Scope& scope);
  TargetList target_list(std::string name, Loc loc);
  Directive number_directive();
  CallPrototype prototype(std::string name, Loc loc);
  SourceLine source_line();
  std::array<uint32_t, 3> source_place();
  void pragma(std::vector<Directive>* directives);
  uint32_t used_bytes_ = 0xffffffff;  ///< for the next instruction
  std::string take_guard(bool& negated);

  // Declarations (parse_variable.cpp)
  struct Linkage {
    Token first;
    bool visible = false, weak = false, is_extern = false, common = false;
  };
  Linkage linkage();
  static std::string linkage_name(const Linkage& l) {
    return l.visible ? "visible" : l.weak ? "weak" : l.is_extern ? "extern" : "";
  }
  Variable variable_type(bool parameter);
  std::vector<Variable> variables(const Linkage& linkage, bool in_body);
  void declarator(Variable& v, bool parameter);
  void dimensions(Variable& v, bool parameter);
  uint32_t alignment();
  static void all_of_range(const Variable& v, std::vector<Variable>& all);
  void check_variable(const Variable& v, const Token& name, bool in_body);
  void check_size(const Variable& v, const Token& name);
  void attribute(std::vector<std::string>& attributes);
  std::vector<Variable> parameters(bool entry, bool prototype);
  Variable parameter(bool entry, bool prototype);

  // Initialisers (parse_initialiser.cpp)
  void initialiser(Variable& v);
  void fields(Variable& v);
  void initialiser_level(Variable& v, const std::vector<uint64_t>& shape, size_t level);
  void pad_row(Variable& v, const std::vector<uint64_t>& shape, size_t level, size_t first);
  Variable::Initialiser initial_value();
  void initial_symbol(Variable::Initialiser& value);

  // The module (parse_module.cpp)
  void module_item();
  void version();
  void target();
  void target_option(const Token& t, std::string name);
  void address_size(bool in_head);
  void file();
  void section();
  void section_item();
  void metadata_section();
  void alias();
  void function(const Linkage& linkage);
  void function_header(Function& f);
  void function_directives(Function& f);
  bool entry_directive(Function& f);
  void callable_directives(std::vector<Directive>& directives);
  std::vector<uint32_t> counts(const std::string& what, bool zero);
  void cluster_directive(Function& f, const Directive& d);
  static void take_parameters(Function& f);
  void skip_header();
  void add(Function&& f, const Token& name);
  void add(Variable&& v);
  void require_header();

  std::string_view text_;
  std::vector<Token> tokens_;
  size_t pos_ = 0;
  size_t max_errors_;
  bool cut_;                   ///< the text ends in a comment without end: reported already
  uint32_t vector_depth_ = 0;  ///< braces open inside the statement, for recover()
  uint32_t depth_ = 0;         ///< nested scopes
  uint32_t nesting_ = 0;       ///< of a constant expression
  uint64_t padding_left_ = uint64_t{1} << 20;
  bool version_seen_ = false, target_seen_ = false, header_checked_ = false, in_head_ = true;
  Token function_name_;
  std::unordered_map<std::string, size_t> function_index_, variable_index_;
  std::set<std::array<uint32_t, 3>> source_places_;  ///< of `.loc`
};

}  // namespace lanewise::ptx
