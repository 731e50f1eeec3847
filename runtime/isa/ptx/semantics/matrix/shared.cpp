// ldmatrix, stmatrix, movmatrix: 8 x 8 matrices of 16-bit elements, whose rows lie in shared
// memory. Lane 8 i + r has the address of row r of matrix i.
#include "runtime/isa/ptx/semantics/matrix/matrix.hpp"
#include "runtime/isa/ptx/semantics/memory_common.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

/// Addresses in shared memory, as words.
ir::Operand row_address(Emit& e, size_t operand, ir::Mem& mem) {
  const ir::Operand base = apply_address(e, e.address(e.operand(operand), "shared"), mem);
  const bool wide = base.is_reg() && e.kernel.program.regs[base.index].width == ir::Width::b64;
  ir::Operand address = wide ? e.narrow(base) : base;
  if (mem.offset != 0)
    address = e.op(Op::add, Type::u32, {address, imm(static_cast<uint32_t>(mem.offset))});
  mem.offset = 0;
  return address;
}

/// The bytes at `offset` of a row: odd, so that the access is misaligned, where the row is.
ir::Operand in_row(Emit& e, ir::Operand row, ir::Operand offset) {
  const ir::Reg low = e.op(Op::and_, Type::u32, {row, imm(15)});
  const ir::Reg odd = e.op(Op::min, Type::u32, {low, imm(1)});
  const ir::Reg at = e.op(Op::add, Type::u32, {row, offset});
  return e.op(Op::or_, Type::u32, {at, odd});
}

/// Where the lane's part of matrix `i` is: one word of row g, or (transposed) of two rows the
/// element g.
OperandList places(Emit& e, const LanePlace& at, ir::Operand address, unsigned i, bool transposed) {
  OperandList found;
  for (unsigned part = 0; part < (transposed ? 2U : 1U); ++part) {
    ir::Operand row = at.group;
    if (transposed) {
      const ir::Reg even = e.op(Op::shl, Type::u32, {at.place, imm(1)});
      row = e.op(Op::or_, Type::u32, {even, imm(part)});
    }
    const ir::Operand from = e.op(Op::or_, Type::u32, {row, imm(8 * i)});
    const ir::Reg offset =
        e.op(Op::shl, Type::u32, {transposed ? at.group : at.place, imm(transposed ? 1 : 2)});
    found.push_back(in_row(e, of_lane(e, address, from), offset));
  }
  return found;
}

unsigned matrices(Emit& e) {
  if (e.get("num") == "x8") e.fail("eight matrices have no addresses in 32 lanes");
  return static_cast<unsigned>(e.get("num")[1] - '0');
}

}  // namespace

void load_matrices(Emit& e) {
  ir::Mem mem;
  const bool transposed = e.has("trans");
  mem.elem = transposed ? Type::u16 : Type::u32;
  OperandList address;
  std::vector<OperandList> at;
  unguarded(e, [&] {
    const ir::Operand row = row_address(e, 1, mem);
    const LanePlace place(e);
    for (unsigned i = 0; i < matrices(e); ++i) at.push_back(places(e, place, row, i, transposed));
  });
  OperandList words;
  for (const OperandList& parts : at) {
    OperandList loaded;
    for (const ir::Operand& part : parts) {
      const ir::Reg value = e.temp(ir::Width::b32);
      e.emit(Op::load, Type::none, {value}, {part}).mem = mem;
      loaded.emplace_back(value);
    }
    words.push_back(loaded[0]);
    if (!transposed) continue;
    const ir::Reg high = e.op(Op::shl, Type::u32, {loaded[1], imm(16)});
    words.back() = e.op(Op::or_, Type::u32, {loaded[0], high});
  }
  write_fragment(e, 0, kB32, words);
}

void store_matrices(Emit& e) {
  ir::Mem mem;
  const bool transposed = e.has("trans");
  mem.elem = transposed ? Type::u16 : Type::u32;
  const OperandList words = read_fragment(e, 1, kB32);
  std::vector<OperandList> at;
  unguarded(e, [&] {
    const ir::Operand row = row_address(e, 0, mem);
    const LanePlace place(e);
    for (unsigned i = 0; i < matrices(e); ++i) at.push_back(places(e, place, row, i, transposed));
  });
  for (size_t i = 0; i < at.size(); ++i) {
    e.emit(Op::store, Type::none, {}, {at[i][0], words[i]}).mem = mem;
    if (!transposed) continue;
    const ir::Reg high = e.op(Op::shr, Type::u32, {words[i], imm(16)});
    e.emit(Op::store, Type::none, {}, {at[i][1], high}).mem = mem;
  }
}

/// Elements (g, 2 t) and (g, 2 t + 1) of the result are (2 t, g) and (2 t + 1, g) of the source:
/// lanes 8 t + g / 2 and 4 further, the half g % 2.
void move_matrix(Emit& e) {
  const ir::Operand word = e.raw(1, kB32);
  ir::Operand result;
  unguarded(e, [&] {
    const LanePlace at(e);
    const ir::Reg eight = e.op(Op::shl, Type::u32, {at.place, imm(3)});
    const ir::Reg half = e.op(Op::shr, Type::u32, {at.group, imm(1)});
    const ir::Reg from = e.op(Op::or_, Type::u32, {eight, half});
    const ir::Operand low = of_lane(e, word, from);
    const ir::Operand high = of_lane(e, word, e.op(Op::or_, Type::u32, {from, imm(4)}));
    const ir::Reg odd = e.op(Op::and_, Type::u32, {at.group, imm(1)});
    const ir::Reg upper = e.op(Op::icmp, Type::u32, {odd, imm(0)}, {.cond = ir::Cond::ne});
    const ir::Reg selector = e.op(Op::select, Type::u32, {upper, imm(0x7632), imm(0x5410)});
    result = e.op(Op::prmt, Type::none, {low, high, selector});
  });
  e.set(0, kB32, result);
}

}  // namespace lanewise::ptx
