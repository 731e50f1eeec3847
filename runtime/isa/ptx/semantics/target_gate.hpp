// Which target and language version an instruction or qualifier needs.
#pragma once

#include <string>

#include "runtime/isa/ptx/ast.hpp"
#include "runtime/isa/ptx/semantics/table.hpp"

namespace lanewise::ptx {

/// Empty when the module's .target and .version allow the form, else what is needed.
std::string target_gate(const Module& module, std::string_view opcode, const Form& form);

/// The same of directives about thread block clusters.
std::string cluster_gate(const Module& module);

}  // namespace lanewise::ptx
