// What instructions do to vector registers.
#pragma once

#include <algorithm>
#include <bitset>

#include "runtime/isa/gcn/gcn.hpp"

namespace lanewise::gcn {

using Vectors = std::bitset<256>;

inline void add_vectors(Vectors& set, const Operand& o) {
  for (unsigned code = std::max(o.code, kVgpr0); !o.immediate && code < o.code + o.count; ++code)
    if (code - kVgpr0 < set.size()) set.set(code - kVgpr0);
}

/// The result that the instruction writes whole in the lanes of EXEC, without reading it; null
/// where it may leave a part of it.
inline const Operand* overwritten(const Instruction& i) {
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
inline bool looks_across(const Instruction& i) {
  return i.form == Form::dpp || i.row->kind == Kind::across || i.row->encoding == Encoding::mimg ||
         i.row->encoding == Encoding::ds;
}

/// Registers are counted at run time: what an instruction names is not what it reaches.
inline bool counts_registers(const Instruction& i) {
  const Meaning& m = i.row->meaning;
  return m.moves_source || m.moves_result || m.indexing != Indexing::keeps;
}

}  // namespace lanewise::gcn
