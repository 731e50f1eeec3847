// Is a PTX module legal for a target, as the real assembler judges it? Says nothing about whether
// Lanewise can run it: that is lowering's part.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/isa/ptx/ast.hpp"

namespace lanewise::ptx {

struct CheckOptions {
  enum class Strict : uint8_t {
    ptxas,   ///< qualifiers in any order, and what else the assembler lets through
    manual,  ///< the written order of the manual and its text to the letter
  };
  std::string target;    ///< "sm_80" in place of the module's own; empty = the module's
  uint32_t version = 0;  ///< major * 10 + minor in place of the module's own; 0 = the module's
  Strict strict = Strict::ptxas;
  /// What it is compiled for, as `ptxas -arch` has it: the module's own target gates the text, and
  /// must go with this one. Empty = the module's own.
  std::string arch;
  enum class Assembler : uint8_t { by_version, cuda_11_8, cuda_13_0 };
  Assembler assembler = Assembler::by_version;
};

/// Errors and warnings in line order, of every instruction whether it can run here or not.
/// Versions up to 7.8 are judged as the assembler of PTX 7.8 does, later ones as that of 9.0.
std::vector<Diagnostic> check(const Module& module, const CheckOptions& options = {});

/// Without those about instructions that use a name whose declaration could not be read.
std::vector<Diagnostic> without_consequences(const Module& module, std::vector<Diagnostic> found);

/// What is wrong with an alias, empty when nothing is.
std::string alias_fault(const Module& module, const Alias& alias);

/// Is there a target of this name: `sm_80`, `sm_90a`?
bool is_target(std::string_view name);

}  // namespace lanewise::ptx
