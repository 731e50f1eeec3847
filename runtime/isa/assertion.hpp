// A failed assertion of CUDA's device runtime: the trap's site says what was asserted, and where.
#pragma once

#include "runtime/isa/known_value.hpp"

namespace lanewise::isa {

/// The arguments of __assertfail; its fifth one is the size of a character.
struct AssertionCall {
  ir::Operand condition, file, line, function;  ///< b64 generic addresses of texts; line: b32
};

/// Records at the site what the program says of them. What it says only at run time is left out.
inline void describe_assertion(ir::Site& site, const KnownValues& known,
                               const AssertionCall& call) {
  site.assertion = known.text(call.condition).value_or("");
  site.function = known.text(call.function).value_or("");
  const auto file = known.text(call.file);
  const auto line = known.number(call.line);
  if (!file || file->empty() || !line) return;
  site.source_file = *file;
  site.source_line = static_cast<uint32_t>(*line);
}

}  // namespace lanewise::isa
