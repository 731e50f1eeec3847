// Scalar memory beyond plain loads: through a descriptor, and the stores of GCN3.
#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {

namespace {

/// What a scalar access through a descriptor reaches: bytes from the base on.
struct Reach {
  Reg start;  ///< a multiple of 4
  Reg size, address;

  /// Is dword `n` from the start on inside?
  Reg holds(LowerContext& c, unsigned n) const {
    const Reg end = c.make(Op::add, Type::u64, {start, imm(4 * n + 4)});
    return c.compare(Cond::le, Type::u64, end, size);
  }
};

Reach reach(LowerContext& c, const Operand& rsrc, const Operand& offset) {
  const ir::Operand w1 = c.read32(rsrc, 1);
  const Reg high = c.make(Op::and_, Type::u32, {w1, imm(0xffff)});
  const Reg base = c.make(Op::pack64, Type::u64, {c.read32(rsrc, 0), high});
  const Reg up = c.make(Op::shr, Type::u32, {w1, imm(16)});
  const Reg stride = c.make(Op::and_, Type::u32, {up, imm(0x3fff)});
  const Reg unit = c.make(Op::max, Type::u32, {stride, imm(1)});
  const Reg all = c.reg(Width::b64);
  c.emit(Op::mulwide, Type::u32, {all}, {c.read32(rsrc, 2), unit});
  // TYPE, the two highest bits: only 0 is a buffer.
  const Reg bound = c.compare(Cond::lt, Type::u32, c.read32(rsrc, 3), imm(1U << 30));
  Reach r;
  r.size = c.make(Op::select, Type::u64, {bound, all, imm(0)});
  ir::Operand at = imm(static_cast<uint64_t>(scalar_offset(offset, c.gen())));
  if (!offset.immediate) {
    const Reg wide = c.reg(Width::b64);
    c.emit(Op::zext64, Type::u64, {wide}, {c.read32(offset)});
    at = wide;
  }
  r.start = c.make(Op::and_, Type::u64, {at, imm(~uint64_t{3})});
  r.address = c.make(Op::add, Type::u64, {base, r.start});
  return r;
}

void set_memory(ir::Inst& access, const Instruction& i, int64_t offset) {
  access.mem.emplace();
  access.mem->align_bytes = 4;
  access.mem->align = ir::AlignRule::force;
  access.mem->offset = offset;
  access.mem->cache.glc = i.glc;
}

/// The whole wave is here: what lanes do apart would be seen twice.
void come_together(LowerContext& c) {
  c.emit(Op::wave_sync, Type::none, {}, {imm(0xffffffff)});
}

Reg is_first_lane(LowerContext& c) {
  const Reg lane = c.special(SReg::laneid);
  return c.compare(Cond::eq, Type::u32, lane, imm(0));
}

}  // namespace

void lower_sbuffer_load(LowerContext& c, const Instruction& i) {
  const Operand& dst = i.operands[0];
  const Reach r = reach(c, i.operands[1], i.operands[2]);
  std::vector<Reg> words;
  for (unsigned n = 0; n < dst.count; ++n) {
    const Reg inside = r.holds(c, n);
    words.push_back(c.make(Op::mov, Type::u32, {imm(0)}));
    c.set_guard({inside, false});
    set_memory(c.emit(Op::load, Type::u32, {words.back()}, {r.address}), i, 4 * int64_t{n});
    c.set_guard({});
  }
  for (unsigned n = 0; n < dst.count; ++n)
    c.emit(Op::mov, Type::u32, {c.sgpr(dst.code + n)}, {words[n]});
  c.refresh_masks(dst.code, dst.count);
}

/// Once for the wave, whatever EXEC says: lane 0, which every wave has, stores, and no lane is
/// ahead of it or behind. What lies outside a descriptor is dropped.
void lower_sstore(LowerContext& c, const Instruction& i) {
  const Operand &data = i.operands[0], &base = i.operands[1], &offset = i.operands[2];
  const bool descriptor = base.count == 4;
  come_together(c);
  const Reg first = is_first_lane(c);
  Reach r;
  ir::Operand address;
  int64_t fixed = 0;
  if (descriptor) {
    r = reach(c, base, offset);
    address = r.address;
  } else {
    address = c.read64(base);
    if (offset.immediate) {
      fixed = scalar_offset(offset, c.gen());
    } else {
      const Reg wide = c.reg(Width::b64);
      c.emit(Op::zext64, Type::u64, {wide}, {c.read32(offset)});
      address = c.make(Op::add, Type::u64, {address, wide});
    }
  }
  for (unsigned n = 0; n < data.count; ++n) {
    const ir::Operand value = c.read32(data, n);
    const Reg stores = descriptor ? c.make(Op::and_, Type::pred, {first, r.holds(c, n)}) : first;
    c.set_guard({stores, false});
    set_memory(c.emit(Op::store, Type::u32, {}, {address, value}), i, fixed + 4 * int64_t{n});
    c.set_guard({});
  }
  come_together(c);
}

}  // namespace lanewise::gcn
