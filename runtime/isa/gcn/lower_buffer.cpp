// Untyped buffer loads and stores: each dword is addressed and range-checked on its own.
#include "runtime/isa/gcn/semantics.hpp"

namespace lanewise::gcn {

using ir::imm;
using ir::Op;
using ir::Reg;
using ir::Type;
using ir::Width;

namespace {

struct Address {
  Reg va;
  ir::Operand may;  ///< in range and active
};

Address address_of(LowerContext& c, const Instruction& i, unsigned element_offset, unsigned bytes) {
  const Operand& rsrc = *i.operand(Slot::srsrc);
  const Operand& v = *i.operand(Slot::vaddr);
  std::vector<ir::Operand> src;
  for (unsigned n = 0; n < 4; ++n) src.push_back(c.read32(rsrc, n));
  // index and offset; for addr64 the low and the high half of the address
  const bool pair = v.count == 2;
  src.push_back(pair || i.idxen ? c.read32(v) : imm(0));
  src.push_back(pair ? c.read32(v, 1) : i.offen ? c.read32(v) : imm(0));
  src.push_back(c.read32(*i.operand(Slot::soffset)));
  Address a{c.b.reg(Width::b64), {}};
  const Reg in_range = c.b.reg(Width::pred);
  ir::Inst& inst = c.b.emit(Op::buffer_address, Type::u64, {a.va, in_range}, std::move(src));
  ir::BufferAccess access;
  access.gen = static_cast<ir::BufferAccess::Gen>(c.gen());
  access.idxen = i.idxen;
  access.offen = i.offen;
  access.addr64 = i.addr64;
  access.inst_offset = i.offset;
  access.element_offset = static_cast<uint8_t>(element_offset);
  access.payload_bytes = static_cast<uint8_t>(bytes);
  inst.buffer = access;
  a.may = c.active(in_range);
  return a;
}

ir::Mem memory(const Instruction& i, Type elem) {
  ir::Mem m;
  m.elem = elem;
  m.align = ir::AlignRule::force;
  m.cache.glc = i.glc;
  m.cache.slc = i.slc;
  // GLC goes past the caches of this compute unit, which is what an atomic access does.
  if (i.glc) {
    m.order = ir::Order::relaxed;
    m.scope = ir::Scope::gpu;
  }
  return m;
}

void check(const Instruction& i) {
  if (i.tfe) throw Unsupported("tfe is not supported yet");
  if (i.lds) throw Unsupported("loads to LDS are not supported yet");
}

std::vector<Address> addresses(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  std::vector<Address> out;
  for (unsigned n = 0; n < m.count; ++n)
    out.push_back(address_of(c, i, 4 * n, ir::size_of(m.type)));
  return out;
}

}  // namespace

/// Out of range gives 0. All addresses are formed before the first result is written, because data
/// and address registers may overlap.
void lower_bload(LowerContext& c, const Instruction& i) {
  check(i);
  const Meaning& m = i.row->meaning;
  std::vector<Reg> results;
  for (const Address& a : addresses(c, i)) {
    const Reg r = c.b.reg(Width::b32);
    c.b.emit(Op::mov, Type::u32, {r}, {imm(0)});
    if (a.may.is_reg()) c.b.set_guard({a.may.reg(), false});
    c.b.emit(Op::load, Type::u32, {r}, {a.va}).mem = memory(i, m.type);
    c.b.set_guard({});
    results.push_back(r);
  }
  const unsigned dst = i.operand(Slot::vdata)->code;
  for (unsigned n = 0; n < results.size(); ++n)
    c.emit_vector(Op::mov, Type::u32, {c.vgpr(dst + n)}, {results[n]});
}

void lower_bstore(LowerContext& c, const Instruction& i) {
  check(i);
  const Meaning& m = i.row->meaning;
  const Operand& data = *i.operand(Slot::vdata);
  unsigned n = 0;
  for (const Address& a : addresses(c, i)) {
    if (a.may.is_reg()) c.b.set_guard({a.may.reg(), false});
    c.b.emit(Op::store, Type::u32, {}, {a.va, c.read32(data, n++)}).mem = memory(i, m.type);
    c.b.set_guard({});
  }
}

}  // namespace lanewise::gcn
