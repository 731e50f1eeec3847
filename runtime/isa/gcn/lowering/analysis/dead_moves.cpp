// Moves to vector registers that nobody reads, as compilers leave them that do not optimise: what
// they read is not wanted.
#include <algorithm>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"
#include "runtime/isa/gcn/lowering/analysis/vector_effects.hpp"

namespace lanewise::gcn {
namespace {

/// In front of an instruction, of what is behind it: registers that may be read by lanes that have
/// not written them since. Lanes that write and lanes that read are the same as long as EXEC is.
struct Reads {
  Vectors behind;   ///< where EXEC is written next, and from there on
  Vectors exposed;  ///< before that
  Vectors live;     ///< both, without what is written in between

  explicit Reads(const Vectors& behind_block) : behind(behind_block), live(behind_block) {}
  void write_exec() {
    behind |= exposed;
    exposed.reset();
    live = behind;
  }
  void step_back(const Instruction& i) {
    if (effects(i).writes.test(kExecLo)) write_exec();
    const Operand* to = overwritten(i);
    Vectors written, read;
    if (to != nullptr) add_vectors(written, *to);
    exposed &= ~written;
    live &= ~written;
    for (const Operand& o : i.operands)
      if (&o != to) add_vectors(read, o);
    if (looks_across(i)) behind |= read;
    exposed |= read;
    live |= read;
  }
};

/// Of each block: what is read behind it.
std::vector<Vectors> read_behind(const Kernel& k, const Analysis& a) {
  std::vector<Vectors> exposed(a.blocks.size()), behind(a.blocks.size());
  for (size_t b = 0; b < a.blocks.size(); ++b) {
    Reads reads{Vectors()};
    for (size_t n = a.blocks[b].end; n-- > a.blocks[b].begin;) reads.step_back(k.code[n]);
    reads.write_exec();
    exposed[b] = reads.behind;
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t b = a.blocks.size(); b-- > 0;) {
      const Vectors before = behind[b];
      for (const size_t s : a.blocks[b].successors) behind[b] |= exposed[s] | behind[s];
      changed = changed || behind[b] != before;
    }
  }
  return behind;
}

}  // namespace

void find_dead_moves(const Kernel& k, Analysis& a) {
  a.dead_moves.resize(k.code.size());
  if (std::ranges::any_of(k.code, counts_registers) || !a.indexed.empty()) return;
  std::vector<Vectors> behind(a.blocks.size(), Vectors().set());
  if (!k.state.bare) behind = read_behind(k, a);  // a bare kernel's registers may be looked at
  for (size_t b = 0; b < a.blocks.size(); ++b) {
    Reads reads(behind[b]);
    for (size_t n = a.blocks[b].end; n-- > a.blocks[b].begin;) {
      const Instruction& i = k.code[n];
      const Operand* to = overwritten(i);
      const bool pure = i.row->is_vector_alu() && i.row->kind == Kind::alu && to != nullptr &&
                        to->count == 1 && to->code >= kVgpr0 && effects(i).writes.none();
      a.dead_moves[n] = pure && !reads.live.test(to->code - kVgpr0);
      if (!a.dead_moves[n]) reads.step_back(i);
    }
  }
}

}  // namespace lanewise::gcn
