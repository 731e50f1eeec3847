#include "runtime/guest/engine.hpp"

namespace lanewise {

std::string_view name(FaultKind kind) {
  switch (kind) {
    case FaultKind::none:
      return "none";
    case FaultKind::out_of_range:
      return "out_of_range";
    case FaultKind::misaligned:
      return "misaligned";
    case FaultKind::null:
      return "null";
    case FaultKind::illegal_instruction:
      return "illegal_instruction";
    case FaultKind::illegal_encoding:
      return "illegal_encoding";
    case FaultKind::step_budget:
      return "step_budget";
    case FaultKind::stack_overflow:
      return "stack_overflow";
    case FaultKind::barrier_divergence:
      return "barrier_divergence";
    case FaultKind::write_to_read_only:
      return "write_to_read_only";
    case FaultKind::trap:
      return "trap";
    case FaultKind::uninitialised:
      return "uninitialised";
  }
  return "unknown";
}

}  // namespace lanewise
