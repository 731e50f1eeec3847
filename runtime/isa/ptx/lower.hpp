// PTX to IR. Errors are diagnostics with the instruction's place; lowering goes on to find all.
#pragma once

#include <string>
#include <vector>

#include "runtime/ir/ir.hpp"
#include "runtime/isa/coverage.hpp"
#include "runtime/isa/ptx/ast.hpp"
#include "runtime/isa/rejected.hpp"

namespace lanewise::ptx {

struct LowerOptions {
  ir::AlignRule align = ir::AlignRule::trap;  ///< policy ptx.align
};

struct LowerResult {
  ir::Module module;                          ///< the kernels that can run
  std::vector<Diagnostic> diagnostics;        ///< of the whole file, rejected kernels included
  std::vector<isa::RejectedKernel> rejected;  ///< the others, and why
  bool unusable = false;  ///< a variable of the module is at fault, which every kernel may use
};
LowerResult lower(const Module& module, const LowerOptions& options = {});

using isa::Coverage;
using isa::FormState;
/// Every form of the instruction table.
std::vector<Coverage> coverage();
/// The same with what the table claims of each.
struct ClaimedForm {
  Coverage coverage;
  isa::Claim claim;
  bool runs;  ///< it has a lowering
};
std::vector<ClaimedForm> claimed_forms();
/// State of one form as it stands in PTX text (opcode with all its qualifiers).
Coverage coverage_of(std::string_view form);

}  // namespace lanewise::ptx
