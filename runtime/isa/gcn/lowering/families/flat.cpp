// Flat instructions: a 64-bit address that means global memory, and by its upper half LDS or
// scratch. Kernels that never learn where those apertures lie go straight to global memory.
#include "runtime/isa/gcn/lowering/families/buffer_access.hpp"
#include "runtime/isa/gcn/lowering/semantics.hpp"
#include "runtime/layout/addresses.hpp"
#include "runtime/layout/launch_block.hpp"

namespace lanewise::gcn {

namespace {

Reg wide(LowerContext& c, ir::Operand narrow) {
  return c.make(Op::zext64, Type::u64, {narrow});
}

Reg plain_address(LowerContext& c, const Instruction& i) {
  const Operand& at = *i.operand(Slot::ds_addr);
  const Reg r = c.reg(Width::b64);
  c.emit(Op::pack64, Type::u64, {r}, {c.read32(at, 0), c.read32(at, 1)});
  return r;
}

/// Scratch lies dword by dword side by side for the lanes of a wave, from FLAT_SCRATCH_HI on.
Reg scratch_address(LowerContext& c, Reg offset) {
  const unsigned flat_scratch_hi = c.gen() == Gen::gfx8 ? 103 : 105;
  const Reg lane = c.special(SReg::laneid);
  const auto op = [&](Op o, ir::Operand x, ir::Operand y) { return c.make(o, Type::u32, {x, y}); };
  const Reg rows = op(Op::shl, op(Op::shr, offset, imm(2)), imm(8));
  const Reg column = op(Op::or_, op(Op::shl, lane, imm(2)), op(Op::and_, offset, imm(3)));
  const Reg wave = op(Op::shl, c.sgpr(flat_scratch_hi), imm(8));
  const Reg inside = wide(c, op(Op::add, wave, op(Op::or_, rows, column)));
  return c.make(Op::add, Type::u64, {c.scratch_base(), inside});
}

/// The dword `n` dwords behind the address, as a generic address of the IR.
Reg window_address(LowerContext& c, const Instruction& i, unsigned n) {
  const Operand& at = *i.operand(Slot::ds_addr);
  const ir::Operand low = c.read32(at, 0), high = c.read32(at, 1);
  const Reg offset = c.make(Op::add, Type::u32, {low, imm(4 * n)});
  Reg address = plain_address(c, i);
  if (n != 0) address = c.make(Op::add, Type::u64, {address, imm(4 * n)});
  const auto choose = [&](uint32_t aperture, Reg inside) {
    const Reg there = c.compare(Cond::eq, Type::u32, high, imm(aperture));
    address = c.make(Op::select, Type::u64, {there, inside, address});
  };
  // What lies past the window must not come out as another space.
  const Reg cut = c.make(Op::min, Type::u32, {offset, imm(guest::kWindowSize - 1)});
  choose(guest::kSharedApertureHigh,
         wide(c, c.make(Op::add, Type::u32, {cut, imm(guest::kSharedWindow)})));
  if (c.kernel().private_bytes != 0)
    choose(guest::kPrivateApertureHigh, scratch_address(c, offset));
  return address;
}

ir::Mem flat_memory(LowerContext& c, const Instruction& i, Type elem, uint8_t count) {
  ir::Mem m = buffer_memory(i, elem);
  if (c.kernel().unaligned) m.align = ir::AlignRule::any;
  m.space = c.apertures() ? ir::Space::generic : ir::Space::global;
  m.count = count;
  return m;
}

/// Components that have an address of their own: all in one where nothing forbids it.
struct Components {
  std::vector<Reg> addresses;
  uint8_t dwords = 1;  ///< of each component
};
Components components(LowerContext& c, const Instruction& i) {
  const uint8_t count = i.row->meaning.count;
  Components p;
  if (!c.apertures() && !i.glc) {
    p.addresses.push_back(plain_address(c, i));
    p.dwords = count;
    return p;
  }
  for (unsigned n = 0; n < count; ++n) {
    if (c.apertures()) {
      p.addresses.push_back(window_address(c, i, n));
      continue;
    }
    const Reg base = plain_address(c, i);
    p.addresses.push_back(n == 0 ? base : c.make(Op::add, Type::u64, {base, imm(4 * n)}));
  }
  return p;
}

}  // namespace

void lower_flat_load(LowerContext& c, const Instruction& i) {
  const unsigned dst = i.operand(Slot::vdst)->code;
  const Components p = components(c, i);
  std::vector<Reg> results;
  for (const Reg address : p.addresses) {
    std::vector<Reg> regs;
    for (unsigned n = 0; n < p.dwords; ++n) regs.push_back(c.reg(Width::b32));
    results.insert(results.end(), regs.begin(), regs.end());
    c.emit_vector(Op::load, Type::u32, std::move(regs), {address}).mem =
        flat_memory(c, i, i.row->meaning.type, p.dwords);
  }
  for (unsigned n = 0; n < results.size(); ++n)
    c.emit_vector(Op::mov, Type::u32, {c.vgpr(dst + n)}, {results[n]});
}

void lower_flat_store(LowerContext& c, const Instruction& i) {
  const Operand& data = *i.operand(Slot::data0);
  const Components p = components(c, i);
  unsigned next = 0;
  for (const Reg address : p.addresses) {
    std::vector<ir::Operand> src = {address};
    for (unsigned n = 0; n < p.dwords; ++n) src.push_back(c.read32(data, next++));
    c.emit_vector(Op::store, Type::u32, {}, std::move(src)).mem =
        flat_memory(c, i, i.row->meaning.type, p.dwords);
  }
}

/// Compare and swap: the new value lies first in the data, the value to compare with behind it.
void lower_flat_atomic(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const bool pair = ir::size_of(m.type) == 8;
  const Type type = pair ? Type::u64 : Type::u32;
  const Operand& data = *i.operand(Slot::data0);
  const auto value = [&](unsigned first) -> ir::Operand {
    if (!pair) return c.read32(data, first);
    const Reg r = c.reg(Width::b64);
    c.emit(Op::pack64, Type::u64, {r}, {c.read32(data, first), c.read32(data, first + 1)});
    return r;
  };
  std::vector<ir::Operand> src = {c.apertures() ? window_address(c, i, 0) : plain_address(c, i)};
  if (m.atom == AtomOp::cas || m.atom == AtomOp::fcas) src.push_back(value(pair ? 2 : 1));
  src.push_back(value(0));
  ir::Mem mem = flat_memory(c, i, type, 1);
  mem.align = ir::AlignRule::force;
  mem.align_bytes = 0;
  mem.order = ir::Order::relaxed;
  mem.scope = ir::Scope::gpu;
  mem.atom = m.atom;
  mem.atom_type = m.type;
  std::vector<Reg> old;
  if (m.returns) old.push_back(c.reg(ir::width_of(type)));
  c.emit_vector(Op::atom, type, old, std::move(src)).mem = mem;
  if (!m.returns) return;
  const unsigned dst = i.operand(Slot::vdst)->code;
  if (!pair)
    c.emit_vector(Op::mov, Type::u32, {c.vgpr(dst)}, {old[0]});
  else
    c.emit_vector(Op::unpack64, Type::u64, {c.vgpr(dst), c.vgpr(dst + 1)}, {old[0]});
}

}  // namespace lanewise::gcn
