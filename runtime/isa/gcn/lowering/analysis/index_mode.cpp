// Where the index mode is on, and what it means there for which operand.
#include "runtime/isa/gcn/lowering/analysis/index_mode.hpp"

#include <algorithm>

#include "runtime/isa/gcn/lowering/analysis/constants.hpp"

namespace lanewise::gcn {

namespace {

constexpr unsigned kResultBit = 3;

/// Slots of the sources that the arithmetic unit gets. A literal takes its place among them:
/// behind it v_madmk's last operand is the third.
bool is_place(Slot s) {
  return s == Slot::src0 || s == Slot::src1 || s == Slot::src2 || s == Slot::vsrc1 ||
         s == Slot::literal;
}

bool touches_mode(const Instruction& i) {
  return i.row->does(kWritesMode);
}

bool has_counted_register(const Instruction& i, const IndexMode& mode) {
  if (!mode.on || !i.row->is_vector_alu()) return false;
  for (size_t n = 0; n < i.operands.size(); ++n) {
    const auto bit = index_bit(i, n);
    if (bit && (!mode.what || (*mode.what >> *bit & 1) != 0)) return true;
  }
  return false;
}

}  // namespace

std::optional<unsigned> index_bit(const Instruction& i, size_t operand) {
  const Slot slot = i.row->operands[operand].slot;
  if (i.operands[operand].immediate || i.operands[operand].code < kVgpr0) return std::nullopt;
  if (slot == Slot::vdst) return kResultBit;
  if (!is_place(slot)) return std::nullopt;
  unsigned place = 0;
  for (size_t n = 0; n < operand; ++n) place += is_place(i.row->operands[n].slot) ? 1 : 0;
  return place;
}

std::map<size_t, IndexMode> indexed(const Kernel& k, const Analysis& a) {
  std::map<size_t, IndexMode> out;
  if (std::ranges::none_of(k.code, touches_mode)) return out;
  const std::vector<ScalarConstants> in = constants_in(k, a);
  for (size_t b = 0; b < a.blocks.size(); ++b) {
    ScalarConstants known = in[b];
    for (size_t n = a.blocks[b].begin; n < a.blocks[b].end; ++n) {
      const IndexMode mode = index_mode(known);
      if (has_counted_register(k.code[n], mode)) out[n] = mode;
      step_constants(k.code[n], known);
    }
  }
  return out;
}

}  // namespace lanewise::gcn
