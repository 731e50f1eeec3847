// Scalar instructions: numbers, masks and SCC.
#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {

void lower_nothing(LowerContext&, const Instruction&) {}

void lower_smov(LowerContext& c, const Instruction& i) {
  c.write32(i.operands[0].code, c.read32(i.operands[1]));
}

void lower_smovk(LowerContext& c, const Instruction& i) {
  const auto value = static_cast<int16_t>(i.operands[1].value);
  c.write32(i.operands[0].code, imm(static_cast<uint32_t>(int32_t{value})));
}

void lower_snot(LowerContext& c, const Instruction& i) {
  const Reg r = c.make(Op::not_, Type::u32, {c.read32(i.operands[1])});
  c.write32(i.operands[0].code, r);
  c.set_scc_nonzero(Type::u32, r);
}

void lower_slogic32(LowerContext& c, const Instruction& i) {
  ir::Operand second = c.read32(i.operands[2]);
  if (i.row->meaning.invert) second = c.make(Op::not_, Type::u32, {second});
  Reg r = c.make(i.row->meaning.op, Type::u32, {c.read32(i.operands[1]), second});
  if (i.row->meaning.invert_result) r = c.make(Op::not_, Type::u32, {r});
  c.write32(i.operands[0].code, r);
  c.set_scc_nonzero(Type::u32, r);
}

namespace {

/// mov, not, and, or, xor; with `invert` the second operand is complemented.
ir::Operand logic(LowerContext& c, const Meaning& m, Type type, std::vector<ir::Operand> src) {
  if (m.op == Op::mov) return src[0];
  if (m.invert) src[1] = c.make(Op::not_, type, {src[1]});
  const ir::Operand result = c.make(m.op, type, std::move(src));
  return m.invert_result ? c.make(Op::not_, type, {result}) : result;
}

}  // namespace

namespace {

std::vector<ir::Operand> logic_sources(LowerContext& c, const Instruction& i, bool as_mask) {
  std::vector<ir::Operand> src;
  for (size_t n = 1; n < i.operands.size(); ++n)
    src.push_back(as_mask ? c.read_mask(i.operands[n]) : c.read64(i.operands[n]));
  return src;
}

}  // namespace

/// On lane masks the operation works lane by lane; on numbers it is 64-bit arithmetic. Where bits
/// of lanes that do not exist may matter it is both.
void lower_slogic64(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const unsigned dst = i.operands[0].code;
  const bool as_mask = is_mask_write(i, c.stale);
  const bool as_number = !as_mask || c.makes_number(dst);
  const bool wants_scc = m.op != Op::mov && c.scc_live;
  ir::Operand lanes, number;
  if (as_number) number = logic(c, m, Type::u64, logic_sources(c, i, false));
  if (as_mask) lanes = logic(c, m, Type::pred, logic_sources(c, i, true));
  if (as_number) {
    as_mask ? c.write_mask(dst, lanes, number) : c.write64(dst, number);
    if (m.op != Op::mov) c.set_scc_nonzero(Type::u64, number);
    return;
  }
  const ir::Operand any = wants_scc ? ir::Operand(c.any_lane(lanes)) : imm(0);
  c.write_mask(dst, lanes);
  if (wants_scc) c.emit(Op::mov, Type::pred, {c.scc()}, {any});
}

/// D = EXEC, EXEC = S op EXEC.
void lower_saveexec(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const ir::Operand result =
      logic(c, m, Type::pred, {c.read_mask(i.operands[1]), ir::Operand(c.exec())});
  c.write_mask(i.operands[0].code, c.exec());
  c.emit(Op::mov, Type::pred, {c.exec()}, {result});
  if (c.scc_live) c.emit(Op::mov, Type::pred, {c.scc()}, {c.any_lane(c.exec())});
}

namespace {

/// Signed overflow of a + b or a - b: the sign of (a ^ r) & (b ^ r), or of (a ^ b) & (a ^ r).
void set_overflow(LowerContext& c, bool subtract, ir::Operand a, ir::Operand b, Reg r) {
  const Reg x = c.make(Op::xor_, Type::u32, {a, subtract ? b : ir::Operand(r)});
  const Reg y = c.make(Op::xor_, Type::u32, {subtract ? a : b, r});
  const Reg both = c.make(Op::and_, Type::u32, {x, y});
  c.emit(Op::icmp, Type::s32, {c.scc()}, {both, imm(0)}).cond = Cond::lt;
}

}  // namespace

void lower_sadd(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const ir::Operand a = c.read32(i.operands[1]), b = c.read32(i.operands[2]);
  const bool subtract = m.op == Op::sub, is_signed = m.type == Type::s32;
  const Reg r = c.reg(Width::b32);
  if (!c.scc_live || is_signed)
    c.emit(m.op, Type::u32, {r}, {a, b});
  else
    c.emit(subtract ? Op::subb : Op::addc, Type::u32, {r, c.scc()}, {a, b, imm(0)});
  if (c.scc_live && is_signed) set_overflow(c, subtract, a, b, r);
  c.write32(i.operands[0].code, r);
}

void lower_saddc(LowerContext& c, const Instruction& i) {
  const Reg r = c.reg(Width::b32);
  c.emit(i.row->meaning.op, Type::u32, {r, c.scc()},
         {c.read32(i.operands[1]), c.read32(i.operands[2]), c.scc()});
  c.write32(i.operands[0].code, r);
}

void lower_sshift(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const Reg amount = c.make(Op::and_, Type::u32, {c.read32(i.operands[2]), imm(31)});
  const Reg r = c.make(m.op, m.type, {c.read32(i.operands[1]), amount});
  c.write32(i.operands[0].code, r);
  c.set_scc_nonzero(Type::u32, r);
}

void lower_smul(LowerContext& c, const Instruction& i) {
  c.write32(i.operands[0].code,
            c.make(Op::mul, Type::u32, {c.read32(i.operands[1]), c.read32(i.operands[2])}));
}

void lower_scmp(LowerContext& c, const Instruction& i) {
  c.emit(Op::icmp, i.row->meaning.type, {c.scc()},
         {c.read32(i.operands[0]), c.read32(i.operands[1])})
      .cond = i.row->meaning.cond;
}

/// What a scalar load's immediate stands for: dwords before GCN3, then bytes.
int64_t scalar_offset(const Operand& offset, Gen gen) {
  return gen == Gen::gfx8 ? int64_t{offset.value} : 4 * int64_t{offset.value};
}

/// Address = pair + offset, low two bits dropped.
void lower_sload(LowerContext& c, const Instruction& i) {
  const Operand& dst = i.operands[0];
  const Operand& offset = i.operands[2];
  ir::Operand address = c.read64(i.operands[1]);
  if (!offset.immediate) {
    const Reg wide = c.reg(Width::b64);
    c.emit(Op::zext64, Type::u64, {wide}, {c.read32(offset)});
    address = c.make(Op::add, Type::u64, {address, wide});
  }
  std::vector<Reg> regs;
  for (unsigned n = 0; n < dst.count; ++n) regs.push_back(c.sgpr(dst.code + n));
  ir::Inst& load = c.emit(Op::load, Type::u32, std::move(regs), {address});
  load.mem.emplace();
  load.mem->count = dst.count;
  load.mem->align_bytes = 4;
  load.mem->align = ir::AlignRule::force;
  load.mem->offset = offset.immediate ? scalar_offset(offset, c.gen()) : 0;
  load.mem->cache.glc = i.glc;
  c.refresh_masks(dst.code, dst.count);
}

void lower_barrier(LowerContext& c, const Instruction&) {
  c.emit(Op::barrier, Type::none, {}, {imm(0), imm(0)}).mode =
      static_cast<uint8_t>(ir::BarrierKind::sync);
}

}  // namespace lanewise::gcn
