// Kernels that take every subnormal f32 as a zero, on devices that do the same.
#pragma once

#include "runtime/ir/ir.hpp"
#include "runtime/spirv/translate.hpp"

namespace lanewise::spirv {

/// Every operation that computes with f32 says ftz, and there is one.
bool flushes_everything(const ir::Program& program);

/// The target for such a kernel: with the device's flush mode, or its nature, in place of integer
/// operations, where more of the float operations are exact that way than the other.
Target flushing_target(const Target& target);

}  // namespace lanewise::spirv
