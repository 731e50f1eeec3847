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
  /// What follows `.set`, or `name = value` with that sign: a number, or another name. Other
  /// expressions leave a name without.
  void assign(Cursor& in, char sign);
  bool has_values() const { return !values_.empty(); }
  /// The line with numbers in the place of names that .set gave; throws where one has no value.
  std::string with_values(std::string_view line) const;

  /// A place in the image.
  void place(const std::string& name, uint64_t address) { places_[name] = address; }
  /// Labels that other kernels may go to or measure from; a name given twice is none.
  void place_labels(const Kernel& kernel);

  using Report = std::function<void(const Instruction&, std::string message)>;
  /// Fills in the distances and literals that labels and expressions stand for.
  void resolve(Kernel& kernel, const Report& report) const;

 private:
  struct Scope;
  std::optional<uint64_t> address(const Scope& scope, const std::string& name) const;
  std::string branch(const Scope& scope, Operand& operand) const;
  std::string literal(const Scope& scope, Operand& operand) const;
  std::string missing(const std::string& name) const;

  std::map<std::string, std::optional<std::string>, std::less<>> values_;  ///< absent: no number
  std::map<std::string, uint64_t> places_;
  std::map<std::string, std::optional<uint64_t>> labels_;
};

}  // namespace lanewise::gcn
