// Moves, width changes and the lane's bits of wave masks.
#include "runtime/spirv/lane/emitter.hpp"

namespace lanewise::spirv {
namespace {

using ir::Op;
using ir::Type;

template <unsigned kBits>
Values signed_low(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const Id amount = m.u(32 - kBits);
  const Id up = m.word(spv::OpShiftLeftLogical, {e.src(0), amount});
  return {m.word(spv::OpShiftRightArithmetic, {up, amount})};
}
template <unsigned kBits>
Values low(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  return {m.word(spv::OpBitwiseAnd, {e.src(0), m.u((1U << kBits) - 1)})};
}

Values move(LaneEmitter& e, spv::Op) {
  const Id bits = e.src(0);
  return {e.hides_move() ? e.hidden(bits, ir::width_of(e.inst().type)) : bits};
}
Values select(LaneEmitter& e, spv::Op) {
  const Id condition = e.src(0), yes = e.src(1), no = e.src(2);
  return {e.module().select(condition, yes, no)};
}
Values pack(LaneEmitter& e, spv::Op) {
  const Id low = e.src(0), high = e.src(1);
  return {e.module().make64(low, high)};
}
Values unpack(LaneEmitter& e, spv::Op) {
  const Id value = e.src(0);
  return {e.module().lo(value), e.module().hi(value)};
}
Values zero_extend(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  if (m.int64()) return {m.op(spv::OpUConvert, m.b64_type, {e.src(0)})};
  return {m.make64(e.src(0), m.u(0))};
}
Values sign_extend(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const Id value = e.src(0);
  if (m.int64()) return {m.op(spv::OpSConvert, m.b64_type, {value})};
  return {m.make64(value, m.word(spv::OpShiftRightArithmetic, {value, m.u(31)}))};
}
Values truncate(LaneEmitter& e, spv::Op) {
  return {e.module().lo(e.src(0))};
}
/// Bit `laneid` of a mask that may be 64 lanes wide.
Values mask_bit(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const Id value = e.src(0), lane = e.lane_in_wave();
  const Id upper = m.test(spv::OpUGreaterThanEqual, {lane, m.u(32)});
  const Id word = m.select(upper, m.hi(value), m.lo(value));
  const Id amount = m.word(spv::OpBitwiseAnd, {lane, m.u(31)});
  const Id shifted = m.word(spv::OpShiftRightLogical, {word, amount});
  const Id one = m.word(spv::OpBitwiseAnd, {shifted, m.u(1)});
  return {m.differs(one, 0)};
}

/// Set bits of the mask below this lane, plus an addend.
Values count_below(LaneEmitter& e, spv::Op) {
  ModuleBuilder& m = e.module();
  const Id value = e.src(0), addend = e.src(1), lane = e.lane_in_wave();
  const Id upper = m.test(spv::OpUGreaterThanEqual, {lane, m.u(32)});
  const Id amount = m.word(spv::OpBitwiseAnd, {lane, m.u(31)});
  const Id bit_of_lane = m.word(spv::OpShiftLeftLogical, {m.u(1), amount});
  const Id below = m.word(spv::OpISub, {bit_of_lane, m.u(1)});
  const Id low_mask = m.select(upper, m.u(0xffffffff), below);
  const Id high_mask = m.select(upper, below, m.u(0));
  Id total = addend;
  for (const auto& [word, part] : {std::pair{m.lo(value), low_mask}, {m.hi(value), high_mask}}) {
    const Id kept = m.word(spv::OpBitwiseAnd, {word, part});
    const Id count = m.word(spv::OpBitCount, {kept});
    total = m.word(spv::OpIAdd, {total, count});
  }
  return {total};
}

constexpr NativeRow kMoveRows[] = {
    {Op::mov, kAnyType, nullptr, move},
    {Op::select, kAnyType, nullptr, select},
    {Op::pack64, kAnyType, nullptr, pack},
    {Op::unpack64, kAnyType, nullptr, unpack},
    {Op::zext64, kAnyType, nullptr, zero_extend},
    {Op::sext64, kAnyType, nullptr, sign_extend},
    {Op::trunc32, kAnyType, nullptr, truncate},
    {Op::zext8, kAnyType, nullptr, low<8>},
    {Op::sext8, kAnyType, nullptr, signed_low<8>},
    {Op::zext16, kAnyType, nullptr, low<16>},
    {Op::sext16, kAnyType, nullptr, signed_low<16>},
    {Op::maskbit, kAnyType, nullptr, mask_bit},
    {Op::mbcnt, kAnyType, nullptr, count_below},
};

}  // namespace

constinit NativeTable move_rows = kMoveRows;

}  // namespace lanewise::spirv
