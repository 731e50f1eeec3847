// mma and wmma.mma.
#include <algorithm>
#include <optional>

#include "runtime/isa/ptx/semantics/matrix/matrix.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

/// The generation of the module's target, whose rule sums follow (policy mma.accumulate).
ir::Accumulate generation(Emit& e) {
  const unsigned sm = sm_number(e.kernel.module.module.target);
  if (sm < 75) return ir::Accumulate::volta;
  if (sm < 80) return ir::Accumulate::turing;
  if (sm < 89) return ir::Accumulate::ampere;
  return sm < 90 ? ir::Accumulate::ada : ir::Accumulate::hopper;
}

}  // namespace

ir::Operand sum_of_products(Emit& e, Type type, MatrixType a, MatrixType b, ir::Operand c,
                            const OperandList& left, const OperandList& right) {
  for (size_t first = 0; first < left.size(); first += ir::kDotWords) {
    const size_t words = std::min<size_t>(left.size() - first, ir::kDotWords);
    ir::DotRule rule = ir::rule_of(generation(e), a.element());
    rule.total = static_cast<uint8_t>(words);
    OperandList src{c, imm(ir::dot_word(rule))};
    for (const OperandList* factor : {&left, &right})
      for (size_t i = 0; i < ir::kDotWords; ++i)
        src.push_back(i < words ? (*factor)[first + i] : imm(0));
    c = e.op(Op::dot, type, src,
             {.sat = e.has("satfinite"), .mode = ir::dot_mode(a.element(), b.element())});
  }
  return c;
}

namespace {

class Multiply {
 public:
  Multiply(Emit& e, MatrixShape shape, MatrixType a, MatrixType b, MatrixType c, MatrixType d)
      : e_(e), shape_(shape), a_(a), b_(b), c_(c), d_(d), at_(e) {}

  /// The registers of the sums.
  OperandList run(const OperandList& a, const OperandList& b, const OperandList& c, bool sparse) {
    std::optional<Selection> selection;
    if (sparse) selection.emplace(e_, shape_, a_);
    const FragmentSize rows = fragment_size(shape_.m, sparse ? shape_.k / 2 : shape_.k, a_);
    const FragmentSize columns = fragment_size(shape_.n, shape_.k, b_);
    std::vector<OperandList> left, right;
    for (unsigned r = 0; r < rows.groups; ++r) left.push_back(row(a, rows, r));
    for (unsigned n = 0; n < columns.groups; ++n)
      for (unsigned odd = 0; odd < 2; ++odd) right.push_back(column(b, columns, n, odd));
    OperandList out(rows.groups * columns.groups * (d_.is("f16") ? 1 : 2));
    for (unsigned r = 0; r < rows.groups; ++r)
      for (unsigned n = 0; n < columns.groups; ++n) {
        const size_t at = sum_at(rows.groups, columns.groups, r, n);
        OperandList two;
        for (unsigned odd = 0; odd < 2; ++odd) {
          const OperandList& column = right[2 * n + odd];
          two.push_back(sum(addend(c, at, odd), left[r],
                            selection ? selection->chosen(e_, r, column) : column));
        }
        if (d_.is("f16"))
          out[at] = joined(two[0], two[1]);
        else
          out[2 * at] = two[0], out[2 * at + 1] = two[1];
      }
    return out;
  }

  /// Sums are in the order of tiles of 16 rows, or of 8 where there are no more, by 8 columns.
  static size_t sum_at(unsigned rows, unsigned columns, unsigned r, unsigned n) {
    const unsigned high = rows == 1 ? 1 : 2;
    return (size_t{r / high} * columns + n) * high + r % high;
  }

  ir::Operand joined(ir::Operand low, ir::Operand high) {
    const ir::Reg up = e_.op(Op::shl, Type::u32, {high, imm(16)});
    return e_.op(Op::or_, Type::u32, {low, up});
  }

  /// One sum of products over units of both factors.
  ir::Operand sum(ir::Operand c, const OperandList& a, const OperandList& b) {
    if (a_.is("f64")) {
      for (size_t i = 0; i < a.size(); ++i)
        c = e_.op(Op::ffma, Type::f64, {a[i], b[i], c}, {.round = e_.rounding()});
      return c;
    }
    if (a_.is("b1")) {
      const Op op = e_.get("op") == "and" ? Op::and_ : Op::xor_;
      for (size_t i = 0; i < a.size(); ++i) {
        const ir::Reg bits = e_.op(op, Type::u32, {a[i], b[i]});
        c = e_.op(Op::add, Type::u32, {c, e_.op(Op::popc, Type::u32, {bits})});
      }
      return c;
    }
    const ir::Operand total = sum_of_products(e_, sum_type(), a_, b_, c, a, b);
    if (!d_.is("f16") || !c_.is("f32")) return total;
    return e_.op(Op::f2f, Type::f16, {total}, {.from = Type::f32});
  }

 private:
  /// An f32 on either side makes f32 sums.
  Type sum_type() const {
    if (d_.is("s32")) return Type::s32;
    return d_.is("f32") || c_.is("f32") ? Type::f32 : Type::f16;
  }

  /// The lane's addend, in the type of the result.
  ir::Operand addend(const OperandList& c, size_t at, unsigned odd) {
    if (!c_.is("f16")) return c[2 * at + odd];
    ir::Operand half = odd == 0 ? e_.op(Op::zext16, Type::u32, {c[at]})
                                : e_.op(Op::shr, Type::u32, {c[at], imm(16)});
    if (d_.is("f32")) half = e_.op(Op::f2f, Type::f32, {half}, {.from = Type::f16});
    return half;
  }

  /// A unit that `bring` fetches word by word.
  template <typename Bring>
  ir::Operand brought(ir::Operand unit, MatrixType type, Bring bring) {
    if (!type.is("f64")) return bring(unit);
    const ir::Reg low = e_.temp(ir::Width::b32), high = e_.temp(ir::Width::b32);
    e_.emit(Op::unpack64, Type::none, {low, high}, {unit});
    const ir::Operand first = bring(low), second = bring(high);
    return e_.op(Op::pack64, Type::none, {first, second});
  }

  /// All of the lane's row: the lanes of its group have it.
  OperandList row(const OperandList& a, FragmentSize size, unsigned group) {
    OperandList units;
    for (unsigned u = 0; u < size.units; ++u)
      for (unsigned j = 0; j < 4; ++j)
        units.push_back(brought(a[unit_at(size, true, group, u)], a_,
                                [&](ir::Operand word) { return of_quad(e_, word, j); }));
    return units;
  }
  /// Column 2 t or 2 t + 1 of a group of eight.
  OperandList column(const OperandList& b, FragmentSize size, unsigned group, unsigned odd) {
    const ir::Operand first = e_.op(Op::shl, Type::u32, {at_.place, imm(3)});
    OperandList units, from;
    for (unsigned j = 0; j < 4; ++j)
      from.push_back(e_.op(Op::or_, Type::u32, {first, imm(4 * odd + j)}));
    for (unsigned u = 0; u < size.units; ++u)
      for (unsigned j = 0; j < 4; ++j)
        units.push_back(brought(b[unit_at(size, false, group, u)], b_,
                                [&](ir::Operand word) { return of_lane(e_, word, from[j]); }));
    return units;
  }

  Emit& e_;
  MatrixShape shape_;
  MatrixType a_, b_, c_, d_;
  LanePlace at_;
};

void multiply(Emit& e, MatrixType a, MatrixType b, bool sparse = false) {
  const MatrixType c{e.get("ctype")}, d{e.get("dtype")};
  const OperandList left = read_fragment(e, 1, a.reg()), right = read_fragment(e, 2, b.reg()),
                    sums = read_fragment(e, 3, c.reg());
  OperandList out;
  unguarded(e, [&] {
    out = Multiply(e, matrix_shape(e.get("shape")), a, b, c, d).run(left, right, sums, sparse);
  });
  write_fragment(e, 0, d.reg(), out);
}

}  // namespace

void multiply_matrices(Emit& e) {
  multiply(e, {e.get("atype")}, {e.get("btype")});
}

void multiply_sparse(Emit& e) {
  multiply(e, {e.get("atype")}, {e.get("btype")}, true);
}

void wmma_multiply(Emit& e) {
  const std::string_view type = e.has("atype") ? e.get("atype") : "f16";
  multiply(e, {type}, {e.has("btype") ? e.get("btype") : type});
}

}  // namespace lanewise::ptx
