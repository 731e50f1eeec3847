// wmma.load and wmma.store: fragments lie as mma's do, tile by tile, so that what programs compute
// element by element fits. Hardware gives factors of .f16 eight registers whatever the shape: the
// ones that are too many repeat the others.
#include "runtime/isa/ptx/semantics/matrix/matrix.hpp"
#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

enum class Part : uint8_t { a, b, sums };

/// A matrix in memory: lines of `stride` elements.
class Lines {
 public:
  /// `natural`: the stride where the instruction names none.
  Lines(Emit& e, size_t address, size_t stride, MatrixType type, unsigned natural)
      : e_(e), type_(type), at(e) {
    const ir::Operand base = apply_address(e, e.address(e.operand(address), e.get("ss")), mem_);
    wide_ = ir::wide_space(mem_.space);
    const bool held_wide =
        base.is_reg() && e.kernel.program.regs[base.index].width == ir::Width::b64;
    base_ = base;
    if (held_wide && !wide_) base_ = e.narrow(base);
    if (base.is_reg() && !held_wide && wide_) base_ = e.widen(base, false);
    stride_ = e.count() > stride ? e.raw(stride, kS32) : imm(natural);
  }

  ir::Operand plus(ir::Operand value, unsigned more) {
    return more == 0 ? value : ir::Operand(e_.op(Op::add, Type::u32, {value, imm(more)}));
  }

  /// The address of element `place` of a line; more elements may be added to an access's offset.
  ir::Operand address(ir::Operand line, ir::Operand place) {
    const Type t = wide_ ? Type::u64 : Type::u32;
    ir::Operand index;
    if (wide_) {
      const ir::Reg begin = e_.op(Op::mulwide, Type::u32, {line, stride_});
      index = e_.op(Op::add, t, {begin, e_.widen(place, false)});
    } else {
      const ir::Reg begin = e_.op(Op::mul, t, {line, stride_});
      index = e_.op(Op::add, t, {begin, place});
    }
    const unsigned bits = type_.bits();
    if (bits < 8)
      index = e_.op(Op::shr, t, {index, imm(bits == 1 ? 3 : 1)});
    else if (bits > 8)
      index = e_.op(Op::shl, t, {index, imm(bits == 16 ? 1 : bits == 32 ? 2 : 3)});
    return e_.op(Op::add, t, {base_, index});
  }

  /// One access: `elem` at the address, `elements` elements further.
  ir::Mem access(Type elem, unsigned elements) const {
    ir::Mem mem = mem_;
    mem.elem = elem;
    mem.offset += static_cast<int64_t>(elements) * type_.bits() / 8;
    return mem;
  }
  Type element() const {
    const unsigned bits = type_.bits();
    return bits == 64 ? Type::u64 : bits == 32 ? Type::u32 : bits == 16 ? Type::u16 : Type::u8;
  }

 private:
  Emit& e_;
  MatrixType type_;
  ir::Mem mem_;
  ir::Operand base_, stride_;
  bool wide_ = false;

 public:
  const LanePlace at;
};

/// Rows of A, columns of B: `along` says that the elements of one are neighbours.
OperandList load_factor(Emit& e, Lines& lines, bool is_a, MatrixType type, FragmentSize size,
                        bool along) {
  const unsigned n = type.in_unit();
  OperandList units(size_t{size.groups} * size.units);
  for (unsigned r = 0; r < size.groups; ++r) {
    OperandList address;
    unguarded(e, [&] {
      const ir::Operand own = lines.plus(lines.at.group, 8 * r);
      const ir::Operand first = e.op(Op::mul, Type::u32, {lines.at.place, imm(n)});
      if (along) address.push_back(lines.address(own, first));
      for (unsigned u = 0; u < size.units && !along; ++u)
        for (unsigned i = 0; i < n; ++i)
          address.push_back(lines.address(lines.plus(first, 4 * n * u + i), own));
    });
    for (unsigned u = 0; u < size.units; ++u) {
      ir::Operand& unit = units[unit_at(size, is_a, r, u)];
      for (unsigned i = 0; i < (along ? 1 : n); ++i) {
        const ir::Mem mem = along ? lines.access(type.is("f64") ? Type::u64 : Type::u32, 4 * n * u)
                                  : lines.access(lines.element(), 0);
        const ir::Reg value = e.temp(ir::width_of(mem.elem));
        e.emit(Op::load, Type::none, {value}, {along ? address[0] : address[u * n + i]}).mem = mem;
        if (i == 0) {
          unit = value;
          continue;
        }
        const ir::Reg up = e.op(Op::shl, Type::u32, {value, imm(i * type.bits())});
        unit = e.op(Op::or_, Type::u32, {unit, up});
      }
    }
  }
  return units;
}

/// Each sum's place, in the order of the registers: addresses, and elements behind them.
struct SumPlace {
  ir::Operand address;
  unsigned more;
};
std::vector<SumPlace> sum_places(Emit& e, Lines& lines, MatrixShape shape, bool rows) {
  const unsigned high = shape.m == 8 ? 1 : 2;
  std::vector<SumPlace> places;
  unguarded(e, [&] {
    const ir::Operand even = e.op(Op::shl, Type::u32, {lines.at.place, imm(1)});
    for (unsigned tile = 0; tile < shape.m / (8 * high); ++tile)
      for (unsigned n = 0; n < shape.n / 8; ++n)
        for (unsigned h = 0; h < high; ++h) {
          const unsigned r = tile * high + h;
          const ir::Operand row = lines.plus(lines.at.group, 8 * r);
          if (rows) {
            const ir::Operand first = lines.address(row, even);
            for (unsigned odd = 0; odd < 2; ++odd) places.push_back({first, 8 * n + odd});
          } else {
            for (unsigned odd = 0; odd < 2; ++odd)
              places.push_back({lines.address(lines.plus(even, 8 * n + odd), row), 0});
          }
        }
  });
  return places;
}

unsigned natural_stride(MatrixShape shape, Part part, bool row) {
  switch (part) {
    case Part::a:
      return row ? shape.k : shape.m;
    case Part::b:
      return row ? shape.n : shape.k;
    default:
      return row ? shape.n : shape.m;
  }
}

}  // namespace

void wmma_load(Emit& e) {
  const MatrixType type{e.get("type")};
  const MatrixShape shape = matrix_shape(e.get("shape"));
  const bool row = e.get("layout") == "row", is_a = e.has("a");
  const Part part = is_a ? Part::a : e.has("b") ? Part::b : Part::sums;
  std::optional<Lines> lines;
  unguarded(e, [&] { lines.emplace(e, 1, 2, type, natural_stride(shape, part, row)); });
  if (part != Part::sums) {
    const FragmentSize size = fragment_size(is_a ? shape.m : shape.n, shape.k, type);
    write_fragment(e, 0, type.reg(), load_factor(e, *lines, is_a, type, size, row == is_a));
    return;
  }
  OperandList values;
  for (const SumPlace& place : sum_places(e, *lines, shape, row)) {
    const ir::Mem mem = lines->access(lines->element(), place.more);
    const ir::Reg value = e.temp(ir::width_of(mem.elem));
    e.emit(Op::load, Type::none, {value}, {place.address}).mem = mem;
    values.emplace_back(value);
  }
  if (type.is("f16")) {
    for (size_t i = 0; i < values.size() / 2; ++i) {
      const ir::Reg high = e.op(Op::shl, Type::u32, {values[2 * i + 1], imm(16)});
      values[i] = e.op(Op::or_, Type::u32, {values[2 * i], high});
    }
    values.resize(values.size() / 2);
  }
  write_fragment(e, 0, type.reg(), values);
}

void wmma_store(Emit& e) {
  const MatrixType type{e.get("type")};
  const MatrixShape shape = matrix_shape(e.get("shape"));
  const bool row = e.get("layout") == "row";
  const OperandList values = read_fragment(e, 1, type.reg());
  std::optional<Lines> lines;
  unguarded(e, [&] { lines.emplace(e, 0, 2, type, natural_stride(shape, Part::sums, row)); });
  const std::vector<SumPlace> places = sum_places(e, *lines, shape, row);
  for (size_t i = 0; i < places.size(); ++i) {
    ir::Operand value = type.is("f16") ? values[i / 2] : values[i];
    if (type.is("f16") && i % 2 != 0) value = e.op(Op::shr, Type::u32, {value, imm(16)});
    e.emit(Op::store, Type::none, {}, {places[i].address, value}).mem =
        lines->access(lines->element(), places[i].more);
  }
}

}  // namespace lanewise::ptx
