// Global memory, fences, barriers and special registers.
#include <fmt/format.h>

#include "runtime/isa/sass/semantics.hpp"

namespace lanewise::sass {

using ir::imm;
using ir::Op;
using ir::Operand;
using ir::Reg;
using ir::SReg;
using ir::Type;
using ir::Width;

namespace {

struct AccessSize {
  Type elem;
  uint8_t count;
};
AccessSize access_size(uint64_t code) {
  static constexpr AccessSize kSizes[] = {{Type::u8, 1},  {Type::s8, 1},  {Type::u16, 1},
                                          {Type::s16, 1}, {Type::u32, 1}, {Type::u32, 2},
                                          {Type::u32, 4}, {Type::u32, 4}};
  return kSizes[code];
}

int64_t offset_of(const Instruction& i, bool absolute) {
  const Field f = i.operand(Role::addr)->field;
  const uint64_t raw = f.get(i.word);
  if (absolute) return static_cast<int64_t>(raw);
  const unsigned shift = 64U - f.len;
  return static_cast<int64_t>(raw << shift) >> shift;
}

struct Address {
  Operand base;        ///< b64
  int64_t offset = 0;  ///< for Mem::offset
};

/// [Ra + signed], or an absolute address when Ra is RZ or a register the shader does not have.
/// Without .E the sum wraps at 32 bits and is zero-extended.
Address address_of(LowerContext& c, const Instruction& i) {
  const unsigned ra = static_cast<unsigned>(Field{8, 8}.get(i.word));
  const bool beyond = c.kernel().registers != 0 && ra >= c.kernel().registers;
  const bool extended = i.mod(ModId::ext) != 0;
  if (ra == kRZ) return {imm(static_cast<uint64_t>(offset_of(i, true))), 0};
  if (beyond) {
    const uint64_t raw = i.operand(Role::addr)->field.get(i.word);
    return {imm(raw), 0};
  }
  const int64_t offset = offset_of(i, false);
  if (!extended) {
    const auto low = static_cast<uint32_t>(offset);
    const Reg sum = c.make(Op::add, Type::u32, {c.readable(ra), imm(low)});
    const Reg wide = c.b.reg(Width::b64);
    c.b.emit(Op::zext64, Type::u64, {wide}, {sum});
    return {wide, 0};
  }
  c.check_vector(ra, 2);
  const Reg pair = c.b.reg(Width::b64);
  c.b.emit(Op::pack64, Type::u64, {pair}, {c.readable(ra), c.readable(ra + 1)});
  return {pair, offset};
}

ir::Mem memory(LowerContext& c, AccessSize size, int64_t offset) {
  ir::Mem m;
  m.space = ir::Space::global;
  m.elem = size.elem;
  m.count = size.count;
  m.align = c.options().align;
  m.offset = offset;
  return m;
}

}  // namespace

void lower_ldg(LowerContext& c, const Instruction& i) {
  static constexpr ir::CacheOp kCops[] = {ir::CacheOp::ca, ir::CacheOp::cg, ir::CacheOp::ci,
                                          ir::CacheOp::cv};
  const AccessSize size = access_size(i.mod(ModId::size));
  const unsigned rd = c.reg_number(i, Role::d);
  c.check_vector(rd, size.count);
  const Address address = address_of(c, i);
  std::vector<Reg> dst;
  for (unsigned n = 0; n < size.count; ++n) dst.push_back(c.writable(rd == kRZ ? kRZ : rd + n));
  ir::Inst& load = c.b.emit(Op::load, width_of(size.elem) == Width::b64 ? Type::u64 : Type::u32,
                            std::move(dst), {address.base});
  load.mem = memory(c, size, address.offset);
  load.mem->cache.op = kCops[i.mod(ModId::cop)];
  // .CV must not be served from a cache, so it is an access of its own to memory.
  if (i.mod(ModId::cop) == 3) load.mem->order = ir::Order::volatile_;
}

void lower_stg(LowerContext& c, const Instruction& i) {
  static constexpr ir::CacheOp kCops[] = {ir::CacheOp::wb, ir::CacheOp::cg, ir::CacheOp::cs,
                                          ir::CacheOp::wt};
  const AccessSize size = access_size(i.mod(ModId::size));
  const unsigned rb = c.reg_number(i, Role::d);
  c.check_vector(rb, size.count);
  const Address address = address_of(c, i);
  std::vector<Operand> src = {address.base};
  for (unsigned n = 0; n < size.count; ++n) src.push_back(c.readable(rb == kRZ ? kRZ : rb + n));
  ir::Inst& store = c.b.emit(Op::store, Type::u32, {}, std::move(src));
  store.mem = memory(c, size, address.offset);
  store.mem->cache.op = kCops[i.mod(ModId::cop)];
  // Compilers write volatile stores as .WT.
  if (i.mod(ModId::cop) == 3) store.mem->order = ir::Order::volatile_;
}

void lower_membar(LowerContext& c, const Instruction& i) {
  static constexpr ir::Scope kScopes[] = {ir::Scope::cta, ir::Scope::gpu, ir::Scope::sys};
  const uint64_t scope = i.mod(ModId::scope), invalidate = i.mod(ModId::invalidate);
  if (scope == 3) throw Unsupported("MEMBAR.VC is not supported: its meaning is not documented");
  if (invalidate > 1)
    throw Unsupported("MEMBAR with a texture cache invalidation is not supported yet");
  ir::Inst& fence = c.b.emit(Op::fence, Type::none, {}, {});
  fence.mem.emplace();
  fence.mem->order = ir::Order::seq_cst;
  fence.mem->scope = kScopes[scope];
  if (invalidate == 0) return;
  ir::Inst& inv = c.b.emit(Op::cachectl, Type::none, {}, {});
  inv.mem.emplace();
  inv.mode = static_cast<uint8_t>(ir::CacheCtl::invalidate_all);
}

void lower_s2r(LowerContext& c, const Instruction& i) {
  static const std::map<uint64_t, SReg> regs = {
      {0x00, SReg::laneid},      {0x21, SReg::tid_x},           {0x22, SReg::tid_y},
      {0x23, SReg::tid_z},       {0x25, SReg::ctaid_x},         {0x26, SReg::ctaid_y},
      {0x27, SReg::ctaid_z},     {0x32, SReg::total_smem_size}, {0x38, SReg::lanemask_eq},
      {0x39, SReg::lanemask_lt}, {0x3a, SReg::lanemask_le},     {0x3b, SReg::lanemask_gt},
      {0x3c, SReg::lanemask_ge}, {0x50, SReg::clock},           {0x51, SReg::clock_hi}};
  const uint64_t code = i.operand(Role::b)->field.get(i.word);
  const auto found = regs.find(code);
  if (found == regs.end())
    throw Unsupported(fmt::format("special register {:#x} is not supported yet", code));
  c.b.emit(Op::sreg, Type::u32, {c.destination(i)}, {}).mode = static_cast<uint8_t>(found->second);
}

void lower_bar(LowerContext& c, const Instruction& i) {
  const Operand id = c.raw(i, Role::a);
  if (id.imm > 15) throw Unsupported("barriers go from 0 to 15");
  c.b.emit(Op::barrier, Type::none, {}, {id, imm(0)}).mode =
      static_cast<uint8_t>(ir::BarrierKind::sync);
}

void lower_nop(LowerContext&, const Instruction&) {}

}  // namespace lanewise::sass
