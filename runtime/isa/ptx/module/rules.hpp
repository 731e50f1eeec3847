// Is what stands around the instructions legal: header, variables, functions, names? As the two
// assemblers judge it (CUDA 11.8 and 13.0), each difference in one place.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/isa/ptx/check.hpp"

namespace lanewise::ptx::legal {

/// Whom a module is judged for.
struct Setting {
  std::string target;          ///< what gates the text
  unsigned sm = 0;             ///< of the target, 0 = unknown: no gate of a target applies
  unsigned version = 0;        ///< major * 10 + minor
  bool old_assembler = false;  ///< CUDA 11.8's, else CUDA 13.0's
  unsigned address_size = 64;
  bool independent = false;  ///< texmode_independent
};

void check_header(const Module& module, const CheckOptions& options, const Setting& setting,
                  std::vector<Diagnostic>& diagnostics);

/// The names that a scope declares, and what the assembler finds twice in it.
class Names {
 public:
  /// False where the scope has the name. Registers `%r<4>` are %r0 to %r3, too.
  bool add_variable(const Variable& v);
  bool add_label(std::string_view name) { return plain_.try_emplace(name, true).second; }
  bool has_label(std::string_view name) const;
  bool has(std::string_view name) const { return plain_.contains(name); }

 private:
  std::unordered_map<std::string_view, bool> plain_;       ///< true = a label
  std::unordered_map<std::string_view, uint32_t> ranges_;  ///< `%r` of `%r<4>`: 4
  /// Of names that end in digits, by what stands before: the lowest number.
  std::unordered_map<std::string_view, uint64_t> numbered_;
};

class ModuleRules {
 public:
  ModuleRules(const Module& module, const Setting& setting, std::vector<Diagnostic>& diagnostics);
  void run();

 private:
  enum class Place : uint8_t { module, body, parameter, entry_parameter, prototype };

  void error(Loc loc, std::string message);
  /// Complains where the version or the target is older.
  void need(Loc loc, std::string_view what, unsigned version, unsigned sm = 0);

  void directives();  // rules.cpp
  void declared();
  void aliases();

  void variable(const Variable& v, Place place);  // variables.cpp
  void type(const Variable& v, Place place);
  void space(const Variable& v, Place place);
  void attributes(const Variable& v, Place place);
  void initialiser(const Variable& v);
  void initial_value(const Variable& v, const Variable::Initialiser& value);
  void initial_symbol(const Variable& v, const Variable::Initialiser& value);
  void fields(const Variable& v);
  void redeclared(const Variable& first, const Variable& later);

  void function(const Function& f);  // functions.cpp
  void function_directives(const Function& f);
  void callable(Loc loc, const std::vector<Variable>& results, const std::vector<Variable>& params,
                const std::vector<Directive>& directives, bool prototype);
  void parameter_space(const Function& f);
  void redeclared(const Function& first, const Function& later);
  std::string difference(const Function& a, const Function& b) const;

  void body(const Function& f);  // bodies.cpp
  void scope(const Scope& s, const Function* parameters_of);
  void declare(const Variable& v, Names& names);
  void targets(const TargetList& list);

  /// What a module's name is, and where its first declaration stands.
  struct Known {
    Loc loc;
    const Variable* variable = nullptr;
    const Function* function = nullptr;
  };
  const Known* known(std::string_view name, Loc before) const;

  const Module& module_;
  const Setting& setting_;
  std::vector<Diagnostic>& diagnostics_;
  std::unordered_map<std::string_view, Known> known_;
  std::vector<Names> scopes_;
};

uint64_t variable_size(const Variable& v);
uint32_t variable_alignment(const Variable& v);
bool is_before(Loc a, Loc b);

}  // namespace lanewise::ptx::legal
