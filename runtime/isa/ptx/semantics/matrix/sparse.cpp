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

/// Bits `mask` of `from`, moved up by `by`.
ir::Operand moved(Emit& e, ir::Operand from, uint32_t mask, unsigned by) {
  const ir::Operand cut = word(e, Op::and_, from, imm(mask));
  return by == 0 ? cut : word(e, Op::shl, cut, imm(by));
}

/// The selector of prmt for one word of A, of the lowest bits of `choice`.
ir::Operand permutation(Emit& e, ir::Operand choice, bool halves) {
  ir::Operand spread = moved(e, choice, 3, 0);
  if (halves) {
    spread = word(e, Op::or_, spread, moved(e, choice, 12, 6));
    const ir::Operand both = word(e, Op::mul, spread, imm(0x22));
    return word(e, Op::add, both, imm(0x1010));
  }
  for (unsigned i = 1; i < 4; ++i)
    spread = word(e, Op::or_, spread, moved(e, choice, 3U << 2 * i, 2 * i));
  return word(e, Op::or_, spread, imm(0x4400));  // the upper two bytes come from the second word
}

}  // namespace

Selection::Selection(Emit& e, const LanePlace& at, MatrixShape shape, MatrixType a) {
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
  const ir::Operand quad = word(e, Op::and_, at.lane, imm(28));
  OperandList held;
  for (unsigned i = 0; i < lanes; ++i)
    held.push_back(of_lane(e, metadata, word(e, Op::or_, quad, imm(selector * lanes + i))));
  // Of halves each lane has four words of both rows, of bytes four words of one row.
  for (unsigned row = 0; row < 2; ++row)
    for (unsigned w = 0; w < words; ++w) {
      const unsigned bits = halves ? 4 : 8;
      const ir::Operand from = held[halves ? w / 4 : w / 4 * 2 + row];
      const unsigned shift = w % 4 * bits + (halves ? 16 * row : 0);
      const ir::Operand choice = shift == 0 ? from : word(e, Op::shr, from, imm(shift));
      rows_[row].push_back(permutation(e, choice, halves));
    }
}

OperandList Selection::chosen(Emit& e, unsigned row, const OperandList& column) const {
  OperandList words;
  for (size_t w = 0; w < rows_[row].size(); ++w)
    words.push_back(e.op(Op::prmt, Type::none, {column[2 * w], column[2 * w + 1], rows_[row][w]}));
  return words;
}

}  // namespace lanewise::ptx
