// What must be known about a kernel before it is lowered: blocks, which register pairs serve as
// lane masks, and where a scalar instruction needs the real 64-bit value of a mask.
//
// A mask (EXEC, VCC, a pair written by a compare) is a predicate per lane. A pair that somebody
// reads as a mask gets such a predicate, kept up to date by every write; its 64-bit value is made
// by a ballot only where somebody reads it as a number. So kernels that use masks only as masks
// have no cross-lane operation at all.
#pragma once

#include <bitset>
#include <map>
#include <vector>

#include "runtime/isa/gcn/gcn.hpp"
#include "runtime/isa/gcn/lowering/analysis/calls.hpp"
#include "runtime/isa/gcn/lowering/analysis/index_mode.hpp"

namespace lanewise::gcn {

/// Scalar state by operand code (SGPRs, vcc, m0, exec), and scc at its code.
using ScalarSet = std::bitset<kSlot0 + kSlots>;

struct BasicBlock {
  size_t begin = 0, end = 0;       ///< instruction range
  std::vector<size_t> successors;  ///< block indices
  ScalarSet live_in, live_out;
  ScalarSet stale_in;                 ///< may hold a mask whose 64-bit value was not computed
  ScalarSet beyond_in;                ///< low codes of pairs that may have bits of no lane
  ScalarSet numbers_in, numbers_out;  ///< whose 64-bit value is wanted
  ScalarSet masks_in, masks_out;      ///< words of pairs that are read as masks later
  bool exec_full_in = true;           ///< EXEC is still what it was at the start
  bool reached = false;               ///< from the kernel's entry
};

struct Effects {
  ScalarSet reads, writes;
};
Effects effects(const Instruction& instruction);
/// Of each instruction.
std::vector<Effects> all_effects(const Kernel& kernel);

struct Analysis {
  CallTargets calls;
  std::vector<Effects> effects;  ///< per instruction
  std::vector<BasicBlock> blocks;
  std::vector<size_t> block_of;         ///< per instruction; one more for the end
  ScalarSet masks;                      ///< low codes of pairs that are read as masks
  std::map<size_t, IndexMode> indexed;  ///< instructions whose registers M0 may count
  bool keeps_m0 = false;                ///< somebody reads bits of M0 that s_set_gpr_idx_on leaves
  std::vector<bool> result_beyond;      ///< logic that may give bits of lanes that do not exist
  std::vector<bool> asks_number;        ///< branches on VCC that may have such bits, or is a number
  ScalarSet always_numbers;             ///< whose 64-bit values are wanted wherever it may end
  std::vector<bool> through_masks;      ///< instructions that are logic on masks, not on numbers
  /// Instructions that write one word of a mask whose bits are not read then: its low code.
  std::map<size_t, unsigned> unread_bits;
  std::vector<bool> dead_moves;  ///< instructions whose result nobody reads
  bool only_by_lane = false;     ///< some of them are looked for by LowerOptions::by_lane alone
  std::vector<bool> scc_live;    ///< somebody reads the SCC that the instruction writes
  /// Must this logic on masks, which writes the pair, work on their numbers as well? `numbers`:
  /// that are wanted behind it.
  bool makes_number(size_t index, unsigned code, const ScalarSet& numbers, bool scc_wanted) const;
};

bool is_mask_write(const Instruction& instruction, const ScalarSet& stale);
/// For each instruction of the block: what is read behind it before it is written.
std::vector<ScalarSet> live_behind(const Kernel& kernel, const Analysis& analysis,
                                   const BasicBlock& block);
/// Index of the instruction a branch goes to; code.size() = the end, npos = nowhere.
/// Registers whose 64-bit values are wanted behind each instruction of the block.
std::vector<ScalarSet> numbers_behind(const Kernel& kernel, const Analysis& analysis,
                                      const BasicBlock& block);
bool is_source_slot(Slot slot);
size_t branch_target(const Kernel& kernel, size_t index);
bool ends_block(const Instruction& instruction);

/// Of an analysis with blocks: `dead_moves`.
void find_dead_moves(const Kernel& kernel, Analysis& analysis);
/// Masks, and where their numbers are wanted: of an analysis with blocks, liveness and stale masks.
void find_mask_numbers(const Kernel& kernel, const LowerOptions& options, Analysis& analysis);
Analysis analyse(const Kernel& kernel, const CallTargets& calls, const LowerOptions& options);
/// Who has to be asked whether an `s_cbranch_execz` is taken.
enum class ExeczAsks : uint8_t {
  nobody,  ///< what it skips may as well run with EXEC = 0: it changes nothing and comes to an end
  lane,    ///< a lane with its own bit off may skip it, whatever the others do
  wave,
};
/// For each branch on EXEC being zero or not. `nobody` and `lane` only where it does not matter
/// what a lane whose bit is off has other at the one place where what it skips ends. With `by_lane`
/// more is looked at to find `lane`: what loops and masks of masks do to the lane's own bits. Then
/// branches on VCC may be there, too, by `lane`: the lane's own bit is the answer.
std::map<size_t, ExeczAsks> execz_asks(const Kernel& kernel, const Analysis& analysis,
                                       const LowerOptions& options);
/// State of `stale` after the instruction.
void step_stale(const Instruction& instruction, ScalarSet& stale);

}  // namespace lanewise::gcn
