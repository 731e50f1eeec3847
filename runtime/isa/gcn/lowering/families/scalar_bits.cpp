// Scalar instructions on single bits and fields, registers by number, hardware registers, clocks.
#include <algorithm>

#include "lanewise/types.hpp"
#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {

namespace {

ir::Operand read(LowerContext& c, const Operand& o) {
  return o.count == 2 ? c.read64(o) : c.read32(o);
}
void write(LowerContext& c, const Operand& to, ir::Operand value) {
  to.count == 2 ? c.write64(to.code, value) : c.write32(to.code, value);
}
Type bits(const Operand& o) {
  return o.count == 2 ? Type::u64 : Type::u32;
}
ir::Operand sign_extended(const Operand& simm16) {
  return imm(static_cast<uint32_t>(int32_t{static_cast<int16_t>(simm16.value)}));
}

}  // namespace

void lower_scmov(LowerContext& c, const Instruction& i) {
  const Operand &to = i.operands[0], &from = i.operands[1];
  const ir::Operand value = from.immediate ? sign_extended(from) : read(c, from);
  write(c, to, c.make(Op::select, bits(to), {c.scc(), value, read(c, to)}));
}

/// Of each four bits: all set where one is, or one bit for the four.
void lower_squads(LowerContext& c, const Instruction& i) {
  const Type t = i.row->meaning.type;
  const auto op = [&](Op o, ir::Operand x, ir::Operand y) { return c.make(o, t, {x, y}); };
  const uint64_t first = 0x1111111111111111;
  const uint64_t ones = t == Type::u64 ? first : first & 0xffffffff;
  Reg x = op(Op::or_, read(c, i.operands[1]), imm(0));
  x = op(Op::or_, x, op(Op::shr, x, imm(1)));
  x = op(Op::and_, op(Op::or_, x, op(Op::shr, x, imm(2))), imm(ones));
  if (i.row->meaning.op == Op::or_) {
    x = op(Op::mul, x, imm(15));
  } else {
    // The bits stand four apart; each step halves the gaps.
    const struct {
      unsigned by;
      uint64_t keep;
    } steps[] = {
        {3, 0x0303030303030303}, {6, 0x000f000f000f000f}, {12, 0x000000ff000000ff}, {24, 0xffff}};
    for (const auto& s : steps)
      x = op(Op::and_, op(Op::or_, x, op(Op::shr, x, imm(s.by))),
             imm(t == Type::u64 ? s.keep : s.keep & 0xffffffff));
  }
  write(c, i.operands[0], x);
  c.set_scc_nonzero(t, x);
}

void lower_sbits(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const Operand &to = i.operands[0], &from = i.operands[1];
  ir::Operand x = read(c, from);
  if (m.invert) x = c.make(Op::not_, bits(from), {x});
  const Reg r = c.reg(to.count == 2 ? Width::b64 : Width::b32);
  c.emit(m.op, m.type, {r}, {x});
  write(c, to, r);
  if (i.row->does(kWritesScc)) c.set_scc_nonzero(bits(to), r);
}

/// The first 1 (or 0: inverted) from below (brev) or from the top (clz; of signed numbers the first
/// bit unlike the sign); -1 where there is none.
void lower_sfirst_bit(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const Type t = bits(i.operands[1]);
  ir::Operand x = ir::is_signed(m.type) && i.operands[1].count == 2 ? c.read64(i.operands[1], true)
                                                                    : read(c, i.operands[1]);
  if (m.invert) x = c.make(Op::not_, t, {x});
  if (ir::is_signed(m.type)) {
    const Reg sign = c.make(Op::shr, m.type, {x, imm(t == Type::u64 ? 63 : 31)});
    x = c.make(Op::xor_, t, {x, sign});
  }
  const ir::Operand turned = m.op == Op::brev ? ir::Operand(c.make(Op::brev, t, {x})) : x;
  const Reg zeros = c.reg(Width::b32);
  c.emit(Op::clz, t, {zeros}, {turned});
  const Reg none = c.compare(Cond::eq, t, x, imm(0));
  c.write32(i.operands[0].code, c.make(Op::select, Type::u32, {none, imm(0xffffffff), zeros}));
}

/// |a|, or |a - b|; both wrap.
void lower_sabs(LowerContext& c, const Instruction& i) {
  ir::Operand x = c.read32(i.operands[1]);
  if (i.row->meaning.op == Op::sub) x = c.make(Op::sub, Type::u32, {x, c.read32(i.operands[2])});
  const Reg negative = c.compare(Cond::lt, Type::s32, x, imm(0));
  const Reg turned = c.make(Op::sub, Type::u32, {imm(0), x});
  const Reg r = c.make(Op::select, Type::u32, {negative, turned, x});
  c.write32(i.operands[0].code, r);
  c.set_scc_nonzero(Type::u32, r);
}

/// ((1 << S0[5:0]) - 1) << S1[5:0]
void lower_sbfm64(LowerContext& c, const Instruction& i) {
  const Reg size = c.make(Op::and_, Type::u32, {c.read32(i.operands[1]), imm(63)});
  const Reg at = c.make(Op::and_, Type::u32, {c.read32(i.operands[2]), imm(63)});
  const Reg above = c.make(Op::shl, Type::u64, {imm(1), size});
  const Reg ones = c.make(Op::sub, Type::u64, {above, imm(1)});
  c.write64(i.operands[0].code, c.make(Op::shl, Type::u64, {ones, at}));
}

/// Position in bits 5:0, width in bits 22:16.
void lower_sbfe64(LowerContext& c, const Instruction& i) {
  const Type t = i.row->meaning.type;
  const ir::Operand s = c.read32(i.operands[2]);
  const Reg at = c.make(Op::and_, Type::u32, {s, imm(63)});
  const Reg up = c.make(Op::shr, Type::u32, {s, imm(16)});
  const Reg size = c.make(Op::and_, Type::u32, {up, imm(127)});
  const Reg r = c.make(Op::bfe, t, {c.read64(i.operands[1], ir::is_signed(t)), at, size});
  c.write64(i.operands[0].code, r);
  c.set_scc_nonzero(Type::u64, r);
}

void lower_sbitcmp(LowerContext& c, const Instruction& i) {
  const Type t = i.row->meaning.type;
  const bool wide = t == Type::u64;
  const Reg at = c.make(Op::and_, Type::u32, {c.read32(i.operands[1]), imm(wide ? 63 : 31)});
  const Reg moved = c.make(Op::shr, t, {read(c, i.operands[0]), at});
  const Reg bit = c.make(Op::and_, t, {moved, imm(1)});
  c.emit(Op::icmp, t, {c.scc()}, {bit, imm(0)}).cond = i.row->meaning.cond;
}

void lower_sbitset(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const Operand& to = i.operands[0];
  const Reg at =
      c.make(Op::and_, Type::u32, {c.read32(i.operands[1]), imm(to.count == 2 ? 63 : 31)});
  Reg bit = c.make(Op::shl, m.type, {imm(1), at});
  if (m.invert) bit = c.make(Op::not_, m.type, {bit});
  write(c, to, c.make(m.op, m.type, {read(c, to), bit}));
}

void lower_scmp64(LowerContext& c, const Instruction& i) {
  c.emit(Op::icmp, Type::u64, {c.scc()}, {c.read64(i.operands[0]), c.read64(i.operands[1])}).cond =
      i.row->meaning.cond;
}

/// The register M0 registers further than the one that is named.
void lower_smovrel(LowerContext& c, const Instruction& i) {
  const Meaning& m = i.row->meaning;
  const Operand &to = i.operands[0], &from = i.operands[1];
  const Operand& moving = m.moves_source ? from : to;
  if (moving.code >= kSgprs) throw Unsupported("only general registers can be counted from");
  const ir::Operand further = c.read_known({.code = kM0, .label = {}});
  const unsigned last = std::min(kSgprs, c.kernel().sgprs());
  const auto at = [&](unsigned code) {
    Operand o = moving;
    o.code = code;
    return o;
  };
  if (further.is_imm()) {
    const unsigned code = moving.code + static_cast<unsigned>(further.imm);
    if (code + moving.count > kSgprs) throw Unsupported("M0 leads past the scalar registers");
    return m.moves_source ? write(c, to, read(c, at(code))) : write(c, at(code), read(c, from));
  }
  const Type t = bits(moving);
  if (m.moves_source) {
    ir::Operand value = read(c, from);
    for (unsigned code = moving.code + 1; code + moving.count <= last; ++code) {
      const Reg here = c.compare(Cond::eq, Type::u32, further, imm(code - moving.code));
      value = c.make(Op::select, t, {here, read(c, at(code)), value});
    }
    return write(c, to, value);
  }
  const Reg value = c.make(Op::mov, t, {read(c, from)});
  for (unsigned code = moving.code; code + moving.count <= last; code += moving.count) {
    const Reg here = c.compare(Cond::eq, Type::u32, further, imm(code - moving.code));
    write(c, at(code), c.make(Op::select, t, {here, value, read(c, at(code))}));
  }
}

/// What is known of MODE when the kernel is translated, and no exception, since a lane that has one
/// ends with a fault; other registers describe the machine.
void lower_getreg(LowerContext& c, const Instruction& i) {
  const Operand& field = *i.operand(Slot::hwreg);
  if (hwreg_id(field) == kHwTrapStatus) return c.write32(i.operand(Slot::sdst)->code, imm(0));
  if (hwreg_id(field) != kHwMode) throw Unsupported("this hardware register is not modelled");
  const bool counts = (hwreg_mask(field) & kIndexOnBit) != 0;
  const IndexMode index = index_mode(c.constants);
  if (counts && !index.known) throw Unsupported(kIndexModeDepends);
  const uint32_t word = c.mode().word() | (counts && index.on ? kIndexOnBit : 0);
  c.write32(i.operand(Slot::sdst)->code, imm((word & hwreg_mask(field)) >> hwreg_offset(field)));
}

/// The state after it is known to constants(); float instructions ask there.
void lower_setreg(LowerContext&, const Instruction& i) {
  const Operand& field = *i.operand(Slot::hwreg);
  const Operand* const literal = i.operand(Slot::literal);
  const bool clears = literal != nullptr && literal->value == 0;
  if (hwreg_id(field) == kHwTrapStatus && clears) return;
  if (hwreg_id(field) != kHwMode) throw Unsupported("this hardware register is not modelled");
}

/// s_sethalt 0 goes on; anything else ends the lane with a fault.
void lower_trap(LowerContext& c, const Instruction& i) {
  if (i.row->meaning.count == 1 && (i.operands[0].value & 1) == 0) return;
  c.trap(FaultKind::trap);
}

void lower_clock(LowerContext& c, const Instruction& i) {
  const bool real = i.row->meaning.count == 2;
  c.write64(i.operand(Slot::sdst)->code,
            c.special(real ? SReg::globaltimer : SReg::clock64, Type::u64));
}

}  // namespace lanewise::gcn
