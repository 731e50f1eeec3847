// Functions that programs for CUDA call without having them: those that PTX can express itself.
#pragma once

#include "runtime/isa/ptx/ast.hpp"

namespace lanewise::ptx {

/// Bodies for what the module declares and nobody defines: malloc and free. The heap's address is
/// in a variable (runtime/layout/device_heap.hpp) that launches set.
void add_device_library(Module& module);

}  // namespace lanewise::ptx
