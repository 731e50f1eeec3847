// LDS reads, writes and atomics. M0, the limit of LDS on these generations, is not checked: the
// group's own allocation bounds every access.
#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {

using ir::imm;
using ir::Op;
using ir::Reg;
using ir::Type;
using ir::Width;

namespace {

void refuse_gds(const Instruction& i) {
  if (i.gds) throw Unsupported("global data share is not supported yet");
}

ir::Mem lds_memory(const Instruction& i, unsigned element) {
  const Meaning& m = i.row->meaning;
  ir::Mem mem;
  mem.space = ir::Space::shared;
  mem.elem = m.type;
  mem.align = ir::AlignRule::force;
  // Without offsets of their own, elements follow one another.
  mem.offset = m.stride == 0 ? int64_t{i.offset} + 4 * int64_t{element}
                             : int64_t{m.stride} * (element == 0 ? i.offset & 0xff : i.offset >> 8);
  return mem;
}

}  // namespace

void lower_lds_read(LowerContext& c, const Instruction& i) {
  refuse_gds(i);
  const Meaning& m = i.row->meaning;
  const bool wide = ir::size_of(m.type) == 8;
  const ir::Operand at = c.read32(*i.operand(Slot::ds_addr));
  std::vector<Reg> results;
  for (unsigned n = 0; n < m.count; ++n) {
    const Reg r = c.b.reg(wide ? Width::b64 : Width::b32);
    c.b.emit(Op::mov, wide ? Type::u64 : Type::u32, {r}, {imm(0)});
    c.emit_vector(Op::load, wide ? Type::u64 : Type::u32, {r}, {at}).mem = lds_memory(i, n);
    results.push_back(r);
  }
  const unsigned dst = i.operand(Slot::vdst)->code;
  for (unsigned n = 0; n < m.count; ++n) {
    if (wide)
      c.emit_vector(Op::unpack64, Type::u64, {c.vgpr(dst + 2 * n), c.vgpr(dst + 2 * n + 1)},
                    {results[n]});
    else
      c.emit_vector(Op::mov, Type::u32, {c.vgpr(dst + n)}, {results[n]});
  }
}

void lower_lds_write(LowerContext& c, const Instruction& i) {
  refuse_gds(i);
  const Meaning& m = i.row->meaning;
  const bool wide = ir::size_of(m.type) == 8;
  const ir::Operand at = c.read32(*i.operand(Slot::ds_addr));
  for (unsigned n = 0; n < m.count; ++n) {
    const bool apart = m.stride != 0 && n != 0;
    const Operand& data = *i.operand(apart ? Slot::data1 : Slot::data0);
    ir::Operand value = c.read32(data, apart || wide ? 0 : n);
    if (wide) value = c.make(Op::pack64, Type::u64, {value, c.read32(data, 1)});
    c.emit_vector(Op::store, wide ? Type::u64 : Type::u32, {}, {at, value}).mem = lds_memory(i, n);
  }
}

/// ds_cmpst: the value to compare with comes first, the new one behind it.
void lower_lds_atomic(LowerContext& c, const Instruction& i) {
  refuse_gds(i);
  const Meaning& m = i.row->meaning;
  std::vector<ir::Operand> src = {c.read32(*i.operand(Slot::ds_addr)),
                                  c.read32(*i.operand(Slot::data0))};
  if (m.atom == ir::AtomOp::cas) src.push_back(c.read32(*i.operand(Slot::data1)));
  ir::Mem mem = lds_memory(i, 0);
  mem.elem = Type::u32;
  mem.atom = m.atom;
  mem.atom_type = m.type;
  mem.order = ir::Order::relaxed;
  mem.scope = ir::Scope::cta;
  std::vector<Reg> old;
  if (m.returns) old.push_back(c.b.reg(Width::b32));
  c.emit_vector(Op::atom, Type::u32, old, std::move(src)).mem = mem;
  if (m.returns) c.emit_vector(Op::mov, Type::u32, {c.vgpr(i.operand(Slot::vdst)->code)}, {old[0]});
}

}  // namespace lanewise::gcn
