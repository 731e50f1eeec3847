// The passes of pipeline.cpp that work on values; each returns whether something has changed.
#pragma once

#include "runtime/ir/passes/pipeline.hpp"

namespace lanewise::ir {

/// Operations without effects are done anyway where what they wrote is only read under their guard.
bool drop_guards(Program& program, const PassOptions& options);
/// Constants instead of the registers that hold them; what has only constants to compute with is
/// computed. Guards and branches on constants are decided.
bool propagate_constants(Program& program, const PassOptions& options);
/// Operations that a constant operand, or one operand twice, makes simpler.
bool apply_identities(Program& program, const PassOptions& options);
/// 64-bit values that were taken apart and put together, or the other way round.
bool join_pairs(Program& program, const PassOptions& options);
/// The register that had a value first instead of those that it was copied to.
bool propagate_copies(Program& program, const PassOptions& options);
/// A pure operation, or a load of a parameter, with operands that it had before becomes a copy.
bool merge_common(Program& program, const PassOptions& options);
/// Sums of products of halves that are one product of 32 bits.
bool join_products(Program& program, const PassOptions& options);
/// Chains of sums with constants become one sum; of addresses, the instruction's offset.
bool fold_addresses(Program& program, const PassOptions& options);
/// Takes out fences for the group next to barriers of the whole group, which order as much.
bool drop_fences(Program& program, const PassOptions& options);
/// Takes out what has no effect but results that nobody reads.
bool remove_dead(Program& program, const PassOptions& options);
/// Decided branches, empty blocks, blocks in a row, unreachable blocks. The tree of a program says
/// which lanes an operation across lanes holds together, so those programs keep their blocks.
bool join_blocks(Program& program, const PassOptions& options);

/// Without any effect but its results. Loads may fault, except those of parameters at a known
/// place; devices do not look at notes.
bool removable(const Program& program, const Inst& inst);
/// May the pass change which block follows which?
bool flow_is_free(const Program& program);

}  // namespace lanewise::ir
