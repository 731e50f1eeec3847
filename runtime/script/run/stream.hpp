// The text of a case to a kernel.
#pragma once

#include "runtime/api/program/loader.hpp"
#include "runtime/script/case.hpp"

namespace lanewise::script {

/// The instructions as a module with one kernel. Diagnostics have the script's lines and columns.
/// `observed`: registers whose final values are wanted.
host::detail::Compiled compile_stream(const Case& c, const Code& code,
                                      const std::vector<std::string>& observed);

}  // namespace lanewise::script
