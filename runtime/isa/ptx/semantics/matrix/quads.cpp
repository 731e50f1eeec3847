// mma.m8n8k4 of f16: four products at a time, one for each pair of quads, lanes 4 q to 4 q + 3 and
// 16 + 4 q to 16 + 4 q + 3. A lane has four elements along k of one row (or, in the other layout,
// of four rows at one k); its half of the warp is the half of the rows and columns.
#include "runtime/isa/ptx/semantics/matrix/matrix.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

class Quads {
 public:
  explicit Quads(Emit& e) : e_(e), at_(e) {
    quad_ = word(Op::and_, at_.lane, imm(12));
    upper_ = word(Op::and_, at_.lane, imm(16));
    odd_ = word(Op::and_, at_.lane, imm(1));
    second_ = word(Op::and_, at_.lane, imm(2));
  }

  /// Sums of f32: i = 0 to 7 lies in row (lane & 1) + (i & 2), column (i & 4) + (lane & 2) + (i &
  /// 1) of the lane's half. Sums of f16: row lane % 4, columns 0 to 7.
  OperandList run(const OperandList& a, const OperandList& b, const OperandList& c, bool f32,
                  bool c_f32) {
    const bool a_whole = e_.get("alayout") == "row", b_whole = e_.get("blayout") == "col";
    OperandList results;
    for (unsigned i = 0; i < 8; ++i) {
      const ir::Operand row = f32 ? word(Op::or_, odd_, imm(i & 2)) : at_.place;
      const ir::Operand column = f32 ? word(Op::or_, second_, imm(i & 1)) : imm(i & 3);
      const OperandList left = line(a, a_whole, row, upper_);
      const OperandList right = line(b, b_whole, column, imm((i & 4) * 4));
      results.push_back(sum(addend(c, i, row, f32, c_f32), left, right, f32));
    }
    if (f32) return results;
    OperandList pairs;
    for (unsigned i = 0; i < 8; i += 2)
      pairs.push_back(word(Op::or_, results[i], word(Op::shl, results[i + 1], imm(16))));
    return pairs;
  }

 private:
  ir::Operand word(Op op, ir::Operand x, ir::Operand y) { return e_.op(op, Type::u32, {x, y}); }

  ir::Operand lane_of(ir::Operand place, ir::Operand upper) {
    return word(Op::or_, word(Op::or_, quad_, upper), place);
  }
  ir::Operand half(ir::Operand pair, ir::Operand odd) {
    const ir::Operand shifted = word(Op::shr, pair, word(Op::shl, odd, imm(4)));
    return word(Op::and_, shifted, imm(0xffff));
  }
  ir::Operand chosen(ir::Operand second, ir::Operand yes, ir::Operand no) {
    const ir::Reg is = e_.op(Op::icmp, Type::u32, {second, imm(0)}, {.cond = ir::Cond::ne});
    return e_.op(Op::select, Type::u32, {is, yes, no});
  }

  /// The four elements of row or column `index`.
  OperandList line(const OperandList& words, bool whole, ir::Operand index, ir::Operand upper) {
    if (whole) {
      const ir::Operand from = lane_of(index, upper);
      return {of_lane(e_, words[0], from), of_lane(e_, words[1], from)};
    }
    const ir::Operand second = word(Op::and_, index, imm(2)), odd = word(Op::and_, index, imm(1));
    OperandList halves;
    for (unsigned k = 0; k < 4; ++k) {
      const ir::Operand from = lane_of(imm(k), upper);
      const ir::Operand low = of_lane(e_, words[0], from), high = of_lane(e_, words[1], from);
      halves.push_back(half(chosen(second, high, low), odd));
    }
    return {word(Op::or_, halves[0], word(Op::shl, halves[1], imm(16))),
            word(Op::or_, halves[2], word(Op::shl, halves[3], imm(16)))};
  }

  ir::Operand addend(const OperandList& c, unsigned i, ir::Operand row, bool f32, bool c_f32) {
    if (c_f32) return c[i];
    if (!f32) return half(c[i / 2], imm(i % 2));
    const ir::Operand from = lane_of(row, upper_);
    const size_t first = (i & 4) / 2;
    const ir::Operand low = of_lane(e_, c[first], from), high = of_lane(e_, c[first + 1], from);
    const ir::Operand value = half(chosen(second_, high, low), imm(i & 1));
    return e_.op(Op::f2f, Type::f32, {value}, {.from = Type::f16});
  }

  ir::Operand sum(ir::Operand c, const OperandList& a, const OperandList& b, bool f32) {
    return sum_of_products(e_, f32 ? Type::f32 : Type::f16, {"f16"}, {"f16"}, c, a, b);
  }

  Emit& e_;
  LanePlace at_;
  ir::Operand quad_, upper_, odd_, second_;
};

}  // namespace

void multiply_quads(Emit& e) {
  const MatrixType c{e.get("ctype")}, d{e.get("dtype")};
  const OperandList left = read_fragment(e, 1, kB32), right = read_fragment(e, 2, kB32),
                    sums = read_fragment(e, 3, c.reg());
  OperandList out;
  unguarded(e, [&] { out = Quads(e).run(left, right, sums, d.is("f32"), c.is("f32")); });
  write_fragment(e, 0, d.reg(), out);
}

}  // namespace lanewise::ptx
