// LDS reads, writes and atomics, and the barrier of the global share. M0, the limit of LDS on these
// generations, is not checked: the group's own allocation bounds every access.
#include "runtime/isa/gcn/lowering/semantics.hpp"
#include "runtime/isa/gcn/rules/modifier_rules.hpp"
#include "runtime/layout/grid_workspace.hpp"

namespace lanewise::gcn {

namespace {

void refuse_gds(const Instruction& i) {
  if (i.gds) throw Unsupported("the global data share is not executed");
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
    const Reg r = c.reg(wide ? Width::b64 : Width::b32);
    c.emit(Op::mov, wide ? Type::u64 : Type::u32, {r}, {imm(0)});
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

namespace {

bool is_wide(const Instruction& i) {
  return ir::size_of(i.row->meaning.type) == 8;
}

ir::Operand data_of(LowerContext& c, const Instruction& i, Slot slot) {
  const Operand& o = *i.operand(slot);
  if (!is_wide(i)) return c.read32(o);
  return c.make(Op::pack64, Type::u64, {c.read32(o, 0), c.read32(o, 1)});
}

ir::Mem atomic_memory(const Instruction& i, unsigned element) {
  const Meaning& m = i.row->meaning;
  ir::Mem mem = lds_memory(i, element);
  mem.elem = is_wide(i) ? Type::u64 : Type::u32;
  mem.atom = m.atom;
  mem.atom_type = m.type;
  mem.order = ir::Order::relaxed;
  mem.scope = ir::Scope::cta;
  return mem;
}

void put(LowerContext& c, const Instruction& i, unsigned at, Reg value) {
  if (is_wide(i))
    c.emit_vector(Op::unpack64, Type::u64, {c.vgpr(at), c.vgpr(at + 1)}, {value});
  else
    c.emit_vector(Op::mov, Type::u32, {c.vgpr(at)}, {value});
}

/// Of a mask; lane 0 of an empty one.
Reg first_lane(LowerContext& c, Reg mask) {
  const Reg bits = c.make(Op::brev, Type::u64, {mask});
  const Reg first = c.reg(Width::b32);
  c.emit(Op::clz, Type::u64, {first}, {bits});
  return c.make(Op::and_, Type::u32, {first, imm(63)});
}

}  // namespace

/// ds_cmpst: the value to compare with comes first, the new one behind it. ds_mskor: the mask
/// first. ds_wrap: what is taken off first, what is added behind it.
void lower_lds_atomic(LowerContext& c, const Instruction& i) {
  refuse_gds(i);
  const Meaning& m = i.row->meaning;
  std::vector<ir::Operand> src = {c.read32(*i.operand(Slot::ds_addr)), data_of(c, i, Slot::data0)};
  if (ir::takes_two(m.atom)) src.push_back(data_of(c, i, Slot::data1));
  std::vector<Reg> old;
  if (m.returns) old.push_back(c.reg(is_wide(i) ? Width::b64 : Width::b32));
  c.emit_vector(Op::atom, is_wide(i) ? Type::u64 : Type::u32, old, std::move(src)).mem =
      atomic_memory(i, 0);
  if (m.returns) put(c, i, i.operand(Slot::vdst)->code, old[0]);
}

/// Two exchanges at two places; the old values follow one another.
void lower_lds_exchanges(LowerContext& c, const Instruction& i) {
  refuse_gds(i);
  const Type type = is_wide(i) ? Type::u64 : Type::u32;
  const ir::Operand at = c.read32(*i.operand(Slot::ds_addr));
  const ir::Operand data[] = {data_of(c, i, Slot::data0), data_of(c, i, Slot::data1)};
  Reg old[2];
  for (unsigned n = 0; n < 2; ++n) {
    old[n] = c.reg(width_of(type));
    c.emit_vector(Op::atom, type, {old[n]}, {at, data[n]}).mem = atomic_memory(i, n);
  }
  const unsigned dst = i.operand(Slot::vdst)->code;
  for (unsigned n = 0; n < 2; ++n) put(c, i, dst + n * (is_wide(i) ? 2 : 1), old[n]);
}

/// The second operand is another place of LDS, so many dwords away as the offset says, or, where
/// its bit 15 is set, as the address says from bit 17 on; both have 15 bits and a sign.
void lower_lds_second_place(LowerContext& c, const Instruction& i) {
  refuse_gds(i);
  const Type type = is_wide(i) ? Type::u64 : Type::u32;
  const ir::Operand address = c.read32(*i.operand(Slot::ds_addr));
  ir::Operand place = address, distance;
  if ((i.offset & 0x8000) != 0) {
    place = c.make(Op::and_, Type::u32, {address, imm(0x1ffff)});
    const Reg dwords = c.make(Op::shr, Type::s32, {address, imm(17)});
    distance = c.make(Op::shl, Type::u32, {dwords, imm(2)});
  } else {
    const uint32_t dwords = i.offset | (i.offset & 0x4000U) << 1;
    distance = imm(static_cast<uint32_t>(static_cast<int16_t>(dwords) * 4));
  }
  ir::Mem from = atomic_memory(i, 0);
  from.offset = 0;
  ir::Mem to = from;
  from.order = ir::Order::weak;
  const unsigned bytes = ir::size_of(type);
  const Reg whole = c.make(Op::and_, Type::u32, {place, imm(~(bytes - 1))});
  const Reg other = c.make(Op::add, Type::u32, {whole, distance});
  const Reg second = c.reg(width_of(type));
  c.emit(Op::mov, type, {second}, {imm(0)});
  c.emit_vector(Op::load, type, {second}, {other}).mem = from;
  c.emit_vector(Op::atom, type, {}, {whole, second}).mem = to;
}

/// Two neighbouring dwords: each gets the lower 31 bits of its data where their highest bit is set.
void lower_lds_conditional(LowerContext& c, const Instruction& i) {
  refuse_gds(i);
  const Operand& data = *i.operand(Slot::data0);
  const ir::Operand address = c.read32(*i.operand(Slot::ds_addr));
  const Reg sum = c.make(Op::add, Type::u32, {address, imm(i.offset)});
  const Reg at = c.make(Op::and_, Type::u32, {sum, imm(~7U)});
  Reg old[2];
  for (unsigned n = 0; n < 2; ++n) {
    const ir::Operand word = c.read32(data, n);
    const Reg clears = c.make(Op::shr, Type::s32, {word, imm(31)});  // all bits or none
    const Reg low = c.make(Op::and_, Type::u32, {word, imm(0x7fffffff)});
    const Reg sets = c.make(Op::and_, Type::u32, {low, clears});
    ir::Mem mem = atomic_memory(i, 0);
    mem.offset = int64_t{4} * n;
    old[n] = c.reg(Width::b32);
    c.emit_vector(Op::atom, Type::u32, {old[n]}, {at, clears, sets}).mem = mem;
  }
  const unsigned dst = i.operand(Slot::vdst)->code;
  for (unsigned n = 0; n < 2; ++n) put(c, i, dst + n, old[n]);
}

/// ds_append and ds_consume: the wave's first active lane adds or takes off the number of active
/// ones, at M0[31:16] and the offset; all of them get the old value.
void lower_lds_count(LowerContext& c, const Instruction& i) {
  refuse_gds(i);
  const Reg running = c.make(Op::ballot, Type::u64, {c.exec()});
  const Reg count = c.reg(Width::b32);
  c.emit(Op::popc, Type::u64, {count}, {running});
  const Reg from = first_lane(c, running);
  const Reg chosen = c.compare(Cond::eq, Type::u32, c.special(SReg::laneid), from);
  const ir::Operand base =
      c.make(Op::shr, Type::u32, {c.read_known({.code = kM0, .label = {}}), imm(16)});
  const Reg old = c.make(Op::mov, Type::u32, {imm(0)});
  c.narrow(chosen);
  c.emit_vector(Op::atom, Type::u32, {old}, {base, count}).mem = atomic_memory(i, 0);
  c.widen();
  const Reg shared = c.make(Op::readlane, Type::none, {old, from});
  c.emit_vector(Op::mov, Type::u32, {c.vgpr(i.operand(Slot::vdst)->code)}, {shared});
}

/// The wave's first active lane adds it to the semaphore's count, and the wave looks at that until
/// as many waves came as the lane's register says. Launches that are not cooperative have no
/// counts.
void lower_grid_barrier(LowerContext& c, const Instruction& i) {
  if (const std::string problem = modifier_problem(i, c.gen()); !problem.empty())
    throw Unsupported(problem);
  const uint32_t comes = c.add_block(), counts = c.add_block(), waits = c.add_block(),
                 absent = c.add_block(), passed = c.add_block();
  const Reg running = c.make(Op::ballot, Type::u64, {c.exec()});
  c.branch({c.compare(Cond::ne, Type::u64, running, imm(0))}, comes, passed, true);
  c.set_block(comes);
  const auto workspace = ir::Operand::address_of(c.symbol(std::string(guest::kGridWorkspace)), 0);
  const Reg begin = c.reg(Width::b64);
  ir::Mem mem;
  mem.elem = Type::u64;
  c.emit(Op::load, Type::u64, {begin}, {c.make(Op::mov, Type::u64, {workspace})}).mem = mem;
  c.branch({c.compare(Cond::eq, Type::u64, begin, imm(0))}, absent, counts, true);
  c.set_block(absent);
  c.trap(FaultKind::illegal_instruction);
  c.exit();

  c.set_block(counts);
  const Reg from = first_lane(c, running);
  const Reg waves =
      c.make(Op::readlane, Type::none,
             {c.make(Op::add, Type::u32, {c.read32(*i.operand(Slot::ds_addr)), imm(1)}), from});
  const Reg needed = c.make(Op::max, Type::u32, {waves, imm(1)});
  const Reg resource =
      c.make(Op::add, Type::u32,
             {c.make(Op::shr, Type::u32, {c.read_known({.code = kM0, .label = {}}), imm(16)}),
              imm(i.offset)});
  const Reg semaphore = c.make(Op::and_, Type::u32, {resource, imm(guest::kSemaphores - 1)});
  const Reg place = c.reg(Width::b64);
  c.emit(Op::mulwide, Type::u32, {place}, {semaphore, imm(4)});
  const Reg address = c.make(Op::add, Type::u64, {begin, place});
  mem.elem = Type::u32;
  mem.order = ir::Order::acq_rel;
  mem.scope = ir::Scope::gpu;
  mem.offset = guest::kSemaphoresAt;
  const Reg old = c.make(Op::mov, Type::u32, {imm(0)});
  c.narrow(c.compare(Cond::eq, Type::u32, c.special(SReg::laneid), from));
  c.emit_vector(Op::atom, Type::u32, {old}, {address, imm(1)}).mem = mem;
  c.widen();
  const Reg before = c.make(Op::readlane, Type::none, {old, from});
  const Reg rounds = c.make(Op::div, Type::u32, {before, needed});
  const Reg goal =
      c.make(Op::mul, Type::u32, {c.make(Op::add, Type::u32, {rounds, imm(1)}), needed});
  c.jump(waits);

  c.set_block(waits);
  mem.order = ir::Order::acquire;
  const Reg seen = c.reg(Width::b32);
  c.emit(Op::load, Type::u32, {seen}, {address}).mem = mem;
  const Reg count = c.make(Op::readlane, Type::none, {seen, from});
  const Reg beyond = c.make(Op::sub, Type::u32, {count, goal});
  c.branch({c.compare(Cond::ge, Type::s32, beyond, imm(0))}, passed, waits, true);
  c.set_block(passed);
}

}  // namespace lanewise::gcn
