// Words of GCN buffer descriptors that a launch's arguments decide, and that decide what code an
// access needs: word 3, and the stride in word 1. They are the same in most launches of a kernel.
#pragma once

#include <vector>

#include "runtime/guest/certain_accesses.hpp"

namespace lanewise::guest {

/// Of a source of an instruction.
struct DescriptorWord {
  uint32_t block = 0, inst = 0, source = 0;
  uint32_t mask = 0, value = 0;  ///< bits that are known, and what they are
};

std::vector<DescriptorWord> descriptor_words(const ir::Program& program, const CertainFacts& facts);

/// Makes constants of them: a program for launches in which they are so.
void set_words(ir::Program& program, const std::vector<DescriptorWord>& words);

}  // namespace lanewise::guest
