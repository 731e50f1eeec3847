// DPP and SDWA: source 0 comes from another lane, or sources and result are parts of registers.
// What the row does is lowered on a copy whose operands are registers of our own.
#include "runtime/isa/gcn/encoding/lane_form.hpp"
#include "runtime/isa/gcn/lowering/semantics.hpp"

namespace lanewise::gcn {

namespace {

/// Codes past the guest's registers.
constexpr unsigned kFirst = kVgpr0 + 256, kSecond = kFirst + 1, kResult = kFirst + 2;

Reg bits(LowerContext& c, Op op, ir::Operand x, ir::Operand y) {
  return c.make(op, Type::u32, {x, y});
}

struct LaneSource {
  Reg lane;           ///< modulo 64 where it is valid
  ir::Operand valid;  ///< always for permutations
};

/// Which lane the control picks; rows are 16 lanes.
LaneSource pick(LowerContext& c, unsigned ctrl, Reg lane) {
  const auto test = [&](Cond cond, ir::Operand x, uint32_t y) -> ir::Operand {
    return c.compare(cond, Type::u32, x, imm(y));
  };
  const unsigned n = ctrl & 15;
  const Reg column = bits(c, Op::and_, lane, imm(15)), row = bits(c, Op::and_, lane, imm(48));
  if (ctrl <= 0xff) {
    const Reg position = bits(c, Op::shl, bits(c, Op::and_, lane, imm(3)), imm(1));
    const Reg choice = bits(c, Op::and_, bits(c, Op::shr, imm(ctrl), position), imm(3));
    return {bits(c, Op::or_, bits(c, Op::and_, lane, imm(60)), choice), imm(1)};
  }
  switch (ctrl & 0x1f0) {
    case 0x100:
      return {bits(c, Op::add, lane, imm(n)), test(Cond::lt, column, 16 - n)};
    case 0x110:
      return {bits(c, Op::sub, lane, imm(n)), test(Cond::ge, column, n)};
    case 0x120: {
      const Reg turned = bits(c, Op::and_, bits(c, Op::add, column, imm(16 - n)), imm(15));
      return {bits(c, Op::or_, row, turned), imm(1)};
    }
    default:
      break;
  }
  switch (ctrl) {
    case 0x130:  // wave_shl
      return {bits(c, Op::add, lane, imm(1)), test(Cond::lt, lane, 63)};
    case 0x134:  // wave_rol
      return {bits(c, Op::add, lane, imm(1)), imm(1)};
    case 0x138:  // wave_shr
      return {bits(c, Op::sub, lane, imm(1)), test(Cond::gt, lane, 0)};
    case 0x13c:  // wave_ror
      return {bits(c, Op::add, lane, imm(63)), imm(1)};
    case 0x140:  // row_mirror
      return {bits(c, Op::xor_, lane, imm(15)), imm(1)};
    case 0x141:  // row_half_mirror
      return {bits(c, Op::xor_, lane, imm(7)), imm(1)};
    case 0x142:  // row_bcast:15
      return {bits(c, Op::sub, row, imm(1)), test(Cond::gt, lane, 15)};
    default:  // row_bcast:31
      return {bits(c, Op::sub, bits(c, Op::and_, lane, imm(32)), imm(1)), test(Cond::gt, lane, 31)};
  }
}

ir::Operand both(LowerContext& c, ir::Operand x, ir::Operand y) {
  if (x.is_imm()) return y;
  return y.is_imm() ? x : ir::Operand(c.make(Op::and_, Type::pred, {x, y}));
}

/// Lanes whose row and bank may be written.
ir::Operand unmasked(LowerContext& c, const Dpp& d, Reg lane) {
  if (d.row_mask == 15 && d.bank_mask == 15) return imm(1);
  const Reg row = bits(c, Op::shr, lane, imm(4));
  const Reg bank = bits(c, Op::and_, bits(c, Op::shr, lane, imm(2)), imm(3));
  const Reg on = bits(c, Op::and_, bits(c, Op::shr, imm(d.row_mask), row),
                      bits(c, Op::shr, imm(d.bank_mask), bank));
  return c.compare(Cond::ne, Type::u32, bits(c, Op::and_, on, imm(1)), imm(0));
}

/// What lanes that are not written leave in a mask is not documented. Carries of sums are mostly
/// read by nobody; of compares the mask is all there is.
void refuse_masks(const LowerContext& c, const Instruction& i) {
  const bool no_lane_skipped = i.dpp.bound_ctrl && i.dpp.row_mask == 15 && i.dpp.bank_mask == 15;
  if (no_lane_skipped) return;
  if (i.row->does(kWritesExec))
    throw Unsupported("what lanes that DPP skips leave in exec is not documented");
  if (i.row->does(kWritesVcc) && c.mask_live)
    throw Unsupported(
        "what lanes that DPP skips leave in vcc is not documented, nothing may read it");
}

/// A lane whose source is not there, by the rule of the shift or because EXEC has it off, reads 0
/// with bound_ctrl, and is not written without.
void lower_dpp(LowerContext& c, const Instruction& i) {
  refuse_masks(c, i);
  const Reg lane = c.special(SReg::laneid);
  const LaneSource s = pick(c, i.dpp.ctrl, lane);
  const Reg from = bits(c, Op::and_, s.lane, imm(63));
  const Reg running = c.make(Op::ballot, Type::u64, {c.exec()});
  const Reg shifted = c.make(Op::shr, Type::u64, {running, from});
  const Reg low = c.make(Op::and_, Type::u64, {shifted, imm(1)});
  const ir::Operand valid = both(c, s.valid, c.compare(Cond::ne, Type::u64, low, imm(0)));
  const size_t source = first_source(*i.row);
  const Reg value = c.make(Op::readlane, Type::none, {c.read32(i.operands[source]), from});
  Instruction plain = i;
  plain.form = Form::plain;
  plain.operands[source].code = kFirst;
  c.emit(Op::select, Type::u32, {c.vgpr(kFirst)}, {valid, value, imm(0)});
  c.narrow(both(c, unmasked(c, i.dpp, lane), i.dpp.bound_ctrl ? ir::Operand(imm(1)) : valid));
  i.row->lower(c, plain);
}

/// The byte, word or dword, zero- or sign-extended.
Reg part(LowerContext& c, ir::Operand value, unsigned sel, bool sext) {
  const bool word = sel >= 4;
  const unsigned at = word ? 16 * (sel - 4) : 8 * sel;
  const Reg moved = bits(c, Op::shr, value, imm(at));
  const Op op = word ? (sext ? Op::sext16 : Op::zext16) : sext ? Op::sext8 : Op::zext8;
  return c.make(op, Type::u32, {moved});
}

void take_part(LowerContext& c, Instruction& plain, size_t operand, unsigned sel, bool sext,
               unsigned code) {
  if (sel == kSelDword) return;
  c.emit(Op::mov, Type::u32, {c.vgpr(code)},
         {part(c, c.read32(plain.operands[operand]), sel, sext)});
  plain.operands[operand].code = code;
}

/// The result's part goes to its place; around it zeros, the sign, or what was there.
void place_result(LowerContext& c, const Sdwa& s, unsigned dst) {
  const bool word = s.dst_sel >= 4;
  const unsigned at = word ? 16 * (s.dst_sel - 4U) : 8U * s.dst_sel;
  const uint32_t mask = (word ? 0xffffU : 0xffU) << at;
  const Reg result = c.vgpr(kResult);
  ir::Operand value;
  if (s.dst_unused == kUnusedSext) {
    value = bits(c, Op::shl, part(c, result, word ? 4 : 0, true), imm(at));
  } else {
    value = bits(c, Op::and_, bits(c, Op::shl, result, imm(at)), imm(mask));
    if (s.dst_unused == kUnusedPreserve)
      value = bits(c, Op::or_, value, bits(c, Op::and_, c.vgpr(dst), imm(~mask)));
  }
  c.emit_vector(Op::mov, Type::u32, {c.vgpr(dst)}, {value});
}

void lower_sdwa(LowerContext& c, const Instruction& i) {
  Instruction plain = i;
  plain.form = Form::plain;
  const size_t second = second_source(*i.row);
  take_part(c, plain, first_source(*i.row), i.sdwa.src0_sel, i.sdwa.sext0, kFirst);
  if (second != 0) take_part(c, plain, second, i.sdwa.src1_sel, i.sdwa.sext1, kSecond);
  const bool whole = i.row->encoding == Encoding::vopc || i.sdwa.dst_sel == kSelDword;
  if (whole) return i.row->lower(c, plain);
  if (i.row->does(kReadsDst))
    throw Unsupported("a part of a register as result of an instruction that adds to it");
  const unsigned dst = i.operand(Slot::vdst)->code;
  for (size_t n = 0; n < plain.operands.size(); ++n)
    if (i.row->operands[n].slot == Slot::vdst) plain.operands[n].code = kResult;
  i.row->lower(c, plain);
  place_result(c, i.sdwa, dst);
}

}  // namespace

void lower_lane_form(LowerContext& c, const Instruction& i) {
  if (i.form == Form::dpp)
    lower_dpp(c, i);
  else
    lower_sdwa(c, i);
}

}  // namespace lanewise::gcn
