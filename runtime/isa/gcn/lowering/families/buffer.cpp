// Untyped buffer instructions: each dword of a load or store is addressed and range-checked on its
// own, atomics as a whole.
#include "runtime/isa/gcn/lowering/families/buffer_access.hpp"

namespace lanewise::gcn {

BufferPlace buffer_place(LowerContext& c, const Instruction& i, unsigned element_offset,
                         unsigned bytes, bool typed) {
  const Operand& rsrc = *i.operand(Slot::srsrc);
  const Operand* v = i.operand(Slot::vaddr);
  std::vector<ir::Operand> src;
  for (unsigned n = 0; n < 4; ++n) src.push_back(c.read_known(rsrc, n));
  // index and offset; for addr64 the low and the high half of the address
  const bool pair = v != nullptr && v->count == 2;
  src.push_back(pair || i.idxen ? c.read32(*v) : imm(0));
  src.push_back(pair ? c.read32(*v, 1) : i.offen ? c.read32(*v) : imm(0));
  src.push_back(c.read_known(*i.operand(Slot::soffset)));
  BufferPlace a{c.reg(Width::b64), {}};
  const Reg in_range = c.reg(Width::pred);
  ir::Inst& inst = c.emit(Op::buffer_address, Type::u64, {a.va, in_range}, std::move(src));
  ir::BufferAccess access;
  access.gen = static_cast<ir::BufferAccess::Gen>(c.gen());
  access.idxen = i.idxen;
  access.offen = i.offen;
  access.addr64 = i.addr64;
  access.format_op = typed;
  access.inst_offset = i.offset;
  access.element_offset = static_cast<uint8_t>(element_offset);
  access.payload_bytes = static_cast<uint8_t>(bytes);
  inst.buffer = access;
  a.may = c.active(in_range);
  return a;
}

ir::Mem buffer_memory(const Instruction& i, Type elem) {
  ir::Mem m;
  m.elem = elem;
  m.align = ir::AlignRule::force;
  m.align_bytes = static_cast<uint8_t>(std::min(ir::size_of(elem), 4U));
  m.cache.glc = i.glc;
  m.cache.slc = i.slc;
  // GLC goes past the caches of this compute unit, which is what an atomic access does.
  if (i.glc) {
    m.order = ir::Order::relaxed;
    m.scope = ir::Scope::gpu;
  }
  return m;
}

namespace {

/// Scratch memory, which lies dword by dword side by side for the lanes, is never reached across
/// dwords; whose descriptor an instruction has is not known, so kernels with scratch keep the rule.
ir::Mem untyped_memory(const LowerContext& c, const Instruction& i) {
  ir::Mem m = buffer_memory(i, i.row->meaning.type);
  const Kernel& k = c.kernel();
  if (k.unaligned && k.private_bytes == 0 && k.functions.empty()) m.align = ir::AlignRule::any;
  return m;
}

}  // namespace

Reg zeroed(LowerContext& c) {
  return c.make(Op::mov, Type::u32, {imm(0)});
}

void refuse_tfe_on_store(const Instruction& i) {
  if (i.tfe) throw Unsupported("tfe has no meaning on an instruction that returns nothing");
}

Reg lds_address(LowerContext& c, const Instruction& i) {
  const Reg lane = c.special(SReg::laneid);
  const Reg base = c.make(Op::and_, Type::u32, {c.sgpr(kM0), imm(0xffff)});
  const Reg bytes = c.make(Op::shl, Type::u32, {lane, imm(2)});
  const Reg at = c.make(Op::add, Type::u32, {base, bytes});
  if (i.offset == 0) return at;
  const Reg mask = c.open(ir::Choice::lds_offset_mask, Type::u32, 0);
  return c.make(Op::add, Type::u32, {at, c.make(Op::and_, Type::u32, {mask, imm(i.offset)})});
}

void deliver(LowerContext& c, const Instruction& i, const std::vector<Reg>& results) {
  if (i.lds) {
    const Reg at = lds_address(c, i);
    ir::Inst& store = c.emit_vector(Op::store, Type::u32, {}, {at, results[0]});
    store.mem.emplace();
    store.mem->space = ir::Space::shared;
    store.mem->align = ir::AlignRule::force;
    return;
  }
  const unsigned dst = i.operand(Slot::vdata)->code;
  const auto count = static_cast<unsigned>(results.size());
  for (unsigned n = 0; n < count; ++n)
    c.emit_vector(Op::mov, Type::u32, {c.vgpr(dst + n)}, {results[n]});
  if (i.tfe) c.emit_vector(Op::mov, Type::u32, {c.vgpr(dst + count)}, {imm(0)});
}

namespace {

std::vector<BufferPlace> places(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  std::vector<BufferPlace> out;
  for (unsigned n = 0; n < m.count; ++n)
    out.push_back(buffer_place(c, i, 4 * n, ir::size_of(m.type)));
  return out;
}

void set_guard(LowerContext& c, const ir::Operand& may) {
  if (may.is_reg()) c.set_guard({may.reg(), false});
}

}  // namespace

/// What a load leaves in LDS: the document has sub-dwords zero-extended, the signed ones as well.
Reg lds_value(LowerContext& c, const Instruction& i, Reg loaded) {
  const Type type = i.row->meaning.type;
  if (type != Type::s8 && type != Type::s16) return loaded;
  const Reg mask = c.open(ir::Choice::lds_extend_mask, Type::u32, type == Type::s8 ? 0xff : 0xffff);
  return c.make(Op::and_, Type::u32, {loaded, mask});
}

/// Out of range gives 0. All addresses are formed before the first result is written, because data
/// and address registers may overlap.
void lower_bload(LowerContext& c, const Instruction& i) {
  std::vector<Reg> results;
  for (const BufferPlace& a : places(c, i)) {
    const Reg r = zeroed(c);
    set_guard(c, a.may);
    c.emit(Op::load, Type::u32, {r}, {a.va}).mem = untyped_memory(c, i);
    c.set_guard({});
    results.push_back(i.lds ? lds_value(c, i, r) : r);
  }
  deliver(c, i, results);
}

void lower_bstore(LowerContext& c, const Instruction& i) {
  refuse_tfe_on_store(i);
  const Operand& data = *i.operand(Slot::vdata);
  unsigned n = 0;
  for (const BufferPlace& a : places(c, i)) {
    set_guard(c, a.may);
    c.emit(Op::store, Type::u32, {}, {a.va, c.read32(data, n++)}).mem = untyped_memory(c, i);
    c.set_guard({});
  }
}

namespace {

/// One 32- or 64-bit value from VDATA on.
ir::Operand data_value(LowerContext& c, const Operand& data, unsigned first, bool wide) {
  if (!wide) return c.read32(data, first);
  const Reg r = c.reg(Width::b64);
  c.emit(Op::pack64, Type::u64, {r}, {c.read32(data, first), c.read32(data, first + 1)});
  return r;
}

}  // namespace

/// The old value comes back with GLC only, and is 0 when the access is out of range. Compare and
/// swap: the new value lies first in VDATA, the value to compare with behind it.
void lower_batomic(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const bool wide = ir::size_of(m.type) == 8;
  const bool compares = m.atom == AtomOp::cas || m.atom == AtomOp::fcas;
  if (i.tfe && !i.glc) refuse_tfe_on_store(i);
  const Operand& data = *i.operand(Slot::vdata);
  const BufferPlace a = buffer_place(c, i, 0, wide ? 8 : 4);
  std::vector<ir::Operand> src = {a.va, data_value(c, data, 0, wide)};
  if (compares) src.insert(src.begin() + 1, data_value(c, data, wide ? 2 : 1, wide));
  std::vector<Reg> dst;
  if (i.glc) {
    dst.push_back(c.reg(wide ? Width::b64 : Width::b32));
    c.emit(Op::mov, wide ? Type::u64 : Type::u32, dst, {imm(0)});
  }
  ir::Mem mem = buffer_memory(i, wide ? Type::u64 : Type::u32);
  mem.align_bytes = 0;
  mem.order = ir::Order::relaxed;
  mem.scope = ir::Scope::gpu;
  mem.atom = m.atom;
  mem.atom_type = m.type;
  set_guard(c, a.may);
  c.emit(Op::atom, wide ? Type::u64 : Type::u32, dst, std::move(src)).mem = mem;
  c.set_guard({});
  if (!i.glc) return;
  if (!wide) return deliver(c, i, dst);
  const auto [lo, hi] = c.unpack(dst[0]);
  deliver(c, i, {lo, hi});
}

void lower_lds_store(LowerContext& c, const Instruction& i) {
  const BufferPlace a = buffer_place(c, i, 0, 4);
  const Reg value = zeroed(c);
  const Reg at = lds_address(c, i);
  ir::Inst& load = c.emit_vector(Op::load, Type::u32, {value}, {at});
  load.mem.emplace();
  load.mem->space = ir::Space::shared;
  load.mem->align = ir::AlignRule::force;
  set_guard(c, a.may);
  c.emit(Op::store, Type::u32, {}, {a.va, value}).mem = buffer_memory(i, Type::u32);
  c.set_guard({});
}

/// Later loads see what others wrote: a fence, and an event for the cache tracker.
void lower_invalidate(LowerContext& c, const Instruction&) {
  ir::Mem mem;
  mem.order = ir::Order::acq_rel;
  mem.scope = ir::Scope::gpu;
  c.emit(Op::fence, Type::none, {}, {}).mem = mem;
  ir::Inst& drop = c.emit(Op::cachectl, Type::none, {}, {});
  drop.mode = static_cast<uint8_t>(ir::CacheCtl::invalidate_all);
  drop.mem.emplace();
}

}  // namespace lanewise::gcn
