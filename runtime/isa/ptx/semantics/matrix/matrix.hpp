// Matrix instructions become shuffles, which bring each lane the factors of its sums, and sums of
// products (ir/dot.hpp). What the words of a fragment hold is the same rule for all shapes:
//
// A lane of group g = lane / 4 and place t = lane % 4. A word of A holds the elements of one row, g
// or g + 8, that begin at 4 b n + t n: n elements fit the word, b counts the words of a row. A word
// of B holds elements of column g alike. Sums of a lane lie in columns 2 t and 2 t + 1 of the rows.
#pragma once

#include <string_view>

#include "runtime/ir/dot.hpp"
#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {

using OperandList = std::vector<ir::Operand>;

struct MatrixShape {
  unsigned m = 0, n = 0, k = 0;
};
/// "m16n8k32"
MatrixShape matrix_shape(std::string_view name);

/// A type of factors or sums as qualifiers name it.
struct MatrixType {
  std::string_view name;
  bool is(std::string_view other) const { return name == other; }
  unsigned bits() const;
  bool integer() const { return name[0] == 's' || name[0] == 'u'; }
  /// Elements in the unit that moves between lanes: a word, or an f64.
  unsigned in_unit() const { return is("f64") ? 1 : 32 / bits(); }
  ir::Element element() const;
  PType reg() const;  ///< of one register of a fragment
};

/// Groups of eight rows or columns, and units along k of one row.
struct FragmentSize {
  unsigned groups = 1, units = 1;
};
/// `extent` rows of A or columns of B.
FragmentSize fragment_size(unsigned extent, unsigned k, MatrixType type);
/// Which unit of a fragment of A or B holds unit `unit` of group `group`: groups of 16 rows of A
/// alternate their halves.
unsigned unit_at(FragmentSize size, bool is_a, unsigned group, unsigned unit);

/// The lane's number in its warp, and what is made of it.
struct LanePlace {
  explicit LanePlace(Emit& e);
  ir::Operand lane, group, place;  ///< group = lane / 4, place = lane % 4
};

/// Which elements of B the stored ones of a sparse A meet (mma.sp): operands 4 and 5.
class Selection {
 public:
  Selection(Emit& e, MatrixShape shape, MatrixType a);
  /// Words of a column for the stored words of the lane's row: its group, or that plus 8.
  OperandList chosen(Emit& e, unsigned row, const OperandList& column) const;

 private:
  /// Of a stored word: how far each part of it lies up in its word of the column, and, of halves,
  /// whether that is the second one.
  struct Parts {
    OperandList shifts, second;
  };
  static Parts two_halves(Emit& e, ir::Operand choice);
  static Parts four_bytes(Emit& e, ir::Operand choice);
  static ir::Operand joined(Emit& e, const Parts& parts, ir::Operand first, ir::Operand second);

  std::vector<Parts> rows_[2];  ///< of each stored word
};

/// Runs `body` without the instruction's guard: what it computes reaches no register of the guest.
template <typename Body>
void unguarded(Emit& e, Body body) {
  const ir::Guard guard = e.guard();
  e.builder().set_guard({});
  body();
  e.builder().set_guard(guard);
}

/// What lane `from` has, of all 32.
ir::Operand of_lane(Emit& e, ir::Operand value, ir::Operand from);
/// What lane `place` of the lane's group has: its four lanes stand side by side.
ir::Operand of_quad(Emit& e, ir::Operand value, unsigned place);
/// Registers of a fragment, read and written. `unique` of them differ: of wmma's f16 factors the
/// rest repeats those.
OperandList read_fragment(Emit& e, size_t operand, PType type);
void write_fragment(Emit& e, size_t operand, PType type, const OperandList& values);

/// c + a b: units of f16 and other factors that fit words. `type`: f16, f32 or s32.
ir::Operand sum_of_products(Emit& e, ir::Type type, MatrixType a, MatrixType b, ir::Operand c,
                            const OperandList& left, const OperandList& right);

// The instructions.
void multiply_matrices(Emit& e);
void multiply_sparse(Emit& e);
void multiply_quads(Emit& e);
void wmma_load(Emit& e);
void wmma_store(Emit& e);
void wmma_multiply(Emit& e);
void load_matrices(Emit& e);
void store_matrices(Emit& e);
void move_matrix(Emit& e);

}  // namespace lanewise::ptx
