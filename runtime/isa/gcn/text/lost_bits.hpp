// What LLVM's assembler takes though the instruction has no bits for all of it: the same words come
// out here, with a warning.
#pragma once

#include <string>

#include "runtime/isa/gcn/gcn.hpp"

namespace lanewise::gcn {

/// v_madmk and v_madak read one literal: where their own has a code, LLVM lets it stand for another
/// one as well.
void share_literal(Instruction& instruction, Gen gen);
/// Words whose operand names no register, since the place of a condition has no code for it, become
/// data: a kernel that can run into them does not run. False where that is not so.
bool keep_words_only(Instruction& instruction, Gen gen);
/// What became of a number that the instruction has no bits for; empty where all are there.
std::string lost_bits(const Instruction& instruction);

}  // namespace lanewise::gcn
