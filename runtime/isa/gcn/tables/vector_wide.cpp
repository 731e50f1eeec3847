// Rows of 64-bit and 16-bit vector instructions.
#include "runtime/isa/gcn/tables/builder.hpp"

namespace lanewise::gcn {
namespace {

void mad_rows(TableBuilder& t) {
  using S = Slot;
  const std::vector<SlotSpec> slots = {
      {S::vdst, 2}, {S::mask_dst, 2}, {S::src0}, {S::src1}, {S::src2, 2}};
  t.vop3("v_mad_u64_u32", {-1, 0x176, 0x1e8}, slots, lower_mad64, op(Op::mulwide), kClampsInteger);
  t.vop3("v_mad_i64_i32", {-1, 0x177, 0x1e9}, slots, lower_mad64, op(Op::mulwide, Type::s32),
         kClampsInteger);
}

void packed_rows(TableBuilder& t) {
  const struct {
    const char* name;
    int opcode;
    Meaning m;
    uint16_t effects = 0;
  } narrow[] = {{"v_add_u16", 38, op(Op::add, Type::u16), kClampsInteger},
                {"v_sub_u16", 39, op(Op::sub, Type::u16), kClampsInteger},
                {"v_subrev_u16", 40, reversed(op(Op::sub, Type::u16)), kClampsInteger},
                {"v_mul_lo_u16", 41, op(Op::mul, Type::u16)},
                {"v_lshlrev_b16", 42, reversed(op(Op::shl, Type::u16))},
                {"v_lshrrev_b16", 43, reversed(op(Op::shr, Type::u16))},
                {"v_ashrrev_i16", 44, reversed(op(Op::shr, Type::s16))}};
  for (const auto& n : narrow) t.vop2(n.name, {-1, n.opcode}, lower_v16, n.m, n.effects);
}

}  // namespace

void wide_vector_rows(TableBuilder& t) {
  mad_rows(t);
  packed_rows(t);
}

}  // namespace lanewise::gcn
