// One instruction under check: its qualifiers, its operands, and how to complain about them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/isa/ptx/symbols.hpp"
#include "runtime/isa/ptx/table.hpp"

namespace lanewise::ptx::legal {

/// What all instructions of a module share.
struct Environment {
  std::string target;
  unsigned sm = 0;       ///< 0 = unknown, no gate applies
  unsigned version = 0;  ///< major * 10 + minor
  unsigned address_size = 64;
  bool manual = false;
  bool independent = false;  ///< textures and samplers are named apart
  const Symbols* symbols = nullptr;
  std::vector<Diagnostic>* diagnostics = nullptr;
};

class Context {
 public:
  using Values = std::vector<std::pair<std::string_view, std::string_view>>;
  Context(const Instruction& in, const Values& values, const Environment& env)
      : in(in), env(env), values_(values) {}

  const Instruction& in;
  const Environment& env;

  // Qualifiers
  std::string_view get(std::string_view slot) const;
  bool has(std::string_view slot) const { return !get(slot).empty(); }
  PType type(std::string_view slot = "type") const;
  unsigned vector() const;  ///< of `.v4`: 4, else 1

  // Complaints. An operand's message begins with where it stands.
  void error(const std::string& message);
  void error(const Operand& o, const std::string& message);
  /// An error that begins with what the operand is.
  void found(const Operand& o, const std::string& rest);
  void warn(const std::string& message);
  void warn(const Operand& o, const std::string& message);
  /// False after a complaint that `what` needs a newer target or version.
  bool need(unsigned sm, unsigned version, std::string_view what);
  bool need(Gate gate, std::string_view what);
  /// The file is one of the assembler of PTX 7.8.
  bool old() const { return env.version < 80; }

  // Operands
  /// `brings_one`: a qualifier with which there would be one more.
  bool count(size_t least, size_t most, std::string_view brings_one = {});
  Symbol symbol(const Operand& o) const { return env.symbols->find(o.name); }
  /// A register of the type; `_` only where `sink` allows it.
  void destination(size_t i, PType want, Fit fit, bool sink = false);
  /// A register of the type, and nothing else.
  void register_of(const Operand& o, PType want, Fit fit);
  /// A register or constant of the type: what most instructions read.
  void value_of(const Operand& o, PType want, Fit fit);
  /// A register or constant of the type.
  void source(size_t i, PType want, Fit fit);
  /// A 32-bit-style source where constants and names with an offset stand for anything.
  void vector_operand(size_t i, PType want, unsigned elements, Fit fit, bool is_source,
                      bool sink_allowed);
  void vector_of(const Operand& o, PType want, unsigned elements, Fit fit, bool is_source,
                 bool sink_allowed);
  /// `[a]` of a space; empty = generic. Complains about what cannot address it.
  void address(size_t i, std::string_view space);
  /// The same where 32 bits are enough in every version: in shared memory, mostly.
  void near_address(size_t i, std::string_view space);
  /// Of an address in a register of 8 or 16 bits, which some instructions do not take.
  void refuse_narrow(size_t i);
  /// A predicate register, maybe negated where it is read; a constant there, too.
  void predicate_of(const Operand& o, bool writes);
  /// The 64-bit cache policy.
  void policy(size_t i);
  /// `[a].unified` belongs to loads.
  void refuse_unified();
  /// An integer that the text gives: nullptr after a complaint.
  const Operand* literal(size_t i, std::string_view expected);
  /// A register or constant of an integer type.
  void integer_source(size_t i, unsigned bits);

  /// Addresses of 32 bits in a space that needs 64 make it a 32-bit program, which newer targets
  /// and assemblers do not know.
  bool allows_32_bit() const { return env.version < 80 && env.sm < 90; }
  void refuse_32_bit(const Operand& o, std::string_view what);
  /// Whether a constant can stand for the type; a name with an offset always can.
  static bool constant_fits(const Operand& o, PType want);

 private:
  void element(const Operand& o, PType want, Fit fit, bool is_source);
  void register_address(const Operand& o, std::string_view space, const Symbol& s);
  void variable_address(const Operand& o, std::string_view space, const Symbol& s);

  const Values& values_;
};

/// Judges the operands by a row's list.
/// False when there are too few or too many.
bool judge_operands(Context& c, std::span<const OperandSpec> specs);

/// "7.8" of 78.
std::string version_text(unsigned version);
/// "`%r1`, a .b32 register" or "`5`, a constant": what was found.
std::string found_text(const Operand& o, const Symbol& s);

}  // namespace lanewise::ptx::legal
