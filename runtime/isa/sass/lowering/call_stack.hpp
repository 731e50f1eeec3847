// Return addresses that are not known while translating: of functions that call themselves, and of
// calls too deep to be copied. Each lane keeps the numbers of its return points in local memory,
// behind what the kernel has there.
#pragma once

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "lanewise/types.hpp"
#include "runtime/ir/builder.hpp"
#include "runtime/isa/sass/sass.hpp"

namespace lanewise::sass {

/// What a relocation says of the call at this place; null where there is none.
const Call* relocated_call(const Kernel& kernel, uint64_t pc);

/// Instructions that some CAL or JCAL goes to and that can come to a call of themselves.
std::set<size_t> recursive_functions(const Kernel& kernel);

class CallStack {
 public:
  /// Return points that a lane can have at a time; one more is the fault stack_overflow.
  static constexpr uint32_t kDepth = 4096;

  explicit CallStack(ir::Builder& b) : b_(b) {}

  /// A block that notes the return point and goes to the function.
  uint32_t call(uint32_t function, uint32_t return_point);
  /// The block that takes the last return point back and goes there.
  uint32_t give_back();
  /// Once all calls are known: writes that block, and reserves local memory.
  void finish();

 private:
  uint32_t fault(FaultKind kind);
  ir::Reg top();
  ir::Inst& access(ir::Op op, std::vector<ir::Reg> dst, std::vector<ir::Operand> src);

  ir::Builder& b_;
  ir::Reg top_;  ///< bytes in use
  std::vector<uint32_t> return_points_;
  std::vector<std::pair<uint32_t, size_t>> noted_;  ///< block and place of each store
  uint32_t give_back_ = ir::kNone;
};

}  // namespace lanewise::sass
