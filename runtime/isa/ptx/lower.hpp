// PTX to IR. Errors are diagnostics with the instruction's place; lowering goes on to find all.
#pragma once

#include <string>
#include <vector>

#include "runtime/ir/ir.hpp"
#include "runtime/isa/ptx/ast.hpp"

namespace lanewise::ptx {

struct LowerOptions {
  ir::AlignRule align = ir::AlignRule::trap;  ///< policy ptx.align
};

struct LowerResult {
  ir::Module module;
  std::vector<Diagnostic> diagnostics;
};
LowerResult lower(const Module& module, const LowerOptions& options = {});

enum class FormState : uint8_t { exact, approximate, unsupported };
struct Coverage {
  std::string form;  ///< "ld.global.v4.f32"
  FormState state;
  std::string note;  ///< how approximate (the error bound), or why not
};
/// Every form of the instruction table.
std::vector<Coverage> coverage();
/// State of one form as it stands in PTX text (opcode with all its qualifiers).
Coverage coverage_of(std::string_view form);

}  // namespace lanewise::ptx
