// Moves to vector registers that nobody reads, as compilers leave them that do not optimise: what
// they read is not wanted.
#include <algorithm>

#include "runtime/isa/gcn/lowering/analysis/analysis.hpp"

namespace lanewise::gcn {
namespace {

using Vectors = std::bitset<256>;

void add(Vectors& set, const Operand& o) {
  for (unsigned code = std::max(o.code, kVgpr0); !o.immediate && code < o.code + o.count; ++code)
    if (code - kVgpr0 < set.size()) set.set(code - kVgpr0);
}

/// The result that the instruction writes whole in the lanes of EXEC, without reading it; null
/// where it may leave a part of it.
const Operand* overwritten(const Instruction& i) {
  const Row& row = *i.row;
  if (i.form != Form::plain || i.lds || i.tfe || row.does(kReadsDst) || row.kind == Kind::across)
    return nullptr;
  if (row.is_vector_alu()) return i.operand(Slot::vdst);
  if (row.kind != Kind::load) return nullptr;
  if (row.encoding == Encoding::flat) return i.operand(Slot::vdst);
  const Operand* to = row.encoding == Encoding::mubuf ? i.operand(Slot::vdata) : nullptr;
  return to != nullptr && (to->count == 1 || row.moves_dwords()) ? to : nullptr;
}

/// Looks at registers of lanes that EXEC may have off.
bool looks_across(const Instruction& i) {
  return i.form == Form::dpp || i.row->kind == Kind::across || i.row->encoding == Encoding::mimg ||
         i.row->encoding == Encoding::ds;
}

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
    if (to != nullptr) add(written, *to);
    exposed &= ~written;
    live &= ~written;
    for (const Operand& o : i.operands)
      if (&o != to) add(read, o);
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
  const auto counts = [](const Instruction& i) {
    const Meaning& m = i.row->meaning;
    return m.moves_source || m.moves_result || m.indexing != Indexing::keeps;
  };
  if (std::ranges::any_of(k.code, counts) || !a.indexed.empty()) return;
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
