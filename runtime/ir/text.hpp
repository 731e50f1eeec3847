// What the printer and the parser of the IR's text form share.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir::text {

/// Operation name as printed: without the trailing underscore of C++ keywords.
std::string_view op_name(Op op);
/// Spelled-out mode of the operations that have one (sreg, barrier, shfl, cachectl), else empty.
std::string_view mode_name(Op op, uint8_t mode);
std::optional<uint8_t> mode_named(Op op, std::string_view name);
std::string_view name(Isa isa);
/// In double quotes; backslash, quote and bytes outside printable ASCII escaped.
std::string quote(std::string_view s);
std::string print(const Program& p, const Terminator& t);
std::string print(const Program& p, const Guard& g);

}  // namespace lanewise::ir::text
