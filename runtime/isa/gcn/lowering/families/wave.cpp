// Instructions that move values between the lanes of a wave, or say where in it a lane stands.
#include <fmt/format.h>

#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {

namespace {

void check_plain(const Instruction& i) {
  if (i.clamp) throw Unsupported("clamp is not possible here");
  for (const Operand& o : i.operands)
    if (o.neg || o.abs) throw Unsupported("neg and abs are not possible here");
  if (i.gds) throw Unsupported("the global data share is not executed");
}

Reg lane_of(LowerContext& c, const Operand& select) {
  return c.make(Op::and_, Type::u32, {c.read32(select), imm(63)});
}

/// What the active lane `from` holds in `value`; 0 of a lane that is not active or not there.
Reg gather(LowerContext& c, ir::Operand value, ir::Operand from) {
  const ir::Operand offered =
      c.exec_full ? value : ir::Operand(c.make(Op::select, Type::u32, {c.exec(), value, imm(0)}));
  return c.make(Op::readlane, Type::none, {offered, from});
}

void to_vgpr(LowerContext& c, const Instruction& i, ir::Operand value) {
  c.emit_vector(Op::mov, Type::u32, {c.vgpr(i.operand(Slot::vdst)->code)}, {value});
}

/// Bits 7:2 of address and offset: the lane that the two permutes mean.
Reg permute_lane(LowerContext& c, const Instruction& i) {
  const Reg at =
      c.make(Op::add, Type::u32, {c.read32(*i.operand(Slot::ds_addr)), imm(uint32_t{i.offset})});
  const Reg dword = c.make(Op::shr, Type::u32, {at, imm(2)});
  return c.make(Op::and_, Type::u32, {dword, imm(63)});
}

}  // namespace

/// EXEC does not matter.
void lower_readlane(LowerContext& c, const Instruction& i) {
  check_plain(i);
  const Operand& source = *i.operand(Slot::src0);
  if (source.code < kVgpr0) throw Unsupported("the register to read from must be a VGPR");
  const Reg value =
      c.make(Op::readlane, Type::none, {c.read32(source), lane_of(c, *i.operand(Slot::ssrc1))});
  c.write32(i.operand(Slot::sdst)->code, value);
}

/// EXEC does not matter. The lane may be in M0 beside another scalar register, or both are one.
void lower_writelane(LowerContext& c, const Instruction& i) {
  check_plain(i);
  const Operand &value = *i.operand(Slot::ssrc0), &select = *i.operand(Slot::ssrc1);
  const bool two = value.code < kZero && select.code < kZero && value.code != select.code;
  if (two && select.code != kM0)
    throw Unsupported("two different scalar registers, the instruction can read one and M0");
  const ir::Operand word = c.read32(value);
  const Reg here = c.compare(Cond::eq, Type::u32, c.special(SReg::laneid), lane_of(c, select));
  const Reg target = c.vgpr(i.operand(Slot::vdst)->code);
  c.set_guard({here, false});
  c.emit(Op::mov, Type::u32, {target}, {word});
  c.set_guard({});
}

/// How many bits of S0 stand for lower lanes, plus S1: `count` 0 of lanes 0 to 31, 1 of the others.
void lower_mbcnt(LowerContext& c, const Instruction& i) {
  check_plain(i);
  const bool high = i.row->meaning.count == 1;
  const Operand* addend = i.operand(Slot::vsrc1);
  if (addend == nullptr) addend = i.operand(Slot::src1);
  const Reg bit = c.make(Op::shl, Type::u64, {imm(1), c.special(SReg::laneid)});
  const Reg below = c.make(Op::sub, Type::u64, {bit, imm(1)});
  const auto [low_half, high_half] = c.unpack(below);
  const Reg counted =
      c.make(Op::and_, Type::u32, {c.read32(*i.operand(Slot::src0)), high ? high_half : low_half});
  const Reg count = c.make(Op::popc, Type::u32, {counted});
  to_vgpr(c, i, c.make(Op::add, Type::u32, {count, c.read32(*addend)}));
}

/// Offset bit 15: each four lanes permuted; otherwise and, or, xor on the lane's low five bits.
void lower_swizzle(LowerContext& c, const Instruction& i) {
  check_plain(i);
  const Reg lane = c.special(SReg::laneid);
  const auto step = [&](Op op, ir::Operand x, uint32_t y) {
    return c.make(op, Type::u32, {x, imm(y)});
  };
  Reg from;
  if ((i.offset & 0x8000) != 0) {
    if ((i.offset & 0x7f00) != 0)
      throw Unsupported(fmt::format("swizzle mode {:#x} is not documented for this generation",
                                    unsigned{i.offset}));
    const Reg position = step(Op::shl, step(Op::and_, lane, 3), 1);
    const Reg choice = c.make(Op::shr, Type::u32, {imm(i.offset & 0xffU), position});
    from = c.make(Op::or_, Type::u32, {step(Op::and_, lane, 60), step(Op::and_, choice, 3)});
  } else {
    const uint32_t keep = i.offset & 31U, set = i.offset >> 5 & 31U, flip = i.offset >> 10 & 31U;
    from = step(Op::xor_, step(Op::or_, step(Op::and_, lane, keep | 32U), set), flip);
  }
  to_vgpr(c, i, gather(c, c.read32(*i.operand(Slot::ds_addr)), from));
}

/// Every lane reads from the lane it names.
void lower_bpermute(LowerContext& c, const Instruction& i) {
  check_plain(i);
  to_vgpr(c, i, gather(c, c.read32(*i.operand(Slot::data0)), permute_lane(c, i)));
}

/// Every active lane sends to the lane it names. A lane finds who named it from one ballot for each
/// bit of the number; of several the highest wins, and without any the result is 0.
void lower_permute(LowerContext& c, const Instruction& i) {
  check_plain(i);
  const Reg lane = c.special(SReg::laneid), target = permute_lane(c, i);
  Reg senders = c.make(Op::ballot, Type::u64, {c.exec()});
  const auto has_bit = [&](Reg word, uint32_t bit) {
    const Reg part = c.make(Op::and_, Type::u32, {word, imm(1U << bit)});
    return c.compare(Cond::ne, Type::u32, part, imm(0));
  };
  for (uint32_t bit = 0; bit < 6; ++bit) {
    const Reg set = c.make(Op::ballot, Type::u64, {has_bit(target, bit)});
    const Reg clear = c.make(Op::not_, Type::u64, {set});
    const Reg same = c.make(Op::select, Type::u64, {has_bit(lane, bit), set, clear});
    senders = c.make(Op::and_, Type::u64, {senders, same});
  }
  const Reg zeros = c.reg(Width::b32);
  c.emit(Op::clz, Type::u64, {zeros}, {senders});
  const Reg highest = c.make(Op::sub, Type::u32, {imm(63), zeros});
  const Reg safe = c.make(Op::and_, Type::u32, {highest, imm(63)});
  const Reg sent = gather(c, c.read32(*i.operand(Slot::data0)), safe);
  const Reg none = c.compare(Cond::eq, Type::u64, senders, imm(0));
  to_vgpr(c, i, c.make(Op::select, Type::u32, {none, imm(0), sent}));
}

}  // namespace lanewise::gcn
