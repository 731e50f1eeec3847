// Names of an assembly file: numbers that .set gives, and places, which are known behind the last
// instruction only.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/isa/gcn/text/expression.hpp"

namespace lanewise::gcn {

class Symbols {
 public:
  /// Which names .set has given a value; those of the assembler's own have one from the start.
  void define(const std::string& name, int64_t value);
  bool has_value(std::string_view name) const { return values_.contains(name); }
  /// What the name stands for: a number, another name, or something to compute; else empty.
  std::string text(std::string_view name) const;
  /// 0 where the name has no number.
  int64_t number(std::string_view name) const;
  /// What follows `.set`, or `name = value` with that sign: a number, another name, or what is
  /// computed where the name is used. `once`: a name that has a value is an error (.equiv).
  /// `here` marks the place in the file that `.` means; `known` gives what is known already of
  /// an expression with places.
  struct Places {
    std::function<std::string()> here;
    KnownPlaces known;
    std::function<bool(const std::string&)> is_label;
  };
  void assign(Cursor& in, char sign, bool once, const Places& places);
  /// The line with values in the place of names that .set gave; `1b` and `1f` become the label that
  /// they mean. Operands of instructions: names of registers stay.
  std::string with_values(std::string_view line, bool operands = false, int depth = 0) const;
  /// The same of an instruction, whose registers' numbers are computed, too: `v[3+1:2*4]`.
  std::string with_operand_values(const std::string& text) const;
  /// A number as a label: each use of it is another one.
  std::string numbered_label(std::string_view number);

  /// A place in the image.
  void place(const std::string& name, uint64_t address) { places_[name] = address; }
  /// Labels that other kernels may go to or measure from; a name given twice is none.
  void place_labels(const Kernel& kernel);

  using Report = std::function<void(const Instruction&, std::string message)>;
  /// Fills in the distances and literals that labels and expressions stand for.
  void resolve(Kernel& kernel, const Report& report) const;
  /// An address in the image, by name.
  std::optional<uint64_t> address(const std::string& name) const;
  /// What is wrong with a name that has none.
  std::string missing(const std::string& name) const;

 private:
  struct Scope;
  std::optional<uint64_t> address_in(const Scope& scope, const std::string& name) const;
  std::string branch(const Scope& scope, Operand& operand) const;
  std::string literal(const Scope& scope, Operand& operand) const;

  std::map<std::string, std::string, std::less<>> values_;
  std::map<std::string, uint64_t, std::less<>> numbered_;  ///< labels that are numbers: how many
  std::map<std::string, uint64_t> places_;
  std::map<std::string, std::optional<uint64_t>> labels_;
};

}  // namespace lanewise::gcn
