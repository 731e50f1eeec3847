// The hand-written kernels of this folder as SPIR-V.
#pragma once

#include <cstdint>
#include <span>

namespace lanewise::shaders {

struct NativeKernel {
  const char* name;                    ///< of the file, without its ending
  std::span<const uint32_t> pointers;  ///< parameters are 64-bit pointers
  std::span<const uint32_t> words;     ///< pointers are pairs of words: no 64-bit integers
};

std::span<const NativeKernel> native_kernels();

}  // namespace lanewise::shaders
