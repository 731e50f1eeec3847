// Fault reports for people, in the manner of a memory checker.
#include <fmt/format.h>

#include <algorithm>

#include "lanewise/lanewise.hpp"

namespace lanewise {
namespace {

std::string headline(const FaultReport& f) {
  switch (f.kind) {
    case FaultKind::out_of_range:
      return fmt::format("out-of-range access of {} bytes at 0x{:x}", f.size, f.address);
    case FaultKind::misaligned:
      return fmt::format("misaligned access of {} bytes at 0x{:x}", f.size, f.address);
    case FaultKind::null:
      return fmt::format("null-page access of {} bytes at 0x{:x}", f.size, f.address);
    case FaultKind::write_to_read_only:
      return fmt::format("write of {} bytes to read-only memory at 0x{:x}", f.size, f.address);
    case FaultKind::step_budget:
      if (f.address == 1) {
        return "step budget of the device used up: this driver ends loops after 65535 iterations "
               "of "
               "one lane in all; run it on another device";
      }
      return "step budget used up: the lane took more loop iterations than allowed "
             "(--max-steps N raises the limit)";
    case FaultKind::barrier_divergence:
      return "barrier divergence: the lane waits at a barrier that its partners never reach";
    case FaultKind::illegal_instruction:
      return "illegal instruction";
    case FaultKind::illegal_encoding:
      return "illegal encoding";
    case FaultKind::stack_overflow:
      return "stack overflow";
    case FaultKind::trap:
      return "trap executed";
    case FaultKind::uninitialised:
      return fmt::format("read of {} bytes that nobody wrote at 0x{:x}", f.size, f.address);
    case FaultKind::none:
      break;
  }
  return "no fault";
}

}  // namespace

std::string format(const FaultReport& f) {
  std::string out = fmt::format("fault: {}\n", headline(f));
  out += fmt::format("    at {}+{}: {}", f.kernel, f.pc, f.text);
  if (f.line != 0) out += fmt::format("  (line {})", f.line);
  if (!f.source.empty()) out += fmt::format("  [{}]", f.source);
  out += fmt::format("\n    by lane {} of wave {} in group ({},{},{})\n", f.lane, f.wave, f.group.x,
                     f.group.y, f.group.z);
  if (!f.nearest_allocation.empty()) {
    out += fmt::format("    nearest allocation: {}\n", f.nearest_allocation);
  }
  if (!f.parameter.empty() && f.parameter_allocation_address != f.allocation_address) {
    const std::string into =
        f.parameter_allocation_address == 0
            ? "no allocation"
            : fmt::format("'{}' at 0x{:x}", f.parameter_allocation, f.parameter_allocation_address);
    out += fmt::format("    through the pointer parameter {}, which points into {}\n", f.parameter,
                       into);
  }
  return out;
}

const Result& Result::check() const {
  if (ok()) return *this;
  // A used-up budget ends the launch, whatever else went wrong before.
  const auto ended = std::ranges::find(faults, FaultKind::step_budget, &FaultReport::kind);
  const FaultReport& first = ended != faults.end() ? *ended : faults.front();
  const ErrorKind kind = ended != faults.end() ? ErrorKind::budget : ErrorKind::guest;
  throw Error(kind, fmt::format("{} lanes faulted; the first:\n{}", fault_count, format(first)));
}

}  // namespace lanewise
