// The sum of products that cuts what lies too far below the highest exponent (ir/dot.hpp), as plain
// operations.
#pragma once

#include "runtime/ir/passes/values/dot_code.hpp"

namespace lanewise::ir {

/// Products of these factors have exponents that f32 has.
constexpr bool products_fit(Element e) {
  return e == Element::f16 || e == Element::e4m3 || e == Element::e5m2;
}

/// The result of `dot`, whose rule cuts, and whose factors fit.
Operand cut_sum(DotCode& code, Factors& factors, const Inst& dot);
/// The same of bf16 or tf32.
Operand wide_sum(DotCode& code, Factors& factors, const Inst& dot);

}  // namespace lanewise::ir
