// Loads of a texture's block by code that finds descriptors there, as GCN's does.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// Whose address is a parameter of 64 bits, and a constant.
struct DescriptorLoad {
  uint32_t block = 0, inst = 0;
  uint64_t parameter = 0;  ///< its byte offset
  uint32_t word = 0;       ///< the first that is loaded, counted from there
};
/// Those of the first `words` words, in the program's order.
std::vector<DescriptorLoad> descriptor_loads(const Program& program, uint32_t words);

}  // namespace lanewise::ir
