// mma.sp: the rows of A hold half of their elements, and the metadata says which. It chooses the
// elements of B that the stored ones meet, so that sums are those of mma over the stored elements.
//
// Two bits of metadata choose one of four parts of two words of B for each part of a word of A:
// halves, or bytes. A part is an element of 16 or 8 bits, half a .tf32, or two elements of 4 bits.
#include "runtime/isa/ptx/semantics/matrix/matrix.hpp"

namespace lanewise::ptx {

using ir::Op;
using ir::Type;

namespace {

ir::Operand word(Emit& e, Op op, ir::Operand a, ir::Operand b) {
  return e.op(op, Type::u32, {a, b});
}

/// Part `index`, of two bits, of a choice.
ir::Operand part(Emit& e, ir::Operand choice, unsigned index) {
  const ir::Operand moved =
      index == 0 ? choice : word(e, Op::shr, choice, imm(uint64_t{2} * index));
  return word(e, Op::and_, moved, imm(3));
}

}  // namespace

Selection::Selection(Emit& e, MatrixShape shape, MatrixType a) {
  const bool halves = a.bits() >= 16;
  const unsigned words = shape.k / 2 / a.in_unit();
  const uint64_t selector = e.operand(5).bits;
  // Lanes of a quad that have metadata take turns; the selector says which of them, where not all.
  const unsigned lanes = halves ? words / 4 : words / 2;
  if (selector * lanes >= 4)
    Emit::fail(e.operand(5).loc, "a selector of " + std::to_string(selector) +
                                     " with this shape has no meaning, below " +
                                     std::to_string(4 / lanes) + " was expected");
  const ir::Operand metadata = e.raw(e.operand(4), kB32);
  OperandList held;
  for (unsigned i = 0; i < lanes; ++i)
    held.push_back(of_quad(e, metadata, static_cast<unsigned>(selector) * lanes + i));
  // Of halves each lane has four words of both rows, of bytes four words of one row.
  for (unsigned row = 0; row < 2; ++row)
    for (unsigned w = 0; w < words; ++w) {
      const unsigned bits = halves ? 4 : 8;
      const ir::Operand from = held[halves ? w / 4 : w / 4 * 2 + row];
      const unsigned shift = w % 4 * bits + (halves ? 16 * row : 0);
      const ir::Operand choice = shift == 0 ? from : word(e, Op::shr, from, imm(shift));
      rows_[row].push_back(halves ? two_halves(e, choice) : four_bytes(e, choice));
    }
}

/// Each of the halves lies in one of the words.
Selection::Parts Selection::two_halves(Emit& e, ir::Operand choice) {
  Parts parts;
  for (unsigned i = 0; i < 2; ++i) {
    const ir::Operand which = part(e, choice, i), odd = word(e, Op::and_, which, imm(1));
    parts.shifts.push_back(word(e, Op::shl, odd, imm(4)));
    parts.second.emplace_back(e.op(Op::icmp, Type::u32, {which, imm(2)}, {.cond = ir::Cond::ge}));
  }
  return parts;
}

/// The lower two bytes come from the first word, the upper two from the second.
Selection::Parts Selection::four_bytes(Emit& e, ir::Operand choice) {
  Parts parts;
  for (unsigned i = 0; i < 4; ++i)
    parts.shifts.push_back(word(e, Op::shl, part(e, choice, i), imm(3)));
  return parts;
}

ir::Operand Selection::joined(Emit& e, const Parts& parts, ir::Operand first, ir::Operand second) {
  const bool halves = !parts.second.empty();
  const unsigned bits = halves ? 16 : 8;
  ir::Operand all;
  for (unsigned i = 0; i < parts.shifts.size(); ++i) {
    const ir::Operand from =
        halves  ? ir::Operand(e.op(Op::select, Type::u32, {parts.second[i], second, first}))
        : i < 2 ? first
                : second;
    ir::Operand one = word(e, Op::shr, from, parts.shifts[i]);
    const bool top = (i + 1) * bits == 32;  // what is above moves out
    if (!top) one = word(e, Op::and_, one, imm((1U << bits) - 1));
    if (i != 0) one = word(e, Op::shl, one, imm(uint64_t{i} * bits));
    all = i == 0 ? one : word(e, Op::or_, all, one);
  }
  return all;
}

OperandList Selection::chosen(Emit& e, unsigned row, const OperandList& column) const {
  OperandList words;
  for (size_t w = 0; w < rows_[row].size(); ++w)
    words.push_back(joined(e, rows_[row][w], column[2 * w], column[2 * w + 1]));
  return words;
}

}  // namespace lanewise::ptx
