// Reads a script: settings, cases and sweeps. Sweeps are expanded as text, so that they can stand
// around anything.
#pragma once

#include <map>
#include <memory>

#include "runtime/script/script.hpp"

namespace lanewise::script {

class Parser {
 public:
  Parser(Script& script, size_t max_errors) : script_(script), max_errors_(max_errors) {}
  void run(std::string_view text);

 private:
  using Bindings = std::vector<std::pair<std::string, std::string>>;

  // --- parser.cpp: structure ---------------------------------------------------------------------
  void statements(Case* current);
  void statement(Case* current);
  void case_(const Token& keyword);
  void for_(Case* current, Loc loc);
  std::vector<std::string> loop_names();
  std::vector<std::vector<std::string>> loop_items(size_t names);
  void add_range(std::vector<std::vector<std::string>>& out, const std::string& item, Loc loc);
  void report(const Problem& problem);
  bool full() const { return max_errors_ != 0 && script_.diagnostics.size() >= max_errors_; }
  std::string bindings_text() const;

  // --- parse_setup.cpp: what a case starts from
  // ---------------------------------------------------
  bool setting(Case& c, const Token& keyword);
  void isa(Case& c);
  void target(Case& c);
  void active(Case& c);
  void policy(Case& c, const Token& keyword);
  void pixel(Case& c, Loc loc);
  Selection selection(const char* example);
  LaneSet absent_pages();
  void buffer(Case& c, Loc loc);
  void contents(BufferDecl& b);
  void reg(Case& c);
  static void set_register(Case& c, RegDecl r);
  void vector_register(Case& c, RegDecl r);
  void param(Case& c);
  void let(Case& c);
  void declarations(Case& c);
  void check_new_name(const Case& c, const std::string& name, Loc loc) const;
  uint64_t number(const char* what, uint64_t low, uint64_t high);
  Dim3 dimensions();
  LaneSet lane_set();
  ExprPtr condition();
  std::string register_name();

  // --- parse_steps.cpp: what a case does
  // ----------------------------------------------------------
  bool step(Case& c, const Token& keyword);
  void code(Case& c);
  void launch(Case& c, Loc loc);
  void expect(Case& c, Loc loc);
  void expect_fault(Case& c, Loc loc);
  void expect_cache(Case& c, Loc loc);
  void cache_state(ExpectCache& e);
  CacheSetting cache_setting();
  void expect_memory(Case& c, Loc loc, const std::string& name);
  void expect_register(Case& c, Loc loc);

  Script& script_;
  size_t max_errors_;
  Case defaults_;
  Lexer* lex_ = nullptr;
  Bindings bindings_;
  std::map<std::pair<std::string, std::string>, uint32_t> seen_;  ///< cases and their lines
  uint64_t expanded_ = 0;  ///< characters of text made by sweeps
  unsigned depth_ = 0;
};

}  // namespace lanewise::script
