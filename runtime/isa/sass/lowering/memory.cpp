// Loads and stores of every space.
#include <fmt/format.h>

#include "runtime/isa/sass/lowering/semantics.hpp"
#include "runtime/layout/residency.hpp"

namespace lanewise::sass {

AccessSize access_size(const Instruction& i) {
  static constexpr AccessSize kSizes[] = {{Type::u8, 1},  {Type::s8, 1},  {Type::u16, 1},
                                          {Type::s16, 1}, {Type::u32, 1}, {Type::u32, 2},
                                          {Type::u32, 4}, {Type::u32, 4}};
  return kSizes[i.mod(ModId::size)];
}

namespace {

constexpr CacheOp kLoadCops[] = {CacheOp::ca, CacheOp::cg, CacheOp::ci, CacheOp::cv};
constexpr CacheOp kStoreCops[] = {CacheOp::wb, CacheOp::cg, CacheOp::cs, CacheOp::wt};
constexpr CacheOp kLocalLoadCops[] = {CacheOp::ca, CacheOp::lu, CacheOp::ci, CacheOp::cv};

/// The offset in bytes, sign-extended from its field, or as the unsigned absolute address.
int64_t offset_of(const Instruction& i, bool absolute) {
  const OperandSpec& o = *i.operand(Role::addr);
  const uint64_t raw = o.field.get(i.word);
  if (absolute) return static_cast<int64_t>(raw << o.shift);
  const unsigned unused = 64U - o.field.len;
  return (static_cast<int64_t>(raw << unused) >> unused) * (int64_t{1} << o.shift);
}

unsigned base_register(const Instruction& i) {
  return static_cast<unsigned>(Field{8, 8}.get(i.word));
}

/// RZ, and registers that the shader does not have, make the immediate an absolute address.
bool absolute_address(const Kernel& kernel, unsigned ra) {
  return ra == kRZ || (kernel.registers != 0 && ra >= kernel.registers);
}

ir::Mem memory(Space space, AccessSize size, int64_t offset) {
  ir::Mem m;
  m.space = space;
  m.elem = size.elem;
  m.count = size.count;
  m.align = ir::AlignRule::force;
  m.offset = offset;
  return m;
}

/// Upper word of the address in faults about constant banks that do not exist: such an address is
/// nowhere. The lower word is (slot << 16) + offset.
constexpr uint32_t kNoBank = 0x100;

using Address = LowerContext::Address;

Address address_in(LowerContext& c, const Instruction& i, Space space) {
  const bool window = space == Space::shared || space == Space::local;
  return window ? c.window_address(i) : c.wide_address(i);
}

ir::Inst& emit_load(LowerContext& c, const Instruction& i, Space space, const CacheOp* cops) {
  const AccessSize size = access_size(i);
  const unsigned rd = c.reg_number(i, Role::d);
  c.check_vector(rd, size.count);
  const Address address = address_in(c, i, space);
  std::vector<Reg> dst;
  for (unsigned n = 0; n < size.count; ++n) dst.push_back(c.writable(rd == kRZ ? kRZ : rd + n));
  ir::Inst& load = c.emit(Op::load, Type::u32, std::move(dst), {address.base});
  load.mem = memory(space, size, address.offset);
  if (cops == nullptr) return load;
  load.mem->cache.op = cops[i.mod(ModId::cop)];
  // .CV must not be served from a cache, so it is an access of its own to memory.
  if (load.mem->cache.op == CacheOp::cv) load.mem->order = ir::Order::volatile_;
  return load;
}

void emit_store(LowerContext& c, const Instruction& i, Space space, const CacheOp* cops) {
  const AccessSize size = access_size(i);
  const unsigned rb = c.reg_number(i, Role::d);
  c.check_vector(rb, size.count);
  const Address address = address_in(c, i, space);
  std::vector<Operand> src = {address.base};
  for (unsigned n = 0; n < size.count; ++n) src.push_back(c.readable(rb == kRZ ? kRZ : rb + n));
  ir::Inst& store = c.emit(Op::store, Type::u32, {}, std::move(src));
  store.mem = memory(space, size, address.offset);
  if (cops == nullptr) return;
  store.mem->cache.op = cops[i.mod(ModId::cop)];
  // Compilers write volatile stores as .WT.
  if (store.mem->cache.op == CacheOp::wt) store.mem->order = ir::Order::volatile_;
}

/// One bit of the residency map. The access is not the guest's, so it has no site.
Reg is_absent(LowerContext& c, Operand page) {
  const Reg word = c.reg(Width::b32), place = c.reg(Width::b64);
  c.emit(Op::mov, Type::u32, {word}, {imm(0)});
  const Reg low = c.make(Op::trunc32, Type::u32, {page});
  const Reg row = c.make(Op::shr, Type::u32, {low, imm(5)});
  c.emit(Op::mulwide, Type::u32, {place}, {row, imm(4)});
  const Reg address = c.make(Op::add, Type::u64, {place, c.symbol(std::string(kSparseMap))});
  const ir::Guard guard = c.guard();
  const Reg known = c.compare(Cond::lt, Type::u64, page, imm(guest::kSparsePages));
  c.set_guard(c.narrowed(known));
  ir::Inst& load = c.emit(Op::load, Type::u32, {word}, {address});
  load.mem = memory(Space::constant, {Type::u32, 1}, 0);
  load.site = ir::kNone;
  c.set_guard(guard);
  const Reg column = c.make(Op::and_, Type::u32, {low, imm(31)});
  const Reg bit = c.make(Op::and_, Type::u32, {c.make(Op::shr, Type::u32, {word, column}), imm(1)});
  return c.compare(Cond::ne, Type::u32, bit, imm(0));
}

/// Ps says whether the page is absent. Absent pages read as zero and are not touched.
void lower_sparse(LowerContext& c, const Instruction& i) {
  const LowerContext::Address a = c.wide_address(i);
  const Reg relative = c.make(Op::add, Type::u64,
                              {a.base, imm(static_cast<uint64_t>(a.offset) - guest::kArenaBase)});
  const Reg page = c.make(Op::shr, Type::u64, {relative, imm(guest::kSparsePageBits)});
  const Reg marked = is_absent(c, page);
  const Reg absent = c.make(Op::or_, Type::pred, {c.sparse_absent(), marked});
  const ir::Guard guard = c.guard();
  const ir::Guard here = c.narrowed(c.make(Op::not_, Type::pred, {absent}));
  const ir::Guard away = c.narrowed(absent);
  c.set_guard(here);
  const std::vector<Reg> dst = emit_load(c, i, Space::global, kLoadCops).dst;
  c.set_guard(away);
  for (const Reg d : dst) c.emit(Op::mov, Type::u32, {d}, {imm(0)});
  c.set_guard(guard);
  c.write_predicate(i, Role::p, absent);
}

}  // namespace

LowerContext::Address LowerContext::wide_address(const Instruction& i) {
  const unsigned ra = base_register(i);
  if (absolute_address(kernel_, ra)) return {imm(static_cast<uint64_t>(offset_of(i, true))), 0};
  const int64_t offset = offset_of(i, false);
  if (i.mod(ModId::ext) != 0) return {pair(ra), offset};
  const Reg sum = make(Op::add, Type::u32, {readable(ra), imm(static_cast<uint32_t>(offset))});
  const Reg wide = make(Op::zext64, Type::u64, {sum});
  return {wide, 0};
}

LowerContext::Address LowerContext::window_address(const Instruction& i) {
  const unsigned ra = base_register(i);
  if (absolute_address(kernel_, ra)) return {imm(static_cast<uint64_t>(offset_of(i, true))), 0};
  return {readable(ra), offset_of(i, false)};
}

void lower_ldg(LowerContext& c, const Instruction& i) {
  if (i.operand(Role::p) != nullptr) return lower_sparse(c, i);
  emit_load(c, i, Space::global, kLoadCops);
}
void lower_stg(LowerContext& c, const Instruction& i) {
  c.leave_out_lanes_without_stores();
  emit_store(c, i, Space::global, kStoreCops);
}

/// The predicate of a generic access repeats what the address says: not in a window. The window
/// test itself decides here.
void lower_ld(LowerContext& c, const Instruction& i) {
  emit_load(c, i, Space::generic, kLoadCops);
}
void lower_st(LowerContext& c, const Instruction& i) {
  c.leave_out_lanes_without_stores();
  emit_store(c, i, Space::generic, kStoreCops);
}

void lower_ldl(LowerContext& c, const Instruction& i) {
  emit_load(c, i, Space::local, kLocalLoadCops);
}
void lower_stl(LowerContext& c, const Instruction& i) {
  emit_store(c, i, Space::local, kStoreCops);
}
void lower_lds(LowerContext& c, const Instruction& i) {
  emit_load(c, i, Space::shared, nullptr);
}
void lower_sts(LowerContext& c, const Instruction& i) {
  emit_store(c, i, Space::shared, nullptr);
}

namespace {

/// Destination registers of an access of this size.
std::vector<Reg> destinations(LowerContext& c, const Instruction& i, AccessSize size) {
  const unsigned rd = c.reg_number(i, Role::d);
  c.check_vector(rd, size.count);
  std::vector<Reg> dst;
  for (unsigned n = 0; n < size.count; ++n) dst.push_back(c.writable(rd == kRZ ? kRZ : rd + n));
  return dst;
}

/// Byte `place` of a bank. Of bank 0 come the parameters: what a driver keeps before them cannot be
/// indexed.
void load_constant(LowerContext& c, const Instruction& i, unsigned bank, Reg place) {
  constexpr uint32_t kParams = 0x140;
  const AccessSize size = access_size(i);
  std::vector<Operand> src;
  if (bank == 0) {
    src = {c.make(Op::sub, Type::u32, {place, imm(kParams)})};
  } else {
    const Reg wide = c.make(Op::zext64, Type::u64, {place});
    src = {c.make(Op::add, Type::u64, {wide, c.symbol(c.constant_bank(bank).symbol)})};
  }
  ir::Inst& load = c.emit(Op::load, Type::u32, destinations(c, i, size), std::move(src));
  load.mem = memory(bank == 0 ? Space::param : Space::constant, size, 0);
}

/// The register says {slot, offset}, 16 bits each, and both are added to those of the instruction.
/// The modes differ in whether an offset may run over into the slot: lanes where it does fault, as
/// do those whose slot holds nothing.
void load_indexed(LowerContext& c, const Instruction& i) {
  const auto bank = static_cast<unsigned>(Field{36, 5}.get(i.word));
  const unsigned ra = base_register(i);
  const Operand index = c.readable(ra);
  const auto from = static_cast<uint32_t>(offset_of(i, false));
  const Reg slot =
      c.make(Op::add, Type::u32, {c.make(Op::shr, Type::u32, {index, imm(16)}), imm(bank)});
  const Reg place =
      c.make(Op::add, Type::u32, {c.make(Op::and_, Type::u32, {index, imm(0xffff)}), imm(from)});
  const auto is = [&](Operand x, uint64_t y) { return c.compare(Cond::eq, Type::u32, x, imm(y)); };
  const Operand inside = is(c.make(Op::shr, Type::u32, {place, imm(16)}), 0);
  Operand found = imm(0);
  std::vector<std::pair<unsigned, Operand>> banks;
  for (const unsigned n : c.banks()) {
    banks.emplace_back(n, combine(c, 0, inside, is(slot, n)));
    found = combine(c, 1, found, banks.back().second);
  }
  const Reg nowhere =
      c.make(Op::pack64, Type::u64,
             {c.make(Op::add, Type::u32, {c.make(Op::shl, Type::u32, {slot, imm(16)}), place}),
              imm(kNoBank)});
  const ir::Guard guard = c.guard();
  const ir::Guard lost = c.narrowed(inverse(c, found));
  std::vector<ir::Guard> guards;
  for (const auto& [n, here] : banks) guards.push_back(c.narrowed(here));
  for (size_t n = 0; n < banks.size(); ++n) {
    c.set_guard(guards[n]);
    load_constant(c, i, banks[n].first, place);
  }
  c.set_guard(lost);
  const AccessSize size = access_size(i);
  ir::Inst& load = c.emit(Op::load, Type::u32, destinations(c, i, size), {nowhere});
  load.mem = memory(Space::constant, size, 0);
  c.set_guard(guard);
}

}  // namespace

void lower_ldc(LowerContext& c, const Instruction& i) {
  const AccessSize size = access_size(i);
  const unsigned ra = base_register(i);
  const auto bank = static_cast<unsigned>(Field{36, 5}.get(i.word));
  const int64_t offset = offset_of(i, false);
  if (i.mod(ModId::mode) != 0 && ra != kRZ) return load_indexed(c, i);
  if (bank == 0 && ra == kRZ && size.elem == Type::u32 && offset >= 0 && offset % 4 == 0) {
    const std::vector<Reg> dst = destinations(c, i, size);
    for (unsigned n = 0; n < size.count; ++n) {
      const Operand word = c.constant(0, static_cast<unsigned>(offset) + 4 * n);
      c.emit(Op::mov, Type::u32, {dst[n]}, {word});
    }
    return;
  }
  const Reg place =
      c.make(Op::add, Type::u32, {c.readable(ra), imm(static_cast<uint32_t>(offset))});
  load_constant(c, i, bank, place);
}

}  // namespace lanewise::sass
