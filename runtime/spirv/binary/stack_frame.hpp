// How much stack a compiler needs for a module that it neither folds nor splits up (SwiftShader).
#pragma once

#include <cstdint>
#include <vector>

namespace lanewise::spirv {

/// What of a module lies in the stack frame of its one routine, for one invocation.
struct StackUse {
  uint64_t variable_words = 0;  ///< of storage class Private and Function
  uint64_t phi_operands = 0;    ///< of all OpPhi, in words of their type
  uint64_t accesses = 0;        ///< loads and stores of memory that others see
};
StackUse stack_use(const std::vector<uint32_t>& words);

/// Bytes of the routine's frame that carries `invocations` at a time.
uint64_t frame_bytes(const StackUse& use, uint32_t invocations);

}  // namespace lanewise::spirv
