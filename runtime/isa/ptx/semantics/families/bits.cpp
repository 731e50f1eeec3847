// Logic, shifts and bit fields.
#include "runtime/isa/ptx/semantics/emit.hpp"

namespace lanewise::ptx {
namespace {

using ir::Op;
using ir::Type;

template <Op kOp>
void logic2(Emit& e) {
  const PType t = e.type();
  e.set(0, t, e.op(kOp, t.ir(), {e.raw(1, t), e.raw(2, t)}), Fit::exact, true);
}

void cnot(Emit& e) {
  const PType t = e.type();
  const ir::Reg zero = e.op(Op::icmp, t.ir(), {e.raw(1, t), imm(0)});
  e.set(0, t, e.op(Op::select, t.ir(), {zero, imm(1), imm(0)}), Fit::exact, true);
}

void lop3(Emit& e) {
  if (!e.is_constant(4) || e.operand(4).bits > 255)
    Emit::fail(e.operand(4).loc, "the look-up table of 'lop3' must be a constant from 0 to 255");
  const auto lut = static_cast<uint8_t>(e.operand(4).bits);
  const ir::Reg value =
      e.op(Op::lop3, Type::none, {e.raw(1, kB32), e.raw(2, kB32), e.raw(3, kB32)}, {.mode = lut});
  if (!e.has("bool")) return e.set(0, kB32, value);
  const ir::Operand other = e.pred(5);
  const ir::Reg any = e.op(Op::icmp, Type::u32, {value, imm(0)}, {.cond = ir::Cond::ne});
  const Op with = e.get("bool") == "and" ? Op::and_ : Op::or_;
  const ir::Reg both = e.op(with, Type::pred, {any, other});
  if (!e.is_sink(0)) e.set(0, kB32, value);
  e.set_pair(0, kPred, both);
}

void shl(Emit& e) {
  const PType t = e.type();
  e.set(0, t, e.op(Op::shl, t.ir(), {e.raw(1, t), e.raw(2, kU32)}));
}

void shr(Emit& e) {
  const PType t = e.type();
  e.set(0, t, e.op(Op::shr, t.ir(), {e.ext(1, t), e.raw(2, kU32)}));
}

template <Op kOp>
void funnel(Emit& e) {
  e.set(0, kB32,
        e.op(kOp, Type::none, {e.raw(1, kB32), e.raw(2, kB32), e.raw(3, kU32)},
             {.mode = static_cast<uint8_t>(e.get("mode") == "wrap")}));
}

/// A position or a length. Of 32-bit fields the low 8 bits count, as the manual says. Of 64-bit
/// ones all do on an H100, whose compiler makes them of shifts: whatever is above 255 is as good as
/// 255.
ir::Operand field_part(Emit& e, unsigned operand) {
  const ir::Operand n = e.raw(operand, kU32);
  return e.type().bits == 64 ? ir::Operand(e.op(Op::min, Type::u32, {n, imm(255)})) : n;
}

void bfe(Emit& e) {
  const PType t = e.type();
  e.set(0, t, e.op(Op::bfe, t.ir(), {e.raw(1, t), field_part(e, 2), field_part(e, 3)}));
}

void bfi(Emit& e) {
  const PType t = e.type();
  e.set(0, t,
        e.op(Op::bfi, t.ir(), {e.raw(1, t), e.raw(2, t), field_part(e, 3), field_part(e, 4)}));
}

void bfind(Emit& e) {
  const PType t = e.type();
  const ir::Reg at = e.op(Op::bfind, t.ir(), {e.raw(1, t)});
  if (!e.has("shiftamt")) return e.set(0, kU32, at);
  const ir::Reg amount = e.op(Op::sub, Type::u32, {imm(t.bits - 1), at});
  const ir::Reg none = e.op(Op::icmp, Type::u32, {at, imm(0xffffffff)});
  e.set(0, kU32, e.op(Op::select, Type::u32, {none, imm(0xffffffff), amount}));
}

template <Op kOp>
void count(Emit& e) {
  const PType t = e.type();
  e.set(0, kU32, e.op(kOp, t.ir(), {e.raw(1, t)}));
}

void prmt(Emit& e) {
  constexpr std::pair<std::string_view, ir::PrmtMode> kModes[] = {
      {"f4e", ir::PrmtMode::f4e}, {"b4e", ir::PrmtMode::b4e}, {"rc8", ir::PrmtMode::rc8},
      {"ecl", ir::PrmtMode::ecl}, {"ecr", ir::PrmtMode::ecr}, {"rc16", ir::PrmtMode::rc16}};
  const auto mode = pick(e.get("mode"), kModes, ir::PrmtMode::index);
  e.set(0, kB32,
        e.op(Op::prmt, Type::none, {e.raw(1, kB32), e.raw(2, kB32), e.raw(3, kB32)},
             {.mode = static_cast<uint8_t>(mode)}));
}

/// Field positions and lengths of bmsk and szext: modulo 32, or anything above 32 counts as 32.
ir::Operand field_bound(Emit& e, size_t i) {
  const ir::Operand v = e.raw(i, kU32);
  if (e.get("mode") == "wrap") return e.op(Op::and_, Type::u32, {v, imm(31)});
  return e.op(Op::min, Type::u32, {v, imm(32)});
}

void bmsk(Emit& e) {
  const ir::Operand at = field_bound(e, 1), length = field_bound(e, 2);
  const ir::Reg power = e.op(Op::shl, Type::u32, {imm(1), length});
  const ir::Reg ones = e.op(Op::sub, Type::u32, {power, imm(1)});
  e.set(0, kB32, e.op(Op::shl, Type::u32, {ones, at}));
}

void szext(Emit& e) {
  const PType t = e.type();
  e.set(0, t, e.op(Op::bfe, t.ir(), {e.raw(1, t), imm(0), field_bound(e, 2)}));
}

/// Place of the n-th set bit of `mask`, counted from 1 and from the lowest one on, by halves.
ir::Operand nth_bit(Emit& e, ir::Operand mask, ir::Operand n) {
  ir::Operand at = imm(0);
  for (unsigned width = 16; width != 0; width /= 2) {
    const ir::Reg rest = e.op(Op::shr, Type::u32, {mask, at});
    const ir::Reg low = e.op(Op::and_, Type::u32, {rest, imm((1U << width) - 1)});
    const ir::Reg bits = e.op(Op::popc, Type::u32, {low});
    const ir::Reg beyond = e.op(Op::icmp, Type::u32, {n, bits}, {.cond = ir::Cond::gt});
    const ir::Reg skipped = e.op(Op::select, Type::u32, {beyond, bits, imm(0)});
    const ir::Reg step = e.op(Op::select, Type::u32, {beyond, imm(width), imm(0)});
    n = e.op(Op::sub, Type::u32, {n, skipped});
    at = e.op(Op::add, Type::u32, {at, step});
  }
  return at;
}

/// Finds the offset-th set bit from `base` on, upwards or, with a negative offset, downwards;
/// offset 0 asks for the bit at `base`. Downwards is upwards in the reversed mask.
void fns(Emit& e) {
  const ir::Operand mask = e.raw(1, kB32), base = e.raw(2, kB32), offset = e.raw(3, kB32);
  const ir::Reg down = e.op(Op::icmp, Type::s32, {offset, imm(0)}, {.cond = ir::Cond::lt});
  const ir::Reg mirrored = e.op(Op::brev, Type::u32, {mask});
  const ir::Reg last = e.op(Op::sub, Type::u32, {imm(31), base});
  const ir::Reg bits = e.op(Op::select, Type::u32, {down, mirrored, mask});
  const ir::Reg from = e.op(Op::select, Type::u32, {down, last, base});
  const ir::Reg minus = e.op(Op::sub, Type::u32, {imm(0), offset});
  const ir::Reg distance = e.op(Op::select, Type::u32, {down, minus, offset});
  const ir::Reg zero = e.op(Op::icmp, Type::u32, {offset, imm(0)});
  const ir::Reg n = e.op(Op::select, Type::u32, {zero, imm(1), distance});
  const ir::Reg above = e.op(Op::shl, Type::u32, {imm(0xffffffff), from});
  const ir::Reg alone = e.op(Op::shl, Type::u32, {imm(1), from});
  const ir::Reg allowed = e.op(Op::select, Type::u32, {zero, alone, above});
  const ir::Reg left = e.op(Op::and_, Type::u32, {bits, allowed});
  const ir::Operand at = nth_bit(e, left, n);
  const ir::Reg back = e.op(Op::sub, Type::u32, {imm(31), at});
  const ir::Reg place = e.op(Op::select, Type::u32, {down, back, at});
  const ir::Reg count = e.op(Op::popc, Type::u32, {left});
  const ir::Reg found = e.op(Op::icmp, Type::u32, {count, n}, {.cond = ir::Cond::ge});
  e.set(0, kB32, e.op(Op::select, Type::u32, {found, place, imm(0xffffffff)}));
}

constexpr Row kBitsRows[] = {
    {"and", "type:pred|b16|b32|b64", "d s s", logic2<Op::and_>},
    {"or", "type:pred|b16|b32|b64", "d s s", logic2<Op::or_>},
    {"xor", "type:pred|b16|b32|b64", "d s s", logic2<Op::xor_>},
    {"not", "type:pred|b16|b32|b64", "d s", plain<Op::not_, 1>},
    {"cnot", "type:b16|b32|b64", "d s", cnot},
    {"lop3", "type:b32", "d s s s i", lop3},
    {"lop3@70.82", "bool:and|or type:b32", "d_+:b32 s s s i p", lop3},
    {"shl", "type:b16|b32|b64", "d s s:u32", shl},
    {"shr", "type:b16|b32|b64|$int", "d s s:u32", shr},
    {"shf", "^l mode:clamp|wrap type:b32", "d s s s:u32", funnel<Op::shf_l>},
    {"shf", "^r mode:clamp|wrap type:b32", "d s s s:u32", funnel<Op::shf_r>},
    {"bfe", "type:$int32up", "d s c c", bfe},
    {"bfi", "type:b32|b64", "d s s c c", bfi},
    {"bfind", "?shiftamt+ type:$int32up", "d:u32 s", bfind},
    {"clz", "type:b32|b64", "d:u32 s", count<Op::clz>},
    {"popc", "type:b32|b64", "d:u32 s", count<Op::popc>},
    {"brev", "type:b32|b64", "d s", plain<Op::brev, 1>},
    {"prmt", "type:b32 ?mode:f4e|b4e|rc8|ecl|ecr|rc16", "d s s s", prmt},
    {"fns@30.60", "type:b32", "d s s s", fns},
    {"bmsk@70.76", "mode:clamp|wrap type:b32", "d:u32 s:u32 s:u32", bmsk},
    {"szext@70.76", "mode:clamp|wrap type:u32|s32", "d s s:u32", szext},
};

}  // namespace

constinit Rows bit_rows = kBitsRows;

}  // namespace lanewise::ptx
