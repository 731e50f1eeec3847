// Which parameter or variable an address is computed from.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/ir/ir.hpp"

namespace lanewise::ir {

/// What accesses go through. Mem::pointer counts parameters first, then variables.
struct PointerParams {
  std::vector<uint32_t> through;     ///< parameters, by byte offset
  std::vector<uint32_t> alignments;  ///< of each, the largest that an access through it must have
  std::vector<Variable> variables;   ///< of Program::variables
  /// Eight-byte slots whose values are parts of the offsets. Nothing is proven about a launch in
  /// which one of them is a pointer itself.
  std::vector<uint32_t> in_offsets;
};

/// Launch blocks have capacity for so many; accesses through others are not marked.
inline constexpr uint32_t kMostPointers = 16;

/// Sets Mem::pointer of the accesses to global, constant and generic memory whose address is surely
/// one parameter or variable plus an offset that comes from no other pointer, and clears it of all
/// others.
/// Registers are followed from block to block; programs of more than a million register states are
/// left alone. Every engine asks this about the program that it is given, before any other pass.
PointerParams find_pointers(Program& program);

/// Takes the marks away again.
void forget_pointers(Program& program);

/// Generic accesses that find_pointers() has marked become global ones: allocations lie in global
/// memory, and what leaves its allocation is a fault wherever it arrives. Only for engines that
/// hold marked accesses against allocations.
void narrow_generic(Program& program);

/// Does the program ask where its parameters lie?
bool addresses_parameters(const Program& program);

/// Loads from the guest memory that holds the parameters (GCN's kernarg segment), at offsets that
/// are known, become loads of parameters, and those of the block that a launch lays down behind
/// them (the dispatch packet) loads of constants, which all lanes of a group find the same. That
/// memory is read only. Traced loads stay: their addresses are asked for.
void load_parameters(Program& program);

}  // namespace lanewise::ir
